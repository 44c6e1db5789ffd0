"""From the words of taint-device to a plan, as often as it is needed: each plan rests on a reading of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.kinds import DEVICE_TAINT_RULE, RESOURCE_SLICE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.absent import device_not_found, pool_not_found
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import check_node, unsure
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import write
from kubectl_dra.commands.taint.source import TaintSource
from kubectl_dra.commands.taint.words import TaintWords
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.model.resource import DeviceTaint
from kubectl_dra.model.taint_plan import TaintPlan
from kubectl_dra.output.documents import document, report_bytes
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.taints.plan_page import plan_summary
from kubectl_dra.output.taints.results import version_notes
from kubectl_dra.reports.find import devices_of, find_devices
from kubectl_dra.reports.invocations import dra, kubectl, of, of_pool, plain_word, shell_line, try_dra, try_kubectl
from kubectl_dra.reports.taints.taint_hits import driver_taints
from kubectl_dra.reports.taints.taint_plan import (
    KINDS,
    NameTakenError,
    matches,
    planned_object,
    present_objects,
    removable,
    removal_plan,
    rule_removal_plan,
    taint_plan,
)
from kubectl_dra.reports.taints.taint_rules import is_own
from kubectl_dra.reports.unread import missing_rights

_SHOWN: Final = 5


class TaintPlanner:
    def __init__(self, source: TaintSource, words: TaintWords, match: str, force: bool) -> None:
        self.source = source
        self.words = words
        self._match = match
        self._force = force
        self._state: ClusterState | None = None

    @property
    def state(self) -> ClusterState:
        """What the last plan rests on."""
        assert self._state is not None  # noqa: S101 - there is no planner without a plan
        return self._state

    def plan(self, effect: str = "") -> TaintPlan:
        """A plan from a new reading, with another ``effect`` than asked for if one is given.

        Raises CommandError for devices and taints that are not there.
        """
        self._state = self.source.state()
        devices, failing = self._matching() if self._match else (self.words.devices, 0)
        pools = self._pools(devices)
        for device in devices:
            _check_full(device, self.state)
        if self.words.removal:
            return self._removal(devices, pools)
        for device in devices:
            _check_published(device, self.state)
        taint = self.words.taint
        wanted = msgspec.structs.replace(taint, effect=effect or taint.effect)
        try:
            return taint_plan(self.state, devices, wanted, self.source.api_version, self.source.target, failing, pools)
        except NameTakenError as error:
            name = error.rule.metadata.name
            what = f'a DeviceTaintRule "{name}" exists that this program did not make, or that was changed since'
            look = kubectl("get", of("devicetaintrule", name), "-o", "yaml") or dra("get", "taints")
            raise CommandError(what, shell_line(look).then("; rename or delete it")) from error

    @property
    def several(self) -> bool:
        return bool(self._match) or self.words.is_several

    def to_type(self, plan: TaintPlan) -> tuple[int, str] | None:
        """The number that agrees to a plan, and of what; None where a yes will do.

        A rule for a whole pool is one rule, however much it hits: its devices are what counts.
        """
        if not self.several:
            return None
        if any(write.selector is not None and write.selector.device is None for write in plan.writes):
            return len(plan.devices), "devices"
        return len(plan.writes), "rules"

    @property
    def missing(self) -> tuple[Missing, ...]:
        return missing_rights(self.state.evidence, KINDS)

    def notes(self) -> list[Safe]:
        """What the server's version means for the last plan."""
        return list(version_notes(self.source.api_version, self.state.evidence.server_version, self.state.features))

    def check(self, plan: TaintPlan) -> None:
        """Let the server try every write. Raises ``ClusterError``."""
        from kubectl_dra.source.live.write import dry_run

        dry_run(self.source.live, plan)

    def _pools(self, devices: Sequence[DeviceId]) -> tuple[PoolId, ...]:
        """The pools that are meant as wholes: by name, as all pools of a node, or because all their devices match."""
        for pool in self.words.pools:
            if pool not in self.state.pools:
                raise pool_not_found(str(pool), self.state)
        of_nodes = [pool for node in self.words.nodes for pool in self._pools_of(node)]
        matching: dict[PoolId, set[DeviceId]] = {}
        for device in devices if self._match else ():
            matching.setdefault(device.pool_id, set()).add(device)
        whole = [
            pool for pool, found in matching.items() if len(found) > 1 and found >= {*devices_of(pool, self.state)}
        ]
        return tuple(dict.fromkeys((*self.words.pools, *of_nodes, *whole)))

    def _pools_of(self, node: str) -> list[PoolId]:
        """The pools whose devices only this node can use. Raises ``CommandError`` where there are none."""
        slices = self.state.inventory.slices_by_node.get(node, ())
        pools = sorted({each.spec.pool_id for each in slices})
        own = [
            pool
            for pool in pools
            if all(each.spec.node_name == node for each in self.state.inventory.slices_by_pool.get(pool, ()))
        ]
        if not own:
            _check_slices_read(f'pool of node "{node}" not found', self.state)
            check_node(node, self.state)
            known = did_you_mean(node, (name for name in self.state.inventory.slices_by_node if name))
            raise CommandError(f'node "{node}" has no pool of its own{known}', try_dra("get", "nodes"))
        return own

    def _matching(self) -> tuple[tuple[DeviceId, ...], int]:
        from kubectl_dra.reports.matching import matching_devices  # the compiler of selectors

        found = matching_devices(self._match, self.state)
        if found.problem is not None or (found.failing and not found.devices):
            from kubectl_dra.commands.shared.selectors import check_selector

            check_selector("--match", self._match, self.state)
        if not found.devices:
            what = f"--match selects none of {found.of} devices"
            _check_slices_read(what, self.state)
            errors = f"; {found.failing} can't be evaluated: {next(iter(found.errors))}" if found.failing else ""
            raise CommandError(
                what + errors, try_dra("test-selector", plain_word(self._match) or ("EXPR",)).then(" shows why")
            )
        return tuple(found.devices), found.failing

    def _removal(self, devices: tuple[DeviceId, ...], pools: tuple[PoolId, ...]) -> TaintPlan:
        source, taint = self.source, self.words.taint
        plan = removal_plan(self.state, devices, taint, source.api_version, source.target, self._force, pools)
        if not plan.writes:
            raise self._nothing_to_remove(tuple(each.id for each in plan.devices) or devices)
        return plan

    def _nothing_to_remove(self, devices: tuple[DeviceId, ...]) -> CommandError:
        """Whose the taint is, if there is one."""
        taint = self.words.taint
        for device in devices:
            foreign = [rule.metadata.name for rule in removable(self.state, device, taint) if not is_own(rule)]
            if foreign:
                what = f"{device} has this taint from rule {', '.join(foreign)}, which this program did not make"
                return CommandError(what, "--force removes it all the same")
            if any(matches(own, taint) for own in driver_taints(device, self.state)):
                what = f"{device} has this taint from its driver: only the driver can remove it"
                return CommandError(what, "repair the device, or see the driver's documentation")
        name = str(devices[0]) if len(devices) == 1 else f"none of {len(devices)} devices"
        if not self.state.evidence.complete(DEVICE_TAINT_RULE.name):
            what = f'whether {name} {"has" if len(devices) == 1 else "have"} the taint "{taint.key}" is unknown'
            hint = try_kubectl("auth", "can-i", "list", DEVICE_TAINT_RULE.resource)
            raise CommandError(f"{what}: not all {DEVICE_TAINT_RULE.name}s could be read", hint)
        verb = "has no taint" if len(devices) == 1 else "has a taint"
        keys = {rule.spec.taint.key for rule in self.state.inventory.taint_rules.values()}
        return CommandError(
            f'{name} {verb} "{taint.key}"{did_you_mean(taint.key, keys)}', try_dra("taint-device", "--list")
        )


class RulePlanner(TaintPlanner):
    """Plans the deletion of one rule by its name, whoever made it."""

    def __init__(self, source: TaintSource, rule: str) -> None:
        super().__init__(source, TaintWords((), DeviceTaint(), removal=True), "", force=True)
        self._rule = rule

    def plan(self, effect: str = "") -> TaintPlan:
        """A plan from a new reading. Raises CommandError for a rule that is not there."""
        self._state = self.source.state()
        rule = self.state.inventory.taint_rules.get(self._rule)
        if rule is None:
            raise CommandError(f"there is no DeviceTaintRule {self._rule} any more", try_dra("get", "taints"))
        return rule_removal_plan(self.state, rule, self.source.api_version, self.source.target)


def _check_full(device: DeviceId, state: ClusterState) -> None:
    """A short name may mean another device tomorrow: nothing is written on one."""
    if device.driver:
        return
    if device.device in map(str, state.pools):
        raise CommandError(f'"{device.device}" is a pool', f"'{device.device}/*' means all of its devices")
    meant = [str(each) for each in find_devices(device.device, state)]
    known = f": it may be {', '.join(meant[:_SHOWN])}{', …' if len(meant) > _SHOWN else ''}" if meant else ""
    what = f'"{device.device}" is not the full name of a device{known}'
    if not meant:
        _check_slices_read(what, state)
    raise CommandError(what, meant[0] if len(meant) == 1 else try_dra("get", "devices", "-o", "name"))


def _check_published(device: DeviceId, state: ClusterState) -> None:
    """A rule for a device that nobody publishes would be a mistake in typing, or come too late."""
    if state.inventory.named(device):
        return
    pool = device.pool_id
    if pool not in state.pools:
        raise pool_not_found(str(pool), state)
    if not state.evidence.complete(RESOURCE_SLICE.name):
        raise device_not_found(str(device), state)
    near = did_you_mean(device.device, (each.device for each in devices_of(pool, state)))
    look = shell_line(dra("describe-pool", of_pool(pool)), ("kubectl", "dra", "get", "pools"))
    raise CommandError(f'pool "{pool}" publishes no device "{device.device}"{near}', look)


def _check_slices_read(what: str, state: ClusterState) -> None:
    """Raises ``CommandError`` with ``what`` was not found where some slices were not read."""
    if not state.evidence.complete(RESOURCE_SLICE.name):
        raise unsure(what.removesuffix(" not found"), RESOURCE_SLICE, state.evidence, f"{RESOURCE_SLICE.name}s")


def write_plan(
    options: Options,
    planner: TaintPlanner,
    plan: TaintPlan,
    page: Sequence[Safe],
    outcomes: Sequence[Mapping[str, str]] = (),
) -> None:
    """The plan as a document: whom it hits, the rules as they would be, and what became of each ``outcome`` written."""
    state = planner.state
    objects = [*(planned_object(each, state) for each in plan.writes), *present_objects(plan, state)]
    more = {"objects": [msgspec.Raw(each) for each in objects], "missing": planner.missing, "outcomes": outcomes}
    found = document(plan, plan_summary(plan), page if options.text else None, **more)
    write(report_bytes("TaintPlan", found), options)
