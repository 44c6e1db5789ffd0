"""Classes of nodes that no search can tell apart, worked out once for all attempts on a cluster.

Nodes are alike to an attempt if its expressions say the same of their devices. That rests on classes which no
expression has made: what a :class:`~kubectl_dra.allocation.search.view.View` shows of a node if nothing is left out but
attributes and capacities; each of those that anybody reads is a column beside it, made once. So devices are compared
again only for a column that nobody has read before, and in pools whose claims have changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from kubectl_dra.allocation.checks.checks import NODE_FEATURE
from kubectl_dra.allocation.checks.selection import SelectorMemo
from kubectl_dra.allocation.errors import Aborted
from kubectl_dra.allocation.input.allocated import AllocatedState, PoolState
from kubectl_dra.allocation.input.pools import NodePool, SliceIndex, gather
from kubectl_dra.allocation.search.view import View, is_shared
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import Device
from kubectl_dra.selectors.visible import Columns, VisibleKey, is_broken

# Beyond so many contents for each slice the numbers are given anew.
_MOST_CONTENTS: Final = 8
_FEW: Final = 10_000
# Sets of expressions whose verdicts are kept.
_MOST_SIGHTS: Final = 128
# The number of a column of which no device of the pool has anything.
_NOTHING: Final = -1


class _Entry:
    """What is known of a pool as one or more nodes see it. ``held``: what claims held of it when it was compared.

    ``sound``: CEL can hold all attributes.
    """

    __slots__ = ("base", "columns", "held", "pool", "sound")

    def __init__(self, pool: NodePool) -> None:
        self.pool = pool
        self.held: PoolState | None = None
        self.base = -1
        self.columns: dict[VisibleKey, int] = {}
        devices = (device for slice_ in pool.slices for device in slice_.spec.devices)
        self.sound = not any(map(is_broken, devices))


_Seen = tuple[bool, tuple[tuple[_Entry, int], ...]]


class _Known:
    """What is shared by the classes of one index and of those that follow it. Numbers are never given twice."""

    def __init__(self, index: SliceIndex) -> None:
        self._slices = len(index.slices)
        # By identity of the pool, which its entry keeps: that of one that is gone would pass to another.
        self.entries: dict[int, _Entry] = {}
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
        most = _FEW + _MOST_CONTENTS * self._slices
        return len(self._numbers) > most or len(self.entries) > most


class NodeClasses:
    """The classes of the nodes of one cluster. Made from those of an earlier state, it compares what has changed."""

    def __init__(
        self, index: SliceIndex, allocated: AllocatedState, features: Features, former: NodeClasses | None = None
    ) -> None:
        self.index: Final = index
        self._features = features
        self._allocated = allocated
        self._view = View(allocated, features, _plain, asks_capacity=True)
        self._view_of_broken = View(allocated, features, _with_content, asks_capacity=True)
        #: By columns that are read: the class of each node by its name, with the node that it is of.
        self._tables: dict[Columns | None, dict[str, tuple[Node, int | None]]] = {}
        #: By name of a node, with the node that it is of: its pools without columns.
        self._plain: dict[str, tuple[Node, _Seen | None]] = {}
        self._known: Final = _known_of(index, former)
        self._asked: bool = former is not None and former._asked
        #: The pools of one node that were looked into.
        self.compared = 0
        if former is not None and former._known is self._known:
            self._follow(former)

    def expect_more(self) -> None:
        """Several attempts will be made: already the first compares the nodes."""
        self._asked = True

    @property
    def compares(self) -> bool:
        """Whether the next attempt compares the nodes."""
        return self._asked

    def asked_again(self) -> bool:
        """Whether an attempt was made before: for one alone, comparing costs more than it saves."""
        before, self._asked = self._asked, True
        return before

    def seen_by(self, selection: SelectorMemo) -> Sight:
        """The classes as the expressions of an attempt see them."""
        return Sight(self, self._known, selection)

    def number(self, node: Node, columns: Columns | None) -> int | None:
        """Equal for two nodes between which nobody who reads no more than these columns (None: all) sees a difference.

        None for a node of which that can't be said.
        """
        parts = self.parts(node, columns)
        return self._known.number(parts) if parts is not None else None

    def table(self, columns: Columns | None) -> dict[str, tuple[Node, int | None]]:
        """The numbers that are known already, by name of the node, each with the node that it is of."""
        return self._tables.setdefault(columns, {})

    def _follow(self, former: NodeClasses) -> None:
        changed = self._allocated.differing(former._allocated)
        slices = (slice_ for pool in changed for slice_ in self.index.of_pool(PoolId(*pool)))
        nodes = {slice_.spec.node_name or "" for slice_ in slices}
        if "" in nodes:
            return  # slices of no node: any may see them
        if self.index is not former.index:
            nodes |= self.index.affected
        self._plain = dict(former._plain)
        for name in nodes:
            self._plain.pop(name, None)
        if len(former._tables) > _MOST_SIGHTS:
            return  # most of them were of what-ifs that nobody asks about again
        for columns, table in list(former._tables.items()):
            kept = dict(table)
            for name in nodes:
                kept.pop(name, None)
            self._tables[columns] = kept

    def _pools(self, node: Node) -> Sequence[NodePool] | None:
        """The pools that a node sees; None where that can't be said, or each node has pools of its own."""
        if self._features.implementation == "stable" and self._features.judges_whole_pools:
            return None
        try:
            return gather(self.index, node).pools
        except Aborted:
            return None

    def parts(self, node: Node, columns: Columns | None) -> Hashable | None:
        """What is read of a node, pool by pool, each as a number."""
        seen = self.without_columns(node)
        if seen is None:
            return None
        operates, entries = seen
        numbers: list[int] = [operates]
        for entry, base in entries:
            numbers.append(base)
            numbers += self._read(entry, columns)
        return tuple(numbers)

    def without_columns(self, node: Node) -> _Seen | None:
        """What every attempt reads of a node, pool by pool: it is the same for all columns, which come and go."""
        known = self._plain.get(node.metadata.name)
        if known is None or known[0] is not node:
            known = self._plain[node.metadata.name] = node, self._seen(node)
        return known[1]

    def _seen(self, node: Node) -> _Seen | None:
        pools = self._pools(node)
        if pools is None:
            return None
        operates = self._features.optional_node_operations and NODE_FEATURE in node.status.declared_features
        entries = map(self._entry, pools)
        return operates, tuple((entry, self._base(entry, node)) for entry in entries)

    def _read(self, entry: _Entry, columns: Columns | None) -> Iterable[int]:
        """The numbers of the columns of a pool."""
        if columns is None:
            return (id(entry.pool),)
        known = entry.columns
        wanted = columns.of(entry.pool.id.driver)
        return [self._column(entry, column) if (n := known.get(column)) is None else n for column in wanted]

    def _entry(self, pool: NodePool) -> _Entry:
        entry = self._known.entries.get(id(pool))
        return entry if entry is not None else self._known.entries.setdefault(id(pool), _Entry(pool))

    def _base(self, entry: _Entry, node: Node) -> int:
        pool = entry.pool
        held = self._allocated.pool(*pool.id)
        if entry.held is held:
            return entry.base
        number = self._known.number(self._content(entry, node))
        if not any(slice_.spec.per_device_node_selection for slice_ in pool.slices):
            # The number first: who finds the state takes the number.
            entry.base = number
            entry.held = held
        return number

    def _content(self, entry: _Entry, node: Node) -> Hashable:
        self.compared += 1
        if entry.sound and (content := self._view.at_once(entry.pool)) is not None:
            return content
        view = self._view if entry.sound else self._view_of_broken
        return is_shared(entry.pool), *(seen for seen, _ in view.steps(entry.pool, node))

    def _column(self, entry: _Entry, column: VisibleKey) -> int:
        self.compared += 1
        values = _values(entry.pool, column)
        number = entry.columns[column] = self._known.number((column, *values)) if any(values) else _NOTHING
        return number


def _known_of(index: SliceIndex, former: NodeClasses | None) -> _Known:
    if former is None or former._known.crowded:
        return _Known(index)
    return former._known if index is former.index or index.follows(former.index) else _Known(index)


class Sight:
    """Classes of nodes as one attempt sees them.

    What its expressions read may be unique to each device and what they say of it not: so each class that differs in
    what is read is judged once, and the verdicts are kept for other attempts with the same expressions.
    """

    def __init__(self, classes: NodeClasses, known: _Known, selection: SelectorMemo) -> None:
        self._classes = classes
        self._known = known
        self._selection = selection
        self._columns = selection.columns(classes.index.names)
        self._judged = known.judged(selection.identity)

    def of(self, nodes: Mapping[str, Node]) -> Iterator[tuple[Node, int | None]]:
        """Nodes with a number: equal for two that get the same answer, None where that can't be said."""
        table, judged = self._classes.table(self._columns), self._judged
        for name, node in nodes.items():
            known = table.get(name)
            if known is None or known[0] is not node:
                known = table[name] = node, self._classes.number(node, self._columns)
            number = known[1]
            if number is None:
                yield node, None
                continue
            found = judged.get(number)
            if found is None:
                found = judged[number] = self._known.number(self._verdicts(node))
            yield node, found

    def _verdicts(self, node: Node) -> Hashable:
        seen = self._selection.seen
        operates, entries = self._classes.without_columns(node) or (False, ())
        content: list[Hashable] = [operates]
        for entry, base in entries:
            content.append(base)
            pool, sound = entry.pool, entry.sound
            driver = pool.id.driver
            devices = (device for slice_ in pool.slices for device in slice_.spec.devices)
            content.append(self._known.number(tuple([seen(driver, device, sound) for device in devices])))
        return tuple(content)


def _values(pool: NodePool, column: VisibleKey) -> list[Hashable]:
    key = column.key
    if not column.is_capacity:
        return [device.attributes.get(key) for slice_ in pool.slices for device in slice_.spec.devices]
    amounts = (device.capacity.get(key) for slice_ in pool.slices for device in slice_.spec.devices)
    return [amount and amount.value for amount in amounts]


def _plain(driver: str, device: Device) -> Hashable:
    """What every expression sees of a device."""
    return driver, device.allow_multiple_allocations


def _with_content(driver: str, device: Device) -> Hashable:
    """The same in a pool with a value that CEL can't hold; of the device that has it, everything."""
    if not is_broken(device):
        return _plain(driver, device)
    capacity = frozenset((name, amount.value) for name, amount in device.capacity.items())
    return driver, device.allow_multiple_allocations, frozenset(device.attributes.items()), capacity
