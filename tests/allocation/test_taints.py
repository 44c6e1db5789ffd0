"""Tolerations, and DeviceTaintRules merged into slices."""

from __future__ import annotations

import pytest

from kubectl_dra.allocation import Allocated, ClaimSearch, Unsatisfiable
from kubectl_dra.allocation.input.pools import gather
from kubectl_dra.allocation.input.taints import Narrowing, merge_rules, preventing, tolerates
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import (
    DeviceClass,
    DeviceSelector,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    DeviceToleration,
)
from tests.allocation.clusters import (
    DRIVER,
    allocate,
    claim_of,
    class_of,
    cluster_of,
    device,
    exactly,
    node_named,
    selectors,
    slice_of,
)

TAINT = DeviceTaint("key", "value", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        (DeviceToleration(), False),
        (DeviceToleration(value="value"), True),
        (DeviceToleration(operator="Exists"), True),
        (DeviceToleration("key", "Exists"), True),
        (DeviceToleration("other", "Exists"), False),
        (DeviceToleration("key", "Equal", "value"), True),
        (DeviceToleration("key", "", "value"), True),
        (DeviceToleration("key", "Equal", "other"), False),
        (DeviceToleration("key", "Exists", effect="NoSchedule"), True),
        (DeviceToleration("key", "Exists", effect="NoExecute"), False),
        (DeviceToleration("key", "Exists", toleration_seconds=0), True),
        (DeviceToleration("key", "Gt", "value"), False),
    ],
)
def test_tolerations(toleration: DeviceToleration, covers: bool) -> None:
    assert tolerates(toleration, TAINT) is covers


def test_an_empty_toleration_covers_taints_without_a_value() -> None:
    assert tolerates(DeviceToleration(), DeviceTaint("key", "", "NoExecute"))


def test_only_known_effects_prevent_and_each_taint_needs_a_toleration() -> None:
    harmless = [DeviceTaint("a", "", "None"), DeviceTaint("b", "", "Whatever"), DeviceTaint("c", "", "")]
    assert preventing(harmless, ()) is None
    second = DeviceTaint("key", "other", "NoSchedule")
    assert preventing([*harmless, TAINT, second], [DeviceToleration("key", "Equal", "value")]) is second


def _rule(selector: DeviceTaintSelector | None, key: str = "rule") -> DeviceTaintRule:
    return DeviceTaintRule(ObjectMeta(name=key), DeviceTaintRuleSpec(selector, DeviceTaint(key, "", "NoSchedule")))


@pytest.mark.parametrize(
    ("selector", "hit"),
    [
        (None, []),
        (DeviceTaintSelector(), ["a", "b"]),
        (DeviceTaintSelector(driver=DRIVER), ["a", "b"]),
        (DeviceTaintSelector(driver="other"), []),
        (DeviceTaintSelector(pool="node"), ["a", "b"]),
        (DeviceTaintSelector(pool="other"), []),
        (DeviceTaintSelector(device="b"), ["b"]),
        (DeviceTaintSelector(DRIVER, "node", "a"), ["a"]),
        (DeviceTaintSelector(DRIVER, "other", "a"), []),
        (DeviceTaintSelector(driver=""), []),
    ],
)
def test_what_a_rule_selects(selector: DeviceTaintSelector | None, hit: list[str]) -> None:
    before = slice_of([device("a"), device("b")])
    (after,) = merge_rules([before], [_rule(selector)], Features(), Narrowing({}))
    assert [d.name for d in after.spec.devices if d.taints] == hit
    assert hit or after is before


def test_rules_add_to_the_drivers_taints() -> None:
    before = slice_of([device("a", taints=(TAINT,))])
    rules = [_rule(DeviceTaintSelector(), "one"), _rule(DeviceTaintSelector(), "two")]
    (after,) = merge_rules([before], rules, Features(), Narrowing({}))
    assert [taint.key for taint in after.spec.devices[0].taints] == ["key", "one", "two"]


def _tainted_with(selector: DeviceTaintSelector, *classes: DeviceClass) -> list[str]:
    devices = [device("a", attributes={"model": "x"}), device("b", attributes={"model": "y"}), device("c")]
    cluster = cluster_of(slice_of(devices), classes=classes, taint_rules=[_rule(selector)])
    return [d.name for d in cluster.index.slices[0].spec.devices if d.taints]


def test_rules_of_old_servers_may_have_a_class_and_selectors() -> None:
    model = f'device.attributes["{DRIVER}"].model == "x"'
    chosen = class_of(model, name="chosen")
    assert _tainted_with(DeviceTaintSelector(device_class_name="chosen"), chosen) == ["a"]
    assert _tainted_with(DeviceTaintSelector(device_class_name="gone"), chosen) == []
    assert _tainted_with(DeviceTaintSelector(selectors=selectors(model))) == ["a"]
    assert _tainted_with(DeviceTaintSelector(device="b", selectors=selectors(model))) == []
    assert _tainted_with(DeviceTaintSelector(selectors=selectors("1 +"))) == []
    assert _tainted_with(DeviceTaintSelector(selectors=(DeviceSelector(),))) == ["a", "b", "c"], "of an unknown type"


@pytest.mark.parametrize("rules", [True, False])
@pytest.mark.parametrize("taints", [True, False])
def test_features(rules: bool, taints: bool) -> None:
    features = Features(device_taint_rules=rules, device_taints=taints)
    slices = [slice_of([device("a")])]
    cluster = cluster_of(*slices, features=features, taint_rules=[_rule(DeviceTaintSelector())])
    outcome = allocate(cluster, node_named(), [claim_of(exactly())])
    assert isinstance(outcome, Unsatisfiable if rules and taints else Allocated)


def test_the_check_names_the_taint() -> None:
    cluster = cluster_of(slice_of([device("a", taints=(TAINT,)), device("b")]))
    attempt = ClaimSearch(cluster, [claim_of(exactly())])
    checks = attempt.checks(node_named(), gather(cluster.index, node_named()).pools)
    (request,) = attempt.plan.requests
    assert [checks.tainted(request, candidate) for candidate in checks.candidates] == [TAINT, None]
    assert [checks.rejects(request, candidate) for candidate in checks.candidates] == [True, False]
