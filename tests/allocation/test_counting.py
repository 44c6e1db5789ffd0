"""Computed steps are those of the plain walk, and searches that can't be walked end at once."""

from __future__ import annotations

from math import comb
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_dra.allocation import Allocated, Budget, Outcome, TimeLimit, Undecided, Unsatisfiable
from kubectl_dra.allocation.search import allocator as allocator_module
from kubectl_dra.allocation.search.counting import Counting
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import DeviceConstraint, ResourceClaim, ResourceSlice
from kubectl_dra.scheduler.allocation_errors import allocation_error
from tests.allocation import clusters
from tests.allocation.clusters import DRIVER, allocate, claim_of, cluster_of, device, exactly, node_named, slice_of
from tests.kit import work
from tests.vectors import answer_alloc
from tests.vectors.rows import rows

pytestmark = pytest.mark.one_in(3)

WALKED = Budget(first=30_000, combinations=0, steps=30_000)
COMPUTED = Budget(first=0)
IMPOSSIBLE = exactly("never", 1, "false")


def _comparable(outcome: Outcome) -> object:
    if isinstance(outcome, Allocated):
        return outcome.steps, outcome.allocations
    if isinstance(outcome, Unsatisfiable):
        return outcome.steps, outcome.invalid_pools
    return outcome.steps, allocation_error(outcome.error) if hasattr(outcome, "error") else None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    slices=clusters.pools(),
    claims=clusters.claims(),
    held=st.sets(st.sampled_from(["d0", "d1", "d2"])),
    features=st.sampled_from([Features(), clusters.EVERYTHING]),
)
def test_computing_agrees_with_walking(
    slices: list[ResourceSlice], claims: list[ResourceClaim], held: set[str], features: Features
) -> None:
    cluster = cluster_of(*slices, held=[clusters.holding(*sorted(held))], features=features)
    walked = allocate(cluster, node_named(), claims, budget=WALKED)
    if not isinstance(walked, Undecided):
        assert _comparable(allocate(cluster, node_named(), claims, budget=COMPUTED)) == _comparable(walked)


@pytest.mark.parametrize("part", range(4))
def test_computing_gives_the_recorded_answers(part: int) -> None:
    applied = []

    class Watched(Counting):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            applied.append(True)

    asked = rows("alloc")[part::20]
    with (
        patch.object(answer_alloc, "allocate", lambda *a: allocate(*a, budget=COMPUTED)),
        patch.object(allocator_module, "Counting", Watched),
    ):
        for row in asked:
            given = answer_alloc.answer(row)["results"]
            for expected, ours in zip((each for run in row["expect"] for each in run["results"]), given, strict=True):
                if not expected.get("orderSensitive"):
                    assert {k: v for k, v in ours.items() if k not in ("name", "impl")} == expected, row["id"]
    # Most rows are computed; the rest has errors or constraints that need the walk.
    assert len(applied) > 3 * len(asked)


def _computed(cluster: object, *claims: ResourceClaim) -> Outcome:
    """The outcome, for next to none of the work of the walk that it counts."""
    outcomes = []
    assert work.calls(lambda: outcomes.append(allocate(cluster, node_named(), claims))) < 500_000  # type: ignore[arg-type]
    return outcomes[0]


def test_ten_of_seventy_three_then_an_impossible_request() -> None:
    cluster = cluster_of(slice_of([device(f"d{i:02}") for i in range(73)]))
    outcome = _computed(cluster, claim_of(exactly("r", 10), IMPOSSIBLE))
    assert isinstance(outcome, Unsatisfiable)
    # One entry for every set of up to 10 devices, and one for the second request behind every full set.
    assert outcome.steps == sum(comb(73, size) for size in range(11)) + comb(73, 10) == 1_354_989_774_992
    assert outcome.time_limit is TimeLimit.BEYOND


def test_more_devices_than_there_are() -> None:
    cluster = cluster_of(slice_of([device(f"d{i:02}") for i in range(28)]))
    outcome = _computed(cluster, claim_of(exactly("r", 32)))
    assert isinstance(outcome, Unsatisfiable)
    assert outcome.steps == 2**28


def test_unique_attributes_that_nobody_reads_do_not_matter() -> None:
    devices = [device(f"d{i:02}", attributes={"uuid": f"u{i}", "numa": "n"}) for i in range(40)]
    same = DeviceConstraint(match_attribute=f"{DRIVER}/numa")
    outcome = _computed(cluster_of(slice_of(devices)), claim_of(exactly("r", 16), IMPOSSIBLE, constraints=[same]))
    assert outcome.steps == sum(comb(40, size) for size in range(17)) + comb(40, 16)


def test_a_solution_behind_many_dead_ends_is_the_first_one() -> None:
    # Any device serves the first request, only the last device the second: the search has to give it up for all others.
    devices = [device(f"d{i:02}", attributes={"model": "b" if i < 23 else "a"}) for i in range(24)]
    rare = f'device.attributes["{DRIVER}"].model == "a"'
    cluster = cluster_of(slice_of(devices))
    outcome = _computed(cluster, claim_of(exactly("r", 12), exactly("s", 1, rare)))
    assert isinstance(outcome, Allocated)
    names = [result.device for result in outcome.allocations[0].devices.results]
    assert names == [f"d{i:02}" for i in range(12)] + ["d23"]
    hard = _computed(cluster, claim_of(exactly("r", 23), exactly("s", 1, rare)))
    assert isinstance(hard, Allocated)


def test_every_order_is_counted_for_the_first_implementation() -> None:
    old = Features(
        consumable_capacity=False, device_binding_and_status=False, partitionable_devices=False, device_taints=False
    )
    assert old.implementation == "stable"
    cluster = cluster_of(slice_of([device(f"d{i}") for i in range(5)]), features=old)
    claims = [claim_of(exactly("r", 3), IMPOSSIBLE)]
    walked = allocate(cluster, node_named(), claims, budget=WALKED)
    assert walked.steps == 1 + 5 + 5 * 4 + 2 * 5 * 4 * 3
    assert allocate(cluster, node_named(), claims, budget=COMPUTED).steps == walked.steps


def test_what_can_not_be_computed_is_undecided_after_the_budget() -> None:
    # 40 of 64 cut off by the limit of 32, so that the steps depend on the order.
    cluster = cluster_of(slice_of([device(f"d{i:02}") for i in range(64)]))
    claim = claim_of(clusters.first_available("r", 30, 1), clusters.first_available("s", 3, 2), IMPOSSIBLE)
    outcome = allocate(cluster, node_named(), [claim])
    assert isinstance(outcome, Undecided)
    assert outcome.why == allocator_module.BUDGET
    assert outcome.steps > 0
