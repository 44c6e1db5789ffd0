"""What test-selector would write instead is what why-pending offers, if the pod then fits."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.diagnosis.remedies.records import EditClaim, EditClass
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.selector import SelectorReport, Setting, manifest_questions, selector_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.ways import remedies

pytestmark = pytest.mark.one_in(2)


DOMAIN = f'device.attributes["{build.DRIVER}"]'
MEMORY = f'device.capacity["{build.DRIVER}"].memory'

#: A mistake in a selector by the code of the change that mends it.
MISTAKES = {
    "syntax": (f'{DOMAIN}.model == "A100" and true', f'{DOMAIN}.model = "A100"'),
    "function": (f'{DOMAIN}.model.startWith("A100")', 'device.attribute["gpu.example.com"].model == "A100"'),
    "field": (f'{DOMAIN}.model.string == "A100"',),
    "domain": (
        'device.attributes["gpu.exmaple.com"].model == "A100"',
        # The key of the manifest as a domain, and the type of its value as a name.
        'device.attributes["gpu.example.com/model"].string == "A100"',
        'device.attributes["model"].string == "A100"',
    ),
    "name": (f'{DOMAIN}.modle == "A100"', f'{DOMAIN}["modle"] == "A100"', f"{DOMAIN}.memory.isInteger()"),
    "unit": (f'{MEMORY}.compareTo(quantity("70GB")) >= 0', f'{MEMORY} == quantity("80 GiB")'),
    "amount": (f"{MEMORY} >= 40", f"{MEMORY} > 79"),
    "comparison": (f'{MEMORY} >= "40Gi"', f'{MEMORY} >= "40gb"', f'{DOMAIN}.driverVersion > "1.0.0"'),
    "literal": (
        f'{DOMAIN}.model == "a100"',
        f'{DOMAIN}.model in ["A10O"]',
        f'"A-100" == {DOMAIN}["model"]',
        f'{MEMORY}.compareTo(quantity("86Gi")) >= 0',
    ),
    "guard": (f"{DOMAIN}.index > 0", f'{DOMAIN}["index"] > 0', f"has({MEMORY}) && {DOMAIN}.index == 1"),
}
#: The same within other text: in brackets, before and behind other conditions.
SHAPES = (
    "{}",
    "({})",
    '({}) && device.driver == "gpu.example.com"',
    'device.driver == "gpu.example.com" && ({})',
    "(({} || false)) && true",
)
CASES = [
    pytest.param(code, shape.format(mistake), id=f"{code}: {shape.format(mistake)}")
    for code, mistakes in MISTAKES.items()
    for mistake in mistakes
    for shape in SHAPES
]


def device(name: str, **more: dict[str, Any]) -> dict[str, Any]:
    found = build.device(name, attributes={"model": "A100"}, capacity={"memory": {"value": "80Gi"}})
    found["attributes"] |= {"driverVersion": {"version": "1.2.3"}, **more}
    return found


def cluster(selector: str, class_selector: str = f'device.driver == "{build.DRIVER}"') -> ClusterState:
    """The first device, which every search comes to, lacks what the second has."""
    objects = [
        build.node(),
        build.device_class(selectors=[{"cel": {"expression": class_selector}}]),
        build.claim("claim", build.request(selector=selector)),
        build.pod(claims=["claim"]),
        build.slice_("node-1", device("plain"), device("numbered", index={"int": 1})),
    ]
    return ClusterState(facts.inventory(objects), facts.evidence(), Features(), CLOCK)


def diagnosed(world: ClusterState) -> PodDiagnosis:
    return Diagnoser(world).pod(Key(build.NAMESPACE, "pod"))


def in_the_lab(world: ClusterState, what: Any) -> SelectorReport:
    found = ClusterState(world.inventory, world.evidence, world.features, CLOCK)
    (question,) = manifest_questions([(what, "")], world.features)
    return selector_report(question, Setting(found))


@pytest.mark.parametrize(("code", "selector"), CASES)
def test_every_suggestion_of_test_selector_is_offered(code: str, selector: str) -> None:
    world = cluster(selector)
    suggestions = in_the_lab(world, world.inventory.claims[Key(build.NAMESPACE, "claim")]).rewrites
    assert [code in each.changes for each in suggestions] == [True]
    (suggested,) = (each.expression for each in suggestions)
    assert diagnosed(cluster(suggested)).verdict is Verdict.SCHEDULABLE
    offered = [action for found in remedies(world, diagnosed(world)) for action in found.actions]
    assert any(isinstance(each, EditClaim) and each.after == suggested for each in offered), suggested


@pytest.mark.parametrize("selector", [f"{DOMAIN}.index > 0", f"({DOMAIN}.index > 0)", f"{DOMAIN}.index > 0 || false"])
def test_that_of_a_class_is_offered_too(selector: str) -> None:
    world = cluster("true", selector)
    (suggested,) = (each.expression for each in in_the_lab(world, world.inventory.classes[build.DRIVER]).rewrites)
    offered = [action for found in remedies(world, diagnosed(world)) for action in found.actions]
    assert any(isinstance(each, EditClass) and each.after == suggested for each in offered), suggested


@pytest.mark.parametrize(("amount", "offered"), [("84Gi", True), ("160Gi", False), ("40Gi", False)])
def test_only_an_amount_of_the_same_kind_of_device_is_meant(amount: str, *, offered: bool) -> None:
    """What is sold as 80 GB is published as a little less; twice as much is another device, half as much matches."""
    world = cluster(f'{MEMORY}.compareTo(quantity("{amount}")) >= 0')
    suggestions = in_the_lab(world, world.inventory.claims[Key(build.NAMESPACE, "claim")]).rewrites
    better = [f'{MEMORY}.compareTo(quantity("80Gi")) >= 0'] if offered else []
    assert [each.expression for each in suggestions] == better
