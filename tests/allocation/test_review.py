"""A review says of every device what the search says of it, all checks side by side."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.allocation import Unsatisfiable, allocate
from kubectl_dra.allocation.causes import (
    CapacityMissing,
    CapacityPolicyRefuses,
    CapacityShort,
    FeatureOff,
    InUse,
    NotInClass,
    NotSelected,
    OtherNode,
    PoolIncomplete,
    Tainted,
    TakenEarlier,
)
from kubectl_dra.allocation.errors import DeviceClassNotFound, SelectorFailed
from kubectl_dra.allocation.review import constraint_groups, review
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import Counter, CounterConsumption, CounterSet, DeviceTaint
from tests.allocation.clusters import (
    DRIVER,
    claim_of,
    class_of,
    cluster_of,
    device,
    exactly,
    first_available,
    holding,
    node_named,
    quantity,
    slice_of,
)
from tests.vectors.answer_alloc import decode, features
from tests.vectors.rows import rows

NODE = node_named()
H100 = f'device.attributes["{DRIVER}"].model == "H100"'
_TAINT = DeviceTaint("ecc", "", "NoSchedule")


def test_the_funnel_of_an_example() -> None:
    devices = [device(f"d{i}", attributes={"model": "H100", "domain": "x" if i < 3 else "y"}) for i in range(6)]
    devices.append(device("tainted", attributes={"model": "H100", "domain": "y"}, taints=(_TAINT,)))
    devices.append(device("other", attributes={"model": "L40"}))
    cluster = cluster_of(slice_of(devices), held=[holding("d0", "d1", "tainted")])
    claim = claim_of(exactly("gpus", 4, H100))
    found = review(cluster, NODE, claim, "gpus")
    assert (found.request, found.needed, found.pools, found.error) == ("gpus", 4, (), None)
    assert sum(d.in_class for d in found.devices) == 8
    assert sum(d.selected for d in found.devices) == 7
    assert sum(d.selected and d.taint is None for d in found.devices) == 6
    assert [d.device.device for d in found.devices if d.available] == ["d2", "d3", "d4", "d5"]
    both = found.devices[6]
    assert [type(cause) for cause in both.obstacles] == [Tainted, InUse]
    assert both.in_use is not None
    assert both.in_use.holders == (Key("ns", "holder"),)
    groups = constraint_groups(cluster, NODE, claim, "gpus", f"{DRIVER}/domain")
    assert {next(iter(value[1])): len(ids) for value, ids in groups.items()} == {"x": 1, "y": 3}


def test_errors_capacity_counters_and_pools() -> None:
    counters = CounterSet("set", {"c": Counter(quantity("1"))})
    draws = (CounterConsumption("set", {"c": Counter(quantity("2"))}),)
    devices = [device("big", capacity={"mem": "2"}), device("draws", capacity={"mem": "9"}, consumes_counters=draws)]
    cluster = cluster_of(
        slice_of(devices, count=2),
        slice_of(name="counters", count=2, shared_counters=(counters,)),
        slice_of([device("lost")], pool="half", count=2),
        classes=(class_of('device.driver != ""'),),
    )
    found = review(cluster, NODE, claim_of(exactly("r", 1, H100, capacity={"mem": "3"})), "r")
    big, draws_too_much = found.devices
    assert isinstance(big.capacity, CapacityShort)
    assert draws_too_much.counters is not None
    assert (draws_too_much.counters.needs, draws_too_much.counters.left) == (2 * 10**9, 10**9)
    assert [finding.matches for finding in big.selectors] == [True, None]
    assert isinstance(big.selectors[1].error, SelectorFailed)
    assert big.in_class
    assert not big.selected
    assert [type(cause) for cause in found.pools] == [PoolIncomplete]


def test_subrequests_and_what_there_is_not() -> None:
    claim = claim_of(first_available("r", 3, 1))
    assert review(cluster_of(slice_of([device("d")])), NODE, claim, "r", "s1").needed == 1
    with pytest.raises(KeyError):
        review(cluster_of(), NODE, claim, "r", "nope")
    missing = review(cluster_of(classes=()), NODE, claim, "r", "s0")
    assert isinstance(missing.error, DeviceClassNotFound)


_SELECTION = (NotInClass, NotSelected)
_OBSTACLES = (InUse, OtherNode, FeatureOff, CapacityMissing, CapacityPolicyRefuses, Tainted)
_OF_THE_ATTEMPT = (TakenEarlier, CapacityShort)


def _reviewed(cluster: Any, node: Any, claims: list[Any]) -> dict[tuple[Key, str], Any]:
    found = {}
    for claim in claims:
        key = Key(claim.metadata.namespace, claim.metadata.name)
        for request in claim.spec.devices.requests:
            for sub in [s.name for s in request.first_available] or [None]:
                one = review(cluster, node, claim, request.name, sub)
                found.update({(key, one.request, d.device): d for d in one.devices})
    return found


@pytest.mark.parametrize("run", [0, 1])
def test_whatever_the_search_rejects_the_review_rejects_for_the_same_reason(run: int) -> None:
    compared = 0
    for row in rows("alloc")[::11]:
        held = decode(row["allocatedClaims"], "ResourceClaim")
        slices, classes = decode(row["slices"], "ResourceSlice"), decode(row["classes"], "DeviceClass")
        cluster = cluster_of(*slices, held=held, classes=classes, features=features(row["expect"][run]["features"]))
        claims = decode(row["claims"], "ResourceClaim")
        for node in decode(row["nodes"], "Node", "v1"):
            outcome = allocate(cluster, node, claims)
            if not isinstance(outcome, Unsatisfiable):
                continue
            reviewed = _reviewed(cluster, node, claims)
            for cause in outcome.causes:
                if not isinstance(cause, _SELECTION + _OBSTACLES + _OF_THE_ATTEMPT):
                    continue
                found = reviewed[cause.claim, cause.request, cause.device]
                if isinstance(cause, _SELECTION):
                    assert not found.selected, (row["id"], cause)
                elif isinstance(cause, _OBSTACLES):
                    assert cause in found.obstacles, (row["id"], cause)
                compared += 1
    assert compared > 1_000
