"""What allocators before 1.37 do otherwise; the words of real schedulers stand in tests/generations."""

from __future__ import annotations

import pytest

from kubectl_dra.allocation import Allocated, Fatal, Unsatisfiable
from kubectl_dra.allocation.errors import InvalidPoolMet, PoolNotUsableForAll, TooManyDevices
from kubectl_dra.allocation.input.pools import SliceIndex
from kubectl_dra.allocation.outcome import Outcome
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import Counter, CounterSet, ResourceSlice
from tests.allocation.clusters import (
    DRIVER,
    allocate,
    allocate_many,
    claim_of,
    class_of,
    cluster_of,
    device,
    exactly,
    node_named,
    quantity,
    slice_of,
)

TWICE = (slice_of([device("a")], name="first", count=2), slice_of([device("a")], name="second", count=2))


def answer(minor: int, *slices: ResourceSlice, mode: str = "ExactCount", count: int = 1) -> Outcome:
    return allocate(
        cluster_of(*slices, features=features(minor)), node_named(), [claim_of(exactly(count=count, mode=mode))]
    )


@pytest.mark.parametrize("minor", [32, 33, 34, 35, 36, 37])
def test_an_incomplete_pool_serves_counts_until_34(minor: int) -> None:
    half = slice_of([device("a")], count=2)
    assert isinstance(answer(minor, half), Allocated if minor <= 34 else Unsatisfiable)
    refused = answer(minor, half, mode="All")
    assert isinstance(refused, Fatal)
    assert isinstance(refused.error, PoolNotUsableForAll)


@pytest.mark.parametrize("minor", [32, 33, 34, 35, 36, 37])
def test_slices_of_other_nodes_count_since_35(minor: int) -> None:
    own, other = slice_of([device("a")], count=2), slice_of([device("b")], name="other", node="other", count=2)
    assert isinstance(answer(minor, own, other, mode="All"), Fatal if minor <= 34 else Allocated)
    newer = slice_of([device("b")], name="other", node="other", count=1, generation=2)
    assert isinstance(answer(minor, slice_of([device("a")]), newer), Allocated)
    assert isinstance(answer(minor, own, newer), Allocated if minor <= 34 else Unsatisfiable)


@pytest.mark.parametrize("minor", [31, 32, 33, 34, 35, 36, 37])
def test_a_pool_with_two_devices_of_one_name(minor: int) -> None:
    found = answer(minor, *TWICE)
    if minor == 31:
        assert isinstance(found, Allocated)
    elif minor <= 34:
        assert isinstance(found, Fatal)
        assert found.error == InvalidPoolMet(PoolId(DRIVER, "node"), "a")
    else:
        assert isinstance(found, Unsatisfiable)
        assert found.invalid_pools


@pytest.mark.parametrize(("minor", "outcome"), [(32, Unsatisfiable), (33, Fatal), (34, Fatal)])
def test_whether_a_pool_of_another_class_matters(minor: int, outcome: type[Outcome]) -> None:
    cluster = cluster_of(*TWICE, features=features(minor), classes=[class_of('device.driver == "other"')])
    found = allocate(cluster, node_named(), [claim_of(exactly())])
    assert isinstance(found, outcome)
    assert not (isinstance(found, Unsatisfiable) and found.invalid_pools)


def test_nodes_with_bad_pools_alike_have_errors_of_their_own() -> None:
    slices = [
        slice_of([device(name)], pool=node, node=node, name=f"{node}-{part}", count=2)
        for node, name in (("n1", "x"), ("n2", "y"))
        for part in "ab"
    ]
    cluster = cluster_of(*slices, features=features(33))
    answers = allocate_many(cluster, [node_named("n1"), node_named("n2")], [claim_of(exactly())])
    errors = [outcome.error for outcome in answers.values() if isinstance(outcome, Fatal)]
    assert errors == [InvalidPoolMet(PoolId(DRIVER, "n1"), "x"), InvalidPoolMet(PoolId(DRIVER, "n2"), "y")]


@pytest.mark.parametrize(
    ("minor", "outcome"), [(31, Allocated), (32, Allocated), (33, Unsatisfiable), (37, Unsatisfiable)]
)
def test_all_of_none(minor: int, outcome: type[Outcome]) -> None:
    assert isinstance(answer(minor, mode="All"), outcome)


@pytest.mark.parametrize(("minor", "said"), [(32, ("", 41, 0)), (36, ("", 41, 0)), (37, ("r2", 9, 32))])
def test_the_limit_of_a_claim(minor: int, said: tuple[str, int, int]) -> None:
    claim = claim_of(exactly("r0", 30), exactly("r1", 2), exactly("r2", 9))
    found = allocate(cluster_of(features=features(minor)), node_named(), [claim])
    assert isinstance(found, Fatal)
    error = found.error
    assert isinstance(error, TooManyDevices)
    assert (error.request, error.adding, error.accounted_for) == said


def test_slices_that_a_node_may_see_come_in_the_order_given() -> None:
    counters = (CounterSet("s", {"c": Counter(quantity("1"))}),)
    slices = [
        slice_of(name="own-1", node="n1"),
        slice_of(name="of-all", node=None, all_nodes=True),
        slice_of(name="elsewhere", node="n2"),
        slice_of(name="counters-elsewhere", node="n2", shared_counters=counters),
        slice_of(name="own-2", node="n1"),
    ]
    index = SliceIndex(slices, features(35))
    assert [s.metadata.name for s in index.in_turn("n1")] == ["own-1", "of-all", "counters-elsewhere", "own-2"]
    assert [s.metadata.name for s in index.in_turn("n3")] == ["of-all", "counters-elsewhere"]
