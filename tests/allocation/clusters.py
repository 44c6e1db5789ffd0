"""Builders and hypothesis strategies of small clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from kubectl_dra.allocation import Answers, Budget, ClaimSearch, Cluster, Outcome
from kubectl_dra.allocation.input.allocated import AllocatedState
from kubectl_dra.allocation.input.pools import SliceIndex
from kubectl_dra.allocation.input.taints import Narrowing, merge_rules
from kubectl_dra.model.core import Node, NodeStatus
from kubectl_dra.model.features import Features
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    AllocationResult,
    CapacityRequirements,
    CELSelector,
    Counter,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceAllocationResult,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceTaintRule,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)

DRIVER = "gpu.example.com"
EVERYTHING = Features(
    fractional_capacity_range=True,
    list_type_attributes=True,
    derived_attributes=True,
    compatibility_groups=True,
    optional_node_operations=True,
)


def quantity(text: str) -> Quantity:
    return Quantity.parse(text)


def device(name: str, **fields: Any) -> Device:
    attributes = fields.pop("attributes", {})
    values = {k: v if isinstance(v, DeviceAttribute) else DeviceAttribute(string=v) for k, v in attributes.items()}
    capacity = {k: DeviceCapacity(quantity(v)) for k, v in fields.pop("capacity", {}).items()}
    return Device(name=name, attributes=values, capacity=capacity, **fields)


def slice_of(
    devices: Sequence[Device] = (), *, pool: str = "node", name: str = "", node: str | None = "node", **fields: Any
) -> ResourceSlice:
    count, generation = fields.pop("count", 1), fields.pop("generation", 1)
    spec = ResourceSliceSpec(
        driver=fields.pop("driver", DRIVER),
        pool=ResourcePool(pool, generation, count),
        node_name=node,
        devices=tuple(devices),
        **fields,
    )
    return ResourceSlice(ObjectMeta(name=name or f"{pool}-slice"), spec)


def node_named(name: str = "node", **labels: str) -> Node:
    return Node(ObjectMeta(name=name, labels=labels), status=NodeStatus())


def selectors(*expressions: str) -> tuple[DeviceSelector, ...]:
    return tuple(DeviceSelector(CELSelector(expression)) for expression in expressions)


def class_of(*expressions: str, name: str = "gpu") -> DeviceClass:
    return DeviceClass(ObjectMeta(name=name), DeviceClassSpec(selectors=selectors(*expressions)))


def exactly(name: str = "r", count: int = 1, *expressions: str, **fields: Any) -> DeviceRequest:
    mode = fields.pop("mode", "ExactCount")
    capacity = fields.pop("capacity", None)
    if capacity is not None:
        fields["capacity"] = CapacityRequirements({k: quantity(v) for k, v in capacity.items()})
    chosen = selectors(*expressions)
    spec = ExactDeviceRequest("gpu", chosen, mode, count if mode == "ExactCount" else 0, **fields)
    return DeviceRequest(name, spec)


def first_available(name: str, *counts: int) -> DeviceRequest:
    return DeviceRequest(
        name,
        first_available=tuple(DeviceSubRequest(f"s{i}", "gpu", (), "ExactCount", c) for i, c in enumerate(counts)),
    )


def claim_of(*requests: DeviceRequest, name: str = "claim", constraints: Sequence[DeviceConstraint] = ()) -> Any:
    spec = ResourceClaimSpec(DeviceClaim(requests, tuple(constraints)))
    return ResourceClaim(ObjectMeta(name=name, namespace="ns"), spec)


def holding(*devices: str, pool: str = "node", driver: str = DRIVER, name: str = "holder") -> ResourceClaim:
    results = tuple(DeviceRequestAllocationResult("r", driver, pool, d) for d in devices)
    status = ResourceClaimStatus(AllocationResult(DeviceAllocationResult(results)))
    return ResourceClaim(ObjectMeta(name=name, namespace="ns"), status=status)


def cluster_of(
    *slices: ResourceSlice, held: Sequence[ResourceClaim] = (), features: Features | None = None, **fields: Any
) -> Cluster:
    classes = fields.pop("classes", (class_of(),))
    return prepared(slices, classes, held, features or Features(), **fields)


def prepared(
    slices: Iterable[ResourceSlice],
    classes: Iterable[DeviceClass],
    claims: Iterable[ResourceClaim],
    features: Features,
    taint_rules: Sequence[DeviceTaintRule] = (),
) -> Cluster:
    """What an attempt sees; ``claims``: all of the cluster, of which those with an allocation hold devices."""
    by_name = {device_class.metadata.name: device_class for device_class in classes}
    tainted = merge_rules(slices, taint_rules, features, Narrowing(by_name))
    return Cluster(SliceIndex(tainted, features), by_name, AllocatedState(claims, features), features)


_BUDGET = Budget()


def allocate(cluster: Cluster, node: Node, claims: Sequence[ResourceClaim], *, budget: Budget = _BUDGET) -> Outcome:
    """Allocate all ``claims`` of one pod together on ``node``."""
    return ClaimSearch(cluster, claims).on(node, budget)


def allocate_many(
    cluster: Cluster, nodes: Iterable[Node], claims: Sequence[ResourceClaim], *, budget: Budget = _BUDGET
) -> Answers:
    """The same for many nodes, each on its own."""
    return Answers(ClaimSearch(cluster, claims), nodes, budget)


# --- strategies -----------------------------------------------------------------------------------------------------

_FEW = st.sampled_from(["a", "b"])


@st.composite
def twins(draw: st.DrawFn, index: int) -> Device:
    """A device with many chances to be like another one."""
    attributes: dict[str, Any] = {}
    if draw(st.booleans()):
        attributes["model"] = draw(_FEW)
    if draw(st.integers(0, 3)):
        attributes["domain"] = draw(
            st.sampled_from([DeviceAttribute(int_value=1), DeviceAttribute(int_value=2), DeviceAttribute(string="x")])
        )
    fields: dict[str, Any] = {"attributes": attributes}
    if draw(st.integers(0, 4)) == 0:
        fields["allow_multiple_allocations"] = True
        fields["capacity"] = {"mem": draw(st.sampled_from(["2", "3"]))}
    if draw(st.integers(0, 3)) == 0:
        groups = draw(st.sampled_from([(), ("g",), ("g", "h"), ("h",)]))
        counters = {"c": Counter(quantity(draw(st.sampled_from(["1", "2"]))))}
        fields["consumes_counters"] = (CounterConsumption("set", counters, groups),)
    if draw(st.integers(0, 5)) == 0:
        fields["taints"] = (DeviceTaint("k", "v", "NoSchedule"),)
    return device(f"d{index}", **fields)


@st.composite
def pools(draw: st.DrawFn) -> list[ResourceSlice]:
    """One or two pools, the first with counters."""
    devices = [draw(twins(i)) for i in range(draw(st.integers(1, 6)))]
    counters = CounterSet("set", {"c": Counter(quantity(draw(st.sampled_from(["2", "3", "4"]))))})
    slices = [
        slice_of(devices, count=2),
        slice_of(name="node-counters", count=2, shared_counters=(counters,)),
    ]
    if draw(st.booleans()):
        plain = [device(f"e{i}", attributes={"model": draw(_FEW)}) for i in range(draw(st.integers(1, 3)))]
        slices.append(slice_of(plain, pool="other"))
    return slices


@st.composite
def requests(draw: st.DrawFn, index: int) -> DeviceRequest:
    """A request; now and then with alternatives, all devices, admin access or a capacity."""
    kind = draw(st.integers(0, 9))
    name = f"r{index}"
    if kind == 0:
        return first_available(name, *draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    model = 'device.attributes["gpu.example.com"].?model.orValue("") == "a"'
    expressions = (model,) if draw(st.integers(0, 2)) == 0 else ()
    if kind == 1:
        return exactly(name, 0, *expressions, mode="All")
    fields: dict[str, Any] = {}
    if kind == 2:
        fields["admin_access"] = True
    if kind == 3:
        fields["capacity"] = {"mem": "1"}
    return exactly(name, draw(st.integers(1, 3)), *expressions, **fields)


@st.composite
def claims(draw: st.DrawFn) -> list[ResourceClaim]:
    """One or two claims with up to three requests and a constraint."""
    found = []
    for number in range(draw(st.integers(1, 2))):
        asked = [draw(requests(i)) for i in range(draw(st.integers(1, 3)))]
        constraints = []
        attribute = f"{DRIVER}/{draw(st.sampled_from(['domain', 'model']))}"
        match draw(st.integers(0, 3)):
            case 0:
                constraints.append(DeviceConstraint(match_attribute=attribute))
            case 1:
                constraints.append(DeviceConstraint(("r0",), distinct_attribute=attribute))
        found.append(claim_of(*asked, name=f"claim-{number}", constraints=constraints))
    return found
