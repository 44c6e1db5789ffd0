"""The pod whose copies are counted, and the cluster in which one copy of it waits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from kubectl_dra.allocation import ClaimSearch as Allocating
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.records import DependsOn
from kubectl_dra.diagnosis.pod.placing import added
from kubectl_dra.model import core, resource
from kubectl_dra.model.affinity import PodAffinityTerm
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.podneeds import in_group, uses_storage
from kubectl_dra.scheduler.claims import ResolvedEntry, resolve, sources
from kubectl_dra.scheduler.extended import asked, served_resources, virtual_claim
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of

_NAME: Final = "capacity-shape"


@dataclass(frozen=True, slots=True)
class Shape:
    """A pod, and templates of its claims that are not in the cluster."""

    pod: core.Pod
    templates: Mapping[Key, resource.ResourceClaimTemplate]


def of_request(
    namespace: str, device_class: str, count: int, selectors: tuple[str, ...], tolerated: Iterable[core.Taint] = ()
) -> Shape:
    """A bare pod that asks for devices of one class in one request."""
    key = Key(namespace, _NAME)
    request = resource.ExactDeviceRequest(
        device_class_name=device_class,
        selectors=tuple(resource.DeviceSelector(resource.CELSelector(text)) for text in selectors),
        allocation_mode="ExactCount",
        count=count,
    )
    spec = resource.ResourceClaimSpec(resource.DeviceClaim((resource.DeviceRequest("devices", request),)))
    pod = bare_pod(key)
    tolerations = tuple(core.Toleration(each.key, "Equal", each.value, each.effect) for each in tolerated)
    pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, tolerations=tolerations))
    return Shape(pod, {key: template_of(key, spec)})


def bare_pod(source: Key, *, shared: bool = False) -> core.Pod:
    """A pod that has nothing but a claim from a template, or one that is there to be ``shared``."""
    named, made = (source.name, None) if shared else (None, source.name)
    entry = core.PodResourceClaim("devices", resource_claim_name=named, resource_claim_template_name=made)
    container = core.Container(
        name="main", resources=core.ResourceRequirements(claims=(core.ContainerClaim(entry.name),))
    )
    spec = core.PodSpec(scheduler_name=DEFAULT_SCHEDULER, containers=(container,), resource_claims=(entry,))
    return core.Pod(metadata=ObjectMeta(name=source.name, namespace=source.namespace), spec=spec)


def template_of(key: Key, spec: resource.ResourceClaimSpec) -> resource.ResourceClaimTemplate:
    """A template with this name that makes claims with this spec."""
    meta = ObjectMeta(name=key.name, namespace=key.namespace)
    return resource.ResourceClaimTemplate(metadata=meta, spec=resource.ResourceClaimTemplateSpec(spec=spec))


@dataclass(frozen=True, slots=True)
class WaitingCopy:
    """A cluster in which one copy waits, with its claims in the order of its entries; ``problem`` keeps it waiting."""

    state: ClusterState
    key: Key
    claims: tuple[resource.ResourceClaim, ...]
    problem: ResolvedEntry | None = None

    @property
    def pod(self) -> core.Pod:
        return self.state.inventory.pods[self.key]

    def with_virtual(self) -> tuple[resource.ResourceClaim, ...]:
        """Its claims, and the one that the scheduler makes up for extended resources that no node offers itself."""
        served, nodes = served_resources(self.state), self.state.inventory.nodes.values()
        names = [name for name in asked(self.pod) if name in served]
        if not names or any(allocatable_of(node, name) for name in names for node in nodes):
            return self.claims
        return (*self.claims, virtual_claim(self.pod, names, served))


def waiting(state: ClusterState, shape: Shape) -> WaitingCopy:
    """The cluster with one copy; quotas are looked at elsewhere."""
    own = shape.pod.metadata
    name = f"{own.name or own.generate_name or _NAME}-copy"
    meta = msgspec.structs.replace(own, name=name, uid=f"copy-of-{own.namespace}-{name}")
    # One copy is no gang: how many fit is counted without the others of its group.
    spec = msgspec.structs.replace(shape.pod.spec, node_name="", scheduling_group=None, workload_ref=None)
    pod = msgspec.structs.replace(shape.pod, metadata=meta, spec=spec, status=core.PodStatus(phase="Pending"))
    inventory = state.inventory
    inventory = inventory.replace(templates={**inventory.templates, **shape.templates}, quotas={})
    state = state.changed(added(inventory, pod, extended=state.features.extended_resource))
    key = key_of(meta)
    entries = resolve(state.inventory, state.evidence, state.features, state.inventory.pods[key])
    claims = tuple(entry.claim for entry in entries if entry.claim is not None)
    return WaitingCopy(state, key, claims, next((entry for entry in entries if entry.problem is not None), None))


def device_classes(
    state: ClusterState, allocating: Allocating | None, nodes: Mapping[str, core.Node]
) -> dict[str, Hashable]:
    """By name of the node, what is equal for nodes whose devices no search of this attempt can tell apart."""
    if allocating is None:
        return dict.fromkeys(nodes, 0)
    found = state.devices.alike.seen_by(allocating.selection).of(nodes)
    return {node.metadata.name: node.metadata.name if number is None else number for node, number in found}


def depends_on(pod: core.Pod) -> Iterator[DependsOn]:
    """By what a copy of a pod on one node plays a part for those on other nodes, as far as the pod tells.

    Soft terms only choose among nodes that fit. What the devices tell is asked of them.
    """
    affinity = pod.spec.affinity
    terms: tuple[PodAffinityTerm, ...] = ()
    if affinity is not None:
        both = (affinity.pod_affinity, affinity.pod_anti_affinity)
        terms = tuple(
            term
            for each in both
            if each is not None
            for term in each.required_during_scheduling_ignored_during_execution
        )
    if terms:
        yield DependsOn.AFFINITY
    if any(each.when_unsatisfiable != "ScheduleAnyway" for each in pod.spec.topology_spread_constraints):
        yield DependsOn.SPREAD
    if any(sources(entry)[0] is not None for entry in pod.spec.resource_claims):
        yield DependsOn.CLAIM
    if uses_storage(pod):
        yield DependsOn.VOLUMES
    if in_group(pod):
        yield DependsOn.GROUP
