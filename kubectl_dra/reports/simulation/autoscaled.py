"""Workloads of the files with the number of pods that autoscalers make of them: the cluster's, and those of the files.

Where the autoscalers of a namespace could not be read, one of them may want more pods than the workload says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.templates import UNCOUNTED, CountField, Growth
from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Put, edited
from kubectl_dra.diagnosis.pod import autoscalers
from kubectl_dra.diagnosis.pod.autoscalers import UNSCALED, Bounds
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.admission import HorizontalPodAutoscaler


def autoscaled(state: ClusterState, objects: Sequence[Planned]) -> list[Planned]:
    """The objects; autoscalers of the files count where they scale one of them."""
    scalers = [each.record for each in objects if isinstance(each.record, HorizontalPodAutoscaler)]
    inventory = edited(state, (Put(autoscalers.KIND, each) for each in scalers)).inventory
    bounds = autoscalers.bounds_by_target(inventory)
    if not bounds:
        return list(objects)
    named = {_ref(each) for each in objects}
    counting = [each for each in objects if _target(each) in named]
    owners = {f"{each.kind} {each.name}" for each in counting} | {each.made_by for each in counting}
    return [_counted(_scaled(each, bounds), owners) for each in objects]


def may_be_scaled(planned: Planned) -> bool:
    """Whether an autoscaler may change the number of its pods, which are all alike and some at least."""
    one = len(planned.pods) == 1 and planned.pods[0].count is not CountSource.PER_NODE
    return one and planned.kind not in UNSCALED and not planned.catalog and bool(planned.pods[0].copies)


def _scaled(planned: Planned, bounds: Mapping[ObjectRef, Bounds]) -> Planned:
    found = bounds.get(_ref(planned)) if may_be_scaled(planned) else None
    if found is None:
        return planned
    copies = planned.pods[0].copies or 0
    number, of = found.bounded(copies), f"{found.of.kind} {found.of.name}"
    growth = Growth(of, found.most) if found.most > number else None
    if number == copies:
        return planned.scaled(number, f"the workload itself, within the bounds of {of}", growth)
    field = f"{found.low if number > copies else found.high} of {of}"
    # Lower bounds leave more pods where the workload itself wants them.
    lower = CountField(((field, number),)) if copies == 1 < number else UNCOUNTED
    return planned.scaled(number, field, growth, lower)


def _counted(planned: Planned, owners: Collection[str]) -> Planned:
    return replace(planned, counts=True) if f"{planned.kind} {planned.name}" in owners else planned


def _ref(planned: Planned) -> ObjectRef:
    """The object; one that names no namespace is in that of its pods."""
    namespace = planned.key.namespace or next((each.pod.metadata.namespace for each in planned.pods), "")
    return ObjectRef(planned.kind, namespace, planned.name)


def _target(planned: Planned) -> ObjectRef | None:
    return autoscalers.target_of(planned.record) if isinstance(planned.record, HorizontalPodAutoscaler) else None
