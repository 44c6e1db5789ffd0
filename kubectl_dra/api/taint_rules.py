"""The DeviceTaintRule objects of planned writes, in the version that they are written in."""

from __future__ import annotations

import json

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_TAINT_RULE
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import DeviceTaintRule, DeviceTaintRuleSpec
from kubectl_dra.model.taint_plan import MANAGED_BY, MANAGER, RuleWrite, Verb


def check_selector(write: RuleWrite) -> None:
    """Raise ``ValueError`` unless a device or a pool is selected: less would taint a driver, or the whole cluster."""
    selector = write.selector
    if selector is None or not (selector.driver and selector.pool):
        raise ValueError(f"rule {write.name} does not select one device or one pool")


def new_rule(write: RuleWrite) -> bytes:
    """The object of a creation as JSON. Raises ``ValueError``, see :func:`check_selector`."""
    check_selector(write)
    rule = DeviceTaintRule(
        metadata=ObjectMeta(name=write.name, labels={MANAGED_BY: MANAGER}),
        spec=DeviceTaintRuleSpec(device_selector=write.selector, taint=write.taint.for_rule),
    )
    return _encoded(rule, write)


def changed_rule(rule: DeviceTaintRule, write: RuleWrite) -> bytes:
    """The object after a change, or, as it is, before a deletion."""
    return _encoded(rule if write.verb is Verb.DELETE else with_spec(rule, taint=write.taint.for_rule), write)


def _encoded(rule: DeviceTaintRule, write: RuleWrite) -> bytes:
    document = json.loads(encode(rule, DEVICE_TAINT_RULE, write.api_version))
    document.pop("status", None)
    return json.dumps(document).encode("ascii")
