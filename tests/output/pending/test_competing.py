"""Requests that are served alone and not together: the number of devices is blamed only where that is what is short."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.output.pending.page import pending_page
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import POD, first_line, report_of


def _counters() -> list[dict[str, Any]]:
    memory = {"memory": {"value": "60"}}
    parts = [build.device(f"p-{n}", consumesCounters=[{"counterSet": "c", "counters": memory}]) for n in range(4)]
    counters = build.slice_("node-1", sharedCounters=[{"name": "c", "counters": {"memory": {"value": "100"}}}])
    devices = build.slice_("node-1", *parts)
    for number, each in enumerate((counters, devices)):
        each["metadata"] = {**each["metadata"], "name": f"slice-{number}"}
        each["spec"] = {**each["spec"], "pool": {**each["spec"]["pool"], "resourceSliceCount": 2}}
    return [{**counters, "spec": {k: v for k, v in counters["spec"].items() if k != "devices"}}, devices]


def _shared() -> list[dict[str, Any]]:
    return [build.slice_("node-1", build.device("p-0", allowMultipleAllocations=True, capacity={"m": {"value": "10"}}))]


def _amount(name: str) -> dict[str, Any]:
    return build.request(name, capacity={"requests": {"m": "6"}})


HARDWARE = (
    "Pod ml/pod is pending: a and b can each be served alone, but not together: on node-1 their devices draw on the "
    "same hardware, and not enough of it is left for all of them."
)


@pytest.mark.parametrize(
    ("slices", "requests"),
    [(_counters(), [build.request("a"), build.request("b")]), (_shared(), [_amount("a"), _amount("b")])],
    ids=["counters", "a shared capacity"],
)
def test_where_there_are_enough_devices_their_number_is_not_blamed(slices: Any, requests: Any) -> None:
    assert first_line(report_of(build.node(), *slices, POD, build.claim("claim", *requests))) == HARDWARE


def test_alternatives_are_not_added_up() -> None:
    """Of x and y only one is allocated: with b at most 4 devices, not 5."""
    counts = {"x": 2, "y": 1}
    options = [{**build.request(name, count=count)["exactly"], "name": name} for name, count in counts.items()]
    slice_ = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    claim = build.claim("claim", {"name": "a", "firstAvailable": options}, build.request("b", count=2))
    assert first_line(report_of(build.node(), slice_, POD, claim)) == (
        "Pod ml/pod is pending: a/x, a/y and b can each be served alone, but not together: on node-1 they need the "
        "same devices."
    )


def test_where_there_are_too_few_devices_for_all_it_is_said_how_many() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    told = first_line(
        report_of(build.node(), slice_, POD, build.claim("claim", build.request("a"), build.request("b")))
    )
    assert "a and b need 2 devices together, and no node has as many: node-1 has 1 device for all of them" in told


def test_a_table_of_several_requests_names_them_in_lines_of_the_page() -> None:
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    names = [f"request-with-a-long-name-{n}" for n in range(3)]
    report = report_of(build.node(), slice_, POD, build.claim("claim", *map(build.request, names)))
    lines = [str(line) for line in pending_page(report, CLOCK.now())]
    (title,) = [number for number, line in enumerate(lines) if line.startswith("Request request-with")]
    assert max(map(len, lines[title : title + 2])) <= 80
    assert "request request-with-a-long-name-2" in " ".join(lines[title : title + 2])
