"""How many pods other fields than their own count: those of autoscalers, and of ProvisioningRequests.

The latter ask an autoscaler for room for pods, each as a PodTemplate says. Upstream: kubernetes/autoscaler,
cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1 (PodSet).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_dra.api.trees import Tree, at, group_of, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.beside import least_scale, most_jobs, most_scale
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.templates import CountField, Growth
from kubectl_dra.model.ids import Key

if TYPE_CHECKING:
    from kubectl_dra.api.planned import Planned, PodPlan

_KIND: Final = ("autoscaling.x-k8s.io", "ProvisioningRequest")
_TEMPLATE: Final = "PodTemplate"


def provisioned(objects: Sequence[tuple[Planned, Tree]], namespace: str) -> Iterator[Planned]:
    """The objects, of which ProvisioningRequests have the pods of the PodTemplates that they name, and these have none.

    ``namespace``: of objects that name none.
    """
    requests = [each for each in objects if (group_of(each[0].api_version), each[0].kind) == _KIND]
    there = {each.key: each for each, _ in objects if each.kind == _TEMPLATE and each.pods} if requests else {}
    used = {key for each, tree in requests for key, _ in _pod_sets(each, tree, namespace)}
    for each, tree in objects:
        if each.kind == _TEMPLATE and each.key in used:
            yield replace(each, pods=(), counts=True)
        elif (group_of(each.api_version), each.kind) == _KIND:
            sets = list(_pod_sets(each, tree, namespace))
            lacking = next((f"PodTemplate {key.name}" for key, _ in sets if key not in there), "")
            untried = f"its pods are described by {lacking}, which is not among the files" if lacking else ""
            plans = tuple(_plan(there[key].pods[0], key, counted) for key, counted in sets if key in there)
            yield replace(each, pods=plans, untried=untried)
        else:
            yield each


def _pod_sets(request: Planned, tree: Tree, namespace: str) -> Iterator[tuple[Key, tuple[str, int]]]:
    """The PodTemplate of each set, and the field that counts its pods with what it says."""
    for index, each in enumerate(map(mapping, list_at(at(tree, "spec"), "podSets"))):
        key = Key(request.namespace or namespace, text_at(at(each, "podTemplateRef"), "name"))
        yield key, (f"spec.podSets[{index}].count", number_of(each.get("count"), 1))


def _plan(plan: PodPlan, template: Key, counted: tuple[str, int]) -> PodPlan:
    by, where = CountField((counted,), 1), (_TEMPLATE, *template)
    return replace(
        plan, copies=counted[1], count=CountSource.STATED, counted_by=by, role=template.name, written_in=where
    )


def scaled(planned: Planned, tree: Tree) -> Planned:
    """With the number of pods that the object's own autoscaler starts from."""
    least, jobs = least_scale(tree), most_jobs(tree)
    if jobs and len(planned.pods) == 1:
        (plan,) = planned.pods
        return replace(planned, pods=(replace(plan, growth=Growth("KEDA", jobs * (plan.copies or 1))),))
    if least is None or len(planned.pods) != 1:
        return planned
    (number, field), most = least, most_scale(tree)
    growth = Growth("Knative's autoscaler", most) if most is not None and most > number else None
    return planned.scaled(number, field, growth, CountField(((field, number),)))
