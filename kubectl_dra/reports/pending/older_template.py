"""A pod of a StatefulSet that is made from an older template: whether it would fit as the present one makes it.

Upstream: pkg/controller/statefulset/stateful_set_control.go. One by one (OrderedReady) a pod that never became ready is
waited for, and not replaced by one of the new template (kubernetes issue 67250); with OnDelete none ever is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.api.defaults import defaulted
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.explain.rejections import added_requests
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import added
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.whatif.displaced import again
from kubectl_dra.model.core import Container, Pod, PodSpec, Toleration
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import extended_asks, pending_asks
from kubectl_dra.reports.pending.nodes import node_records
from kubectl_dra.reports.pending.still_blocked import StillBlocked

_STATEFUL_SET: Final = "StatefulSet"
#: The second deletes all old pods first, ready or not (recreateDeleteAndWait, from 1.37 on).
_ON_DELETE, _RECREATE = "OnDelete", "Recreate"
_REVISION: Final = "controller-revision-hash"
_INDEX: Final = "apps.kubernetes.io/pod-index"
_WAITS: Final = (records.Verdict.UNSCHEDULABLE, records.Verdict.SCHEDULER_ERROR, records.Verdict.GATED)
#: Tolerations that admission gives to every pod (upstream: plugin/pkg/admission/defaulttolerationseconds).
_GIVEN: Final = "node.kubernetes.io/"


class OlderTemplate(ReportRecord, frozen=True):
    """The ``workload`` whose present template is another than that of the pod, which it does not replace by itself.

    ``nodes``: where the pod would fit as that makes it; ``then``: what would be in the way, where it would not fit.
    Neither where that is not known.
    """

    workload: records.ObjectRef
    nodes: tuple[str, ...] = ()
    then: StillBlocked | None = None


def older_template(diagnosis: records.PodDiagnosis, state: ClusterState, owners: Owners) -> OlderTemplate | None:
    """None for a pod of the present template, or of which that is not known."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    if pod is None or diagnosis.verdict not in _WAITS:
        return None
    for owner in owners.of(pod)[:1]:
        if owner.ref.kind == _STATEFUL_SET and owner.object is not None and _is_left(pod, owner.object):
            found = owner.object.template_of(_STATEFUL_SET, pod)
            if found is not None:
                made = _as_made_by(pod, found[1].spec, state)
                return _tried(OlderTemplate(owner.ref), made, state) if made is not None else OlderTemplate(owner.ref)
    return None


def _is_left(pod: Pod, workload: WorkloadObject) -> bool:
    """Whether another template has come since, by which the controller makes the pod only once it is deleted."""
    mine, newest = pod.metadata.labels.get(_REVISION), workload.status.update_revision
    strategy = workload.spec.update_strategy
    by_hand = strategy.type == _ON_DELETE
    left = by_hand or (workload.makes_one_by_one(_STATEFUL_SET) and strategy.type != _RECREATE)
    if not mine or not newest or mine == newest or not left:
        return False
    partition = strategy.rolling_update.partition if strategy.rolling_update is not None else None
    index = pod.metadata.labels.get(_INDEX) or pod.metadata.name.rpartition("-")[2]
    return by_hand or not partition or (index.isdecimal() and int(index) >= partition)


def _as_made_by(pod: Pod, template: PodSpec, state: ClusterState) -> Pod | None:
    """The pod as the template makes it; what admission and volume claims add to a pod stays.

    None for a pod of another RuntimeClass, which has another overhead.
    """
    own = pod.spec
    if template.runtime_class_name != own.runtime_class_name:
        return None
    given = _given(pod, state)
    spec = msgspec.structs.replace(
        own,
        containers=tuple(_admitted(each, given) for each in template.containers),
        init_containers=tuple(_admitted(each, given) for each in template.init_containers),
        resources=template.resources,
        resource_claims=template.resource_claims,
        node_selector=template.node_selector,
        affinity=template.affinity,
        tolerations=tuple(_tolerations(own, template)),
        topology_spread_constraints=template.topology_spread_constraints,
        scheduling_gates=template.scheduling_gates,
        scheduler_name=template.scheduler_name or own.scheduler_name,
        host_network=template.host_network,
    )
    # The API server makes requests of limits in pods, not in templates.
    made = defaulted(again(msgspec.structs.replace(pod, spec=spec)))
    assert isinstance(made, Pod)  # noqa: S101
    return made


def _given(pod: Pod, state: ClusterState) -> Mapping[str, Mapping[str, Quantity]]:
    """By container what a LimitRange has it request, as the pod itself tells."""
    return {
        each.name: {
            name: amount
            for name, amount in each.resources.requests.items()
            if any(added.container == each.name for added in added_requests(state, pod, name))
        }
        for each in (*pod.spec.containers, *pod.spec.init_containers)
    }


def _admitted(container: Container, given: Mapping[str, Mapping[str, Quantity]]) -> Container:
    """With what it would be given again, where it requests and limits nothing of that."""
    resources = container.resources
    requests = {**given.get(container.name, {}), **resources.limits, **resources.requests}
    return msgspec.structs.replace(container, resources=msgspec.structs.replace(resources, requests=requests))


def _tolerations(own: PodSpec, template: PodSpec) -> Iterator[Toleration]:
    yield from template.tolerations
    yield from (each for each in own.tolerations if each.key.startswith(_GIVEN) and each not in template.tolerations)


def _tried(found: OlderTemplate, pod: Pod, state: ClusterState) -> OlderTemplate:
    """What becomes of the pod in place of the one that is there; quotas have the old one, which makes room."""
    key = records.ObjectRef("Pod", pod.metadata.namespace, pod.metadata.name).key
    left = changes.without_pods({key})(state.inventory)
    made = added(left.replace(quotas={}), pod, extended=state.features.extended_resource)
    then = state.changed(made.replace(quotas=left.quotas))
    diagnosis = Diagnoser(then).pod(key)
    if diagnosis.verdict is records.Verdict.SCHEDULABLE:
        fitting = (group for group in diagnosis.nodes if group.outcome is records.NodeOutcome.FITS)
        return msgspec.structs.replace(found, nodes=tuple(name for group in fitting for name in group.nodes))
    if diagnosis.verdict not in _WAITS:
        return found
    asks, extended = pending_asks(key, then.inventory), extended_asks(key, then)
    blocked = StillBlocked(diagnosis.causes, node_records(diagnosis.nodes), asks, extended)
    return msgspec.structs.replace(found, then=blocked)
