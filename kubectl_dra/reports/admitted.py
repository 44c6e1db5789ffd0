"""What the API server and controllers make of objects that a simulation creates, as far as scheduling sees it.

Upstream: admission plugins Priority, RuntimeClass and LimitRanger; PrepareForCreate of pods, which merges
``matchLabelKeys`` into selectors; the defaults of storage.k8s.io/v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.api.admission import pod_security
from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import pod_admission
from kubectl_dra.diagnosis.pod.volume_claims import created
from kubectl_dra.model import storage
from kubectl_dra.model.affinity import PodAffinity, PodAffinityTerm, TopologySpreadConstraint, WeightedPodAffinityTerm
from kubectl_dra.model.base import Record, with_spec
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import LabelSelector, NodeSelectorRequirement
from kubectl_dra.model.policy import SYSTEM_CLASSES, PriorityClass, priority_of
from kubectl_dra.model.scheduling import PodGroup

_IMMEDIATE: Final = "Immediate"
_NAMESPACE: Final = "Namespace"


def stored(record: Record, inventory: Inventory) -> Record:
    """An object around volumes as it is when it has just been created; any other comes back unchanged."""
    match record:
        case storage.PersistentVolumeClaim():
            return created(record, inventory)
        case storage.PersistentVolume():
            phase = "" if record.spec.claim_ref is not None else "Available"
            return msgspec.structs.replace(record, status=storage.PersistentVolumeStatus(phase))
        case storage.StorageClass():
            return msgspec.structs.replace(record, volume_binding_mode=record.volume_binding_mode or _IMMEDIATE)
        case PodGroup():
            return _group(record, inventory.priority_classes)
    return record


def _group(group: PodGroup, classes: Mapping[str, PriorityClass]) -> PodGroup:
    """A group gets its priority as pods do."""
    own = PodSpec(priority_class_name=group.spec.priority_class_name, priority=group.spec.priority)
    priority, _ = priority_of(own, classes)
    return with_spec(group, priority=priority)


def admitted(state: ClusterState, objects: Iterable[Planned]) -> list[Planned]:
    """The objects with their pods as the API server would store them."""
    inventory = state.inventory
    return [replace(each, pods=tuple(_plan(plan, inventory) for plan in each.pods)) for each in objects]


def _plan(plan: PodPlan, inventory: Inventory) -> PodPlan:
    # Of claims alone it is not known what admission would find in the pod.
    return plan if plan.rest_by else replace(plan, pod=admitted_pod(plan.pod, inventory))


def missing_priority_class(state: ClusterState, pod: Pod) -> str:
    """The PriorityClass that a pod names and that does not exist, so that the pod is refused; empty if it can be."""
    name = pod.spec.priority_class_name
    known = (
        name in SYSTEM_CLASSES
        or name in state.inventory.priority_classes
        or not state.evidence.complete("PriorityClass")
    )
    return "" if known else name


def pod_refusals(state: ClusterState, pod: Pod) -> Iterator[str]:
    """What the API server says of a pod that it does not admit, quotas and the rules of its fields apart."""
    name = missing_priority_class(state, pod)
    if name:
        yield f"no PriorityClass with name {name} was found"
    name = pod_admission.missing_runtime_class(state, pod)
    if name:
        yield f'pod rejected: RuntimeClass "{name}" not found'
    yield from pod_admission.refusals(pod, state.inventory)


def security_refusal(state: ClusterState, plan: PodPlan) -> str:
    """What the API server says of a pod that Pod Security refuses in its namespace; empty for all others."""
    level = _enforced(state, plan)
    if level is None or plan.template is None:
        return ""
    return pod_security.violation(level, state.features.minor, plan.template)


def level_not_checked(state: ClusterState, plan: PodPlan) -> str:
    """The level that a namespace enforces on pods whose containers a controller makes by itself; empty for none."""
    level = _enforced(state, plan) if plan.template is None else None
    return level.level if level is not None else ""


def _enforced(state: ClusterState, plan: PodPlan) -> pod_security.Level | None:
    known = state.inventory.namespaces.get(plan.pod.metadata.namespace)
    return pod_security.enforced(known.metadata.labels) if known is not None else None


def level_that_refuses(state: ClusterState, plan: PodPlan) -> str:
    """The widest level that would refuse a pod whose namespace could not be read; empty where none would."""
    namespace = plan.pod.metadata.namespace
    if plan.template is None or namespace in state.inventory.namespaces or state.evidence.complete(_NAMESPACE):
        return ""
    levels = (pod_security.BASELINE, pod_security.RESTRICTED)
    minor = state.features.minor
    refusing = (each for each in levels if pod_security.violation(pod_security.Level(each), minor, plan.template))
    return next(refusing, "")


def admitted_pod(pod: Pod, inventory: Inventory) -> Pod:
    """The pod as the API server would store it."""
    pod = pod_admission.admitted(pod, inventory)
    labels = pod.metadata.labels
    spread = tuple(_spread(constraint, labels) for constraint in pod.spec.topology_spread_constraints)
    affinity = pod.spec.affinity
    if affinity is not None:
        affinity = msgspec.structs.replace(
            affinity,
            pod_affinity=_merged(affinity.pod_affinity, labels),
            pod_anti_affinity=_merged(affinity.pod_anti_affinity, labels),
        )
    priority, policy = priority_of(pod.spec, inventory.priority_classes)
    return with_spec(
        pod, topology_spread_constraints=spread, affinity=affinity, priority=priority, preemption_policy=policy
    )


# --- selectors ------------------------------------------------------------------------------------------------------


def _merged(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    if affinity is None:
        return None
    give: Callable[[PodAffinityTerm], PodAffinityTerm] = lambda term: _term(term, labels)  # noqa: E731
    required = tuple(map(give, affinity.required_during_scheduling_ignored_during_execution))
    preferred = tuple(
        WeightedPodAffinityTerm(each.weight, give(each.pod_affinity_term))
        for each in affinity.preferred_during_scheduling_ignored_during_execution
    )
    return PodAffinity(required, preferred)


def _term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = _with_keys(term.label_selector, term.match_label_keys, "In", labels)
    selector = _with_keys(selector, term.mismatch_label_keys, "NotIn", labels)
    return msgspec.structs.replace(term, label_selector=selector)


def _spread(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> TopologySpreadConstraint:
    selector = _with_keys(constraint.label_selector, constraint.match_label_keys, "In", labels)
    return msgspec.structs.replace(constraint, label_selector=selector)


def _with_keys(
    selector: LabelSelector | None, keys: Iterable[str], operator: str, labels: Mapping[str, str]
) -> LabelSelector | None:
    """With the pod's own values of these labels; no selector stays none."""
    if selector is None:
        return None
    more = tuple(NodeSelectorRequirement(key, operator, (labels[key],)) for key in keys if key in labels)
    return msgspec.structs.replace(selector, match_expressions=(*selector.match_expressions, *more))
