"""Gangs and queues of other schedulers, of any version of their APIs that has the fields that are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.api.sources import Source
from kubectl_dra.model.evidence import ALL_NAMESPACES, Coverage, Evidence, Read
from kubectl_dra.model.gang_objects import (
    KINDS,
    POD_GROUP,
    QUALIFIED,
    SCHEDULER_PLUGINS,
    VOLCANO,
    GangObjects,
    OtherGroup,
    OtherQueue,
    qualified,
)
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta

#: Plural and kind by group; deploy/rbac/queues.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    group: {plural: kind for kind, (plural, _) in kinds.items()} for group, kinds in KINDS.items()
}
#: More of them are not kept of a file.
MAX_OBJECTS: Final = 50_000
#: Snapshots hold them in these versions.
_VERSIONS: Final = {SCHEDULER_PLUGINS: "v1alpha1", VOLCANO: "v1beta1"}
_groups: Final = make_decoder(OtherGroup, numbers_as_text=True)
_queues: Final = make_decoder(OtherQueue, numbers_as_text=True)
_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, ValueError, RecursionError)


def is_gang_object(api_version: str, kind: str) -> bool:
    """Whether it is an object that is read."""
    return kind in KINDS.get(api_version.rpartition("/")[0], ())


def shape_of_gang(api_version: str, kind: str) -> type[msgspec.Struct] | None:
    """The shape of such an object; None for any other."""
    if not is_gang_object(api_version, kind):
        return None
    return OtherGroup if kind == POD_GROUP else OtherQueue


def encoded_gangs(objects: GangObjects) -> Iterator[tuple[ObjectMeta, bytes]]:
    """All of them as JSON, with what is read of them and no more."""
    for (group, _), found in objects.groups.items():
        yield found.metadata, _encoded(group, POD_GROUP, found)
    for queue in objects.queues.values():
        yield queue.metadata, _encoded(VOLCANO, "Queue", queue)


def _encoded(group: str, kind: str, record: msgspec.Struct) -> bytes:
    head = _encoder.encode({"apiVersion": f"{group}/{_VERSIONS[group]}", "kind": kind})
    return head[:-1] + b"," + _encoder.encode(record)[1:]


def reads_of_gangs(objects: GangObjects, groups: Iterable[str], namespace: str, time: str = "") -> Iterator[Read]:
    """What was read of a live cluster, as evidence; ``namespace``: the one that is asked about, empty for all."""
    for group in groups:
        for kind, (_, namespaced) in KINDS[group].items():
            name = qualified(group, kind)
            coverage = Coverage.FORBIDDEN if name in objects.refused else Coverage.NOT_SERVED
            coverage = Coverage.COMPLETE if name in objects.complete else coverage
            yield Read(name, namespace if namespaced else ALL_NAMESPACES, coverage, time=time)


def gangs_of_files(sources: Iterable[Source], evidence: Evidence) -> GangObjects:
    """Those of files, where ``evidence`` says what a snapshot could not read; a kind that occurs is complete else."""
    sources = list(sources)
    here = {qualified(each.api_version.rpartition("/")[0], each.kind) for each in sources}
    coverage = {name: {each.coverage for each in evidence.reads if each.kind == name} for name in QUALIFIED}
    complete = {
        name for name in QUALIFIED if Coverage.COMPLETE in coverage[name] or (name in here and not coverage[name])
    }
    refused = {name for name in QUALIFIED if Coverage.FORBIDDEN in coverage[name]} - complete
    return gang_objects(sources, complete, refused)


def gang_objects(sources: Iterable[Source], complete: Iterable[str] = (), refused: Iterable[str] = ()) -> GangObjects:
    """The objects; one that can't be decoded makes its kind incomplete."""
    groups: dict[tuple[str, Key], OtherGroup] = {}
    queues: dict[str, OtherQueue] = {}
    broken: set[str] = set()
    for source in sources:
        group = source.api_version.rpartition("/")[0]
        try:
            if source.kind == POD_GROUP:
                found = _groups.decode(source.data)
                groups[group, key_of(found.metadata)] = found
            else:
                queue = _queues.decode(source.data)
                queues[queue.metadata.name] = queue
        except _UNREADABLE:
            broken.add(qualified(group, source.kind))
    return GangObjects(groups, queues, frozenset(complete) - broken, frozenset(refused) | broken)
