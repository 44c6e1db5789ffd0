"""A selector asks for a value that no free device has: the values that exist are ways out, before it is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.remedies.records import EditClaim
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_more_situations import holding
from tests.output.pending.test_situations import DRIVER, POD, page_of, report_of

A = f'device.attributes["{DRIVER}"]'


def wanting(selector: str, *devices: dict[str, Any], holders: tuple[str, ...] = ()) -> PendingReport:
    used = [each for name in holders for each in holding(f"with-{name}", name)]
    claim = build.claim("claim", build.request(selector=selector))
    return report_of(build.node(), build.slice_("node-1", *devices), *used, POD, claim)


def device(name: str, key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {**build.device(name), "attributes": {key: value}}


def selectors(report: PendingReport) -> list[str]:
    actions = [action for remedy in report.remedies or () for action in remedy.actions]
    return [each.after for each in actions if isinstance(each, EditClaim) and each.field == "selectors[0]"]


def profiles(**numbers: int) -> list[dict[str, Any]]:
    named = [(name, number) for name, count in numbers.items() for number in range(count)]
    return [device(f"{name}-{n}".replace(".", "-"), "profile", {"string": name}) for name, n in named]


MIG = profiles(**{"1g.10gb": 3, "3g.40gb": 2})


def test_the_values_that_exist_come_before_the_selector_is_dropped() -> None:
    report = wanting(f'{A}.profile == "2g.20gb"', *MIG, holders=("3g-40gb-0",))
    # What has at least as much of all comes first.
    assert selectors(report) == [f'{A}.profile == "3g.40gb"', f'{A}.profile == "1g.10gb"', ""]
    page = page_of(report)
    assert 'select profile == "3g.40gb" (1 free)' in page
    assert 'select profile == "1g.10gb" (3 free)' in page
    assert 'drop the selector profile == "2g.20gb" node-1 (it may then get 1g.10gb (3 free) or 3g.40gb (1 free)' in page


def test_one_of_several_values_is_replaced_by_one_that_exists() -> None:
    """And not each of them in turn; a condition beside them stays."""
    either = f'({A}.profile == "2g.20gb" || {A}.profile == "4g.40gb")'
    assert selectors(wanting(f'{either} && {A}.profile != ""', *MIG))[:2] == [
        f'({A}.profile == "3g.40gb") && {A}.profile != ""',
        f'({A}.profile == "1g.10gb") && {A}.profile != ""',
    ]


def test_a_value_whose_devices_are_all_in_use_is_no_way_out() -> None:
    report = wanting(f'{A}.profile == "2g.20gb"', *MIG, holders=("3g-40gb-0", "3g-40gb-1"))
    # What could be had without the selector is the same.
    assert selectors(report) == [f'{A}.profile == "1g.10gb"']


def test_of_more_than_all_amounts_at_least_the_largest_is_offered() -> None:
    amount = f'device.capacity["{DRIVER}"].memory'
    memory = {**build.device("a"), "capacity": {"memory": {"value": "48Gi"}}}
    found = selectors(wanting(f'{amount}.isGreaterThan(quantity("64Gi"))', memory))
    assert found[0] == f'{amount}.compareTo(quantity("48Gi")) >= 0'


def test_values_are_offered_where_those_of_the_value_asked_for_are_in_use() -> None:
    report = wanting(f'{A}.profile == "3g.40gb"', *MIG, holders=("3g-40gb-0", "3g-40gb-1"))
    assert selectors(report)[0] == f'{A}.profile == "1g.10gb"'


@pytest.mark.parametrize(
    ("asked", "published", "after"),
    [
        ("{}.ecc == true", {"bool": False}, "{}.ecc == false"),
        ('{}.ecc == semver("13.0.0")', {"version": "12.4.1"}, '{}.ecc == semver("12.4.1")'),
        (
            '{}.ecc.compareTo(semver("13.0.0")) >= 0',
            {"version": "12.4.1"},
            '{}.ecc.compareTo(semver("12.4.1")) >= 0',
        ),
        (
            '{}.ecc.isGreaterThan(semver("13.0.0"))',
            {"version": "12.4.1"},
            '{}.ecc.compareTo(semver("12.4.1")) >= 0',
        ),
        ("{}.ecc > 7", {"int": 3}, "{}.ecc >= 3"),
        ("{}.ecc < 2", {"int": 3}, "{}.ecc <= 3"),
        ("{}.ecc == 7", {"int": 3}, "{}.ecc == 3"),
        ('{}.ecc in ["a100", "l40"]', {"string": "t4"}, '{}.ecc in ["t4"]'),
        ('{}.ecc == "a100" && {}.ecc != "b"', {"string": "t4"}, '{}.ecc == "t4" && {}.ecc != "b"'),
    ],
)
def test_values_of_every_type(asked: str, published: dict[str, Any], after: str) -> None:
    report = wanting(asked.replace("{}", A), device("a", "ecc", published), device("b", "ecc", published))
    assert selectors(report)[0] == after.replace("{}", A)


def test_values_that_only_name_a_device_are_not_offered() -> None:
    devices = [device(f"d{n}", "uuid", {"string": f"GPU-{n}{n}{n}"}) for n in range(5)]
    report = wanting(f'{A}.uuid == "wanted"', *devices)
    assert selectors(report) == [""]
    assert "it may then get any of 5 free devices" in page_of(report)


def test_a_spelling_is_corrected_and_nothing_else_is_offered() -> None:
    devices = [device("a", "model", {"string": "H100"}), device("b", "model", {"string": "T4"})]
    assert selectors(wanting(f'{A}.model == "h100"', *devices)) == [f'{A}.model == "H100"']


def nic(name: str, state: str, **more: str) -> dict[str, Any]:
    return build.device(name, attributes={"state": state, **more})


@pytest.mark.parametrize(("other", "offered"), [("down", False), ("Not-Present", False), ("standby", True)])
def test_a_device_that_does_not_work_is_no_way_out(other: str, *, offered: bool) -> None:
    wanted = build.claim("claim", build.request(selector=f'device.attributes["{build.DRIVER}"].state == "up"'))
    node, nics = build.node(), build.slice_("node-1", nic("net0", other), nic("net1", other))
    report = report_of(node, nics, POD, wanted)
    edits = [each for way in report.remedies for each in way.actions if isinstance(each, EditClaim)]
    assert any(each.field.startswith("selectors") for each in edits) is offered
