"""One search for all nodes that it can't tell apart.

A search reads the devices of a node in a fixed order and usually stops early. The devices, reduced to what this attempt
can see of them, are therefore the path through a tree; where an earlier search ended, its answer holds for every node
that comes along the same path. Of nodes that no search with these expressions can tell apart one is asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import Aborted, AllocationError
from kubectl_dra.allocation.input.candidates import candidates
from kubectl_dra.allocation.input.pools import Gathered, gather
from kubectl_dra.allocation.outcome import Allocated, Budget, Fatal, Outcome
from kubectl_dra.allocation.result import Solution, allocations
from kubectl_dra.allocation.search.allocator import ClaimSearch, NodeSearch
from kubectl_dra.allocation.search.view import View
from kubectl_dra.model.core import Node
from kubectl_dra.model.resource import AllocationResult

# Beyond so many different searches a cluster's nodes are hardly alike, and remembering more only costs memory.
_REMEMBERED: Final = 2_000


class SharedSearch(msgspec.Struct, eq=False):
    """Nodes that share one search, in the order asked; ``outcome`` is that of the first, with its names."""

    outcome: Outcome
    nodes: list[str] = msgspec.field(default_factory=list)


class _Found(msgspec.Struct, eq=False):
    """A search that was made, as far as its answer serves other nodes."""

    group: SharedSearch
    solution: Solution | None
    names_devices: bool


class _Place(msgspec.Struct, eq=False):
    """A place on the paths: the answer that ends here, or where it goes on."""

    found: _Found | None = None
    further: dict[Hashable, _Place] = msgspec.field(default_factory=dict)


class Answers(Mapping[str, Outcome]):
    """Outcomes by node name, and the nodes grouped by the search that they share.

    Nodes of a group have the same object as outcome, except where it names devices of the node (allocations, errors):
    such an outcome is made anew whenever it is asked for, and its names are looked up when somebody reads them.
    """

    def __init__(self, attempt: ClaimSearch, nodes: Iterable[Node], budget: Budget) -> None:
        self._nodes = {node.metadata.name: node for node in nodes}
        self._attempt = attempt
        self._budget = budget
        sharing = _Sharing(attempt, budget)
        self._found = sharing.on_all(self._nodes)
        self.groups = tuple(found.group for found in sharing.made)
        attempt.selection.forget()

    def __getitem__(self, name: str) -> Outcome:
        return self.on(self._nodes[name], name)

    def on(self, node: Node, like: str) -> Outcome:
        """The outcome of a node, asked or not, that is alike to one that was asked."""
        found = self._found[like]
        outcome = found.group.outcome
        if not found.names_devices or node.metadata.name == found.group.nodes[0]:
            return outcome
        solution = found.solution
        if solution is not None:
            return Allocated(steps=outcome.steps, allocations=lambda: self._allocations(solution, node))
        return Fatal(steps=outcome.steps, error=lambda: self._error(outcome, node))

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _allocations(self, solution: Solution, node: Node) -> tuple[AllocationResult, ...]:
        attempt = self._attempt
        devices = candidates(gather(attempt.cluster.index, node).pools, attempt.cluster.allocated, attempt.features)
        return allocations(solution, attempt.plan, devices, node, attempt.features)

    def _error(self, outcome: Outcome, node: Node) -> AllocationError:
        own = self._attempt.on(node, self._budget)
        found = own if isinstance(own, Fatal) else outcome
        assert isinstance(found, Fatal)  # noqa: S101 - only errors name devices without a solution
        return found.error


class _Sharing:
    """The searches of one attempt so far."""

    def __init__(self, attempt: ClaimSearch, budget: Budget) -> None:
        self.attempt = attempt
        self.budget = budget
        self.made: list[_Found] = []
        self.effort = 0
        self._root = _Place()
        asks_capacity = any(request.capacity for request in attempt.plan.requests)
        self._view = View(attempt.cluster.allocated, attempt.features, attempt.selection.seen, asks_capacity)

    def on_all(self, nodes: Mapping[str, Node]) -> dict[str, _Found]:
        """The search that answers for each node; of nodes alike to all that is read the first is looked at."""
        if len(nodes) == 1:
            # Nobody to share with: what a node with all pools of a cluster sees takes longer to tell than to search.
            return {name: self._searched(node) for name, node in nodes.items()}
        alike = self.attempt.cluster.alike
        if not alike.asked_again():
            return {name: self._on(node) for name, node in nodes.items()}
        sight = alike.seen_by(self.attempt.selection)
        known: dict[int, _Found] = {}
        answers: dict[str, _Found] = {}
        for node, number in sight.of(nodes):
            found = known.get(number) if number is not None else None
            if found is None:
                found = self._on(node)
                if number is not None:
                    known[number] = found
            else:
                found.group.nodes.append(node.metadata.name)
            answers[node.metadata.name] = found
        return answers

    def _on(self, node: Node) -> _Found:
        """The search that answers for a node."""
        try:
            gathered = gather(self.attempt.cluster.index, node)
        except Aborted as aborted:
            return self._keep(Fatal(steps=0, error=aborted.error), node)
        found = self._find(node, gathered)
        if found is not None:
            found.group.nodes.append(node.metadata.name)
            return found
        walk = self._walk(node, gathered)
        found = self._kept(walk, node)
        if len(self.made) <= _REMEMBERED:
            self._remember(found, walk.reach, node, gathered)
        return found

    def _searched(self, node: Node) -> _Found:
        """The search of a node that shares it with no other."""
        try:
            gathered = gather(self.attempt.cluster.index, node)
        except Aborted as aborted:
            return self._keep(Fatal(steps=0, error=aborted.error), node)
        return self._kept(self._walk(node, gathered), node)

    def _walk(self, node: Node, gathered: Gathered) -> NodeSearch:
        walk = NodeSearch(self.attempt, node, gathered, self._budget())
        self.effort += walk.effort
        return walk

    def _kept(self, walk: NodeSearch, node: Node) -> _Found:
        return self._keep(walk.outcome, node, walk.solution, isinstance(walk.outcome, Fatal) and walk.reach != -1)

    def _budget(self) -> Budget:
        if self.effort < self.budget.in_all:
            return self.budget
        last = self.budget.last
        return msgspec.structs.replace(self.budget, first=last, steps=last, combinations=last)

    def _keep(
        self, outcome: Outcome, node: Node, solution: Solution | None = None, names_devices: bool = False
    ) -> _Found:
        found = _Found(SharedSearch(outcome, [node.metadata.name]), solution, names_devices or solution is not None)
        self.made.append(found)
        return found

    def _find(self, node: Node, gathered: Gathered) -> _Found | None:
        place = self._root
        if place.found is not None:
            return place.found
        for token, _ in self._view.path(node, gathered.pools):
            following = place.further.get(token)
            if following is None:
                return None
            if following.found is not None:
                return following.found
            place = following
        return None

    def _remember(self, found: _Found, reach: int | None, node: Node, gathered: Gathered) -> None:
        place = self._root
        if reach is None or reach >= 0:
            for token, position in self._view.path(node, gathered.pools):
                place = place.further.setdefault(token, _Place())
                if reach is not None and position >= reach:
                    break
        place.found = found
