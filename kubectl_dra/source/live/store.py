"""The present state that messages of reflectors add up to; owned by one thread.

Servers send the events of a kind in their order and once each. What stands between us and a server may not: an event
that is older than what is known of its object is left out, by the order of resourceVersions that Kubernetes promises
(KEP-5504: decimal numbers, comparable within a kind).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import is_
from typing import Any, Final

from msgspec.structs import replace

from kubectl_dra.api.build import inventory_fields
from kubectl_dra.api.kinds import POD
from kubectl_dra.model.base import Record
from kubectl_dra.model.clock import Clock, timestamp
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import BadObject, Coverage, Evidence, Read
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.usage import NodeUsage, sum_of_pods
from kubectl_dra.source.live import watch
from kubectl_dra.source.live.pods import Placed, PodTracker, matters, taken_by
from kubectl_dra.source.live.sharing import Sharer
from kubectl_dra.source.needs import Needs

_READ: Final = (Coverage.COMPLETE, Coverage.FILTERED)
_UNKNOWN: Final = -1
# Late copies of events are late by seconds, so that not all objects that are gone need to be remembered.
_MAX_LEFT: Final = 10_000


class Store:
    """Applies messages; :meth:`inventory` and :meth:`evidence` are snapshots that later messages don't change."""

    def __init__(self, needs: Needs, clock: Clock, former: Store | None = None) -> None:
        self._needs = needs
        self._clock = clock
        self._former = former
        self._sharer = Sharer()
        self._objects: dict[str, dict[Key, Any]] = {}
        self._bad: dict[tuple[watch.WatchScope, Key], BadObject] = {}
        self._reads: dict[watch.WatchScope, Read] = {}
        self._pods: _NodeSums = _NodeSums(former._pods.usage if former is not None else {})
        if former is not None:
            former.forget_former()
        self._ages = _Ages()
        self._published = Inventory()
        # Kinds whose dict is not that of the published Inventory, and may be changed.
        self._own_kinds: set[str] = set()

    @property
    def objects(self) -> Mapping[str, Mapping[Key, Any]]:
        """The objects of now by kind; changes with them."""
        return self._objects

    @property
    def heard(self) -> Store | None:
        """Who knows what was heard last: one that has read nothing knows no more than the one before."""
        return self if self._objects else self._former

    @property
    def priorities(self) -> Collection[int]:
        return self._pods.priorities

    def known(self, kind: str, key: Key) -> Any:  # noqa: ANN401 - any kind's record
        """An object as it was heard of last, here or by the feed before; None if not known. Any thread may ask."""
        found, former = self._objects.get(kind, {}).get(key), self._former
        return former.known(kind, key) if found is None and former is not None else found

    def placed(self, key: Key) -> Placed | None:
        """Where a pod was when it was heard of last, and what it takes there. Any thread may ask."""
        found, former = self._pods.placed(key), self._former
        return former.placed(key) if found is None and former is not None else found

    def forget_former(self) -> None:
        """Everything has been read once, or this is the former one itself."""
        self._former = None
        self._pods.forget_former()

    def apply(self, message: watch.Message) -> bool:
        """Take one message; whether it changes what an Inventory or its evidence says."""
        match message:
            case watch.Relisted():
                self._relisted(message)
            case watch.Changed():
                return self._changed(message)
            case watch.UnreadableObject():
                self._unreadable(message)
            case watch.Refused():
                return self._refused(message)
            case watch.Progressed():
                self._move(message.scope, message.resource_version)
                return False
            case watch.BrokenWatch() if message.scope not in self._reads:
                self._failed(message)
            case watch.BrokenWatch() | watch.Crashed() | watch.Unselectable():
                return False
        return True

    def inventory(self) -> Inventory:
        """The objects of now; what has not changed since the last time is the same, with what was derived from it."""
        changed, self._own_kinds = self._own_kinds, set()
        usage = self._pods.changed_usage()
        if changed or usage is not None:
            fields = inventory_fields(self._objects, changed) | ({} if usage is None else {"usage": usage})
            before = self._published if self._former is None else self._former._published
            kept = {name: _as_before(getattr(before, name), made) for name, made in fields.items()}
            self._published = self._published.replace(**kept)
        return self._published

    def evidence(self, server_version: tuple[int, int] | None, origin: str, address: Address) -> Evidence:
        """What the objects of now prove."""
        broken = {scope.kind.name for scope, _ in self._bad}
        reads = tuple(
            replace(read, coverage=Coverage.PARTIAL) if read.kind in broken and read.coverage in _READ else read
            for read in self._reads.values()
        )
        return Evidence(reads, tuple(self._bad.values()), server_version, origin, address=address)

    def _own(self, kind: str) -> dict[Key, Any]:
        """The dict of a kind, safe to change."""
        if kind not in self._own_kinds:
            self._objects[kind] = dict(self._objects.get(kind, {}))
            self._own_kinds.add(kind)
        return self._objects[kind]

    def _relisted(self, message: watch.Relisted) -> None:
        scope, listed = message.scope, message.listed
        kind = scope.kind.name
        known = self._objects.get(kind, {})
        kept = {key: record for key, record in known.items() if not scope.has(key, record)}
        self._objects[kind] = kept | _with_old_identity(known, listed.sink.kept)
        self._own_kinds.add(kind)
        self._ages.listed(scope, listed.read.resource_version)
        self._bad = {name: bad for name, bad in self._bad.items() if name[0] != scope}
        self._bad |= {(scope, Key(bad.namespace, bad.name)): bad for bad in listed.bad_objects}
        coverage = Coverage.FILTERED if scope.fields else Coverage.COMPLETE
        self._reads[scope] = replace(listed.read, coverage=coverage, fields=scope.fields)
        if isinstance(listed.sink, PodTracker):
            self._pods.replace(listed.sink.taken, scope.namespace)

    def _changed(self, message: watch.Changed) -> bool:
        scope, record = message.scope, message.record
        key = key_of(record.metadata)  # type: ignore[attr-defined]
        known = self._objects.get(scope.kind.name, {}).get(key)
        self._move(scope, message.resource_version)
        stays = not message.deleted and self._keeps(key, record)
        if not self._ages.is_news(message, key, known, stays):
            return False
        news = self._bad.pop((scope, key), None) is not None
        if isinstance(record, Pod):
            news |= self._pods.put(key, None if message.deleted else taken_by(record, self._sharer))
        if stays:
            self._own(scope.kind.name)[key] = record
        elif known is None:
            return news
        else:
            del self._own(scope.kind.name)[key]
        return True

    def _keeps(self, key: Key, record: Record) -> bool:
        return (
            not isinstance(record, Pod)
            or self._needs.all_pods
            or key in self._needs.pods
            or matters(record, self._needs.whole_nodes)
        )

    def _unreadable(self, message: watch.UnreadableObject) -> None:
        scope, key = message.scope, Key(message.bad.namespace, message.bad.name)
        self._own(scope.kind.name).pop(key, None)
        if scope.kind is POD:
            self._pods.put(key, None)
        if message.deleted:
            self._bad.pop((scope, key), None)
        else:
            self._bad[(scope, key)] = message.bad
        self._move(scope, message.resource_version)

    def _refused(self, message: watch.Refused) -> bool:
        scope, before = message.scope, self._reads.get(message.scope)
        self._reads[scope] = Read(
            scope.kind.name, scope.namespace, message.coverage, time=timestamp(self._clock), note=message.what
        )
        if before is not None and before.coverage in _READ:
            self._forget(scope)
        return before is None or before.coverage is not message.coverage

    def _failed(self, message: watch.BrokenWatch) -> None:
        """Nothing of it came yet: until it does, nothing is known of it."""
        scope, what = message.scope, message.error.what
        time = timestamp(self._clock)
        self._reads[scope] = Read(scope.kind.name, scope.namespace, Coverage.FAILED, time=time, note=what)

    def _forget(self, scope: watch.WatchScope) -> None:
        """What only this scope has told; others of the kind may go on."""
        kind = scope.kind
        others = [each for each, read in self._reads.items() if each.kind is kind and read.coverage in _READ]

        def only_here(key: Key, record: object = None) -> bool:
            return scope.has(key, record) and not any(other.has(key, record) for other in others)

        objects = self._own(kind.name)
        for key in [key for key, record in objects.items() if only_here(key, record)]:
            del objects[key]
        self._bad = {name: bad for name, bad in self._bad.items() if name[0] != scope}
        if kind is POD:
            self._pods.drop(only_here)

    def _move(self, scope: watch.WatchScope, resource_version: str) -> None:
        read = self._reads.get(scope)
        if read is not None:
            self._reads[scope] = replace(read, resource_version=resource_version, time=timestamp(self._clock))


def _with_old_identity(known: dict[Key, Any], records: Iterable[Any]) -> dict[Key, Any]:
    """Objects that have not changed stay the same objects, so that what was computed from them stays true."""
    fresh = {key_of(record.metadata): record for record in records}
    for key, record in fresh.items():
        old = known.get(key)
        if old is not None and old.metadata.resource_version == record.metadata.resource_version != "":
            fresh[key] = old
    return fresh


def _as_before(before: Any, made: Any) -> Any:  # noqa: ANN401 - any field of an Inventory
    """The same map as before if nothing of it has changed, as of a list taken again: what follows stays true."""
    if not isinstance(made, Mapping) or len(before) != len(made):
        return made
    return before if all(map(is_, before.values(), made.values())) and list(before) == list(made) else made


class _Ages:
    """Which events are old. Of objects that are not kept the last versions are remembered, and how new each list is."""

    def __init__(self) -> None:
        self._lists: dict[watch.WatchScope, int] = {}
        self._left: dict[watch.WatchScope, dict[Key, int]] = {}

    def listed(self, scope: watch.WatchScope, resource_version: str) -> None:
        """A whole list of ``scope`` was taken: everything up to there is in it."""
        self._lists[scope] = _number(resource_version)
        self._left[scope] = {}

    def is_news(self, message: watch.Changed, key: Key, known: Any, stays: bool) -> bool:  # noqa: ANN401 - any kind's record
        """Whether an event is newer than what is ``known`` of its object; versions that are no numbers always are.

        ``stays`` says whether the object is kept afterwards.
        """
        scope, version = message.scope, _number(message.record.metadata.resource_version)  # type: ignore[attr-defined]
        left = self._left.setdefault(scope, {})
        before = left.pop(key, _UNKNOWN) if known is None else _number(known.metadata.resource_version)
        if not stays:
            left[key] = max(version, before)
            if len(left) > _MAX_LEFT:
                del left[next(iter(left))]
        if known is not None and message.deleted:
            return version == _UNKNOWN or version >= before
        return version == _UNKNOWN or version > max(before, self._lists.get(scope, _UNKNOWN))


def _number(resource_version: str) -> int:
    return int(resource_version) if resource_version.isdecimal() else _UNKNOWN


class _NodeSums:
    """What all pods take per node; each pod's part is remembered, because a change says only what is now.

    Sums that are equal to the ``former`` ones stay these.
    """

    def __init__(self, former: Mapping[str, NodeUsage]) -> None:
        self.usage: dict[str, NodeUsage] = {}
        self._former = former
        self._nodes: dict[Key, str] = {}
        self._members: dict[str, dict[Key, PodInfo]] = {}
        self._touched: set[str] = set()
        self._priorities: Counter[int] = Counter()

    @property
    def priorities(self) -> Collection[int]:
        """Those that any pod has."""
        return self._priorities.keys()

    def changed_usage(self) -> dict[str, NodeUsage] | None:
        """The sums per node; None if they are what they were when this was asked last."""
        if not self._touched:
            return None
        self.usage = dict(self.usage)
        for node in self._touched:
            members = self._members[node].values()
            if members:
                made, known = sum_of_pods(members), self._former.get(node)
                self.usage[node] = known if known == made else made
            else:
                del self._members[node]
                self.usage.pop(node, None)
        self._touched.clear()
        return self.usage

    def forget_former(self) -> None:
        self._former = {}

    def placed(self, key: Key) -> Placed | None:
        node = self._nodes.get(key, "")
        info = self._members.get(node, {}).get(key)
        return (node, info) if info is not None else None

    def replace(self, taken: dict[Key, Placed], namespace: str) -> None:
        """Take the place of all pods (of ``namespace``, if it is not empty)."""
        self.drop(lambda key: key not in taken and (not namespace or key.namespace == namespace))
        for key, place in taken.items():
            self.put(key, place)

    def drop(self, chosen: Callable[[Key], bool]) -> None:
        for key in [key for key in self._nodes if chosen(key)]:
            self.put(key, None)

    def put(self, key: Key, place: Placed | None) -> bool:
        """Change one pod; whether that changes anything."""
        before = self.placed(key)
        if before == place:
            return False
        if before is not None:
            del self._nodes[key], self._members[before[0]][key]
            self._touched.add(before[0])
            self._count(before[1], -1)
        if place is not None:
            key = place[1].key  # the same, which the pod keeps anyway
            self._nodes[key] = place[0]
            self._members.setdefault(place[0], {})[key] = place[1]
            self._touched.add(place[0])
            self._count(place[1], 1)
        return True

    def _count(self, pod: PodInfo, number: int) -> None:
        priority = pod.shape.priority
        self._priorities[priority] += number
        if not self._priorities[priority]:
            del self._priorities[priority]
