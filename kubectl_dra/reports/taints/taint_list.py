"""get taints: every DeviceTaintRule and every taint that drivers set, with the devices, claims and pods behind them.

taint-device --list: every rule and every taint that drivers set, and whom it hits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import DeviceTaint, DeviceTaintRule, DeviceTaintSelector
from kubectl_dra.model.taint_plan import Hit
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.reports.base import Bound, Count, ReportRecord
from kubectl_dra.reports.taints.misdirected import RuleCorrection, correction
from kubectl_dra.reports.taints.published_names import PublishedNames
from kubectl_dra.reports.taints.taint_hits import DeviceChange, hits
from kubectl_dra.reports.taints.taint_rules import is_own

_SHOWN = 20
# Upstream: resource/v1beta2 types.go, DeviceTaintConditionEvictionInProgress.
_EVICTING = "EvictionInProgress"


class TaintStatus(StrEnum):
    """What a taint does now."""

    FEATURE_OFF = "featureOff"  # the scheduler ignores rules, or taints
    SELECTS_NOTHING = "selectsNothing"  # a rule without a selector
    HITS_NOTHING = "hitsNothing"  # no published device is selected
    NO_EFFECT = "noEffect"  # neither keeps claims away nor evicts
    PREVENTING = "preventing"  # new claims without a toleration are kept away
    EVICTING = "evicting"  # the controller says that pods are still to be evicted


class TaintRow(ReportRecord, frozen=True):
    """One rule, or one taint that a driver put on devices of one pool (``rule`` is then None).

    ``devices`` are the first 20 of ``device_count`` published ones that it hits; ``in_use`` of them are held by
    ``claims`` claims. ``prevents``: requests without a toleration are kept away. ``selector`` is None for a driver's
    taint and for a rule that selects nothing; an empty one selects every device.
    """

    key: str
    value: str
    effect: str
    prevents: bool
    rule: str
    selector: DeviceTaintSelector | None
    time_added: str
    created: str
    devices: tuple[str, ...]
    device_count: Count
    in_use: Count
    claims: Count
    conditions: tuple[Condition, ...]
    status: TaintStatus


@dataclass(frozen=True, slots=True)
class TaintSource:
    """One rule, or one taint that a driver put on devices of one pool, with the published devices that it is on."""

    taint: DeviceTaint
    devices: tuple[DeviceId, ...]
    rule: DeviceTaintRule | None = None


def taint_sources(state: ClusterState) -> Iterable[TaintSource]:
    """Rules by name, then drivers' taints by pool and key. With the feature off a rule hits nothing."""
    for _, rule in sorted(state.inventory.taint_rules.items()):
        yield _rule_source(rule, state)
    yield from _driver_sources(state)


def taint_rows(state: ClusterState) -> tuple[TaintRow, ...]:
    return tuple(source_row(source, state) for source in taint_sources(state))


def rule_row(rule: DeviceTaintRule, state: ClusterState) -> TaintRow:
    return source_row(_rule_source(rule, state), state)


def _rule_source(rule: DeviceTaintRule, state: ClusterState) -> TaintSource:
    hit = state.selected(rule) if state.features.device_taint_rules else ()
    return TaintSource(rule.spec.taint, tuple(hit), rule)


def _driver_sources(state: ClusterState) -> Iterable[TaintSource]:
    for pool in state.pools:
        by_taint: defaultdict[tuple[str, str, str], list[DeviceId]] = defaultdict(list)
        first: dict[tuple[str, str, str], DeviceTaint] = {}
        for slice_ in state.newest(pool):
            for device in slice_.spec.devices:
                for taint in device.taints:
                    key = (taint.key, taint.value, taint.effect)
                    by_taint[key].append(DeviceId(*pool, device.name))
                    first.setdefault(key, taint)
        yield from (TaintSource(first[key], tuple(by_taint[key])) for key in sorted(by_taint))


def source_row(source: TaintSource, state: ClusterState) -> TaintRow:
    taint, devices, rule = source.taint, source.devices, source.rule
    holdings = state.inventory.holdings_by_device
    prevents = state.features.device_taints and taint.effect in PREVENTING
    claims = {key_of(holding.claim.metadata) for device in devices for holding in holdings.get(device, ())}
    slices = Bound.EXACT if state.evidence.complete("ResourceSlice") else Bound.UNKNOWN
    held = slices if state.evidence.complete("ResourceClaim") or slices is Bound.UNKNOWN else Bound.AT_LEAST
    return TaintRow(
        key=taint.key,
        value=taint.value,
        effect=taint.effect,
        prevents=prevents,
        rule=rule.metadata.name if rule is not None else "",
        selector=rule.spec.device_selector if rule is not None else None,
        time_added=taint.time_added or "",
        created=(rule.metadata.creation_timestamp or "") if rule is not None else "",
        devices=tuple(map(str, devices[:_SHOWN])),
        device_count=Count(len(devices), slices),
        in_use=Count(sum(device in holdings for device in devices), held),
        claims=Count(len(claims), held),
        conditions=rule.status.conditions if rule is not None else (),
        status=_status(devices, state, rule, prevents=prevents),
    )


def _status(
    devices: tuple[DeviceId, ...], state: ClusterState, rule: DeviceTaintRule | None, *, prevents: bool
) -> TaintStatus:
    features = state.features
    if not features.device_taints or (rule is not None and not features.device_taint_rules):
        return TaintStatus.FEATURE_OFF
    if rule is not None and rule.spec.device_selector is None:
        return TaintStatus.SELECTS_NOTHING
    if rule is not None and any(each.type == _EVICTING and each.status == "True" for each in rule.status.conditions):
        return TaintStatus.EVICTING
    if not devices:
        return TaintStatus.HITS_NOTHING
    return TaintStatus.PREVENTING if prevents else TaintStatus.NO_EFFECT


class ListedTaint(ReportRecord, frozen=True):
    """One rule or driver's taint; ``own``: this program made the rule, and can change and remove it.

    ``devices`` are all that it is on, also those that are no longer published but still allocated. ``unknown``: the
    driver or pool of the rule of which nothing is published, ``near`` what may be meant. ``correction``: the one name
    with which a rule on no device would be on some.
    """

    taint: TaintRow
    own: bool
    devices: tuple[str, ...]
    hits: tuple[Hit, ...]
    unknown: str = ""
    near: tuple[str, ...] = ()
    correction: RuleCorrection | None = None


def listed_taints(state: ClusterState) -> tuple[ListedTaint, ...]:
    """Rules by name, then drivers' taints by pool and key."""
    published = PublishedNames(state)
    return tuple(_listed(source, state, published) for source in taint_sources(state))


def _listed(source: TaintSource, state: ClusterState, published: PublishedNames) -> ListedTaint:
    rule = source.rule
    names = frozenset((rule.metadata.name if rule is not None else "driver",))
    devices = tuple(_devices(source, state))
    changes = [DeviceChange(device, (), (source.taint,), names) for device in devices]
    row, own, named = source_row(source, state), rule is not None and is_own(rule), tuple(map(str, devices))
    unknown = not_published(row, state, published) if not devices else ("", ())
    meant = correction(rule, state, published) if rule is not None and not devices else None
    return ListedTaint(row, own, named, hits(changes, state), *unknown, correction=meant)


def not_published(row: TaintRow, state: ClusterState, published: PublishedNames) -> tuple[str, tuple[str, ...]]:
    """The driver or pool that a rule names and nobody publishes, and what may be meant; empty for others."""
    selector = row.selector
    if selector is None or not state.evidence.complete("ResourceSlice"):
        return "", ()
    for name, known in ((selector.driver, published.drivers), (selector.pool, published.pools(selector.driver))):
        if name is not None and name not in known.names:
            return name, known.meant(name)
    return "", ()


def _devices(source: TaintSource, state: ClusterState) -> Iterable[DeviceId]:
    """The published devices, and those that are only allocated: a rule counts for them as well."""
    rule = source.rule
    held = state.inventory.holdings_by_device if rule is not None and state.features.device_taint_rules else ()
    gone = (device for device in held if rule is not None and state.selects(rule, device))
    return dict.fromkeys((*source.devices, *gone))
