"""All switches of a what-if, applied in an order of their own: the order in which they are given plays no part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, Remove, edited
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.whatif import taints
from kubectl_dra.diagnosis.whatif.daemons import absent_daemon_pods
from kubectl_dra.diagnosis.whatif.displaced import LeavesBy, Leaving, displace
from kubectl_dra.diagnosis.whatif.in_turn import in_turn
from kubectl_dra.diagnosis.whatif.nodes import gone_with, like, new_names
from kubectl_dra.diagnosis.whatif.records import (
    About,
    AddNode,
    AddTaint,
    AddTaintRule,
    Displaced,
    Drain,
    EndTaint,
    InTurn,
    MoreDevices,
    Note,
    RemoveNode,
    Switch,
    WhatIf,
)
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal

_ORDER: Final = (AddNode, MoreDevices, EndTaint, AddTaint, AddTaintRule, Drain, RemoveNode)


class WhatIfError(LookupError):
    """Raised for a switch about something that is not there: its ``kind``, its ``name`` and the ``known`` names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"{kind} {name}")
        self.kind = kind
        self.name = name
        self.known = tuple(known)


def what_if(
    state: ClusterState, switches: Sequence[Switch], read_owner: ReadOwner | None = None
) -> tuple[ClusterState, WhatIf]:
    """The cluster after all ``switches``, and what becomes of pods that have to leave. Raises :class:`WhatIfError`.

    ``read_owner``: as in ``displace``.
    """
    applied = _Applying(state, read_owner)
    for switch in in_order(switches):
        applied.apply(switch)
    return applied.finish(in_order(switches))


def in_order(switches: Iterable[Switch]) -> tuple[Switch, ...]:
    """The switches in the order in which they count, each once; what is added twice is twice as much."""
    counts = Counter[Switch]()
    for switch in switches:
        counts[_of_one(switch)] += switch.count if isinstance(switch, AddNode | MoreDevices) else 0
    found = (msgspec.structs.replace(each, count=count) if count else each for each, count in counts.items())
    return tuple(sorted(found, key=lambda switch: (_ORDER.index(type(switch)), repr(switch))))


def _of_one(switch: Switch) -> Switch:
    return msgspec.structs.replace(switch, count=1) if isinstance(switch, AddNode | MoreDevices) else switch


class _Applying:
    def __init__(self, state: ClusterState, read_owner: ReadOwner | None) -> None:
        self._given = state
        self._read_owner = read_owner
        self._state = state
        self._nodes: list[str] = []
        self._devices: list[str] = []
        self._notes: list[Note] = []
        self._leaving = Leaving()
        self._left: dict[str, None] = {}
        self._removed: list[str] = []
        self._undrained = state

    def apply(self, switch: Switch) -> None:
        self._switch(switch)
        if not isinstance(switch, Drain | RemoveNode):
            self._undrained = self._state

    def _switch(self, switch: Switch) -> None:
        match switch:
            case AddNode():
                self._add_nodes(switch)
            case MoreDevices():
                self._add_devices(switch)
            case EndTaint():
                self._require(switch.target)
                found = taints.ended(self._state, switch)
                if not found:
                    self._notes.append(Note(About.NO_SUCH_TAINT, switch.target, switch.key))
                self._edit(found)
            case AddTaint():
                self._require(switch.target)
                self._edit(taints.begun(self._state, switch))
                self._leaving.add(taints.evicted_by(self._state, switch), LeavesBy.TAINT)
            case AddTaintRule():
                self._leaving.add(taints.evicted_by_rule(self._state, switch.rule), LeavesBy.TAINT)
            case Drain():
                self._require_node(switch.node)
                self._leave(switch.node, LeavesBy.DRAIN)
                node = self._state.inventory.nodes[switch.node]
                self._edit((Put("Node", _cordoned(node)),))
            case RemoveNode():
                self._require_node(switch.node)
                self._leave(switch.node, LeavesBy.REMOVAL)
                self._removed.append(switch.node)

    def finish(self, switches: tuple[Switch, ...]) -> tuple[ClusterState, WhatIf]:
        for node in self._removed:
            gone = gone_with(self._state.inventory, node)
            self._edit((Remove("Node", Key("", node)), *(Remove(kind, key) for kind, key in gone)))
        more = sum(1 for _ in self._unknown_pods())
        state, displaced = displace(self._state, self._leaving, self._read_owner)
        notes = tuple(self._notes)
        turns = self._in_turn(switches, displaced)
        return state, WhatIf(switches, tuple(self._nodes), tuple(self._devices), displaced, more, notes, turns)

    def _in_turn(self, switches: Sequence[Switch], displaced: Sequence[Displaced]) -> InTurn | None:
        """Of drains only: whoever leaves for a taint, or because a node is gone, does not come back."""
        if any(by is not LeavesBy.DRAIN for by in self._leaving.pods.values()):
            return None

        def drained(state: ClusterState, drain: Drain) -> tuple[ClusterState, Sequence[Displaced]]:
            after, found = what_if(state, (drain,), self._read_owner)
            return after, found.displaced

        drains = [each for each in switches if isinstance(each, Drain)]
        return in_turn(self._undrained, drains, displaced, drained)

    # --- nodes ---

    def _add_nodes(self, switch: AddNode) -> None:
        """Like the node as it is given: what else is supposed of that one does not concern the new ones."""
        self._require_node(switch.like)
        template = like(self._given.inventory, switch.like, free=switch.free)
        names = new_names(switch.like, switch.count, {*self._given.inventory.nodes, *self._nodes})
        self._edit(edit for name in names for edit in template.edits(name))
        for name in names if not switch.free else ():
            self._edit(Put("Pod", pod) for pod in absent_daemon_pods(self._state, name))
        self._nodes += names

    def _leave(self, node: str, by: LeavesBy) -> None:
        self._left[node] = None
        pods = self._state.inventory.pods.values()
        on_node = (pod for pod in pods if pod.spec.node_name == node and not is_terminal(pod))
        self._leaving.add((key_of(pod.metadata) for pod in on_node), by)

    def _unknown_pods(self) -> Iterator[Key]:
        """Pods on nodes that are left of which only sums were kept."""
        inventory = self._given.inventory
        for node in self._left:
            usage = inventory.usage.get(node)
            yield from (pod.key for pod in (usage.placed if usage is not None else ()) if pod.key not in inventory.pods)

    # --- devices ---

    def _add_devices(self, switch: MoreDevices) -> None:
        found = self._given.device(switch.like)
        if found is None:
            raise WhatIfError("device", switch.like, _known_devices(self._given))
        slice_, device = found
        # Another switch may have changed the slice already.
        slice_ = self._state.inventory.slices[slice_.metadata.name]
        taken = {each.name for each in slice_.spec.devices}
        names = new_names(device.name, switch.count, taken)
        more = tuple(msgspec.structs.replace(device, name=name, taints=()) for name in names)
        self._edit((Put("ResourceSlice", with_spec(slice_, devices=(*slice_.spec.devices, *more))),))
        self._devices += (f"{slice_.spec.driver}/{slice_.spec.pool.name}/{name}" for name in names)
        for drawn in device.consumes_counters:
            self._notes.append(Note(About.SHARED_COUNTERS, switch.like, drawn.counter_set))

    # --- names that have to be there ---

    def _require(self, target: str) -> None:
        if not taints.is_device(target):
            self._require_node(target)
        elif not taints.devices_of(self._state, target):
            raise WhatIfError("device", target, _known_devices(self._given))

    def _require_node(self, name: str) -> None:
        if name not in self._state.inventory.nodes:
            raise WhatIfError("node", name, self._state.inventory.nodes)

    def _edit(self, edits: Iterable[Edit]) -> None:
        self._state = edited(self._state, edits)


def _cordoned(node: Node) -> Node:
    return with_spec(node, unschedulable=True)


def _known_devices(state: ClusterState) -> Iterator[str]:
    for pool in state.pools:
        yield str(pool)
        yield from (f"{pool}/{device.name}" for _, device in state.published(pool))
