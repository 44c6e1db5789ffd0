"""Objects that no API server would store never crash the allocator or keep it busy."""

from __future__ import annotations

import sys

import msgspec
import pytest

from kubectl_dra.allocation import Allocated, Fatal, Undecided, Unsatisfiable
from kubectl_dra.allocation.errors import DeviceClassMissing, TooManyDevices
from kubectl_dra.allocation.outcome import Budget
from kubectl_dra.model.core import Node
from kubectl_dra.model.features import Features
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    CapacityRange,
    CapacityRequestPolicy,
    DeviceCapacity,
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from tests.allocation.clusters import (
    DRIVER,
    allocate,
    claim_of,
    cluster_of,
    device,
    exactly,
    first_available,
    holding,
    node_named,
    prepared,
    quantity,
    slice_of,
)

NODE = node_named()


@pytest.mark.parametrize("count", [33, 10**6, 2**63 - 1, 10**30])
def test_huge_counts(count: int) -> None:
    outcome = allocate(cluster_of(slice_of([device("d")])), NODE, [claim_of(exactly("r", count))])
    assert isinstance(outcome, Fatal)
    assert isinstance(outcome.error, TooManyDevices)
    assert outcome.error.adding == count


@pytest.mark.parametrize("count", [0, -1, -(10**30)])
def test_counts_below_one_need_no_device(count: int) -> None:
    outcome = allocate(cluster_of(), NODE, [claim_of(exactly("r", count))])
    assert isinstance(outcome, Allocated)
    assert outcome.allocations[0].devices.results == ()


def test_ten_thousand_devices_in_a_slice() -> None:
    cluster = cluster_of(slice_of([device(f"d{i}", attributes={"uuid": str(i)}) for i in range(10_000)]))
    last = f'device.attributes["{DRIVER}"].uuid == "9999"'
    outcome = allocate(cluster, NODE, [claim_of(exactly("r", 1, last))])
    assert isinstance(outcome, Allocated)
    nothing = allocate(cluster, NODE, [claim_of(exactly("r", 32), exactly("s", 0))])
    assert isinstance(nothing, Allocated)


def test_ten_thousand_devices_that_are_all_different() -> None:
    devices = [device(f"d{i}", attributes={"uuid": str(i)}) for i in range(10_000)]
    distinct = DeviceConstraint(distinct_attribute=f"{DRIVER}/uuid")
    claim = claim_of(exactly("r", 30), exactly("never", 1, "false"), constraints=[distinct])
    budget = Budget(steps=20_000, looks=100_000)
    outcome = allocate(cluster_of(slice_of(devices)), NODE, [claim], budget=budget)
    assert isinstance(outcome, Undecided)
    assert outcome.steps <= budget.steps + 1


def test_thousands_of_claims_and_requests_are_no_matter_of_recursion() -> None:
    limit = sys.getrecursionlimit()
    many = [claim_of(*(exactly(f"r{i}", 0) for i in range(40)), name=f"c{n}") for n in range(200)]
    outcome = allocate(cluster_of(), NODE, many)
    assert isinstance(outcome, Allocated)
    assert outcome.steps == 200 * (2 * 40 - 40 + 1) + 1
    nested = [claim_of(first_available("r", 1, 1), name=f"c{n}") for n in range(2_000)]
    one = allocate(cluster_of(slice_of([device("d")])), NODE, nested)
    assert isinstance(one, Unsatisfiable)
    assert sys.getrecursionlimit() == limit


def test_a_request_of_neither_form() -> None:
    claim = ResourceClaim(spec=ResourceClaimSpec(DeviceClaim((DeviceRequest("r"),))))
    outcome = allocate(cluster_of(), NODE, [claim])
    assert isinstance(outcome, Fatal)
    assert isinstance(outcome.error, DeviceClassMissing)


@pytest.mark.parametrize("step", ["0", "-1", "1n", "1e30", "9223372036854775807"])
@pytest.mark.parametrize("least", ["0", "-1", "-9223372036854775808", "1e40"])
@pytest.mark.parametrize("asked", ["0", "1", "-5", "1n", "1e40"])
def test_policies_beyond_all_arithmetic(step: str, least: str, asked: str) -> None:
    bounds = CapacityRange(quantity(least), None, quantity(step))
    capacity = {"mem": DeviceCapacity(quantity("1e50"), CapacityRequestPolicy(Quantity(1), (), bounds))}
    shared = msgspec.structs.replace(device("d", allow_multiple_allocations=True), capacity=capacity)
    for fractional in (False, True):
        features = Features(fractional_capacity_range=fractional)
        claim = claim_of(exactly("r", 1, capacity={"mem": asked}))
        outcome = allocate(cluster_of(slice_of([shared]), features=features), NODE, [claim])
        assert isinstance(outcome, Allocated | Unsatisfiable | Fatal)


def test_a_step_without_minimum() -> None:
    capacity = {
        "mem": DeviceCapacity(quantity("4"), CapacityRequestPolicy(valid_range=CapacityRange(step=Quantity(1))))
    }
    shared = msgspec.structs.replace(device("d", allow_multiple_allocations=True), capacity=capacity)
    outcome = allocate(cluster_of(slice_of([shared])), NODE, [claim_of(exactly("r", 1, capacity={"mem": "3"}))])
    assert isinstance(outcome, Allocated)


def test_allocations_of_what_is_gone() -> None:
    gone = [holding("ghost", "d", pool="gone"), holding("ghost", name="b"), holding("d", driver="gone", name="c")]
    outcome = allocate(cluster_of(slice_of([device("d")]), held=gone), NODE, [claim_of(exactly())])
    assert isinstance(outcome, Allocated)


def test_a_nameless_node_and_nameless_objects() -> None:
    slices = [slice_of([device("")], node="", all_nodes=True, pool="", name="x"), slice_of([device("d")], node=None)]
    outcome = allocate(cluster_of(*slices), Node(), [claim_of(exactly())])
    assert isinstance(outcome, Allocated)
    assert outcome.allocations[0].node_selector is not None


@pytest.mark.parametrize("attribute", ["", "/", "a/", "/b", "a/b/c", f"{DRIVER}/a/b", "no-slash"])
def test_odd_constraint_names(attribute: str) -> None:
    devices = [device("d", attributes={attribute: "x"}), device("e", attributes={attribute: "x"})]
    claim = claim_of(exactly("r", 2), constraints=[DeviceConstraint(match_attribute=attribute)])
    assert isinstance(allocate(cluster_of(slice_of(devices)), NODE, [claim]), Allocated)


def test_an_empty_cluster() -> None:
    outcome = allocate(prepared((), (), (), Features()), NODE, [claim_of(exactly())])
    assert isinstance(outcome, Fatal)
