"""Equal parts of objects are kept once, different ones stay different, and nothing that objects say changes."""

from __future__ import annotations

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.model.core import Container, Pod, PodSpec, ResourceRequirements
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    AllocationResult,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceSlice,
    ResourceSliceSpec,
)
from kubectl_dra.source import load
from kubectl_dra.source.live.pods import PodTracker
from kubectl_dra.source.live.sharing import Sharer, kept
from kubectl_dra.source.spec import DEMO, SourceSpec


def _all():
    inventory, _ = load(SourceSpec(DEMO))
    kinds = (inventory.nodes, inventory.pods, inventory.claims, inventory.slices, inventory.classes)
    return [record for kind in kinds for record in kind.values()]


def test_what_objects_say_stays_the_same():
    sharer = Sharer()
    shared, untouched = _all(), _all()
    for record in shared:
        sharer.record(record)
    assert [encode_part(record) for record in shared] == [encode_part(record) for record in untouched]


def _slice(*devices):
    return ResourceSlice(spec=ResourceSliceSpec(devices=devices))


def _device(name, amount, **attributes):
    return Device(
        name=name,
        attributes={key: DeviceAttribute(string=value) for key, value in attributes.items()},
        capacity={"memory": DeviceCapacity(Quantity.parse(amount))},
    )


def test_equal_parts_are_the_same_object():
    one, two = _slice(_device("a", "1Gi", model="x", uuid="1")), _slice(_device("a", "1Gi", model="x", uuid="2"))
    sharer = Sharer()
    for record in (one, two):
        sharer.record(record)
    first, second = one.spec.devices[0], two.spec.devices[0]
    assert first.attributes["model"] is second.attributes["model"]
    assert (first.attributes["uuid"].string, second.attributes["uuid"].string) == ("1", "2")
    assert first.capacity is second.capacity


def test_amounts_that_are_written_differently_stay_so():
    one, two = _slice(_device("a", "1Gi")), _slice(_device("a", "1024Mi"))
    sharer = Sharer()
    for record in (one, two):
        sharer.record(record)
    values = [each.spec.devices[0].capacity["memory"].value for each in (one, two)]
    assert values == [Quantity.parse("1Gi"), Quantity.parse("1024Mi")]


def test_what_most_pods_take_is_kept_once():
    sharer = Sharer()
    shapes = [sharer.pod(_pod(f"pod-{i}", "2")).shape for i in range(3)]
    assert shapes[0] is shapes[1] is shapes[2]
    assert sharer.pod(_pod("other", "3")) == pod_info(_pod("other", "3"))


def _pod(name: str, cpu: str) -> Pod:
    resources = ResourceRequirements(requests={"cpu": Quantity.parse(cpu)})
    spec = PodSpec(containers=(Container(name="main", resources=resources),))
    return Pod(metadata=ObjectMeta(name=name, namespace="default", uid=name), spec=spec)


def test_the_same_version_of_an_object_stays_the_same_object():
    old = next(iter(load(SourceSpec(DEMO))[0].claims.values()))
    same = msgspec.structs.replace(old)
    known = {key_of(old.metadata): old}
    assert kept(same, known.get, Sharer()) is old
    later = msgspec.structs.replace(old, metadata=msgspec.structs.replace(old.metadata, resource_version="999999"))
    assert kept(later, known.get, Sharer()) is later
    assert kept(same, {Key("", "other"): old}.get, Sharer()) is same


def test_results_of_claims_share_names_and_what_is_empty():
    def claim(name):
        same = [f"{name[:0]}{each}" for each in ("gpus", "driver", "pool")]
        result = DeviceRequestAllocationResult(*same, f"d-{name}")
        allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
        return ResourceClaim(metadata=ObjectMeta(name=name), status=ResourceClaimStatus(allocation=allocation))

    one, two = claim("one"), claim("two")
    sharer = Sharer()
    for record in (one, two):
        sharer.record(record)
    first, second = (each.status.allocation.devices.results[0] for each in (one, two))
    assert first.driver is second.driver
    assert first.pool is second.pool
    assert first.consumed_capacity is second.consumed_capacity
    assert one.metadata.annotations is two.metadata.annotations
    assert (first.device, second.device) == ("d-one", "d-two")


def test_a_list_that_is_taken_again_brings_no_second_copy_of_what_pods_take():
    def pods(*uids):
        return [Pod(ObjectMeta(name=f"p{uid}", namespace="a", uid=uid), PodSpec(node_name="n")) for uid in uids]

    first = PodTracker(frozenset(), False, lambda _: None, lambda _: None, Sharer())
    first.add(pods("1", "2"))
    again = PodTracker(frozenset(), False, lambda _: None, first.taken.get, Sharer())
    again.add(pods("1", "2", "3"))
    kept_before = [again.taken[key] is place for key, place in first.taken.items()]
    assert (kept_before, len(again.taken)) == ([True, True], 3)
