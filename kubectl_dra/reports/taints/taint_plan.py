"""Plans for tainting devices and for removing taints: which rules to write, and whom that hits.

Pure: from the facts to a :class:`~kubectl_dra.model.taint_plan.TaintPlan`, which ``source.live.write`` carries out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_TAINT_RULE
from kubectl_dra.api.taint_rules import changed_rule, new_rule
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import DeviceTaint, DeviceTaintRule, DeviceTaintSelector
from kubectl_dra.model.taint_plan import OtherTaint, PlannedDevice, PlannedTaint, PlanTarget, RuleWrite, TaintPlan, Verb
from kubectl_dra.model.taint_text import same_taint
from kubectl_dra.reports.find import devices_of
from kubectl_dra.reports.taints import taint_rules
from kubectl_dra.reports.taints.taint_hits import DeviceChange, driver_taints, hits

KINDS = ("ResourceSlice", "ResourceClaim", "Pod", "DeviceTaintRule")


class NameTakenError(Exception):
    """Raised when a rule that this program did not make has the name that its own rule would get."""

    def __init__(self, rule: DeviceTaintRule) -> None:
        super().__init__(rule.metadata.name)
        self.rule = rule


def taint_plan(
    state: ClusterState,
    devices: Sequence[DeviceId],
    taint: DeviceTaint,
    api_version: str,
    target: PlanTarget,
    failing: int = 0,
    pools: Sequence[PoolId] = (),
) -> TaintPlan:
    """What to write so that own rules put ``taint`` on each of ``devices``, and on ``pools`` as wholes.

    Raises :class:`NameTakenError`.
    """
    rules = state.inventory.taint_rules.values()
    wide = [
        (taint_rules.pool_selector(pool), taint_rules.pool_rules(rules, pool, taint.key), _all_of(pool, state))
        for pool in pools
    ]
    covered = {device for _, _, of_pool in wide for device in of_pool}
    exact = [
        (taint_rules.exact_selector(device), taint_rules.own_rules(rules, device, taint.key), (device,))
        for device in devices
        if device not in covered
    ]
    writes: list[RuleWrite] = []
    present: list[str] = []
    changes: list[DeviceChange] = []
    for selector, own, selected in (*wide, *exact):
        write = _write(state, selector, taint, own, api_version)
        if write is None:
            present.append(own[0].metadata.name)
        else:
            writes.append(write)
        name = own[0].metadata.name if own else ""
        before = (own[0].spec.taint,) if own else ()
        changes += [DeviceChange(device, before, (taint,), frozenset({name} - {""})) for device in selected]
    return _plan(state, changes, taint, writes, present, target, removal=False, failing=failing)


def _all_of(pool: PoolId, state: ClusterState) -> tuple[DeviceId, ...]:
    """The devices that a rule for the pool selects: those published, and those that claims still hold."""
    held = (device for device in state.inventory.holdings_by_device if device.pool_id == pool)
    return tuple(dict.fromkeys((*devices_of(pool, state), *sorted(held))))


def _write(
    state: ClusterState,
    selector: DeviceTaintSelector,
    taint: DeviceTaint,
    own: Sequence[DeviceTaintRule],
    api_version: str,
) -> RuleWrite | None:
    """The write for one device or pool; None where the rule says already what it should."""
    if own:
        return None if same_taint(own[0].spec.taint, taint) else _changed(Verb.PATCH, own[0], taint, api_version)
    name = taint_rules.rule_name(DeviceId(selector.driver or "", selector.pool or "", selector.device or ""), taint.key)
    if name in state.inventory.taint_rules:
        raise NameTakenError(state.inventory.taint_rules[name])
    return RuleWrite(Verb.CREATE, name, api_version, selector, PlannedTaint.of(taint))


def _changed(verb: Verb, rule: DeviceTaintRule, taint: DeviceTaint, api_version: str) -> RuleWrite:
    return RuleWrite(
        verb=verb,
        name=rule.metadata.name,
        api_version=api_version,
        selector=rule.spec.device_selector,
        taint=PlannedTaint.of(taint),
        before=PlannedTaint.of(rule.spec.taint) if verb is Verb.PATCH else None,
        uid=rule.metadata.uid,
        resource_version=rule.metadata.resource_version,
        own=taint_rules.is_own(rule) or taint_rules.is_own(rule, of_pool=True),
    )


def removal_plan(
    state: ClusterState,
    devices: Sequence[DeviceId],
    taint: DeviceTaint,
    api_version: str,
    target: PlanTarget,
    force: bool = False,
    pools: Sequence[PoolId] = (),
) -> TaintPlan:
    """What to delete so that rules no longer put ``taint`` on ``devices``; without value or effect, whatever they are.

    Only own rules, unless ``force``: then every rule that selects one of the devices. Such a rule may hold more
    devices; all of them are devices of the plan. Own rules for whole pools go where those ``pools`` are meant.
    """
    devices = tuple(dict.fromkeys((*devices, *(device for pool in pools for device in _all_of(pool, state)))))
    rules: dict[str, DeviceTaintRule] = {}
    for device in devices:
        found = removable(state, device, taint)
        whole = device.pool_id in pools
        rules |= {
            r.metadata.name: r
            for r in found
            if force or taint_rules.is_own(r) or (whole and taint_rules.is_own(r, of_pool=True))
        }
    return _removal(state, devices, rules, taint, api_version, target)


def rule_removal_plan(state: ClusterState, rule: DeviceTaintRule, api_version: str, target: PlanTarget) -> TaintPlan:
    """What deleting one rule means, whoever made it, for all devices that it selects."""
    devices = [device for device in (_exact(rule.spec.device_selector),) if device is not None]
    return _removal(state, devices, {rule.metadata.name: rule}, rule.spec.taint, api_version, target)


def _exact(selector: DeviceTaintSelector | None) -> DeviceId | None:
    """The one device that a selector names."""
    if selector is None or selector.driver is None or selector.pool is None or selector.device is None:
        return None
    return DeviceId(selector.driver, selector.pool, selector.device)


def _removal(
    state: ClusterState,
    devices: Sequence[DeviceId],
    rules: Mapping[str, DeviceTaintRule],
    taint: DeviceTaint,
    api_version: str,
    target: PlanTarget,
) -> TaintPlan:
    changes = [
        DeviceChange(
            device, tuple(rule.spec.taint for rule in gone), (), frozenset(rule.metadata.name for rule in gone)
        )
        for device in _all_selected(state, devices, rules.values())
        if (gone := [rule for rule in rules.values() if state.selects(rule, device)])
    ]
    writes = [_changed(Verb.DELETE, rule, rule.spec.taint, api_version) for _, rule in sorted(rules.items())]
    return _plan(state, changes, taint, writes, (), target, removal=True)


def with_effect(plan: TaintPlan, effect: str) -> TaintPlan:
    """The same writes with another effect; hits stay those of the plan."""
    taint = msgspec.structs.replace(plan.taint, effect=effect)
    writes = tuple(msgspec.structs.replace(write, taint=taint) for write in plan.writes)
    return msgspec.structs.replace(plan, taint=taint, writes=writes)


def planned_object(write: RuleWrite, state: ClusterState) -> bytes:
    """The object that a write makes or changes, as it would be; of a deletion as it is."""
    rule = state.inventory.taint_rules.get(write.name)
    return new_rule(write) if rule is None else changed_rule(rule, write)


def present_objects(plan: TaintPlan, state: ClusterState) -> tuple[bytes, ...]:
    """The rules that say already what was asked for, in the kind's best version."""
    rules = (state.inventory.taint_rules[name] for name in plan.present)
    return tuple(encode(rule, DEVICE_TAINT_RULE) for rule in rules)


def removable(state: ClusterState, device: DeviceId, taint: DeviceTaint) -> tuple[DeviceTaintRule, ...]:
    """The rules, own and others', that put such a taint on a device."""
    rules = state.inventory.taint_rules.values()
    return tuple(rule for rule in rules if state.selects(rule, device) and matches(rule.spec.taint, taint))


def matches(taint: DeviceTaint, wanted: DeviceTaint) -> bool:
    """Whether a taint is of the kind that is to be removed: its key, and its value and effect where they are given."""
    return (
        taint.key == wanted.key
        and wanted.effect in ("", taint.effect)
        and (not wanted.value or wanted.value == taint.value)
    )


def _all_selected(
    state: ClusterState, devices: Sequence[DeviceId], rules: Iterable[DeviceTaintRule]
) -> tuple[DeviceId, ...]:
    """The named devices, then whatever else the rules select, published or only allocated."""
    wide = [rule for rule in rules if not taint_rules.is_own(rule)]
    published = (device for pool in state.pools for device in devices_of(pool, state)) if wide else ()
    held = state.inventory.holdings_by_device if wide else ()
    more = {device for device in (*published, *held) if any(state.selects(rule, device) for rule in wide)}
    return tuple(dict.fromkeys((*devices, *sorted(more))))


def _plan(
    state: ClusterState,
    changes: Sequence[DeviceChange],
    taint: DeviceTaint,
    writes: Sequence[RuleWrite],
    present: Sequence[str],
    target: PlanTarget,
    removal: bool,
    failing: int = 0,
) -> TaintPlan:
    return TaintPlan(
        target=target,
        removal=removal,
        taint=PlannedTaint.of(taint),
        devices=tuple(_planned(change, state) for change in changes),
        writes=tuple(writes),
        present=tuple(present),
        hits=hits(changes, state),
        partial=tuple(kind for kind in KINDS if state.evidence.coverage(kind) is Coverage.PARTIAL),
        failing=failing,
    )


def _planned(change: DeviceChange, state: ClusterState) -> PlannedDevice:
    device = change.device
    published = next((found for _, found in state.inventory.named(device)), None)
    return PlannedDevice(
        driver=device.driver,
        pool=device.pool,
        device=device.device,
        pool_devices=len(devices_of(device.pool_id, state)) if published is not None else 0,
        shared=published is not None and bool(published.allow_multiple_allocations),
        others=tuple(_others(change, state)),
    )


def _others(change: DeviceChange, state: ClusterState) -> Iterable[OtherTaint]:
    for taint in driver_taints(change.device, state):
        yield OtherTaint(taint.key, taint.value, taint.effect, rule="")
    for name, rule in sorted(state.inventory.taint_rules.items()):
        if name not in change.rules and state.selects(rule, change.device):
            taint = rule.spec.taint
            yield OtherTaint(taint.key, taint.value, taint.effect, rule=name)
