"""Taints of devices as reports show them: what it is, and whether its driver or which rule put it there.

What a taint does to allocation is decided in ``allocation.input.taints``.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.allocation.input.taints import Narrowing, selects
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device, DeviceTaint, DeviceTaintRule, ResourceSliceSpec
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.reports.base import ReportRecord


class TaintRecord(ReportRecord, frozen=True):
    """One taint of one device; ``rule`` is None for a taint that the driver set.

    ``prevents`` says whether the scheduler keeps requests without a toleration away.
    """

    key: str
    value: str
    effect: str
    time_added: str
    rule: str
    prevents: bool


def device_taints(
    device: Device,
    spec: ResourceSliceSpec,
    rules: Sequence[DeviceTaintRule],
    narrowing: Narrowing,
    features: Features,
) -> tuple[TaintRecord, ...]:
    """The driver's taints of a device, then those of the rules that select it."""
    own = [_record(taint, None, features) for taint in device.taints]
    added = [
        _record(rule.spec.taint, rule.metadata.name, features)
        for rule in rules
        if selects(rule, spec.driver, spec.pool.name, device.name) and narrowing.admits(rule, spec.driver, device)
    ]
    return (*own, *sorted(added, key=lambda taint: (taint.rule or "", taint.key)))


def _record(taint: DeviceTaint, rule: str | None, features: Features) -> TaintRecord:
    prevents = features.device_taints and taint.effect in PREVENTING
    return TaintRecord(taint.key, taint.value, taint.effect, taint.time_added or "", rule or "", prevents)
