"""Gathering the pools that a node sees: relevant slices, newest generation, completeness, validity, order.

Upstream: GatherPools of the structured allocator. A pool that is incomplete or invalid stays in the list without
devices; one whose newer generation shows up elsewhere is dropped. Until 1.34 slices that are not for the node did not
count, and such pools kept their devices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import compress
from operator import attrgetter, is_, itemgetter, not_
from typing import Final, TypeVar
from weakref import ReferenceType, ref

import msgspec

from kubectl_dra.allocation.input.pool_faults import InvalidReason, bad_reference, counter_sets, duplicate_device
from kubectl_dra.allocation.input.slices import Condition, condition_of, everywhere, relevant, unsupported, uses_groups
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import CounterSet, ResourceSlice

# Views of the slices that belong to no node are kept for so many different sets of nodes.
_VIEWS: Final = 64
K = TypeVar("K")
T = TypeVar("T")
_NO_SETS: Final[dict[str, CounterSet]] = {}
_BINDING: Final = attrgetter("binding_conditions")
# Where more pools than this change, everything is looked at anew.
_FEW_CHANGES: Final = 1_000
_LAST_WITHOUT_CHECK: Final = 31


class NodePool(msgspec.Struct, eq=False):
    """One pool as one node sees it. ``slices`` hold the devices that target the node, in search order."""

    id: PoolId
    generation: int
    expected: int
    seen: int
    slices: list[ResourceSlice]
    elsewhere: Sequence[ResourceSlice] = ()
    counter_sets: dict[str, CounterSet] | None = None
    invalid: InvalidReason | None = None
    _binding: bool | None = None

    @property
    def incomplete(self) -> bool:
        """Whether not exactly the expected number of slices was seen."""
        return self.seen != self.expected

    @property
    def usable(self) -> bool:
        return self.seen == self.expected and self.invalid is None

    @property
    def binding(self) -> bool:
        """Whether a device has binding conditions, so that the pool is tried after all others."""
        if self._binding is None:
            conditions = [each for slice_ in self.slices for each in map(_BINDING, slice_.spec.devices)]
            self._binding = self.usable and conditions.count(None) < len(conditions)
        return self._binding


class ObsoletePool(msgspec.Struct, frozen=True):
    """A pool that was dropped for a node: another node sees a newer generation."""

    id: PoolId
    generation: int
    newer: int


class Gathered(msgspec.Struct, frozen=True):
    """The pools of a node in search order, those dropped, and slices that were ignored (feature off, unknown type)."""

    pools: tuple[NodePool, ...]
    obsolete: tuple[ObsoletePool, ...] = ()
    ignored: tuple[ResourceSlice, ...] = ()


_PoolKey = tuple[str, str]


class SliceIndex:
    """All slices of one attempt, by node and by pool; made once, used for every node.

    Slices of no node are visible to many nodes: what they amount to is worked out once per set of conditions that hold.
    """

    def __init__(self, slices: Iterable[ResourceSlice], features: Features) -> None:
        self.slices = tuple(slices)
        self.features = features
        self._own: dict[str, list[ResourceSlice]] = {}
        shared: list[ResourceSlice] = []
        for slice_ in self.slices:
            name = slice_.spec.node_name
            if name:
                self._own.setdefault(name, []).append(slice_)
            else:
                shared.append(slice_)
        self._by_pool: dict[_PoolKey, list[ResourceSlice]] | None = None
        self._in_turn: dict[str, list[tuple[int, ResourceSlice]]] | None = None
        self._conditions: dict[Condition, int] = {everywhere: 0}
        self._conditional: list[tuple[int, ResourceSlice]] = []
        self._ignored: list[ResourceSlice] = []
        self._views: dict[tuple[bool, ...], _View] = {}
        self._built: dict[tuple[int, ...], NodePool | ObsoletePool] = {}
        #: What nodes see, for the next attempt, with the view that it rests on.
        self.known: dict[str, tuple[_View, Gathered]] = {}
        #: Nodes that may see other pools than in the index that this one follows.
        self.affected: frozenset[str] = frozenset()
        self._followed: ReferenceType[SliceIndex] | None = None
        for slice_ in shared:
            self._add_shared(slice_)

    def following(self, slices: Iterable[ResourceSlice]) -> SliceIndex:
        """The index of the slices as they have become; nodes whose pools are what they were see the same objects."""
        given = tuple(slices)
        before, after = set(map(id, self.slices)), set(map(id, given))
        come, left = _others(given, before), _others(self.slices, after)
        pools = {_key(slice_) for slice_ in (*come, *left)}
        if len(pools) > _FEW_CHANGES:
            return SliceIndex(given, self.features)
        touched = [slice_ for pool in pools for slice_ in self.of_pool(PoolId(*pool))]
        affected = frozenset(slice_.spec.node_name or "" for slice_ in (*touched, *come))
        # Slices of no node, or slices in another order, may matter to any node.
        in_order = all(map(is_, _those(given, before), _those(self.slices, after)))
        if "" in affected or not in_order:
            return SliceIndex(given, self.features)
        return self._beside(given, come, left, affected)

    def follows(self, other: SliceIndex) -> bool:
        """Whether what nodes see was taken over from another index, but for those :attr:`affected`."""
        return self._followed is not None and self._followed() is other

    def _beside(
        self,
        given: tuple[ResourceSlice, ...],
        come: Sequence[ResourceSlice],
        left: Sequence[ResourceSlice],
        affected: frozenset[str],
    ) -> SliceIndex:
        """The index of the slices ``given``, which are what they were but on the nodes that are affected."""
        later = SliceIndex.__new__(SliceIndex)
        later.slices, later.features = given, self.features
        later._conditions, later._conditional, later._ignored = self._conditions, self._conditional, self._ignored
        later._views, later._built, later._in_turn = self._views, self._built, None
        later.known = _without(self.known, affected)
        later.affected, later._followed = affected, ref(self)
        anew = {id(slice_) for name in affected for slice_ in self.own(name)}.union(map(id, come))
        own = later._own = _without(self._own, affected)
        for slice_ in _those(given, anew):
            own.setdefault(slice_.spec.node_name or "", []).append(slice_)
        pools = {_key(slice_) for slice_ in (*come, *left)}
        if self._by_pool is None:
            later._by_pool = None
        else:
            of_pools = {id(slice_) for pool in pools for slice_ in self.of_pool(PoolId(*pool))}.union(map(id, come))
            by_pool = later._by_pool = _without(self._by_pool, pools)
            for slice_ in _those(given, of_pools):
                by_pool.setdefault(_key(slice_), []).append(slice_)
        drivers = {slice_.spec.driver for slice_ in come}
        if drivers.issuperset(slice_.spec.driver for slice_ in left):
            later.drivers = tuple(sorted(drivers.union(self.drivers)))
        if "names" in vars(self):
            later.names = _names(come, self.names)
        return later

    @cached_property
    def drivers(self) -> tuple[str, ...]:
        return tuple(sorted({slice_.spec.driver for slice_ in self.slices}))

    @cached_property
    def names(self) -> Mapping[str, frozenset[str]]:
        """By driver, what its devices publish, or did in an index before: names of attributes and capacities."""
        return _names(self.slices, {})

    def _add_shared(self, slice_: ResourceSlice) -> None:
        condition = condition_of(slice_)
        if unsupported(slice_, self.features):
            self._ignored.append(slice_)
        elif condition is not None:
            number = self._conditions.setdefault(condition, len(self._conditions))
            self._conditional.append((number, slice_))

    def own(self, node_name: str) -> Sequence[ResourceSlice]:
        return self._own.get(node_name, ())

    def in_turn(self, node_name: str) -> Iterator[ResourceSlice]:
        """The slices of a node, of no node, and with counters, in the order given."""
        if self._in_turn is None:
            self._in_turn = {}
            for place, slice_ in enumerate(self.slices):
                name = "" if slice_.spec.shared_counters else slice_.spec.node_name or ""
                self._in_turn.setdefault(name, []).append((place, slice_))
        common = self._in_turn.get("", ())
        own = self._in_turn.get(node_name, ()) if node_name else ()
        return (slice_ for _, slice_ in merge(common, own, key=itemgetter(0)))

    def of_pool(self, pool: PoolId) -> Sequence[ResourceSlice]:
        """All slices of a pool, every generation, in the order given."""
        if self._by_pool is None:
            self._by_pool = {}
            for slice_ in self.slices:
                self._by_pool.setdefault(_key(slice_), []).append(slice_)
        return self._by_pool.get(pool, ())

    def shared(self, node: Node) -> _View:
        """What a node sees of the slices of no node. Raises :class:`Aborted`."""
        # In the order of the slices, so that of several selectors that can't be parsed the first one is reported.
        holding = tuple(condition(node) for condition in self._conditions)
        view = self._views.get(holding)
        if view is None:
            if len(self._views) >= _VIEWS:
                self._views.clear()
            newest: dict[_PoolKey, list[ResourceSlice]] = {}
            for number, slice_ in self._conditional:
                if holding[number]:
                    _keep_newest(newest, slice_)
            judged = [self._build(PoolId(*key), slices) for key, slices in newest.items()]
            view = self._views[holding] = _View(newest, _gathered(judged, self._ignored, self.features))
        return view

    def _build(self, pool: PoolId, slices: list[ResourceSlice]) -> NodePool | ObsoletePool:
        identity = tuple(map(id, slices))
        if identity not in self._built:
            self._built[identity] = _judge(pool, slices, self)
        return self._built[identity]


class _View(msgspec.Struct, frozen=True):
    """The newest slices of each pool, among those of no node, and the pools that they make by themselves."""

    newest: Mapping[_PoolKey, list[ResourceSlice]]
    gathered: Gathered


def gather(index: SliceIndex, node: Node) -> Gathered:
    """The pools that a node sees. Raises :class:`Aborted` for a node selector that can't be parsed."""
    if index.features.implementation == "stable" and index.features.judges_whole_pools:
        return _gather_all(index, node)
    view = index.shared(node)
    known = index.known.get(node.metadata.name)
    if known is None or known[0] is not view:
        known = index.known[node.metadata.name] = view, _gather_own(index, view, node.metadata.name)
    return known[1]


def _gather_own(index: SliceIndex, view: _View, node_name: str) -> Gathered:
    """A node's own slices with those of no node that it sees."""
    own: dict[_PoolKey, list[ResourceSlice]] = {}
    ignored: list[ResourceSlice] = []
    for slice_ in index.own(node_name):
        if unsupported(slice_, index.features):
            ignored.append(slice_)
        else:
            _keep_newest(own, slice_)
    if not own and not ignored:
        return view.gathered
    judged = [_judge(PoolId(*key), _joined(slices, view.newest.get(key)), index) for key, slices in own.items()]
    shared = view.gathered
    judged += [pool for pool in shared.pools if pool.id not in own]
    judged += [pool for pool in shared.obsolete if pool.id not in own]
    return _gathered(judged, (*ignored, *shared.ignored), index.features)


def _gather_all(index: SliceIndex, node: Node) -> Gathered:
    """As the first implementation does: slices in turn, those with counters wherever they are."""
    newest: dict[_PoolKey, list[ResourceSlice]] = {}
    ignored: list[ResourceSlice] = []
    for slice_ in index.in_turn(node.metadata.name):
        if unsupported(slice_, index.features):
            ignored.append(slice_)
        elif relevant(slice_, node, index.features):
            _keep_newest(newest, slice_)
    judged = [_judge(PoolId(*key), slices, index) for key, slices in newest.items()]
    return _gathered(judged, ignored, index.features)


def _gathered(
    judged: Sequence[NodePool | ObsoletePool], ignored: Iterable[ResourceSlice], features: Features
) -> Gathered:
    pools = [pool for pool in judged if isinstance(pool, NodePool)]
    obsolete = tuple(pool for pool in judged if isinstance(pool, ObsoletePool))
    if len(pools) > 1:
        first = features.implementation == "stable"
        pools.sort(key=lambda pool: (not first and pool.binding, pool.id))
    return Gathered(tuple(pools), obsolete, tuple(ignored))


def _those(slices: Iterable[ResourceSlice], identities: Collection[int]) -> Iterator[ResourceSlice]:
    """The slices with one of these identities: among 10,000 a few are looked for, again and again."""
    slices = tuple(slices)
    return compress(slices, map(identities.__contains__, map(id, slices)))


def _others(slices: tuple[ResourceSlice, ...], identities: Collection[int]) -> list[ResourceSlice]:
    return list(compress(slices, map(not_, map(identities.__contains__, map(id, slices)))))


def _names(slices: Iterable[ResourceSlice], known: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    found = {driver: set(names) for driver, names in known.items()}
    for slice_ in slices:
        names = found.setdefault(slice_.spec.driver, set())
        for device in slice_.spec.devices:
            names.update(device.attributes, device.capacity)
    return {driver: frozenset(names) for driver, names in found.items()}


def _without(objects: Mapping[K, T], keys: Iterable[K]) -> dict[K, T]:
    left = dict(objects)
    for key in keys:
        left.pop(key, None)
    return left


def _key(slice_: ResourceSlice) -> _PoolKey:
    return slice_.spec.driver, slice_.spec.pool.name


def _joined(own: list[ResourceSlice], shared: list[ResourceSlice] | None) -> list[ResourceSlice]:
    """A pool's slices of the node and of no node, as far as they are of the newest generation."""
    if shared is None:
        return own
    mine, theirs = own[0].spec.pool.generation, shared[0].spec.pool.generation
    if mine == theirs:
        return own + shared
    return own if mine > theirs else list(shared)


def _keep_newest(newest: dict[_PoolKey, list[ResourceSlice]], slice_: ResourceSlice) -> None:
    pool, key = slice_.spec.pool, _key(slice_)
    collected = newest.get(key)
    if collected is None or pool.generation > collected[0].spec.pool.generation:
        newest[key] = [slice_]
    elif pool.generation == collected[0].spec.pool.generation:
        collected.append(slice_)


# --- one pool -------------------------------------------------------------------------------------------------------


def _judge(pool: PoolId, slices: list[ResourceSlice], index: SliceIndex) -> NodePool | ObsoletePool:
    first = slices[0].spec.pool
    if not index.features.judges_whole_pools:
        return _as_the_node_sees(pool, slices, index.features)
    if len(slices) == first.resource_slice_count:
        return _build(pool, slices, (), index.features)
    everywhere = index.of_pool(pool)
    newer = max((s.spec.pool.generation for s in everywhere), default=first.generation)
    if newer > first.generation:
        return ObsoletePool(pool, first.generation, newer)
    current = [s for s in everywhere if s.spec.pool.generation == first.generation]
    if not index.features.compatibility_groups:
        current = [s for s in current if not uses_groups(s)]
    if len(current) != first.resource_slice_count:
        return NodePool(pool, first.generation, first.resource_slice_count, len(current), [])
    names = {s.metadata.name for s in slices}
    others = [s for s in current if s.metadata.name not in names] if len(slices) < len(current) else []
    return _build(pool, slices, others, index.features)


def _as_the_node_sees(pool: PoolId, slices: list[ResourceSlice], features: Features) -> NodePool:
    """Until 1.34; until 1.31 two devices of one name were not noticed."""
    first = slices[0].spec.pool
    result = NodePool(pool, first.generation, first.resource_slice_count, len(slices), slices)
    if features.partitionable_devices:
        result.counter_sets, _ = counter_sets(slices)
    result.invalid = duplicate_device(slices) if features.minor > _LAST_WITHOUT_CHECK else None
    return result


def _build(pool: PoolId, slices: list[ResourceSlice], others: Sequence[ResourceSlice], features: Features) -> NodePool:
    first = slices[0].spec.pool
    if len(slices) > 1 and features.implementation != "stable":
        slices = sorted(slices, key=lambda s: s.metadata.name)
    result = NodePool(pool, first.generation, first.resource_slice_count, first.resource_slice_count, slices)
    counter_slices: list[ResourceSlice] = []
    if features.partitionable_devices:
        counter_slices = [s for s in (*slices, *others) if s.spec.shared_counters]
        if counter_slices:
            result.slices = [s for s in slices if not s.spec.shared_counters]
        result.elsewhere = [s for s in others if not s.spec.shared_counters] if others else ()
    result.invalid = duplicate_device(result.slices)
    if result.invalid is None and features.partitionable_devices:
        result.counter_sets, result.invalid = counter_sets(counter_slices) if counter_slices else (_NO_SETS, None)
        consuming = slices if features.implementation == "stable" else result.slices
        result.invalid = result.invalid or bad_reference(result.counter_sets, (*consuming, *result.elsewhere))
    if result.invalid is not None:
        result.slices, result.elsewhere = [], ()
    return result
