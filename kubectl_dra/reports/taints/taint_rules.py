"""DeviceTaintRules that this program makes: their names, and which of a cluster's rules are its own.

There is one own rule per device and key, or per pool and key. It is known by its label, and by a selector with driver,
pool and device, or with driver and pool alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.resource import DeviceTaintRule, DeviceTaintSelector
from kubectl_dra.model.taint_plan import MANAGED_BY, MANAGER

_READABLE: Final = 40
_DIGITS: Final = 10
_NOT_IN_NAMES: Final = re.compile("[^a-z0-9]+")


def rule_name(device: DeviceId, key: str, purpose: str = "") -> str:
    """The name of the own rule: as much of device and key as is readable, and a hash that tells all of them apart."""
    words = (device.driver.partition(".")[0], device.pool, device.device, key.rpartition("/")[2], purpose)
    readable = _NOT_IN_NAMES.sub("-", "-".join(filter(None, words)).lower())[:_READABLE].strip("-")
    digest = hashlib.sha256("\0".join((*device, key, purpose)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable}-{digest[:_DIGITS]}".lstrip("-")


def observing_name(device: DeviceId, key: str) -> str:
    """The name of the rule with effect None that ``--observe`` makes for a moment."""
    return rule_name(device, key, "observe")


def exact_selector(device: DeviceId) -> DeviceTaintSelector:
    return DeviceTaintSelector(driver=device.driver, pool=device.pool, device=device.device)


def pool_selector(pool: PoolId) -> DeviceTaintSelector:
    """The selector of all devices of a pool, also those that it will publish."""
    return DeviceTaintSelector(driver=pool.driver, pool=pool.pool)


def pool_rules(rules: Iterable[DeviceTaintRule], pool: PoolId, key: str) -> tuple[DeviceTaintRule, ...]:
    """The own rules for a whole pool and a key, by name."""
    found = (r for r in rules if is_own(r, of_pool=True) and r.spec.device_selector == pool_selector(pool))
    return tuple(sorted((r for r in found if r.spec.taint.key == key), key=lambda rule: rule.metadata.name))


def is_own(rule: DeviceTaintRule, *, of_pool: bool = False) -> bool:
    """Whether this program made the rule, for a device or for a whole pool, and nobody has widened it since."""
    selector = rule.spec.device_selector
    if selector is None or None in (selector.driver, selector.pool) or (selector.device is None) is not of_pool:
        return False
    return rule.metadata.labels.get(MANAGED_BY) == MANAGER


def own_rules(rules: Iterable[DeviceTaintRule], device: DeviceId, key: str) -> tuple[DeviceTaintRule, ...]:
    """The own rules for a device and key, by name; more than one only if somebody copied one.

    A rule that only counts for a moment is none: whoever made it is about to delete it.
    """
    selector, counting = exact_selector(device), observing_name(device, key)
    own = (rule for rule in rules if is_own(rule) and rule.metadata.name != counting)
    found = (rule for rule in own if rule.spec.device_selector == selector)
    return tuple(sorted((r for r in found if r.spec.taint.key == key), key=lambda rule: rule.metadata.name))
