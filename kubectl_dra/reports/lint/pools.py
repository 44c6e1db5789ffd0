"""Pools of the files whose slices a server takes, as each is right by itself, and of which no device is allocated.

Upstream: dynamic-resource-allocation/structured, GatherPools and ValidatePools; a counter may be any quantity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.allocation.input.pool_faults import (
    bad_reference,
    counter_sets,
    duplicate_device,
    undefined_sets,
)
from kubectl_dra.api.planned import Planned
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import CounterSet, Device, ResourceSlice
from kubectl_dra.reports.devices.pool_state import FAULTS
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule

_KIND: Final = "ResourceSlice"


def pool_findings(objects: Sequence[Planned]) -> Mapping[int, Sequence[UnplacedFinding]]:
    """By the position of the object: once for each pool, at its last slice, and for each device that draws too much.

    Nothing of pools where a slice of the files could not be read.
    """
    if any(each.kind == _KIND and not isinstance(each.record, ResourceSlice) for each in objects):
        return {}
    pools: defaultdict[PoolId, dict[int, ResourceSlice]] = defaultdict(dict)
    for number, each in enumerate(objects):
        if isinstance(each.record, ResourceSlice) and not each.made_by:
            spec = each.record.spec
            pools[spec.pool_id][number] = each.record
    return {number: found for pool, slices in pools.items() for number, found in _of_pool(pool, slices)}


def _of_pool(pool: PoolId, slices: Mapping[int, ResourceSlice]) -> Iterator[tuple[int, list[UnplacedFinding]]]:
    newest = max(each.spec.pool.generation for each in slices.values())
    current = {number: each for number, each in slices.items() if each.spec.pool.generation == newest}
    last, wanted = max(current), max(each.spec.pool.resource_slice_count for each in current.values())
    own = list(current.values())
    sets, fault = counter_sets(own)
    fault = duplicate_device(own) or fault
    if fault is None and len(current) >= wanted:
        fault = bad_reference(sets, own)
    if fault is not None:
        text = f"pool {pool} is invalid, so that none of its devices can be allocated: "
        text += FAULTS[fault.fault].format(fault.name, fault.counter_set)
        yield last, [UnplacedFinding(Rule.POOL, text, "spec.pool")]
        return
    if len(current) < wanted:
        text = f"pool {pool} is incomplete: the files have {len(current)} of its {wanted} slices"
        if undefined := undefined_sets(own, newest):
            are, noun = ("is", "counter set") if len(undefined) == 1 else ("are", "counter sets")
            text += f", and in none of them {are} {noun} {' and '.join(undefined)}, which devices use"
        yield last, [UnplacedFinding(Rule.POOL, text, "spec.pool.resourceSliceCount")]
        return
    for number, each in current.items():
        found = [text for device in each.spec.devices for text in _never(device, sets)]
        if found:
            yield number, [UnplacedFinding(Rule.POOL, text, "spec.devices") for text in found]


def _never(device: Device, sets: Mapping[str, CounterSet]) -> Iterator[str]:
    """What a device uses of a counter that has less, even if nothing else uses it."""
    for drawn in device.consumes_counters:
        counter_set = sets[drawn.counter_set]
        for name, counter in drawn.counters.items():
            has = counter_set.counters[name].value
            if counter.value.cmp(has) > 0:
                yield (
                    f"device {device.name} can never be allocated: it uses {counter.value} {name} of counter set "
                    f"{drawn.counter_set}, which has {has}"
                )
                return
