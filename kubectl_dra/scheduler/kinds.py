"""Kinds of nodes: those in which somebody reads the same are one kind, and the first of them is asked for all.

What a plugin reads of nodes, it says as a :class:`Reading`. The kinds by each reading are made once for a cluster and
kept while what they rest on is unchanged, so that one more pod costs as much as there are kinds, not nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.cluster.derived import Derived
from kubectl_dra.scheduler.snapshot import NodeInfo, Snapshot

# Of so few nodes each is asked about: to tell which of them are alike takes as long.
_FEW: Final = 32
# Readings whose kinds are kept.
_MOST: Final = 64
# Where fewer than one in so many nodes are asked about, only these are sorted: a gang is tried in each rack, after each
# pod that it places.
_PART: Final = 4
_NAME: Final = attrgetter("name")

Known = dict[Hashable, "Kinds"]


class Kinds(msgspec.Struct, frozen=True):
    """``at``: the number of each node's kind, in the order of nodes. ``first``: by number, the place of its first."""

    at: Sequence[int]
    first: Sequence[int]

    @staticmethod
    def by(values: Sequence[Hashable]) -> Kinds:
        """Nodes with equal values are of one kind; numbered in the order of their first nodes."""
        places = range(len(values))
        first = dict(zip(reversed(values), reversed(places), strict=True))
        found = sorted(first.values())
        number = {values[place]: number for number, place in enumerate(found)}
        return Kinds(list(map(number.__getitem__, values)), found)

    @staticmethod
    def of_each(number: int) -> Kinds:
        """Each node is a kind of its own."""
        return Kinds(range(number), range(number))


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read of nodes. ``key``: equal for readings of the same. ``of``: a value per node, equal for nodes alike.

    ``kept``: where the kinds of all nodes are kept, which says what the values rest on.
    """

    kept: Derived[Known]
    key: Hashable
    of: Callable[[Sequence[NodeInfo]], Sequence[Hashable]] = field(compare=False)


@derived("nodes")
def of_nodes(_state: ClusterState) -> Known:
    """Kinds by what nodes themselves say."""
    return {}


@derived("nodes", "usage", read=True)
def of_usage(_state: ClusterState) -> Known:
    """Kinds by what pods on nodes take, too."""
    return {}


@derived("nodes", "usage", "storage", read=True)
def of_volumes(_state: ClusterState) -> Known:
    """Kinds by the volumes that are there, too."""
    return {}


@derived("nodes", "slices", "classes", "claims", "taint_rules")
def of_devices(_state: ClusterState) -> Known:
    """Kinds by devices and by what holds them."""
    return {}


#: Nothing is read of nodes.
NOTHING: Final = Reading(of_nodes, None, lambda nodes: [None] * len(nodes))


def labels(keys: Sequence[str]) -> Reading:
    """Some labels of nodes."""
    if not keys:
        return NOTHING

    def of(nodes: Sequence[NodeInfo]) -> Sequence[Hashable]:
        return [tuple(map(node.labels.get, keys)) for node in nodes]

    return Reading(of_nodes, ("labels", *keys), of)


class Sorting:
    """Sorts nodes of a snapshot by what is read of them. ``places``: theirs among all nodes; None if they are all."""

    def __init__(self, snapshot: Snapshot, nodes: Sequence[NodeInfo], places: Sequence[int] | None) -> None:
        self._snapshot = snapshot
        self._nodes = nodes
        self._places = places
        self.few = len(nodes) <= _FEW

    def by(self, reading: Reading | None) -> Kinds:
        """The kinds of the nodes; None: anything may be read."""
        if reading is None or self.few:
            return Kinds.of_each(len(self._nodes))
        known = reading.kept(self._snapshot.state)
        found = known.get(reading.key)
        if found is None:
            if len(self._nodes) * _PART < len(self._snapshot.nodes):
                return Kinds.by(reading.of(self._nodes))
            if len(known) >= _MOST:
                known.clear()
            found = known[reading.key] = Kinds.by(reading.of(tuple(self._snapshot.nodes.values())))
        return found if self._places is None else Kinds.by(list(map(found.at.__getitem__, self._places)))


class AskedNodes:
    """About which nodes a plugin was asked in the place of which."""

    def __init__(self, nodes: Sequence[NodeInfo], kinds: Kinds, asked: Mapping[int, int]) -> None:
        self._nodes = nodes
        self._kinds = kinds
        self._asked = asked

    def instead_of(self, node: str) -> str:
        """The node that was asked about for all of the kind; the node itself where there was none."""
        return self._names.get(node) or node

    @cached_property
    def _names(self) -> Mapping[str, str]:
        asked = [""] * len(self._kinds.first)
        for number, place in self._asked.items():
            asked[number] = self._nodes[place].name
        return dict(zip(map(_NAME, self._nodes), map(asked.__getitem__, self._kinds.at), strict=True))
