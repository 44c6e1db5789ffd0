"""Kueue's objects, of any version of its API that has the fields that are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.sources import Source
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.queues import GROUP, ClusterQueue, LocalQueue, QueuedWorkload, QueueObjects

#: Plural and kind by group; deploy/rbac/queues.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    GROUP: {"workloads": "Workload", "localqueues": "LocalQueue", "clusterqueues": "ClusterQueue"}
}
#: More of them are not kept of a file.
MAX_OBJECTS: Final = 50_000
_RECORDS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "Workload": QueuedWorkload,
    "LocalQueue": LocalQueue,
    "ClusterQueue": ClusterQueue,
}
_DECODERS: Final = {kind: make_decoder(record, numbers_as_text=True) for kind, record in _RECORDS.items()}
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError)


def is_queue_object(api_version: str, kind: str) -> bool:
    """Whether it is an object of Kueue that is read."""
    return api_version.rpartition("/")[0] == GROUP and kind in _RECORDS


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
    queues = {key.name: record for key, record in found["ClusterQueue"].items()}
    return QueueObjects(
        found["Workload"], found["LocalQueue"], queues, frozenset(complete) - broken, frozenset(refused) | broken
    )
