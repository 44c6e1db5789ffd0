"""What old objects mean only together: pools of v1alpha2 nodes, classes and drivers of the prototype's claims."""

from __future__ import annotations

from kubectl_dra.model.classic import ClassicResourceClaim
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from tests.api.test_generations import ALL_OBJECTS, PROTOTYPE
from tests.kit.state import inventory_of

SLICE = {"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceSlice", "driverName": "d.example.com"}


def _slice(name: str, node: str, *instances: str) -> dict[str, object]:
    named = {"instances": [{"name": instance} for instance in instances]}
    return {**SLICE, "metadata": {"name": name}, "nodeName": node, "namedResources": named}


def test_the_slices_of_a_driver_on_a_node_are_one_complete_pool() -> None:
    objects = [_slice("a1", "a", "x"), _slice("a2", "a", "y"), _slice("b1", "b", "x")]
    inventory = inventory_of(objects)
    pools = inventory.slices_by_pool
    assert {pool: [s.spec.pool.resource_slice_count for s in slices] for pool, slices in pools.items()} == {
        PoolId("d.example.com", "a"): [2, 2],
        PoolId("d.example.com", "b"): [1],
    }


def test_structured_allocations_of_v1alpha2_hold_their_devices() -> None:
    handle = {
        "driverName": "d.example.com",
        "structuredData": {"nodeName": "a", "results": [{"namedResources": {"name": "x"}}]},
    }
    claim = {
        "apiVersion": "resource.k8s.io/v1alpha2",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "n"},
        "spec": {"resourceClassName": "r"},
        "status": {"allocation": {"resourceHandles": [handle]}},
    }
    inventory = inventory_of([claim, _slice("a1", "a", "x")])
    (holding,) = inventory.holdings_by_device[DeviceId("d.example.com", "a", "x")]
    assert isinstance(holding.claim, ClassicResourceClaim)
    assert holding.claim.classic.resource_class_name == "r"


def test_claims_of_the_prototype_know_classes_and_drivers() -> None:
    inventory = inventory_of(PROTOTYPE)
    claim = inventory.claims[Key("default", "claim")]
    first, second = claim.spec.devices.requests
    assert first.exactly is not None
    assert (first.exactly.device_class_name, first.exactly.count, first.exactly.admin_access) == ("foozer", 2, True)
    # Two classes have the type that the first alternative asks for; they come by name, whatever was read first.
    assert [option.device_class_name for option in second.first_available] == ["by-go", "foozer", "barzer"]
    assert inventory_of(reversed(PROTOTYPE)).claims == inventory.claims
    assert claim.spec.devices.constraints[0].match_attribute == "example.com-foozer/model"


def test_a_pool_of_the_prototype_with_resources_is_two_slices_of_which_one_has_the_devices() -> None:
    spec = {"driver": "d.example.com", "nodeName": "a", "devices": [{"name": "x", "requests": {"memory": "1Gi"}}]}
    pool = {"apiVersion": "devmgmtproto.k8s.io/v1alpha1", "kind": "DevicePool", "metadata": {"name": "p"}, "spec": spec}
    (alone,) = inventory_of([pool]).slices.values()
    assert (alone.spec.pool.resource_slice_count, len(alone.spec.devices)) == (1, 1)
    spec["resources"] = [{"name": "memory", "capacity": "8Gi"}]
    taken = {**SLICE, "metadata": {"name": "p-1"}, "nodeName": "b"}
    slices = inventory_of([pool, taken]).slices
    assert list(slices) == ["p", "p-2", "p-1"]
    devices, counters = slices["p"].spec, slices["p-2"].spec
    assert devices.pool == counters.pool
    assert devices.pool.resource_slice_count == 2
    assert (len(devices.devices), len(devices.shared_counters)) == (1, 0)
    assert (len(counters.devices), len(counters.shared_counters)) == (0, 1)


def test_kinds_without_a_v1_record_have_their_own_place() -> None:
    inventory = inventory_of(ALL_OBJECTS)
    assert len(inventory.classic.classes) == 1
    assert len(inventory.classic.class_parameters) == 1
    assert len(inventory.classic.claim_parameters) == 1
    assert len(inventory.classic.scheduling_contexts) == 2
    assert len(inventory.pool_statuses) == 1
