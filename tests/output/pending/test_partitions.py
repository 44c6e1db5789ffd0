"""Partitions of a card that block each other's placements: which, by whom, and what still fits (MIG profiles)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.reports.pending.pending import PendingReport
from tests.kit import build
from tests.output.pending.test_situations import DRIVER, POD, first_line, page_of, report_of

#: Per profile its placements, the memory slices of each and the multiprocessors, as the driver publishes an A100.
PROFILES = {
    "1g.5gb": (range(7), 1, 14),
    "2g.10gb": ((0, 2, 4), 2, 28),
    "3g.20gb": ((0, 4), 4, 42),
    "7g.40gb": ((0,), 8, 98),
}


def counters(slices: Iterable[int], multiprocessors: int) -> dict[str, Any]:
    return {
        "multiprocessors": {"value": str(multiprocessors)},
        **{f"memory-slice-{number}": {"value": "1"} for number in slices},
    }


def card(**capacity: str) -> list[dict[str, Any]]:
    devices = [
        build.device(
            f"mig-{profile[:2]}-{start}",
            attributes={"profile": profile},
            capacity={"memory": {"value": capacity[profile]}} if profile in capacity else {},
            consumesCounters=[{"counterSet": "gpu-0", "counters": counters(range(start, start + width), amount)}],
        )
        for profile, (starts, width, amount) in PROFILES.items()
        for start in starts
    ]
    shared = build.slice_("node-1", sharedCounters=[{"name": "gpu-0", "counters": counters(range(8), 98)}])
    del shared["spec"]["devices"]
    found = [shared, build.slice_("node-1", *devices)]
    for part, name in zip(found, ("counters", "devices"), strict=True):
        part["metadata"]["name"] = name
        part["spec"]["pool"]["resourceSliceCount"] = 2
    return found


def report_for(profile: str, memory: Mapping[str, str] = MappingProxyType({}), **held: str) -> PendingReport:
    objects = [build.node(), *card(**memory), POD]
    for pod, device in held.items():
        objects.append(build.claim(f"of-{pod}", held=[("node-1", device)], on="node-1", by=[pod]))
        objects.append(build.pod(pod, claims=[f"of-{pod}"], node_name="node-1", phase="Running"))
    wish = build.request(selector=f'device.attributes["{DRIVER}"].profile == "{profile}"')
    return report_of(*objects, build.claim("claim", wish))


def test_each_placement_is_told_with_who_blocks_it() -> None:
    report = report_for("3g.20gb", notebook="mig-1g-2", chat="mig-1g-5")
    assert report.code is Code.COUNTERS_EXHAUSTED
    assert first_line(report).endswith(
        "both are blocked by other partitions of the same hardware (mig-3g-0: notebook uses gpu-0/memory-slice-2; "
        "mig-3g-4: chat uses gpu-0/memory-slice-5)."
    )
    page = page_of(report)
    assert "left after each check" not in page
    # Only what is short is freed: both pods use multiprocessors, of which there are enough.
    ways = {
        action.pod.name: action for way in report.remedies for action in way.actions if isinstance(action, DeletePod)
    }
    assert {name: way.amounts for name, way in ways.items()} == {
        "chat": ("1 memory-slice-5 of gpu-0",),
        "notebook": ("1 memory-slice-2 of gpu-0",),
    }


@pytest.mark.parametrize(
    ("wanted", "held", "offered"), [("3g.20gb", "mig-1g-5", "2g.10gb"), ("7g.40gb", "mig-1g-0", "3g.20gb")]
)
def test_the_next_smaller_profile_that_has_room_is_offered(wanted: str, held: str, offered: str) -> None:
    page = page_of(report_for(wanted, notebook="mig-1g-2" if wanted == "3g.20gb" else held, chat=held))
    assert f'profile == "{offered}"' in page
    assert 'profile == "1g.5gb"' not in page


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ({"2g.10gb": "10Gi", "3g.20gb": "20Gi"}, "each device then has only 10Gi of memory instead of 20Gi"),
        ({"2g.10gb": "20Gi", "3g.20gb": "20Gi"}, ""),
        ({"3g.20gb": "20Gi"}, ""),
    ],
)
def test_what_a_smaller_profile_costs_is_told_where_it_is_published(memory: dict[str, str], told: str) -> None:
    page = " ".join(page_of(report_for("3g.20gb", memory, notebook="mig-1g-2", chat="mig-1g-5")).split())
    assert 'profile == "2g.10gb"' in page
    assert ("then has only" in page, told in page) == (bool(told), True)


def test_what_is_short_in_part_is_told_in_amounts() -> None:
    line = first_line(report_for("7g.40gb", notebook="mig-1g-0", chat="mig-3g-4"))
    assert "gpu-0/multiprocessors: needs 98, 42 of 98 left, chat and notebook use the rest" in line
