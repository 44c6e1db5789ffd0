"""--observe: a rule with effect None for a moment, and what the eviction controller counts beside what the plan says.

Upstream: the controller writes what NoExecute would do into the rule's condition ``EvictionInProgress``, once per
generation. Its message is not a stable interface: where it can't be read, there is no comparison.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.model.taint_plan import Fate, PlannedTaint, RuleWrite, TaintPlan, Verb
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.taints.taint_rules import exact_selector, observing_name

NO_EFFECT: Final = "None"
CONDITION: Final = "EvictionInProgress"
_MESSAGE: Final = re.compile(
    r"(\d{1,9}) published devices? selected\. (\d{1,9}) allocated devices? selected\. "
    r"(\d{1,9}) pods? would be evicted in (\d{1,9}) "
)


class Counts(ReportRecord, frozen=True):
    """Published devices and allocation results that a rule selects, pods to evict, and their namespaces."""

    published: int
    allocated: int
    pods: int
    namespaces: int


def observation(plan: TaintPlan, api_version: str) -> TaintPlan:
    """A plan with nothing but the rule to count with, under a name of its own, for the one device of ``plan``."""
    device, key = plan.devices[0].id, plan.taint.key
    taint = PlannedTaint(key, plan.taint.value, NO_EFFECT)
    write = RuleWrite(Verb.CREATE, observing_name(device, key), api_version, exact_selector(device), taint)
    return msgspec.structs.replace(plan, writes=(write,), present=())


def end_of_observation(plan: TaintPlan, rule: DeviceTaintRule) -> TaintPlan:
    """The plan that deletes the rule again, whatever the controller has written into it meanwhile."""
    write = msgspec.structs.replace(plan.writes[0], verb=Verb.DELETE, uid=rule.metadata.uid)
    return msgspec.structs.replace(plan, writes=(write,))


def is_counting(rule: DeviceTaintRule, plan: TaintPlan) -> bool:
    """Whether a rule is the one that the plan made to count with, and nobody has made something else of it."""
    write = plan.writes[0]
    return rule.spec.device_selector == write.selector and PlannedTaint.of(rule.spec.taint) == write.taint


def condition_of(rule: DeviceTaintRule) -> Condition | None:
    """What the controller says of the rule as it is now; None while it has not spoken."""
    current = rule.metadata.generation
    conditions = (c for c in rule.status.conditions if c.type == CONDITION)
    return next((condition for condition in conditions if condition.observed_generation == current), None)


def counts_of(condition: Condition) -> Counts | None:
    """The numbers of the controller's message; None for a message of another form."""
    found = _MESSAGE.match(condition.message)
    return Counts(*map(int, found.groups())) if found is not None else None


def expected_counts(plan: TaintPlan, state: ClusterState) -> Counts:
    """The same numbers by a plan for effect NoExecute on one device."""
    device = plan.devices[0]
    evicted = plan.evicted()
    return Counts(
        published=1 if device.pool_devices else 0,
        allocated=len(state.inventory.holdings_by_device.get(device.id, ())),
        pods=len(evicted),
        namespaces=len({hit.namespace for hit in evicted}),
    )


def agrees(counted: Counts, expected: Counts, plan: TaintPlan) -> bool:
    """Whether the controller counts what the plan says, with pods that the plan is not sure of either way."""
    unsure = sum(hit.fate is Fate.UNCERTAIN for hit in plan.hits)
    devices = (counted.published, counted.allocated) == (expected.published, expected.allocated)
    return devices and expected.pods <= counted.pods <= expected.pods + unsure
