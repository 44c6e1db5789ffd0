"""Pods of a shape that keep each other away: how many fit because of that, and how many would without it."""

from __future__ import annotations

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.filling import Filled, fill
from kubectl_dra.diagnosis.capacity.records import OwnTerm
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, Company, Count, ObjectRef
from kubectl_dra.model.affinity import PodAffinityTerm
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.terms import selector_text, term_of
from kubectl_dra.scheduler.plugins.inter_pod_affinity import resolved
from kubectl_dra.scheduler.snapshot import Snapshot


def own_term(state: ClusterState, shape: Shape, filled: Filled) -> OwnTerm | None:
    """The first required anti-affinity term that is about the pod itself, where it is what rejects nodes."""
    found = [cause for alike in filled.groups if alike.last is not None for cause in alike.last.causes]
    details = [cause.detail for cause in found if cause.code is Code.UNWANTED_COMPANY]
    about = [term for term in _terms(shape.pod) if _is_about(state, shape.pod, term)]
    if not details or not about:
        return None
    others = tuple(term for term in _terms(shape.pod) if term not in about)
    then = fill(waiting(state, Shape(_with_terms(shape.pod, others), shape.templates)))
    there = (ref for each in details if isinstance(each, Company) for pods in each.by for ref in pods.pods)
    return OwnTerm(
        about[0].topology_key,
        selector_text(term_of(about[0], shape.pod.metadata.namespace).selector),
        Count(then.copies, Bound.AT_LEAST if then.more_may_fit else Bound.EXACT),
        tuple(ref for ref in dict.fromkeys(there) if _exists(state, ref)),
    )


def _terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    anti = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
    return anti.required_during_scheduling_ignored_during_execution if anti is not None else ()


def _is_about(state: ClusterState, pod: Pod, term: PodAffinityTerm) -> bool:
    namespace, snapshot = pod.metadata.namespace, Snapshot(state)
    labels = snapshot.labels_of_namespace(namespace)
    return resolved(snapshot, term_of(term, namespace)).matches(namespace, pod.metadata.labels, labels)


def _with_terms(pod: Pod, terms: tuple[PodAffinityTerm, ...]) -> Pod:
    affinity = pod.spec.affinity
    assert affinity is not None  # noqa: S101 - it has terms
    assert affinity.pod_anti_affinity is not None  # noqa: S101
    anti = msgspec.structs.replace(
        affinity.pod_anti_affinity, required_during_scheduling_ignored_during_execution=terms
    )
    return with_spec(pod, affinity=msgspec.structs.replace(affinity, pod_anti_affinity=anti))


def _exists(state: ClusterState, ref: ObjectRef) -> bool:
    return ref.key in state.inventory.pods
