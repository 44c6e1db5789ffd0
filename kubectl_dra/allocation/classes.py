"""Classes of nodes that no search can tell apart, worked out once for all attempts on a cluster.

Nodes are alike to an attempt if its expressions say the same of their devices. That rests on classes which no
expression has made: what a :class:`~kubectl_dra.allocation.view.View` shows of a node if nothing is left out but
attributes and capacities; each of those that anybody reads is a column beside it, made once. So devices are compared
again only for a column that nobody has read before, and in pools whose claims have changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import Final, NamedTuple

from kubectl_dra.allocation.allocated import AllocatedState, PoolState
from kubectl_dra.allocation.checks import NODE_FEATURE
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.pools import Pool, SliceIndex, gather
from kubectl_dra.allocation.selection import Selection
from kubectl_dra.allocation.view import View, is_shared
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import Device
from kubectl_dra.selectors.lens import Columns, is_broken

# Beyond so many contents for each slice the numbers are given anew.
_MOST_CONTENTS: Final = 8
_FEW: Final = 10_000
# Sets of expressions whose verdicts are kept.
_MOST_SIGHTS: Final = 128
_EVERYTHING: Final = "everything"


class _Base(NamedTuple):
    """The number of a pool's content. ``held``: what claims held of it then."""

    pool: Pool
    held: PoolState
    number: int


class _Known:
    """What is shared by the classes of one index, however its devices are used. Numbers are never given twice."""

    def __init__(self, index: SliceIndex) -> None:
        self.index = index
        self.drivers = tuple(sorted({slice_.spec.driver for slice_ in index.slices}))
        self.bases: dict[int, _Base] = {}
        # With the pool itself: the identity of one that is gone would pass to another.
        self.columns: dict[Hashable, dict[int, tuple[Pool, int]]] = {}
        self.nodes: dict[PoolId, dict[str, None]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._next = count()
        self._judged: dict[Hashable, dict[int, int]] = {}

    def number(self, content: Hashable) -> int:
        """The number of a content, the same whenever it is asked for."""
        known = self._numbers.get(content)
        return known if known is not None else self._numbers.setdefault(content, next(self._next))

    def judged(self, expressions: Hashable) -> dict[int, int]:
        """By the number of what is read of a node, the number of what these expressions say of it."""
        if expressions not in self._judged and len(self._judged) >= _MOST_SIGHTS:
            self._judged = {}
        return self._judged.setdefault(expressions, {})

    @property
    def crowded(self) -> bool:
        """Whether most of what has a number is of the past."""
        return len(self._numbers) > _FEW + _MOST_CONTENTS * len(self.index.slices)


class NodeClasses:
    """The classes of the nodes of one cluster. Made from those of an earlier state, it compares what has changed."""

    def __init__(
        self, index: SliceIndex, allocated: AllocatedState, features: Features, former: NodeClasses | None = None
    ) -> None:
        self._features = features
        self._allocated = allocated
        self._view = View(allocated, features, _plain, asks_capacity=True)
        #: By columns that are read: the class of each node by its name, with the node that it is of.
        self._tables: dict[Columns | None, dict[str, tuple[Node, int | None]]] = {}
        self._known: Final = _known_of(index, former)
        #: The pools of one node that were looked into.
        self.compared = 0
        if former is not None and former._known is self._known:
            self._follow(former)

    def seen_by(self, selection: Selection) -> Sight:
        """The classes as the expressions of an attempt see them."""
        return Sight(self, self._known, selection)

    def number(self, node: Node, columns: Columns | None) -> int | None:
        """Equal for two nodes between which nobody who reads no more than these columns (None: all) sees a difference.

        None for a node of which that can't be said.
        """
        table = self._tables.get(columns)
        if table is None:
            table = self._tables.setdefault(columns, {})
        known = table.get(node.metadata.name)
        if known is not None and known[0] is node:
            return known[1]
        parts = self.parts(node, columns)
        number = self._known.number(parts) if parts is not None else None
        table[node.metadata.name] = node, number
        return number

    def _follow(self, former: NodeClasses) -> None:
        changed = self._allocated.differing(former._allocated)
        nodes = {name for pool in changed for name in self._known.nodes.get(PoolId(*pool), ())}
        for columns, table in list(former._tables.items()):
            kept = dict(table)
            for name in nodes:
                kept.pop(name, None)
            self._tables[columns] = kept

    def pools(self, node: Node) -> Sequence[Pool] | None:
        """The pools that a node sees; None where that can't be said, or each node has pools of its own."""
        if self._features.implementation == "stable" and self._features.judges_whole_pools:
            return None
        try:
            return gather(self._known.index, node).pools
        except Aborted:
            return None

    def parts(self, node: Node, columns: Columns | None) -> Hashable | None:
        """What is read of a node, pool by pool, each as a number."""
        pools = self.pools(node)
        if pools is None:
            return None
        name = node.metadata.name
        operates = self._features.optional_node_operations and NODE_FEATURE in node.status.declared_features
        content: list[Hashable] = [operates]
        for pool in pools:
            self._known.nodes.setdefault(pool.id, {})[name] = None
            content.append(self.base(pool, node))
            if columns is None:
                content.append(self._column(pool, _EVERYTHING, ""))
                continue
            content += [self._column(pool, "attributes", key) for key in columns.attributes]
            content += [self._column(pool, "capacity", key) for key in columns.capacity]
        return tuple(content)

    def base(self, pool: Pool, node: Node) -> int:
        """The number of what every attempt may read of a pool on a node."""
        if any(slice_.spec.per_device_node_selection for slice_ in pool.slices):
            return self._known.number(self._content(pool, node))
        held = self._allocated.pool(*pool.id)
        known = self._known.bases.get(id(pool))
        if known is None or known.held is not held:
            known = _Base(pool, held, self._known.number(self._content(pool, node)))
            self._known.bases[id(pool)] = known
        return known.number

    def _content(self, pool: Pool, node: Node) -> Hashable:
        self.compared += 1
        return is_shared(pool), *(seen for seen, _ in self._view.steps(pool, node))

    def _column(self, pool: Pool, part: str, key: str) -> int:
        column = self._known.columns.get((part, key))
        if column is None:
            column = self._known.columns.setdefault((part, key), {})
        known = column.get(id(pool))
        if known is None:
            self.compared += 1
            known = column[id(pool)] = pool, self._known.number((part, *_values(pool, part, key)))
        return known[1]


def _known_of(index: SliceIndex, former: NodeClasses | None) -> _Known:
    if former is None or former._known.index is not index or former._known.crowded:
        return _Known(index)
    return former._known


class Sight:
    """Classes of nodes as one attempt sees them.

    What its expressions read may be unique to each device and what they say of it not: so each class that differs in
    what is read is judged once, and the verdicts are kept for other attempts with the same expressions.
    """

    def __init__(self, classes: NodeClasses, known: _Known, selection: Selection) -> None:
        self._classes = classes
        self._known = known
        self._selection = selection
        self._columns = selection.columns(known.drivers)
        self._judged = known.judged(selection.identity)

    def of(self, node: Node) -> int | None:
        """Equal for two nodes that get the same answer; None for a node of which that can't be said."""
        number = self._classes.number(node, self._columns)
        if number is None:
            return None
        found = self._judged.get(number)
        if found is None:
            found = self._judged[number] = self._known.number(self._verdicts(node))
        return found

    def _verdicts(self, node: Node) -> Hashable:
        seen = self._selection.seen
        operates = NODE_FEATURE in node.status.declared_features
        content: list[Hashable] = [operates]
        for pool in self._classes.pools(node) or ():
            content.append(self._classes.base(pool, node))
            devices = (device for slice_ in pool.slices for device in slice_.spec.devices)
            content.append(self._known.number(tuple(seen(pool.id.driver, device) for device in devices)))
        return tuple(content)


def _values(pool: Pool, part: str, key: str) -> Iterable[Hashable]:
    if part == _EVERYTHING:
        return (id(pool),)
    devices = (device for slice_ in pool.slices for device in slice_.spec.devices)
    if part == "attributes":
        return (device.attributes.get(key) for device in devices)
    amounts = (device.capacity.get(key) for device in devices)
    return (amount and amount.value for amount in amounts)


def _plain(driver: str, device: Device) -> Hashable:
    """What every expression sees of a device; of one with a value that CEL can't hold everything."""
    if is_broken(device):
        capacity = frozenset((name, amount.value) for name, amount in device.capacity.items())
        return driver, device.allow_multiple_allocations, frozenset(device.attributes.items()), capacity
    return driver, device.allow_multiple_allocations
