"""What may hold pods back beside Kubernetes itself: Kueue's objects, and gangs and queues of other schedulers.

Of any version of their APIs that has the fields that are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import group_of
from kubectl_dra.model.evidence import ALL_NAMESPACES, Coverage, Evidence, Read
from kubectl_dra.model.gang_objects import (
    KINDS as GANG_KINDS,
)
from kubectl_dra.model.gang_objects import (
    POD_GROUP,
    QUEUE,
    SCHEDULER_PLUGINS,
    VOLCANO,
    GangObjects,
    OtherGroup,
    OtherQueue,
    qualified,
)
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
)

_KINDS: Final = {GROUP: KINDS, **GANG_KINDS}
#: Plural and kind by group; deploy/rbac/queues.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    group: {plural: kind for kind, (plural, _) in kinds.items()} for group, kinds in _KINDS.items()
}
#: More of them are not kept of a file.
MAX_OBJECTS: Final = 50_000
#: Snapshots hold them in these versions.
_VERSIONS: Final = {GROUP: "v1beta2", SCHEDULER_PLUGINS: "v1alpha1", VOLCANO: "v1beta1"}
_RECORDS: Final[Mapping[tuple[str, str], type[msgspec.Struct]]] = {
    (GROUP, "Workload"): QueuedWorkload,
    (GROUP, "LocalQueue"): LocalQueue,
    (GROUP, "ClusterQueue"): ClusterQueue,
    (GROUP, FLAVOR): ResourceFlavor,
    (GROUP, COHORT): Cohort,
    (SCHEDULER_PLUGINS, POD_GROUP): OtherGroup,
    (VOLCANO, POD_GROUP): OtherGroup,
    (VOLCANO, QUEUE): OtherQueue,
}
#: How ``complete`` and ``refused`` name a kind: those of gangs are of several groups.
_NAMES: Final = {(group, kind): kind if group == GROUP else qualified(group, kind) for group, kind in _RECORDS}
_DECODERS: Final = {key: make_decoder(record, numbers_as_text=True) for key, record in _RECORDS.items()}
_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)


def is_queue_object(api_version: str, kind: str) -> bool:
    """Whether it is an object of Kueue that is read."""
    return group_of(api_version) == GROUP and kind in KINDS


def is_gang_object(api_version: str, kind: str) -> bool:
    """Whether it is an object of another scheduler that is read."""
    return kind in GANG_KINDS.get(group_of(api_version), ())


def record_of(api_version: str, kind: str) -> type[msgspec.Struct] | None:
    """The shape of an object that is read; None for any other."""
    return _RECORDS.get((group_of(api_version), kind))


def encoded(queues: QueueObjects, gangs: GangObjects) -> Iterator[tuple[ObjectMeta, bytes]]:
    """All of them as JSON, with what is read of them and no more."""
    of_kueue: tuple[Mapping[Any, Any], ...] = (
        queues.workloads,
        queues.local_queues,
        queues.cluster_queues,
        queues.flavors,
        queues.cohorts,
    )
    found: list[tuple[str, str, Any]] = [
        *((GROUP, kind, record) for kind, records in zip(KINDS, of_kueue, strict=True) for record in records.values()),
        *((group, POD_GROUP, record) for (group, _), record in gangs.groups.items()),
        *((VOLCANO, QUEUE, record) for record in gangs.queues.values()),
    ]
    for group, kind, record in found:
        head = _encoder.encode({"apiVersion": f"{group}/{_VERSIONS[group]}", "kind": kind})
        yield record.metadata, head[:-1] + b"," + _encoder.encode(record)[1:]


def reads_of(
    objects: QueueObjects | GangObjects, groups: Iterable[str], namespace: str, time: str = ""
) -> Iterator[Read]:
    """What was read of a live cluster, as evidence; ``namespace``: the one that is asked about, empty for all."""
    for group in groups:
        for kind, (_, namespaced) in _KINDS[group].items():
            name = _NAMES[group, kind]
            coverage = unread_coverage(objects, name, Coverage.NOT_SERVED)
            coverage = Coverage.COMPLETE if name in objects.complete else coverage
            yield Read(qualified(group, kind), namespace if namespaced else ALL_NAMESPACES, coverage, time=time)


def unread_coverage(objects: QueueObjects | GangObjects, name: str, otherwise: Coverage) -> Coverage:
    """Why a kind that is not complete is not; ``otherwise`` where nothing was refused and nothing failed."""
    return Coverage.FAILED if name in objects.failed else Coverage.FORBIDDEN if name in objects.refused else otherwise


# --- those of files -------------------------------------------------------------------------------------------------


def objects_of(sources: Sequence[Source], evidence: Evidence) -> QueueObjects:
    """Kueue's, where ``evidence`` says what a snapshot could not read.

    Most clusters have no Cohort: where there are queues, and nothing is said, none is taken for none. What is not
    served is known, too.
    """
    here = {source.kind for source in sources}
    told = _told(evidence, (GROUP,))
    complete, refused, failed = _known(here, told)
    of_cohorts = told[COHORT] == {Coverage.NOT_SERVED} or ("ClusterQueue" in here and not told[COHORT])
    found = queue_objects(sources, complete | ({COHORT} if of_cohorts else set()), refused)
    absent = not here and set[Coverage]().union(*told.values()) == {Coverage.NOT_SERVED}
    return replace(found, failed=failed, absent=absent)


def gangs_of_files(sources: Sequence[Source], evidence: Evidence) -> GangObjects:
    """Those of other schedulers, where ``evidence`` says what a snapshot could not read."""
    here = {_NAMES[group_of(each.api_version), each.kind] for each in sources}
    complete, refused, failed = _known(here, _told(evidence, GANG_KINDS))
    return msgspec.structs.replace(gang_objects(sources, complete, refused), failed=failed)


def _told(evidence: Evidence, groups: Iterable[str]) -> dict[str, set[Coverage]]:
    keys = [(group, kind) for group in groups for kind in _KINDS[group]]
    return {_NAMES[key]: {read.coverage for read in evidence.reads if read.kind == qualified(*key)} for key in keys}


def _known(here: set[str], told: Mapping[str, set[Coverage]]) -> tuple[set[str], set[str], frozenset[str]]:
    """The kinds of which all is here, those refused, and of these those that the server failed to give.

    A kind that occurs, and of which nothing is said, is complete; one that was not asked for is not.
    """
    complete = {name for name in told if Coverage.COMPLETE in told[name] or (name in here and not told[name])}
    failed = frozenset(name for name in told if Coverage.FAILED in told[name]) - complete
    return complete, {name for name in told if Coverage.FORBIDDEN in told[name]} - complete | failed, failed


def with_files(known: QueueObjects, sources: Iterable[Source], *, alone: bool = False) -> QueueObjects:
    """With the objects that files bring along; what the cluster has of the same name is replaced.

    ``alone``: nothing was to be read of a cluster's, so that kinds of which nothing else is known are complete, as
    those are that occur in the file of a cluster.
    """
    found = [source for source in sources if is_queue_object(source.api_version, source.kind)]
    if not found:
        return known
    here = {source.kind for source in found} if alone else set()
    here |= {COHORT} if "ClusterQueue" in here else set()
    more = queue_objects(found, here - known.refused)
    return replace(
        known,
        complete=known.complete | more.complete,
        workloads={**known.workloads, **more.workloads},
        local_queues={**known.local_queues, **more.local_queues},
        cluster_queues={**known.cluster_queues, **more.cluster_queues},
        flavors={**known.flavors, **more.flavors},
        cohorts={**known.cohorts, **more.cohorts},
    )


# --- decoding -------------------------------------------------------------------------------------------------------


def queue_objects(sources: Iterable[Source], complete: Iterable[str] = (), refused: Iterable[str] = ()) -> QueueObjects:
    """Kueue's objects; one that can't be decoded makes its kind incomplete."""
    found: dict[str, dict[Any, Any]] = {kind: {} for kind in KINDS}
    broken: set[str] = set()
    for _, kind, record in _decoded(sources, broken):
        found[kind][key_of(record.metadata)] = record
    unspaced = ("ClusterQueue", FLAVOR, COHORT)
    queues, flavors, cohorts = ({key.name: each for key, each in found[kind].items()} for kind in unspaced)
    known = frozenset(complete) - broken, frozenset(refused) | broken
    return QueueObjects(found["Workload"], found["LocalQueue"], queues, *known, flavors=flavors, cohorts=cohorts)


def gang_objects(sources: Iterable[Source], complete: Iterable[str] = (), refused: Iterable[str] = ()) -> GangObjects:
    """The objects of other schedulers; one that can't be decoded makes its kind incomplete."""
    broken: set[str] = set()
    found = list(_decoded(sources, broken))
    groups = {(group, key_of(record.metadata)): record for group, kind, record in found if kind == POD_GROUP}
    queues = {record.metadata.name: record for _, kind, record in found if kind == QUEUE}
    return GangObjects(groups, queues, frozenset(complete) - broken, frozenset(refused) | broken)


def _decoded(sources: Iterable[Source], broken: set[str]) -> Iterator[tuple[str, str, Any]]:
    """Group, kind and record of each; the kinds of those that can't be decoded go to ``broken``."""
    for source in sources:
        key = group_of(source.api_version), source.kind
        try:
            yield *key, _DECODERS[key].decode(source.data)
        except (ValueError, RecursionError):
            broken.add(_NAMES[key])
