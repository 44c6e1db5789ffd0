"""Remedies that only hardware can bring: more devices like one that would do, or a node like another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from msgspec.structs import replace as replace_fields

from kubectl_dra.cluster.edits import Put
from kubectl_dra.cluster.state import ClusterState
from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.diagnosis.records import Funnel, NodeGroup, NodeOutcome, NodeShortage, StageName
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, first_of
from kubectl_dra.diagnosis.remedies.records import AddDevices, RemedyKind
from kubectl_dra.model.core import Node
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.resource import Device, ResourceSlice
from kubectl_dra.model.storage import CsiNode

_ADD_COST: Final = 90
_MAX_NODES_ADDED: Final = 16
_MODELS: Final = 4
_MODEL_NODES: Final = 3
#: Classes of NVIDIA's driver for the channels of ComputeDomains begin so; the label of nodes that has the clique.
_CHANNEL_CLASSES: Final = "compute-domain-"
_CLIQUE: Final = "nvidia.com/gpu.clique"
#: What a node has no more of, and a new one has.
_ROOM: Final = (
    Code.NODE_RESOURCES,
    Code.NODE_PORTS,
    Code.KEPT_AWAY,
    Code.SPREAD,
    Code.UNWANTED_COMPANY,
    Code.VOLUME_LIMIT,
)


def in_order(case: Case) -> tuple[Iterator[Candidate], ...]:
    """What may be added, the more plausible first: of what a driver has one of, as /dev/kvm, a node has one only."""
    slices = case.state.inventory.slices.values()
    models = (_model(case.state, _selected_devices(funnels)) for _, _, _, funnels in case.funnels())
    drivers = {model[0].spec.driver for model in models if model is not None}
    single = any(sum(len(each.spec.devices) for each in slices if each.spec.driver == name) == 1 for name in drivers)
    devices, nodes = more_devices(case), more_nodes(case)
    return (nodes, devices) if single else (devices, nodes)


def more_devices(case: Case) -> Iterator[Candidate]:
    """As many more as the nearest node lacks, like one that would do; more where requests compete for them."""
    competing = any(True for _ in case.causes(Code.REQUESTS_COMPETE, Code.CONSTRAINT))
    for _, _, request, funnels in case.funnels():
        if request.allocation_mode != "ExactCount":
            continue
        nearest = min(funnels, key=_lacking)
        model = _model(case.state, _selected_devices(funnels))
        lacking = max(_lacking(nearest), 1 if competing else 0)
        if model is None or lacking <= 0 or not _can_be_added(case.state.inventory, *model):
            continue
        most = max(lacking, request.count) if competing else lacking
        attribute = nearest.constraint if nearest.distinct else ""
        yield from first_of([_adding(*model, count, attribute) for count in range(lacking, most + 1)])


def _can_be_added(inventory: Inventory, slice_: ResourceSlice, device: Device) -> bool:
    """Whether a node may get another device like one: machines of a kind come with theirs, and parts of them are none.

    What several pods use at a time are CPUs, memory and the like.
    """
    nodes = {each.spec.node_name for each in inventory.slices.values() if each.spec.driver == slice_.spec.driver}
    return len(nodes) < 2 and not device.allow_multiple_allocations and not device.consumes_counters


def devices_elsewhere(case: Case) -> Iterator[Candidate]:
    """On the first node that has no device of the class as many as the request asks for, like one of another node."""
    slices = case.state.inventory.slices.values()
    models = ((each, device) for each in slices for device in each.spec.devices[:1] if not device.consumes_counters)
    published = list(islice(models, _MODELS))
    empty = {
        group.nodes[0]: None
        for group in case.diagnosis.nodes
        if group.outcome is NodeOutcome.CANNOT_ALLOCATE and group.nodes
        for report in group.requests
        if report.funnel is not None and not report.funnel.total
    }
    for _, _, request, _ in case.funnels():
        count = request.count if request.allocation_mode == "ExactCount" else 1
        for node in list(empty)[:1]:
            yield from first_of([_on_node(*model, count, node) for model in published])


def _on_node(slice_: ResourceSlice, device: Device, count: int, node: str) -> Candidate:
    """A pool of its own for the node, with so many devices like one; what taints that one has the others have not."""
    name = f"{slice_.metadata.name}-added-on-{node}"
    more = tuple(
        replace_fields(
            device, name=f"{device.name}-added-{i}", taints=(), node_name=None, node_selector=None, all_nodes=None
        )
        for i in range(count)
    )
    pool = replace_fields(slice_.spec.pool, name=f"added-on-{node}", resource_slice_count=1)
    here = replace_fields(
        slice_.spec, node_name=node, node_selector=None, all_nodes=None, per_device_node_selection=None
    )
    spec = replace_fields(here, pool=pool, devices=more, shared_counters=())
    added = replace_fields(slice_, metadata=replace_fields(slice_.metadata, name=name), spec=spec)

    def change(inventory: Inventory) -> Inventory:
        return inventory.replace(slices={**inventory.slices, name: added})

    like = str(DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name))
    return Candidate(RemedyKind.ADD_DEVICES, (AddDevices(count, like, node),), _ADD_COST, (change,), only=(node,))


def more_nodes(case: Case) -> Iterator[Candidate]:
    """A node like one of the nearest, where devices or room of another kind are what lacks; several for a group."""
    short = any(True for _ in case.causes(*_ROOM))
    groups = [group for group in case.diagnosis.nodes if group.nodes]
    near = [group.nodes[0] for group in groups if short or group.outcome is NodeOutcome.CANNOT_ALLOCATE]
    tainted = {group.nodes[0] for group in groups if any(_has_none_untainted(each.funnel) for each in group.requests)}
    near = [name for name in near if name not in tainted]
    # A new node has as little as the one that it is like.
    near.sort(key={group.nodes[0]: _is_too_small(group) for group in groups}.__getitem__)
    for node in near[:_MODEL_NODES]:
        yield from first_of([_nodes_like(case, node, count) for count in range(1, _most_nodes(case) + 1)])


def _is_too_small(group: NodeGroup) -> bool:
    """Whether nodes have less of something in all than the pod requests."""
    details = (cause.detail for cause in group.causes)
    return any(isinstance(each, NodeShortage) and each.requested > each.allocatable for each in details)


def _has_none_untainted(funnel: Funnel | None) -> bool:
    """Whether taints are why a node has no device, so that nobody wants another node like it."""
    return (
        funnel is not None and bool(funnel.stage(StageName.TAINTS).removed) and not funnel.stage(StageName.TAINTS).count
    )


def _most_nodes(case: Case) -> int:
    """A single pod needs one node; of a group each pod may need one."""
    group = case.pod.spec.scheduling_group
    if group is None:
        return 1
    members = pods_of(case.state, Key(case.pod.metadata.namespace, group.pod_group_name))
    return max(1, min(_MAX_NODES_ADDED, sum(not pod.spec.node_name for pod in members)))


def nodes_like(inventory: Inventory, node: str, count: int, *, free: bool = True) -> changes.Change:
    """So many new nodes like one, with all devices free; ``free``: without its taints and DaemonSets' pods too."""
    return _with_nodes(whatif.like(inventory, node, free=free), whatif.new_names(node, count, inventory.nodes))


def _nodes_like(case: Case, node: str, count: int) -> Candidate:
    names = whatif.new_names(node, count, case.state.inventory.nodes)
    change = nodes_like(case.state.inventory, node, count)
    cost = _ADD_COST + count
    action = whatif.AddNode(node, count, free=True, clique=_clique(case, node))
    return Candidate(RemedyKind.ADD_DEVICES, (action,), cost, (change,), only=names)


def _clique(case: Case, node: str) -> str:
    """The NVLink clique of a node, for a pod with a channel of a ComputeDomain; empty for others.

    An IMEX channel reaches the memory of GPUs in the same clique. Upstream: NVIDIA/k8s-dra-driver-gpu,
    cmd/compute-domain-kubelet-plugin; GPU feature discovery labels nodes with their clique.
    """
    if not any(form.device_class_name.startswith(_CHANNEL_CLASSES) for _, _, form, _ in case.funnels()):
        return ""
    return case.state.inventory.nodes[node].metadata.labels.get(_CLIQUE, "")


def _with_nodes(template: whatif.NodeTemplate, names: Sequence[str]) -> changes.Change:
    """New nodes with what they publish; nothing runs on them yet."""

    def change(inventory: Inventory) -> Inventory:
        nodes, slices = dict(inventory.nodes), dict(inventory.slices)
        csi = dict(inventory.storage.csi_nodes)
        for edit in (edit for name in names for edit in template.edits(name)):
            assert isinstance(edit, Put)  # noqa: S101 - of a node that comes nothing goes
            match edit.record:
                case Node():
                    nodes[edit.key.name] = edit.record
                case ResourceSlice():
                    slices[edit.key.name] = edit.record
                case CsiNode():
                    csi[edit.key.name] = edit.record
        storage = inventory.storage
        if template.csi is not None:
            storage = replace(storage, csi_nodes=csi)
        return inventory.replace(nodes=nodes, slices=slices, storage=storage)

    return change


def unlike(case: Case) -> Iterator[Candidate]:
    """Devices of a class where none exists that would do, so that nothing can be tried."""
    for _, _, request, funnels in case.funnels():
        if not any(True for _ in _selected_devices(funnels)):
            count = request.count if request.allocation_mode == "ExactCount" else 1
            action = AddDevices(count, "", "", request.device_class_name)
            yield Candidate(RemedyKind.ADD_DEVICES, (action,), _ADD_COST)


def _adding(slice_: ResourceSlice, device: Device, count: int, differing: str) -> Candidate:
    like = str(DeviceId(slice_.spec.driver, slice_.spec.pool.name, device.name))
    change = changes.add_devices(slice_.metadata.name, device, count, differing)
    action = AddDevices(count, like, slice_.spec.node_name or "", differing=differing)
    only = (slice_.spec.node_name,) if slice_.spec.node_name else ()
    return Candidate(RemedyKind.ADD_DEVICES, (action,), _ADD_COST, (change,), only=only)


def _lacking(funnel: Funnel) -> int:
    return funnel.needed - funnel.together


def _selected_devices(funnels: Sequence[Funnel]) -> Iterable[str]:
    """Devices that pass the selectors, on the node that lacks the least first."""
    for funnel in sorted(funnels, key=_lacking):
        yield from funnel.after(StageName.SELECTORS)


def _model(state: ClusterState, devices: Iterable[str]) -> tuple[ResourceSlice, Device] | None:
    return next((state.device(wanted) for wanted in devices), None)
