"""How many pods other fields than their own count: those of autoscalers, and of ProvisioningRequests.

The latter ask an autoscaler for room for pods, each as a PodTemplate says. Upstream: kubernetes/autoscaler,
cluster-autoscaler/apis/provisioningrequest/autoscaling.x-k8s.io/v1 (PodSet).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kubectl_dra.api.admission.errors import shown
from kubectl_dra.api.trees import Tree, at, group_of, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.beside import least_scale, most_jobs, most_scale
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField, Growth
from kubectl_dra.model.ids import Key

if TYPE_CHECKING:
    from kubectl_dra.api.planned import Planned, PodPlan

_KIND: Final = ("autoscaling.x-k8s.io", "ProvisioningRequest")
_TEMPLATE: Final = "PodTemplate"
_MAX_SETS: Final = 32


def provisioned(objects: Sequence[tuple[Planned, Tree]], namespace: str) -> Iterator[Planned]:
    """The objects, of which ProvisioningRequests have the pods of the PodTemplates that they name, and these have none.

    ``namespace``: of objects that name none.
    """
    requests = [each for each in objects if (group_of(each[0].api_version), each[0].kind) == _KIND]
    templates = (each for each, _ in objects if each.kind == _TEMPLATE) if requests else ()
    written = {Key(each.key.namespace or namespace, each.name): each for each in templates}
    used = {key for each, tree in requests if not _problem(tree) for key, _ in _pod_sets(each, tree, namespace)}
    for each, tree in objects:
        if each.kind == _TEMPLATE and each.key in used and each.pods:
            yield replace(each, pods=(), counts=True)
        elif (group_of(each.api_version), each.kind) == _KIND:
            yield _with_pods(each, tree, written, namespace)
        else:
            yield each


def _with_pods(request: Planned, tree: Tree, written: Mapping[Key, Planned], namespace: str) -> Planned:
    problem = _problem(tree)
    if problem:
        return replace(request, error=problem)
    plans: list[PodPlan] = []
    untried = ""
    for key, counted in _pod_sets(request, tree, namespace):
        template = written.get(key)
        if template is not None and template.pods:
            plans.append(_plan(template.pods[0], key, counted))
        elif not untried:
            why = "can't be read" if template is not None else "is not among the files"
            untried = f"its pods are described by PodTemplate {key.name}, which {why}"
    return replace(request, pods=tuple(plans), untried=untried)


def _problem(tree: Tree) -> str:
    """The first that the definition of the kind does not allow; empty if there is none."""
    sets = list_at(at(tree, "spec"), "podSets")
    if not 0 < len(sets) <= _MAX_SETS:
        return f"spec.podSets: must have 1 to {_MAX_SETS} items"
    for index, each in enumerate(map(mapping, sets)):
        where, count = f"spec.podSets[{index}]", each.get("count")
        if not text_at(at(each, "podTemplateRef"), "name"):
            return f"{where}.podTemplateRef.name: missing"
        if not 0 < number_of(count, 0) <= MAX_PODS:
            got = "missing" if count is None else f"must be a whole number from 1 to {MAX_PODS}, got {shown(count)}"
            return f"{where}.count: {got}"
    return ""


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
