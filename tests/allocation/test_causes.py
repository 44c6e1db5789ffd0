"""What a search that fails because of its own earlier choices says about them."""

from __future__ import annotations

from kubectl_dra.allocation import Unsatisfiable, allocate
from kubectl_dra.allocation.causes import CountersShort, TakenEarlier
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import Counter, CounterConsumption, CounterSet
from tests.allocation.clusters import (
    DRIVER,
    claim_of,
    cluster_of,
    device,
    exactly,
    node_named,
    quantity,
    slice_of,
)


def test_the_claim_that_took_a_device_is_named() -> None:
    devices = [device(name, attributes={"model": model}) for name, model in (("d0", "b"), ("d1", "a"))]
    claims = [
        claim_of(exactly("r", 1, f'device.attributes["{DRIVER}"].model == "{model}"'), name=name)
        for name, model in (("first", "b"), ("second", "a"), ("third", "a"))
    ]
    outcome = allocate(cluster_of(slice_of(devices)), node_named(), claims)
    assert isinstance(outcome, Unsatisfiable)
    taken = {(c.device.device, c.claim.name, c.by) for c in outcome.causes if isinstance(c, TakenEarlier)}
    first, second = Key("ns", "first"), Key("ns", "second")
    # That a device is taken is seen before its attributes are.
    assert taken == {("d0", "second", (first,)), ("d0", "third", (first,)), ("d1", "third", (second,))}


def test_what_earlier_devices_left_of_the_counters_is_told() -> None:
    draws = (CounterConsumption("set", {"c": Counter(quantity("2"))}),)
    devices = [device(name, consumes_counters=draws) for name in ("d0", "d1")]
    counters = CounterSet("set", {"c": Counter(quantity("3"))})
    slices = slice_of(devices, count=2), slice_of(name="counters", count=2, shared_counters=(counters,))
    outcome = allocate(cluster_of(*slices), node_named(), [claim_of(exactly("r", 2))])
    assert isinstance(outcome, Unsatisfiable)
    short = {(c.device.device, c.needs, c.left) for c in outcome.causes if isinstance(c, CountersShort)}
    assert ("d1", 2 * 10**9, 10**9) in short
