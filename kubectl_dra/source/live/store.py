"""The present state that messages of reflectors add up to; owned by one thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from kubectl_dra.api.build import inventory_of
from kubectl_dra.api.kinds import POD
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import BadObject, Coverage, Evidence, Read
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.source.live.listing import now
from kubectl_dra.source.live.needs import Needs
from kubectl_dra.source.live.pods import PodTracker, matters, taken_by
from kubectl_dra.source.live.watch import Broken, Changed, Message, Progressed, Refused, Relisted, Scope, Unreadable


class Store:
    """Applies messages; :meth:`inventory` and :meth:`evidence` are snapshots that later messages don't change."""

    def __init__(self, needs: Needs) -> None:
        self._needs = needs
        self._objects: dict[str, dict[Key, Any]] = {}
        self._bad: dict[tuple[str, Key], BadObject] = {}
        self._reads: dict[Scope, Read] = {}
        self._pods = _NodeSums()
        # Kinds whose dict is part of a published Inventory and must be copied before it is changed.
        self._shared: set[str] = set()

    def apply(self, message: Message) -> bool:
        """Take one message; whether it changes what an Inventory or its evidence says."""
        match message:
            case Relisted():
                self._relisted(message)
            case Changed():
                self._changed(message)
            case Unreadable():
                self._unreadable(message)
            case Refused():
                return self._refused(message)
            case Progressed():
                self._move(message.scope, message.resource_version)
                return False
            case Broken():
                return False
        return True

    def inventory(self) -> Inventory:
        """The objects of now."""
        self._shared = set(self._objects)
        return inventory_of(dict(self._objects)).replace(usage=dict(self._pods.usage))

    def evidence(self, server_version: tuple[int, int] | None, origin: str) -> Evidence:
        """What the objects of now prove."""
        broken = {kind for kind, _ in self._bad}
        reads = tuple(
            replace(read, coverage=Coverage.PARTIAL)
            if read.kind in broken and read.coverage is Coverage.COMPLETE
            else read
            for read in self._reads.values()
        )
        return Evidence(reads, tuple(self._bad.values()), server_version, origin)

    def _own(self, kind: str) -> dict[Key, Any]:
        """The dict of a kind, safe to change."""
        if kind in self._shared:
            self._objects[kind] = dict(self._objects[kind])
            self._shared.discard(kind)
        return self._objects.setdefault(kind, {})

    def _relisted(self, message: Relisted) -> None:
        scope, listed = message.scope, message.listed
        kind, inside = scope.kind.name, scope.namespace
        known = self._objects.get(kind, {})
        kept = {key: record for key, record in known.items() if inside and key.namespace != inside}
        self._objects[kind] = kept | _with_old_identity(known, listed.sink.kept)
        self._shared.discard(kind)
        self._bad = {
            name: bad for name, bad in self._bad.items() if name[0] != kind or (inside and name[1].namespace != inside)
        } | {(kind, Key(bad.namespace, bad.name)): bad for bad in listed.bad_objects}
        self._reads[scope] = replace(listed.read, coverage=Coverage.COMPLETE)
        if isinstance(listed.sink, PodTracker):
            self._pods.replace(listed.sink.taken, inside)

    def _changed(self, message: Changed) -> None:
        kind, record = message.scope.kind.name, message.record
        key = key_of(record.metadata)  # type: ignore[attr-defined]
        objects = self._own(kind)
        if message.deleted or not self._keeps(key, record):
            objects.pop(key, None)
        else:
            objects[key] = record
        if isinstance(record, Pod):
            self._pods.put(key, None if message.deleted else taken_by(record))
        self._bad.pop((kind, key), None)
        self._move(message.scope, message.resource_version)

    def _keeps(self, key: Key, record: Record) -> bool:
        return not isinstance(record, Pod) or self._needs.all_pods or key in self._needs.pods or matters(record)

    def _unreadable(self, message: Unreadable) -> None:
        kind, key = message.scope.kind.name, Key(message.bad.namespace, message.bad.name)
        self._own(kind).pop(key, None)
        self._bad[(kind, key)] = message.bad

    def _refused(self, message: Refused) -> bool:
        scope, before = message.scope, self._reads.get(message.scope)
        self._reads[scope] = Read(scope.kind.name, scope.namespace, message.coverage, time=now(), note=message.what)
        if before is not None and before.coverage is Coverage.COMPLETE:
            self._forget(scope)
        return before is None or before.coverage is not message.coverage

    def _forget(self, scope: Scope) -> None:
        objects = self._own(scope.kind.name)
        for key in [key for key in objects if not scope.namespace or key.namespace == scope.namespace]:
            del objects[key]
        if scope.kind is POD:
            self._pods.replace({}, scope.namespace)

    def _move(self, scope: Scope, resource_version: str) -> None:
        read = self._reads.get(scope)
        if read is not None:
            self._reads[scope] = replace(read, resource_version=resource_version, time=now())


def _with_old_identity(known: dict[Key, Any], records: Iterable[Any]) -> dict[Key, Any]:
    """Objects that have not changed stay the same objects, so that what was computed from them stays true."""
    fresh = {key_of(record.metadata): record for record in records}
    for key, record in fresh.items():
        old = known.get(key)
        if old is not None and old.metadata.resource_version == record.metadata.resource_version != "":
            fresh[key] = old
    return fresh


class _NodeSums:
    """What all pods take per node; each pod's part is remembered, because a change says only what is now."""

    def __init__(self) -> None:
        self.usage: dict[str, NodeUsage] = {}
        self._places: dict[Key, str] = {}
        self._members: dict[str, dict[Key, NodeUsage]] = {}

    def replace(self, taken: dict[Key, tuple[str, NodeUsage]], namespace: str) -> None:
        """Take the place of all pods (of ``namespace``, if it is not empty)."""
        gone = [key for key in self._places if key not in taken and (not namespace or key.namespace == namespace)]
        touched = {node for key in gone for node in self._place(key, None)}
        for key, place in taken.items():
            touched |= self._place(key, place)
        self._sum(touched)

    def put(self, key: Key, place: tuple[str, NodeUsage] | None) -> None:
        """Change one pod."""
        self._sum(self._place(key, place))

    def _place(self, key: Key, place: tuple[str, NodeUsage] | None) -> set[str]:
        touched = set()
        node = self._places.pop(key, None)
        if node is not None:
            del self._members[node][key]
            touched.add(node)
        if place is not None:
            self._places[key] = place[0]
            self._members.setdefault(place[0], {})[key] = place[1]
            touched.add(place[0])
        return touched

    def _sum(self, nodes: Iterable[str]) -> None:
        for node in nodes:
            members = self._members[node].values()
            if members:
                self.usage[node] = reduce(NodeUsage.plus, members)
            else:
                del self._members[node]
                self.usage.pop(node, None)
