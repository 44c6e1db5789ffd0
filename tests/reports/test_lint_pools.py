"""lint: slices of the files that the API server takes, and whose devices can never be allocated; what helps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.output.lint.hints import hint
from kubectl_dra.output.lint.page import lint_page
from kubectl_dra.reports.lint.records import LintReport, Rule
from kubectl_dra.reports.lint.report import Place, lint_report
from tests.kit import build


def slice_(name: str, *, count: int = 2, generation: int = 1, **spec: Any) -> dict[str, Any]:
    pool = {"name": "node-1", "generation": generation, "resourceSliceCount": count}
    body = {"driver": build.DRIVER, "nodeName": "node-1", "pool": pool, **spec}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": body}


def counters(**amounts: str) -> dict[str, Any]:
    held = {name: {"value": value} for name, value in amounts.items()}
    return slice_("counters", sharedCounters=[{"name": "gpu-0", "counters": held}])


def part(name: str, counter_set: str = "gpu-0", **amounts: str) -> dict[str, Any]:
    drawn = {key: {"value": value} for key, value in amounts.items()}
    return {"name": name, "consumesCounters": [{"counterSet": counter_set, "counters": drawn}]}


def report_of(*bodies: dict[str, Any]) -> LintReport:
    objects = read_all([Source(json.dumps(body).encode()) for body in bodies], "ml")
    return lint_report(objects, lambda _number, _path: Place("f"))


def found(*bodies: dict[str, Any]) -> list[str]:
    return [each.message for each in report_of(*bodies).findings if each.code is Rule.POOL]


def test_a_pool_whose_counters_fit_its_devices_is_not_told_of() -> None:
    assert found(counters(memory="40Gi"), slice_("devices", devices=[part("half", memory="20Gi")])) == []
    assert found(slice_("alone", count=1, devices=[{"name": "gpu-0"}])) == []


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (part("half", "gpu-1", memory="20Gi"), "a device of it uses counter set gpu-1, which it does not publish"),
        (
            part("half", cores="1"),
            "a device of it uses counter cores of counter set gpu-0, which has none of that name",
        ),
    ],
)
def test_a_reference_to_counters_that_are_not_there_makes_the_pool_invalid(device: dict[str, Any], text: str) -> None:
    (told,) = found(counters(memory="40Gi"), slice_("devices", devices=[device]))
    assert told == f"pool gpu.example.com/node-1 is invalid, so that none of its devices can be allocated: {text}"


def test_a_device_that_two_slices_publish_makes_the_pool_invalid() -> None:
    (told,) = found(slice_("a", devices=[{"name": "gpu-0"}]), slice_("b", devices=[{"name": "gpu-0"}]))
    assert told.endswith("none of its devices can be allocated: it publishes device gpu-0 twice")


@pytest.mark.parametrize(("amount", "has"), [("-4", "-4"), ("1", "1")])
def test_a_device_that_needs_more_than_the_counters_ever_have_is_told_of(amount: str, has: str) -> None:
    """Upstream: validateDeviceCounter takes any quantity, also one below zero."""
    (told,) = found(counters(cores=amount), slice_("devices", devices=[part("half", cores="2")]))
    assert told == f"device half can never be allocated: it uses 2 cores of counter set gpu-0, which has {has}"


@pytest.mark.parametrize(("count", "text"), [(3, "1 of its 3 slices"), (0, "")])
def test_a_pool_of_which_slices_are_missing_is_told_of_where_the_server_takes_it(count: int, text: str) -> None:
    told = found(slice_("a", count=count, devices=[{"name": "gpu-0"}]))
    assert told == ([f"pool gpu.example.com/node-1 is incomplete: the files have {text}"] if text else [])


def test_the_counters_that_missing_slices_have_are_told() -> None:
    (told,) = found(slice_("a", devices=[part("half", memory="1Gi"), part("other", "gpu-7", memory="1Gi")]))
    assert told.endswith("1 of its 2 slices, and in none of them are counter sets gpu-0 and gpu-7, which devices use")


def test_only_the_newest_generation_counts_and_what_was_not_read_may_be_part_of_it() -> None:
    old, new = slice_("a", devices=[{"name": "gpu-0"}]), slice_("b", count=1, generation=2, devices=[{"name": "gpu-0"}])
    assert found(old, new) == []
    broken = slice_("c", sharedCounters=[{"name": "gpu-0", "counters": {"memory": {"value": "32GB"}}}])
    assert found(slice_("a", devices=[part("half", memory="1Gi")]), broken) == []


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        (counters(memory="32GB"), 'write "32G" (powers of 1000) or "32Gi" (powers of 1024)'),
        (slice_("a", devices=[{"name": "d", "attributes": {"v": {"version": "v1.2"}}}]), 'write "1.2.0"'),
        (slice_("a", devices=[{"name": "d", "attributes": {"v": {"version": "535.129.03"}}}]), 'write "535.129.3"'),
        (slice_("a", devices=[{"name": "d", "attributes": {"v": {"version": "470.05"}}}]), 'write "470.5.0"'),
        (slice_("a", devices=[{"name": "NPU_0"}]), 'write "npu-0"'),
        (slice_("a", devices=[{"name": "GPU.0"}]), 'write "gpu-0"'),
        (
            slice_("a", devices=[{"name": "d"}], sharedCounters=[{"name": "c", "counters": {"m": {"value": "1"}}}]),
            "publish the counters in a slice of their own, of the same pool and generation, and count both",
        ),
        (slice_("a", devices=[{"name": f"d{n}"} for n in range(129)]), "divide them between several slices"),
        (slice_("a", allNodes=True, devices=[{"name": "d"}]), "keep the one that says which nodes reach the devices"),
        (slice_("a", count=0, devices=[{"name": "d"}]), "write how many slices the pool has in all"),
        (
            slice_("a", devices=[{"name": "d", "taints": [{"key": "k", "effect": "PreferNoSchedule"}]}]),
            "devices have no softer taint than NoSchedule",
        ),
    ],
)
def test_what_a_server_refuses_about_slices_comes_with_what_to_write(body: dict[str, Any], advice: str) -> None:
    lines = [str(line) for line in lint_page(report_of(body))]
    assert any(advice in line and "[refused]" in line for line in lines), lines


def test_a_name_that_repeats_the_words_of_a_refusal_is_not_searched_again_from_each_of_them() -> None:
    words = "value is not a multiple of a given step ("
    assert hint(f"{words * 3}2Gi) from (3Gi)") == "choose 3Gi, or that and some steps of 2Gi more"


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        (
            {"driver": "gpu.exampel.com"},
            "no ResourceSlice of the files is of driver gpu.exampel.com; did you mean gpu.example.com?",
        ),
        (
            {"driver": build.DRIVER, "pool": "node1"},
            "no ResourceSlice of the files is of pool node1; did you mean node-1?",
        ),
        ({"driver": build.DRIVER, "pool": "node-1"}, ""),
        ({"driver": build.DRIVER, "pool": "node-2"}, ""),  # another one
        ({"driver": build.DRIVER, "pool": "nodes-1"}, ""),  # a node of the files, whose driver is stopped
        ({"driver": "nic.vendor.org"}, ""),  # the files may be a part
        ({"pool": "node-1"}, ""),
        ({}, ""),
    ],
)
def test_a_taint_rule_whose_driver_or_pool_is_almost_one_of_the_files_is_told_of(
    selector: dict[str, str], told: str
) -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "drain"},
        "spec": {"deviceSelector": selector, "taint": {"key": "k", "effect": "NoExecute"}},
    }
    report = report_of(slice_("a", count=1, devices=[{"name": "gpu-0"}]), build.node("nodes-1"), rule)
    assert [each.message for each in report.findings if each.code is Rule.TAINT_RULE] == ([told] if told else [])
