"""SelectorReports against what they stand for: programs evaluated one by one, and the allocator's own searches."""

from __future__ import annotations

from collections import Counter

import pytest

from kubectl_dra.allocation import Fatal
from kubectl_dra.allocation.errors import SelectorFailed
from kubectl_dra.cel import SCHEDULER, CompileError, Environment, compile_expression, device_value
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.resource import Device
from kubectl_dra.output.selector.page import selector_page
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.selector import (
    SelectorReport,
    Setting,
    Where,
    expression_question,
    is_bad,
    manifest_questions,
    selector_report,
)
from kubectl_dra.reports.selector.questions import simple_claim
from kubectl_dra.source.demo import CLUSTER as DEMO
from kubectl_dra.source.manifests import read_manifests
from tests.allocation.clusters import allocate_many
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.evaluated import evaluated
from tests.kit.facts import evidence
from tests.kit.state import inventory_of, state_of
from tests.reports.clusters import document, facts

FACTS = facts(DEMO)
SETTING = Setting(FACTS)
GPU = 'device.attributes["gpu.example.com"]'
PCIE = 'device.attributes["resource.kubernetes.io"].pcieRoot'
MEMORY = 'device.capacity["gpu.example.com"].memory'
EXPRESSIONS = (
    "true",
    "false",
    'device.driver == "gpu.example.com"',
    f'{GPU}.model == "H100"',
    f'{GPU}.model == "H100" && {GPU}.driverVersion.isGreaterThan(semver("560.0.0"))',
    f"{GPU}.nvlinkGeneration >= 4",
    f"{GPU}.?nvlinkGeneration.orValue(0) >= 4",
    f'{GPU}.modle == "H100"',
    f'{MEMORY}.compareTo(quantity("64Gi")) >= 0',
    f'{GPU}.driverVersion == "570.12.0"',
    f'device.driver == "gpu.example.com" && {GPU}.model == "L40"',
    'device.attributes["resource.kubernetes.io"].pcieRoot.startsWith("pci")',
    "device.allowMultipleAllocations",
    'device.attributes.exists(domain, domain == "nic.example.com")',
    f"{GPU}.uuid != '' && lists.range(200).all(i, i >= 0)",
)
CLASSES = (None, *FACTS.inventory.classes)


def report(expression: str, device_class: str | None = None, where: Where | None = None) -> SelectorReport:
    setting = SETTING if where is None else Setting(FACTS, where)
    return selector_report(expression_question(expression, device_class), setting)


def answer(expression: str, driver: str, device: Device) -> str:
    found = evaluated(compile_expression(expression, SCHEDULER), device_value(driver, device))
    return "error" if found.error is not None else "matches" if found.match else "no"


# --- outcomes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_device_has_the_outcome_of_its_evaluation(expression: str) -> None:
    found = report(expression)
    listed = {
        (pool.driver, pool.pool, name): outcome
        for pool in found.pools
        for outcome, field in (("matches", "matches"), ("no", "no"), ("error", "fails"), ("undecided", "undecided"))
        for name in getattr(pool, field)
    }
    outside: Counter[str] = Counter()
    for slice_ in FACTS.inventory.slices.values():
        for device in slice_.spec.devices:
            expected = answer(expression, slice_.spec.driver, device)
            key = (slice_.spec.driver, slice_.spec.pool.name, device.name)
            if key in listed:
                assert listed[key] == expected
            else:
                outside[expected] += 1
    assert len(listed) == found.totals.devices.value
    assert outside == +Counter(matches=found.outside.matches, no=found.outside.no, error=found.outside.fails)
    assert sum(found.outside.drivers.values()) == found.outside.devices == outside.total()


@pytest.mark.parametrize("device_class", CLASSES)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_headline_numbers_are_sums(expression: str, device_class: str | None) -> None:
    found = report(expression, device_class)
    totals = found.totals
    parts = (totals.matches, totals.no, totals.fails, totals.undecided)
    assert totals.devices.value == sum(part.value for part in parts)
    for field in ("matches", "free", "no", "fails"):
        assert getattr(totals, field).value == sum(len(getattr(pool, field)) for pool in found.pools)
    assert totals.no.value == sum(clause.removes for clause in found.clauses)
    assert totals.fails.value == sum(failure.devices for failure in found.failures)
    for clause in found.clauses:
        assert clause.text == found.selectors[clause.index].expression[clause.start : clause.end] or device_class
        seen = sum(seen.devices for seen in clause.seen) + clause.more
        assert seen in (0, clause.removes)
    assert totals.devices.value + found.outside.devices == len(SETTING.members)


def test_free_are_those_that_a_request_could_get() -> None:
    found = report(f'{GPU}.model == "H100"')
    assert {pool.pool: pool.free for pool in found.pools if pool.free} == {
        "gke-prod-h100-5f3a2b1c-k4tq": ("gpu-2", "gpu-3", "gpu-5", "gpu-6"),
        "gke-prod-h100-5f3a2b1c-x9zk": ("gpu-5", "gpu-6", "gpu-7"),
    }


def test_the_first_condition_that_says_no_removes_a_device() -> None:
    found = report(f'{GPU}.model == "H100" && {GPU}.driverVersion.isGreaterThan(semver("560.0.0"))')
    assert [
        (clause.removes, [(dict(seen.values), seen.devices) for seen in clause.seen]) for clause in found.clauses
    ] == [
        (16, [({"model": "L40"}, 16)]),
        (8, [({"driverVersion": "550.90.7"}, 8)]),
    ]


def test_a_condition_behind_decides_where_the_one_in_front_fails() -> None:
    """``&&`` absorbs an error if the other operand says no."""
    found = report(f'{GPU}.nvlinkGeneration >= 4 && {GPU}.model == "A100"')
    assert (found.totals.no.value, found.totals.fails.value) == (32, 0)
    assert [clause.removes for clause in found.clauses] == [0, 32]


@pytest.mark.parametrize(
    ("where", "devices"),
    [
        (Where(), 47),
        (Where(driver="nic.example.com"), 8),
        (Where(pool="gke-prod-h100-5f3a2b1c-k4tq"), 8),
        (Where(node="cpu-2"), 15),
        (Where(driver="gpu.example.com", node="gke-prod-h100-5f3a2b1c-x9zk"), 8),
        (Where(node="cpu-1", driver="gpu.example.com"), 0),
    ],
)
def test_scope(where: Where, devices: int) -> None:
    found = report("true", where=where)
    usable = found.totals.devices.value
    if where.node == "cpu-2":
        # Its own partitions, and the cards of its rack.
        assert {pool.driver for pool in found.pools} <= {"mig.example.com", "nic.example.com"}
        assert usable >= 7
    else:
        assert usable == devices


def test_unseen_claims_make_free_devices_an_upper_bound() -> None:
    evidence = FACTS.evidence
    reads = [Read(r.kind, r.namespace, Coverage.FORBIDDEN) if r.kind == "ResourceClaim" else r for r in evidence.reads]
    blind = ClusterState(FACTS.inventory.replace(claims={}), Evidence(tuple(reads)), FACTS.features, CLOCK)
    found = selector_report(expression_question(f'{GPU}.model == "H100"'), Setting(blind))
    assert (found.totals.matches.bound, found.totals.free.bound) == (Bound.EXACT, Bound.AT_MOST)
    assert [item.kind for item in found.missing] == ["ResourceClaim"]


def test_the_order_of_objects_does_not_matter() -> None:
    content = document(DEMO)
    content["items"].reverse()
    shuffled = Setting(facts(content))
    for expression in EXPRESSIONS[:8]:
        for device_class in (None, "gpu.example.com"):
            question = expression_question(expression, device_class)
            assert selector_report(question, shuffled) == report(expression, device_class)


# --- search orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device_class", [name for name in CLASSES if name is not None])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_warning_is_a_search_that_fails(expression: str, device_class: str) -> None:
    """With a class: a warning names a node whose real search ends there; without one, no open node's search does."""
    found = report(expression, device_class)
    claim = simple_claim(device_class, (expression,))
    nodes = list(FACTS.inventory.nodes.values())
    fatal = {
        name: str(outcome.error.device)
        for name, outcome in allocate_many(SETTING.cluster, nodes, (claim,)).items()
        if isinstance(outcome, Fatal) and isinstance(outcome.error, SelectorFailed)
    }
    for order in found.orders:
        assert fatal[order.node] == order.device
        assert order.message.endswith(tuple(failure.error for failure in found.failures)) or "consider" in order.message
    closed = {node.metadata.name for node in nodes if node.spec.taints}
    assert bool(found.orders) == bool(fatal.keys() - closed)


def test_other_devices_are_harmless_behind_a_class_that_selects_the_driver() -> None:
    found = report(f'{GPU}.model == "H100"')
    assert found.outside.drivers == {"mig.example.com": 7, "nic.example.com": 8}
    assert found.harmless_behind == ("gpu.example.com", "l40.example.com")
    assert found.passing == ("any-device",)
    [order] = found.orders
    assert (order.device_class, order.outside) == ("any-device", True)


def test_devices_in_use_are_not_looked_at() -> None:
    """All that fail are taken: no search comes to them."""
    held = {"gpu-5", "gpu-6", "gpu-7"}
    found = report(f"{GPU}.nvlinkGeneration >= 4", "gpu.example.com", Where(pool="ip-192-168-153-160.ec2.internal"))
    assert found.failures[0].skipped == len(held)


# --- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "near"),
    [
        ("device.drivr == ''", ("driver",)),
        ("device.atributes['d'].x == 1", ("attributes",)),
        ("devise.driver == ''", ("device",)),
        ("device.driver.startWith('g')", ("startsWith",)),
        ("attributes['d'].x == 1", ("device.attributes",)),
        ("quantitty('1Gi') == quantity('1Gi')", ("quantity",)),
        ("nonsensical(1)", ()),
    ],
)
def test_near_names(expression: str, near: tuple[str, ...]) -> None:
    [selector] = report(expression).selectors
    [problem] = selector.scheduler.problems
    assert problem.near[: len(near)] == near
    assert bool(problem.near) == bool(near)
    assert not selector.admission.accepted


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ('"' + "x" * 10_236 + '" != "' + '"', "FieldValueTooLong"),
        ('"' + "x" * 10_232 + '" != "' + '"', ""),
        ("type(device.driver) == string", "FieldValueForbidden"),
        ("dyn(true)", "RuleInvalid"),
        (f'{GPU}.model.includes("x")', "RuleInvalid"),
    ],
)
def test_admission(expression: str, reason: str) -> None:
    [selector] = report(expression).selectors
    assert selector.admission.reason == reason
    assert selector.scheduler.accepted


# --- corrections ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "corrected"),
    [
        (f"{GPU}.nvlinkGeneration >= 4", f"{GPU}.?nvlinkGeneration.orValue(0) >= 4"),
        (f'{GPU}["nvlinkGeneration"] >= 4', f'{GPU}[?"nvlinkGeneration"].orValue(0) >= 4'),
        (f"{GPU}.nvlinkGeneration != 5", f"has({GPU}.nvlinkGeneration) && {GPU}.nvlinkGeneration != 5"),
        (
            f'{GPU}.nvlinkGeneration < 5 || {GPU}.model == "A100"',
            f'(has({GPU}.nvlinkGeneration) && ({GPU}.nvlinkGeneration < 5 || {GPU}.model == "A100"))',
        ),
        (f'{GPU}.modle == "H100"', f'{GPU}.model == "H100"'),
        (f'{GPU}.Model == "H100"', f'{GPU}.model == "H100"'),
        ('device.attributes["gpu.exampel.com"].model == "H100"', f'{GPU}.model == "H100"'),
        ('device.attributes.model == "H100"', f'{GPU}.model == "H100"'),
        ('device.attributes["model"] == "H100"', f'{GPU}.model == "H100"'),
        ('device.attributes["gpu.example.com/model"] == "H100"', f'{GPU}.model == "H100"'),
        (f"{GPU}['resource.kubernetes.io/pcieRoot'] == 'pci0000:10'", f"{PCIE} == 'pci0000:10'"),
        (f'{GPU}.model.string == "H100"', f'{GPU}.model == "H100"'),
        (f'{GPU}.model = "H100"', f'{GPU}.model == "H100"'),
        (
            f'{GPU}.model == "H100" and {MEMORY} > "40Gi"',
            f'{GPU}.model == "H100" && {MEMORY}.isGreaterThan(quantity("40Gi"))',
        ),
        (f'{MEMORY} >= quantity("64Gi")', f'{MEMORY}.compareTo(quantity("64Gi")) >= 0'),
        (f'{MEMORY} == "80Gi"', f'{MEMORY} == quantity("80Gi")'),
        (f'{MEMORY}.isGreaterThan("64Gi")', f'{MEMORY}.isGreaterThan(quantity("64Gi"))'),
        (f'{GPU}.memory >= quantity("64Gi")', f'{MEMORY}.compareTo(quantity("64Gi")) >= 0'),
        (f'{GPU}.driverVersion == "570.12.0"', f'{GPU}.driverVersion == semver("570.12.0")'),
        (f'{GPU}.driverVersion >= "560.0.0"', f'{GPU}.driverVersion.compareTo(semver("560.0.0")) >= 0'),
        (f'size({GPU}) > 2 && {GPU}.model == "h100"', f'size({GPU}) > 2 && {GPU}.model == "H100"'),
        ("device.drivr == 'gpu.example.com'", "device.driver == 'gpu.example.com'"),
    ],
)
def test_typical_mistakes(written: str, corrected: str) -> None:
    [rewrite] = report(written).rewrites
    assert rewrite.expression == corrected


@pytest.mark.parametrize("device_class", CLASSES)
@pytest.mark.parametrize("expression", [*EXPRESSIONS, f'{GPU}.modle == "h100"', "device.attributes.model == 'L40'"])
def test_a_correction_holds_what_it_says(expression: str, device_class: str | None) -> None:
    for rewrite in report(expression, device_class).rewrites:
        assert rewrite.expression != expression
        compile_expression(rewrite.expression, Environment("admission"))
        again = report(rewrite.expression, device_class)
        # Devices on which the class itself fails prove nothing.
        assert again.totals.fails.value == 0
        assert (again.totals.matches.value, again.totals.free.value) == (rewrite.matches, rewrite.free)
        assert not again.rewrites or again.totals.matches.value == 0


@pytest.mark.parametrize("expression", ["true", f'{GPU}.model == "H100"', f"{GPU}.?nvlinkGeneration.orValue(0) >= 4"])
def test_what_is_right_is_not_corrected(expression: str) -> None:
    found = report(expression)
    assert found.rewrites == ()
    assert not is_bad(found)


def test_what_cannot_be_corrected_is_not() -> None:
    for expression in ("", "1 +", "device.name == 'x'", f"{GPU}.nosuchthing == 1", "foo(bar(baz))", "(" * 300):
        assert report(expression).rewrites == ()


# --- manifests ------------------------------------------------------------------------------------------------------

MANIFEST = b"""
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: mixed, namespace: ml}
spec:
  devices:
    requests:
    - name: one
      deviceClassName: file-class
      selectors:
      - cel: {expression: 'true'}
      - cel: {expression: 'device.attributes["gpu.example.com"].nvlinkGeneration >= 4'}
    - name: two
      firstAvailable:
      - {name: a, deviceClassName: gpu.example.com}
      - {name: b, deviceClassName: nosuch, selectors: [{cel: {expression: 'tru'}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: file-class}
spec:
  selectors:
  - cel: {expression: 'device.driver == "gpu.example.com"'}
"""


def test_manifests() -> None:
    objects = read_manifests(MANIFEST, "m.yaml").objects
    questions = manifest_questions(((each.record, each.origin) for each in objects), FACTS.features)
    setting = Setting(
        FACTS, Where(), {each.record.metadata.name: each.record for each in objects if each.kind.name == "DeviceClass"}
    )
    reports = [selector_report(question, setting) for question in questions]
    assert [(r.subject.kind, r.subject.name, r.subject.request, r.device_class) for r in reports] == [
        ("DeviceClass", "file-class", "", ""),
        ("ResourceClaim", "mixed", "one", "file-class"),
        ("ResourceClaim", "mixed", "two/a", "gpu.example.com"),
        ("ResourceClaim", "mixed", "two/b", "nosuch"),
    ]
    one = reports[1]
    assert [(s.device_class, s.index) for s in one.selectors] == [("file-class", 0), ("", 0), ("", 1)]
    assert [failure.index for failure in one.failures] == [1]
    assert [(rewrite.index, rewrite.changes) for rewrite in one.rewrites] == [(1, ("guard",))]
    assert one.orders[0].device_class == "file-class"
    assert (reports[3].class_found, reports[3].totals.devices.value) == (False, 0)
    assert [is_bad(r) for r in reports] == [False, True, False, True]
    assert [len(r.refusals) for r in reports] == [0, 0, 0, 1]
    assert "requests[1].firstAvailable[1].selectors[0].cel.expression" in reports[3].refusals[0]


def test_a_class_is_tried_on_all_devices() -> None:
    broken = MANIFEST.replace(b"device.driver ==", b'device.attributes["gpu.example.com"].model !=')
    objects = [each for each in read_manifests(broken, "m.yaml").objects if each.kind.name == "DeviceClass"]
    [question] = manifest_questions(((each.record, "") for each in objects), FACTS.features)
    found = selector_report(question, Setting(FACTS, Where(), {"file-class": objects[0].record}))
    assert (found.totals.devices.value, found.totals.fails.value) == (47, 15)
    assert found.orders
    assert found.rewrites[0].changes == ("driver",)


# --- explanation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_parts_of_an_explanation_are_its_conditions_evaluated_alone(expression: str) -> None:
    for member in SETTING.members[::7]:
        explained = selector_report(expression_question(expression), SETTING, member.id).explanation
        assert explained is not None
        assert explained.outcome == answer(expression, member.driver, member.device)
        [selector] = explained.selectors
        for part in selector.parts:
            if part.depth == 1 and part.times == 1:
                try:
                    alone = answer(part.text, member.driver, member.device)
                except CompileError:
                    # A value, not a condition.
                    continue
                if alone != "error":
                    assert part.values in (({"matches": "true", "no": "false"}[alone],), ())


def test_a_local_time_zone_is_told() -> None:
    def noted(expression: str) -> bool:
        return any("read as UTC" in line for line in selector_page(report(expression)))

    assert noted('timestamp("2024-01-01T00:00:00Z").getHours("Local") == 0')
    assert not noted('timestamp("2024-01-01T00:00:00Z").getHours("UTC") == 0')


def test_values_of_two_types_under_one_name_are_told_apart() -> None:
    """Both look alike in every list."""
    number, text = build.device("n", attributes={}), build.device("t", attributes={"cores": "64"})
    number["attributes"] = {"cores": {"int": 64}}
    objects = [build.node(), build.device_class(), build.slice_("node-1", number, text)]
    cluster = state_of(inventory_of(objects), evidence())
    question = expression_question(f'device.attributes["{build.DRIVER}"].cores > 32', None)
    found = selector_report(question, Setting(cluster))
    (failure,) = found.failures
    assert [(each.type, each.value) for each in failure.reads] == [("string", "64")]
    page = " ".join(" ".join(selector_page(found)).split())
    device = f"{build.DRIVER}/node-1"
    assert f'cores is the string "64" on {device}/t; on {device}/n cores is the int 64' in page
    alike = state_of(inventory_of([build.node(), build.slice_("node-1", text)]), evidence())
    assert not selector_report(question, Setting(alike)).failures[0].elsewhere
