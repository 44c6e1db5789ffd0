"""What becomes of the devices that match: in use, unusable, taken by copies that fit, or left over; node by node.

Only the largest request of the shape is told; of one that asks for several kinds of devices the others limit as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Alike, Filled
from kubectl_dra.diagnosis.capacity.records import Devices, NodeRoom
from kubectl_dra.diagnosis.capacity.shape import device_classes
from kubectl_dra.diagnosis.explain.funnel import NodeExplainer
from kubectl_dra.diagnosis.records import Funnel, NodeOutcome, RequestReport, StageName
from kubectl_dra.model.ids import DeviceId

#: So many names of alike nodes are told unless all are asked for.
NAMES: Final = 20


def rooms(filled: Filled, names: int | None = NAMES) -> tuple[NodeRoom, ...]:
    """Nodes with the same numbers for the same reasons, the roomiest first; of each at most so many ``names``."""
    account = _Account(filled)
    found: dict[Hashable, tuple[list[str], NodeRoom]] = {}
    for alike in filled.groups:
        for nodes, devices in account.of(alike):
            causes = alike.last.causes if alike.last is not None else ()
            codes = tuple(dict.fromkeys((cause.code, cause.request) for cause in causes))
            plugin = alike.last.plugin if alike.last is not None else ""
            key = (alike.copies, devices, plugin, codes)
            room = NodeRoom(0, (), 0, alike.copies, devices, causes)
            found.setdefault(key, ([], room))[0].extend(nodes)
    made = [_room(nodes, room, names) for nodes, room in found.values()]
    return tuple(sorted(made, key=lambda room: (-room.copies, -room.devices.left, -room.devices.matching, room.names)))


def _room(nodes: list[str], room: NodeRoom, limit: int | None) -> NodeRoom:
    names = tuple(sorted(nodes))
    shown = names[:limit]
    return NodeRoom(len(names), shown, len(names) - len(shown), room.copies, room.devices, room.causes)


def totals(filled: Filled) -> Devices:
    """The devices of all nodes together; one that several nodes reach is counted once."""
    account = _Account(filled)
    shared: dict[str, set[DeviceId | str]] = {"matching": set(), "in_use": set(), "left": set()}
    matching = in_use = left = whole = 0
    for alike in filled.groups:
        for nodes, funnel in account.funnels(alike):
            for name, ids in _ids(funnel).items():
                shared[name].update(each for each in ids if account.is_shared(each))
            own = {name: sum(not account.is_shared(each) for each in ids) for name, ids in _ids(funnel).items()}
            matching += len(nodes) * own["matching"]
            in_use += len(nodes) * own["in_use"]
            if account.takes_all and alike.copies:
                whole += len(nodes) * own["left"]
            elif filled.side_by_side and alike.copies:
                after = _left(alike)
                free = max(0, own["left"] - alike.copies * account.needed)
                left += len(nodes) * (free if after is None else after)
            else:
                left += len(nodes) * own["left"]
    matching += len(shared["matching"])
    in_use += len(shared["in_use"])
    left += len(shared["left"])
    taken = filled.copies * account.needed + whole
    if not filled.side_by_side:
        left = max(0, left - taken)
    return Devices(matching, in_use, max(0, matching - in_use - taken - left), taken, left)


def _ids(funnel: Funnel) -> dict[str, tuple[str, ...]]:
    used = tuple(device for removal in funnel.stage(StageName.UNUSED).removed for device in removal.devices)
    matching = funnel.after(StageName.NODE)
    return {"matching": matching, "in_use": used, "left": funnel.left}


def _left(alike: Alike) -> int | None:
    """The free devices that the next copy still meets; None if it did not come to look at devices."""
    if alike.last is None or alike.last.outcome is not NodeOutcome.CANNOT_ALLOCATE:
        return None
    after = _largest(alike.last.requests)
    return len(after.left) if after is not None else None


def _largest(reports: Iterable[RequestReport]) -> Funnel | None:
    funnels = [report.funnel for report in reports if report.funnel is not None]
    return max(funnels, key=lambda funnel: funnel.needed, default=None)


class _Account:
    """The funnels of nodes before any copy is placed; nodes whose devices are alike share one."""

    def __init__(self, filled: Filled) -> None:
        waiting = filled.waiting
        self._world: ClusterState = waiting.world
        searched = (result.searched for _, result in filled.tried.results)
        found = next((each.attempt for each in searched if each is not None), None)
        plain = Allocating(self._world.devices, waiting.claims) if waiting.claims and not waiting.problem else None
        self._allocating = found or plain
        self.needed = 0
        #: One copy leaves nothing: its request is for all devices of a node.
        self.takes_all = False
        self._known: dict[Hashable, Funnel | None] = {}
        slices = self._world.inventory.slices.values()
        self._shared = {(s.spec.driver, s.spec.pool.name) for s in slices if not s.spec.node_name}
        if self._allocating is not None:
            self._explainer = NodeExplainer(self._world, self._allocating)
            exact = [r for r in self._allocating.plan.requests if r.parent is None and not r.takes_all and not r.admin]
            self.needed = max((request.spec.count for request in exact), default=0)
            self.takes_all = not exact and any(r.takes_all and not r.admin for r in self._allocating.plan.requests)

    def is_shared(self, device: str) -> bool:
        return DeviceId.of(device).pool_id in self._shared

    def funnels(self, alike: Alike) -> Iterator[tuple[tuple[str, ...], Funnel]]:
        """The nodes, apart by their devices; none where nothing can be told."""
        if self._allocating is None:
            return
        nodes = self._world.inventory.nodes
        apart: dict[Hashable, list[str]] = {}
        numbers = device_classes(self._world, self._allocating, {name: nodes[name] for name in alike.nodes})
        for name, number in numbers.items():
            apart.setdefault(number, []).append(name)
        for key, names in apart.items():
            if key not in self._known:
                explanation = self._explainer.explain(nodes[names[0]], False)
                self._known[key] = _largest(explanation.reports)
            funnel = self._known[key]
            if funnel is not None:
                yield tuple(names), funnel

    def of(self, alike: Alike) -> Iterator[tuple[tuple[str, ...], Devices]]:
        """The nodes with the devices of each."""
        told = False
        for nodes, funnel in self.funnels(alike):
            told = True
            ids = _ids(funnel)
            matching, in_use = len(ids["matching"]), len(ids["in_use"])
            if self.takes_all and alike.copies:
                free = len(ids["left"])
                yield nodes, Devices(matching, in_use, max(0, matching - in_use - free), free, 0)
                continue
            taken = alike.copies * self.needed
            after = _left(alike) if alike.copies else None
            left = max(0, len(ids["left"]) - taken) if after is None else after
            yield nodes, Devices(matching, in_use, max(0, matching - in_use - taken - left), taken, left)
        if not told:
            yield alike.nodes, Devices()
