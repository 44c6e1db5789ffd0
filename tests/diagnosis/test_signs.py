"""What the objects of an old server show about its feature gates, and what follows for the model."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.model.features import features
from kubectl_dra.model.signs import shown_gates
from tests.kit.build import claim, device, device_class, request, slice_
from tests.kit.facts import inventory

TAINT = {"key": "broken", "effect": "NoSchedule"}
RULE = {"kind": "DeviceTaintRule", "metadata": {"name": "broken"}, "spec": {"taint": TAINT}}
COUNTERS = [{"counterSet": "gpu", "counters": {"memory": {"value": "1"}}}]
NUMBERS = {"name": "gpu-0", "attributes": {"numa": {"ints": [0, 1]}}}
NUMBER = {"name": "gpu-0", "attributes": {"numa": {"int": 1}}}
SUBREQUESTS = {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}


@pytest.mark.parametrize(
    ("item", "minor", "shown"),
    [
        (slice_("node-1", device("gpu-0")), 33, set()),
        (slice_("node-1", device("gpu-0", taints=[TAINT])), 33, {"DRADeviceTaints"}),
        (slice_("node-1", device("gpu-0", taints=[TAINT])), 35, {"DRADeviceTaints"}),
        (slice_("node-1", device("gpu-0", taints=[TAINT])), 36, set()),
        (RULE, 34, {"DRADeviceTaints"}),
        (RULE, 35, {"DRADeviceTaints", "DRADeviceTaintRules"}),
        (RULE, 36, {"DRADeviceTaintRules"}),
        (RULE, 37, set()),
        (slice_("node-1", device("gpu-0", consumesCounters=COUNTERS)), 33, {"DRAPartitionableDevices"}),
        (slice_("node-1", device("gpu-0", allowMultipleAllocations=True)), 34, {"DRAConsumableCapacity"}),
        # 1.33 does not know the field, so that no server of it can have it.
        (slice_("node-1", device("gpu-0", allowMultipleAllocations=True)), 33, set()),
        (slice_("node-1", device("gpu-0", bindsToNode=True)), 34, {"DRADeviceBindingConditions"}),
        (claim("claim", SUBREQUESTS), 33, {"DRAPrioritizedList"}),
        (claim("claim", SUBREQUESTS), 34, set()),
        (claim("claim", request(adminAccess=True)), 32, {"DRAAdminAccess"}),
        (claim("claim", request(capacity={"requests": {"memory": "1"}})), 34, {"DRAConsumableCapacity"}),
        (device_class(extendedResourceName="example.com/gpu"), 34, {"DRAExtendedResource"}),
        (slice_("node-1", device("gpu-0", taints=[TAINT])), 31, set()),
        (slice_("node-1", NUMBERS), 36, {"DRAListTypeAttributes"}),
        (slice_("node-1", NUMBERS), 37, {"DRAListTypeAttributes"}),
        (slice_("node-1", NUMBERS), 35, set()),
        (slice_("node-1", NUMBER), 37, set()),
    ],
)
def test_what_a_server_keeps_is_on(item: dict[str, Any], minor: int, shown: set[str]) -> None:
    found = shown_gates(inventory([item]), minor)
    assert found - {"DynamicResourceAllocation"} == shown
    assert ("DynamicResourceAllocation" in found) == (minor in (32, 33))


def test_shown_gates_give_way_to_those_given() -> None:
    shown = ("DynamicResourceAllocation", "DRADeviceTaints", "DRAPrioritizedList")
    assert features(33, {}, shown).device_taints
    assert features(33, {}, shown).device_taint_rules
    given = features(33, {"DRADeviceTaints": False}, shown)
    assert (given.device_taints, given.device_taint_rules, given.prioritized_list) == (False, False, True)
    assert not features(33, {"AllAlpha": False}, shown).prioritized_list
    # What only shows needs nothing else to be on; it is off then, and that is no error.
    assert not features(33, {"DynamicResourceAllocation": False}, shown).device_taints
