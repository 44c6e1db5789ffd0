"""Device taints: which toleration covers which taint, and merging DeviceTaintRules into slices.

Upstream: resourceclaim.ToleratesTaint, the allocator's taint check, and the slice tracker's applyPatches. Eviction is
another matter (``diagnosis``): there a toleration needs the literal effect NoExecute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Taint, Toleration
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import (
    Device,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    ResourceSlice,
    ResourceSliceSpec,
)
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import SelectorSet, placed


def tolerates(toleration: DeviceToleration | Toleration, taint: DeviceTaint | Taint) -> bool:
    """Whether a toleration covers a taint for scheduling; tolerationSeconds plays no part."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def preventing(taints: Iterable[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> DeviceTaint | None:
    """The first taint that keeps a request with these tolerations away; None and unknown effects are ignored."""
    for taint in taints:
        if taint.effect in PREVENTING and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def selects(rule: DeviceTaintRule, driver: str, pool: str, device: str | None = None) -> bool:
    """Whether a rule selects a device (or, without ``device``, could select some device of the pool)."""
    selector = rule.spec.device_selector
    return (
        selector is not None
        and selector.driver in (None, driver)
        and selector.pool in (None, pool)
        and (device is None or selector.device in (None, device))
    )


class Narrowing:
    """What the class and the selectors leave of the devices that a rule of 1.33 or 1.34 names.

    Upstream, in the tracker of those versions: a selector that fails, or a class that does not exist, leaves nothing;
    selectors of unknown types are skipped, and CEL is not told which devices may be shared.
    """

    def __init__(self, classes: Mapping[str, DeviceClass]) -> None:
        self._classes = classes
        self._sets: dict[tuple[Selector, ...], SelectorSet] = {}

    def admits(self, rule: DeviceTaintRule, driver: str, device: Device) -> bool:
        """Whether a device is left."""
        selector = rule.spec.device_selector
        if selector is None or not is_narrowed(rule):
            return selector is not None
        selectors = selector.selectors
        if selector.device_class_name is not None:
            device_class = self._classes.get(selector.device_class_name)
            if device_class is None:
                return False
            selectors = (*device_class.spec.selectors, *selectors)
        asked = placed((each for each in selectors if each.cel is not None), None)
        known = self._sets.get(asked)
        if known is None:
            known = self._sets[asked] = SelectorSet(asked, shows_sharing=False)
        return known.matches(driver, device)


def merge_rules(
    slices: Iterable[ResourceSlice], rules: Sequence[DeviceTaintRule], features: Features, narrowing: Narrowing
) -> tuple[ResourceSlice, ...]:
    """Append every rule's taint to the devices that it selects; slices that no rule hits are passed on as they are."""
    if not rules or not features.device_taint_rules:
        return tuple(slices)
    return tuple(_merged(slice_, rules, narrowing) for slice_ in slices)


def is_narrowed(rule: DeviceTaintRule) -> bool:
    """Whether the rule names a class or has selectors, as only 1.33 and 1.34 knew."""
    selector = rule.spec.device_selector
    return selector is not None and (selector.device_class_name is not None or bool(selector.selectors))


def selects_everything(rule: DeviceTaintRule) -> bool:
    """Whether the rule has a selector, and nothing in it: it taints all devices of all drivers."""
    selector = rule.spec.device_selector
    if selector is None or is_narrowed(rule):
        return False
    return selector.driver is None and selector.pool is None and selector.device is None


def _merged(slice_: ResourceSlice, rules: Sequence[DeviceTaintRule], narrowing: Narrowing) -> ResourceSlice:
    spec = slice_.spec
    near = [rule for rule in rules if selects(rule, spec.driver, spec.pool.name)]
    if not near:
        return slice_
    devices = tuple(_tainted(device, spec, near, narrowing) for device in spec.devices)
    return with_spec(slice_, devices=devices)


def _tainted(device: Device, spec: ResourceSliceSpec, rules: Sequence[DeviceTaintRule], narrowing: Narrowing) -> Device:
    hits = (rule for rule in rules if selects(rule, spec.driver, spec.pool.name, device.name))
    added = tuple(rule.spec.taint for rule in hits if narrowing.admits(rule, spec.driver, device))
    return msgspec.structs.replace(device, taints=device.taints + added) if added else device
