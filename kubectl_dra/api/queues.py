"""Kueue's objects, of any version of its API that has the fields that are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.api.sources import Source
from kubectl_dra.model.evidence import ALL_NAMESPACES, Coverage, Evidence, Read
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.queues import (
    COHORT,
    FLAVOR,
    GROUP,
    KINDS,
    ClusterQueue,
    Cohort,
    LocalQueue,
    QueuedWorkload,
    QueueObjects,
    ResourceFlavor,
    qualified,
)

#: Plural and kind by group; deploy/rbac/queues.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {GROUP: {plural: kind for kind, (plural, _) in KINDS.items()}}
#: More of them are not kept of a file.
MAX_OBJECTS: Final = 50_000
#: Snapshots hold them in this version.
_VERSION: Final = f"{GROUP}/v1beta2"
_RECORDS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "Workload": QueuedWorkload,
    "LocalQueue": LocalQueue,
    "ClusterQueue": ClusterQueue,
    FLAVOR: ResourceFlavor,
    COHORT: Cohort,
}
_DECODERS: Final = {kind: make_decoder(record, numbers_as_text=True) for kind, record in _RECORDS.items()}
_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError)


def is_queue_object(api_version: str, kind: str) -> bool:
    """Whether it is an object of Kueue that is read."""
    return api_version.rpartition("/")[0] == GROUP and kind in _RECORDS


def record_of(api_version: str, kind: str) -> type[msgspec.Struct] | None:
    """The shape of an object of Kueue; None for any other object."""
    return _RECORDS[kind] if is_queue_object(api_version, kind) else None


def encoded(objects: QueueObjects) -> Iterator[tuple[ObjectMeta, bytes]]:
    """All of them as JSON, with what is read of them and no more."""
    for kind, records in (
        ("Workload", objects.workloads),
        ("LocalQueue", objects.local_queues),
        ("ClusterQueue", objects.cluster_queues),
        (FLAVOR, objects.flavors),
        (COHORT, objects.cohorts),
    ):
        head = _encoder.encode({"apiVersion": _VERSION, "kind": kind})
        for record in records.values():
            yield record.metadata, head[:-1] + b"," + _encoder.encode(record)[1:]


def reads_of(objects: QueueObjects, namespace: str, time: str = "") -> Iterator[Read]:
    """What was read of a live cluster, as evidence; ``namespace``: the one that is asked about, empty for all."""
    for kind, (_, namespaced) in KINDS.items():
        coverage = Coverage.FORBIDDEN if kind in objects.refused else Coverage.NOT_SERVED
        coverage = Coverage.COMPLETE if kind in objects.complete else coverage
        yield Read(qualified(kind), namespace if namespaced else ALL_NAMESPACES, coverage, time=time)


def objects_of(sources: Sequence[Source], evidence: Evidence) -> QueueObjects:
    """Those of files, where ``evidence`` says what a snapshot could not read.

    A kind that occurs, and of which nothing is said, is complete; one that was not asked for is not. Most clusters have
    no Cohort: where there are queues, and nothing is said, none is taken for none. What is not served is known, too.
    """
    here = {source.kind for source in sources}
    reads = [read for read in evidence.reads if read.kind in map(qualified, KINDS)]
    coverage = {kind: {read.coverage for read in reads if read.kind == qualified(kind)} for kind in KINDS}
    complete = {kind for kind in KINDS if Coverage.COMPLETE in coverage[kind] or (kind in here and not coverage[kind])}
    of_cohorts = coverage[COHORT] == {Coverage.NOT_SERVED} or ("ClusterQueue" in here and not coverage[COHORT])
    complete |= {COHORT} if of_cohorts else set()
    refused = {kind for kind in KINDS if Coverage.FORBIDDEN in coverage[kind]} - complete
    found = queue_objects(sources, complete, refused)
    told = {each for kind in KINDS for each in coverage[kind]}
    absent = not here and told == {Coverage.NOT_SERVED}
    return replace(found, absent=absent)


def with_files(known: QueueObjects, sources: Iterable[Source]) -> QueueObjects:
    """With the objects that files bring along; what the cluster has of the same name is replaced."""
    found = [source for source in sources if is_queue_object(source.api_version, source.kind)]
    if not found:
        return known
    more = queue_objects(found)
    return replace(
        known,
        workloads={**known.workloads, **more.workloads},
        local_queues={**known.local_queues, **more.local_queues},
        cluster_queues={**known.cluster_queues, **more.cluster_queues},
        flavors={**known.flavors, **more.flavors},
        cohorts={**known.cohorts, **more.cohorts},
    )


def queue_objects(sources: Iterable[Source], complete: Iterable[str] = (), refused: Iterable[str] = ()) -> QueueObjects:
    """The objects; one that can't be decoded makes its kind incomplete."""
    found: dict[str, dict[Any, Any]] = {kind: {} for kind in _RECORDS}
    broken: set[str] = set()
    for source in sources:
        try:
            record = _DECODERS[source.kind].decode(source.data)
        except _UNREADABLE:
            broken.add(source.kind)
            continue
        found[source.kind][key_of(record.metadata)] = record
    unspaced = ("ClusterQueue", FLAVOR, COHORT)
    queues, flavors, cohorts = ({key.name: each for key, each in found[kind].items()} for kind in unspaced)
    known = frozenset(complete) - broken, frozenset(refused) | broken
    return QueueObjects(found["Workload"], found["LocalQueue"], queues, *known, flavors=flavors, cohorts=cohorts)
