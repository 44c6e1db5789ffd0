"""Taints of nodes and devices that begin or end, and the pods that a NoExecute taint evicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, Remove
from kubectl_dra.diagnosis.pod.eviction import endured, of_pod
from kubectl_dra.diagnosis.whatif.records import AddTaint, EndTaint
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Node, Taint
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import Device, DeviceTaint, DeviceTaintRule, ResourceSlice
from kubectl_dra.model.supposed import SupposedTaint
from kubectl_dra.model.taint_text import CORDONED, NO_EXECUTE
from kubectl_dra.scheduler.plugins.taint_toleration import tolerated

#: The cordon's own taint; it ends when the node is uncordoned.


def is_device(target: str) -> bool:
    """Whether a target names devices (``DRIVER/POOL[/DEVICE]``); names of nodes have no slash."""
    return "/" in target


def devices_of(state: ClusterState, target: str) -> tuple[DeviceId, ...]:
    """The published devices that ``DRIVER/POOL`` or ``DRIVER/POOL/DEVICE`` names; pools may have slashes."""
    found = []
    for pool in state.pools:
        prefix = f"{pool.driver}/{pool.pool}"
        if target == prefix or target.startswith(f"{prefix}/"):
            ids = (DeviceId(pool.driver, pool.pool, device.name) for _, device in state.published(pool))
            found += [id_ for id_ in ids if target in (prefix, str(id_))]
    return tuple(dict.fromkeys(found))


# --- ends -----------------------------------------------------------------------------------------------------------


def ended(state: ClusterState, switch: EndTaint) -> tuple[Edit, ...]:
    """The edits with which the taints end; none if there is no such taint."""
    if not is_device(switch.target):
        return tuple(_ended_on_node(state.inventory.nodes[switch.target], switch))
    return tuple(_ended_on_devices(state, switch))


def _ends(switch: EndTaint, key: str, effect: str) -> bool:
    return key == switch.key and switch.effect in ("", effect)


def _ended_on_node(node: Node, switch: EndTaint) -> Iterator[Edit]:
    kept = tuple(taint for taint in node.spec.taints if not _ends(switch, taint.key, taint.effect))
    cordoned = node.spec.unschedulable and not _ends(switch, CORDONED, "NoSchedule")
    if len(kept) != len(node.spec.taints) or cordoned != node.spec.unschedulable:
        yield Put("Node", with_spec(node, taints=kept, unschedulable=cordoned))


def _ended_on_devices(state: ClusterState, switch: EndTaint) -> Iterator[Edit]:
    """A rule that taints other devices, too, is replaced by the taints that it leaves on those."""
    ids = frozenset(devices_of(state, switch.target))
    rules = [rule for rule in state.rules if _ends(switch, rule.spec.taint.key, rule.spec.taint.effect)]
    gone = [rule for rule in rules if any(state.selects(rule, id_) for id_ in ids)]
    for rule in gone:
        yield Remove("DeviceTaintRule", Key("", rule.metadata.name))

    def change(id_: DeviceId, device: Device) -> Device:
        if id_ in ids:
            kept = tuple(taint for taint in device.taints if not _ends(switch, taint.key, taint.effect))
        else:
            kept = (*device.taints, *(rule.spec.taint for rule in gone if state.selects(rule, id_)))
        return device if kept == device.taints else msgspec.structs.replace(device, taints=kept)

    touched = state.inventory.slices.values() if gone else _slices_of(state, ids)
    yield from changed_slices(touched, change)


# --- begins ---------------------------------------------------------------------------------------------------------


def begun(state: ClusterState, switch: AddTaint) -> tuple[Edit, ...]:
    """The edits with which a taint begins; the same key and effect again gets the new value."""
    if not is_device(switch.target):
        node = state.inventory.nodes[switch.target]
        taint = Taint(switch.key, switch.value, switch.effect)
        kept = (t for t in node.spec.taints if (t.key, t.effect) != (taint.key, taint.effect))
        return (Put("Node", with_spec(node, taints=(*kept, taint))),)
    ids = frozenset(devices_of(state, switch.target))

    def change(id_: DeviceId, device: Device) -> Device:
        if id_ not in ids:
            return device
        kept = (t for t in device.taints if (t.key, t.effect) != (switch.key, switch.effect))
        taint = SupposedTaint(switch.key, switch.value, switch.effect)
        return msgspec.structs.replace(device, taints=(*kept, taint))

    return tuple(changed_slices(_slices_of(state, ids), change))


def _slices_of(state: ClusterState, ids: Iterable[DeviceId]) -> list[ResourceSlice]:
    pools = {id_.pool_id for id_ in ids}
    return [slice_ for pool in pools for slice_ in state.inventory.slices_by_pool.get(pool, ())]


def changed_slices(slices: Iterable[ResourceSlice], change: Callable[[DeviceId, Device], Device]) -> Iterator[Edit]:
    """The slices some of whose devices change, in their place."""
    for slice_ in slices:
        spec = slice_.spec
        devices = tuple(change(DeviceId(spec.driver, spec.pool.name, device.name), device) for device in spec.devices)
        if any(new is not old for new, old in zip(devices, spec.devices, strict=True)):
            yield Put("ResourceSlice", with_spec(slice_, devices=devices))


# --- whom NoExecute evicts ------------------------------------------------------------------------------------------


def evicted_by(state: ClusterState, switch: AddTaint) -> Iterator[Key]:
    """The pods that a NoExecute taint evicts, at once or when their toleration ends."""
    if switch.effect != NO_EXECUTE:
        return
    if is_device(switch.target):
        taint_ = DeviceTaint(switch.key, switch.value, switch.effect)
        yield from _users(state, devices_of(state, switch.target), taint_)
        return
    taint = Taint(switch.key, switch.value, switch.effect)
    for pod in state.inventory.pods.values():
        if pod.spec.node_name == switch.target:
            lasting = tuple(t for t in pod.spec.tolerations if t.toleration_seconds is None)
            if not tolerated(taint, lasting, state.features.toleration_comparison):
                yield key_of(pod.metadata)


def evicted_by_rule(state: ClusterState, name: str) -> Iterator[Key]:
    """The pods that a DeviceTaintRule evicts, which ``state`` has already."""
    rule = state.inventory.taint_rules[name]
    if evicts(state, rule):
        # Also devices that are not published any more.
        held = (id_ for id_ in state.inventory.holdings_by_device if state.selects(rule, id_))
        yield from _users(state, held, rule.spec.taint)


def evicts(state: ClusterState, rule: DeviceTaintRule) -> bool:
    """Whether a rule evicts those who use what it selects."""
    return state.features.device_taint_rules and rule.spec.taint.effect == NO_EXECUTE


def _users(state: ClusterState, devices: Iterable[DeviceId], taint: DeviceTaint) -> Iterator[Key]:
    inventory = state.inventory
    for id_ in devices:
        for holding in inventory.holdings_by_device.get(id_, ()):
            verdict = endured(holding.result.tolerations, taint)
            for pod in inventory.pods_by_claim.get(key_of(holding.claim.metadata), ()):
                if pod.spec.node_name and of_pod(pod, holding.claim, verdict, state.features).evicts:
                    yield key_of(pod.metadata)
