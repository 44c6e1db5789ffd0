"""What is tried: the pods that the objects of the files make, and a bare pod for each claim or template that none uses.

Pods that would be created together are tried together, one after the other. What makes no pods itself is a catalogue
(claims and templates without users, runtimes, pod templates): each entry is tried alone, unless all are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.api.workloads.hooks import hook_of
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.shape import bare_pod
from kubectl_dra.diagnosis.gates import pod_admission, quota
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model import core
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.model.taint_text import keeps_for_some, taint_text
from kubectl_dra.reports.admitted import missing_priority_class, security_refusal
from kubectl_dra.reports.simulation.existing import existing
from kubectl_dra.reports.simulation.stops import AbsentClass
from kubectl_dra.scheduler.claims import sources

#: The kinds of objects that a pod names and that are not made for it.
PRIORITY_CLASS: Final = "PriorityClass"
RUNTIME_CLASS: Final = pod_admission.RUNTIME_CLASS
_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")
_CLASS_FIELDS: Final = {PRIORITY_CLASS: "priorityClassName", RUNTIME_CLASS: "runtimeClassName"}


@dataclass(frozen=True, slots=True)
class PodTrial:
    """Copies of one pod; ``alone``: on the cluster without the other pods of the files.

    ``blocked`` are the objects that it names and that would be refused; ``refused``: what the API server has against
    the pod itself. ``misread``: of its manifest, or of one that it
    names, a server drops something. ``scheduler`` decides about the pod, which is tried by the rules of the default
    scheduler; empty where that one decides. ``bypasses``: the node that the pod names itself, where it can't start for
    that reason; empty for all others.
    """

    planned: Planned
    plan: PodPlan
    alone: bool = False
    blocked: tuple[ObjectRef, ...] = ()
    refused: tuple[str, ...] = ()
    misread: bool = False
    scheduler: str = ""
    bypasses: str = ""

    @property
    def stops(self) -> bool:
        """Whether what blocks it keeps it from being tried; classes of pods that do not exist are supposed to."""
        return any(each.kind not in (PRIORITY_CLASS, RUNTIME_CLASS) for each in self.blocked)

    @property
    def held(self) -> bool:
        """Whether none of its pods is made until somebody resumes it; Kueue resumes what waits in its queues."""
        return self.planned.suspended and not self.planned.queue

    @property
    def subject(self) -> ObjectRef:
        """What the pods are made from."""
        return ObjectRef(self.planned.kind, self.planned.key.namespace, self.planned.name)

    @property
    def is_bare(self) -> bool:
        """Whether a bare pod stands for those that will have its claims: what else they request is not known."""
        return self.planned.kind in _CLAIMS or bool(self.plan.rest_by)


def tolerated(trial: PodTrial, nodes: Iterable[core.Node]) -> tuple[str, ...]:
    """The taints of ``nodes`` that the bare pod of a claim or template is taken to tolerate."""
    if trial.planned.kind not in _CLAIMS:
        return ()
    found = (taint for node in nodes for taint in node.spec.taints if keeps_for_some(taint))
    return tuple(dict.fromkeys(map(taint_text, found)))


def trials(
    state: ClusterState, objects: Sequence[Planned], refused: Sequence[Planned], *, together: bool
) -> list[PodTrial]:
    """All trials: first what makes pods, in the order of the files, then catalogues."""
    blocked = _Blocked(state, frozenset((each.kind, *each.key) for each in refused))
    making = [each for each in objects if not each.catalog]
    made = [(each, plan, *hook_of(each.annotations)) for each in making for plan in each.pods]
    # What a later command creates finds what the others have left.
    made.sort(key=lambda each: bool(each[2]) and not each[3])
    first = [PodTrial(each, plan, apart, blocked.of(plan.pod)) for each, plan, _, apart in made]
    catalogue = [(each, plan) for each in objects if each.catalog for plan in each.pods]
    later = [PodTrial(each, plan, not together, blocked.of(plan.pod)) for each, plan in catalogue]
    bare = [PodTrial(each, plan, not together) for each, plan in _bare(state, objects)]
    only = len(first) + len(later) + len(bare) == 1
    dropped = {(e.kind, *e.key) for e in objects if any(not finding.corrected for finding in e.findings)}
    return [
        replace(
            _by_default_rules(state, each),
            alone=each.alone and not only,
            refused=tuple(_refused(state, each)),
            misread=_is_misread(each, dropped),
            # One that exists has its node from the scheduler, as it is written in what was read from a cluster.
            bypasses=_bypassed(state, each.plan.pod) if existing(state.inventory, each.planned) is None else "",
        )
        for each in (*first, *later, *bare)
    ]


def _refused(state: ClusterState, trial: PodTrial) -> Iterator[str]:
    """What the API server has against the pods of a workload; of a Pod it is said of the manifest.

    What quotas have left is for each copy to find out.
    """
    if not (trial.is_bare or trial.planned.kind == "Pod"):
        pod, quotas = trial.plan.pod, state.inventory.quotas.values()
        yield from trial.plan.refused
        yield from pod_admission.refusals(pod, state.inventory)
        if told := security_refusal(state, trial.plan):
            yield told
        if quota.is_settled(state, pod.metadata.namespace) and (lacking := quota.lacking_requests(quotas, pod)):
            yield lacking


def _bypassed(state: ClusterState, pod: core.Pod) -> str:
    """The node that a pod names itself, if it can't start there: it does not exist, or a claim has no devices.

    The scheduler never sees such a pod, and nobody else allocates. Upstream: pkg/controller/resourceclaim syncPod only
    reserves claims that are allocated already, and pkg/kubelet/cm/dra/manager.go refuses all others.
    """
    node, inventory, evidence = pod.spec.node_name, state.inventory, state.evidence
    if not node:
        return ""
    if node not in inventory.nodes and evidence.complete("Node"):
        return node
    for kind, namespace, name in claims_named(pod):
        claim = inventory.claims.get(Key(namespace, name)) if kind == _CLAIMS[0] else None
        unread = kind == _CLAIMS[0] and claim is None and not evidence.complete(kind, namespace)
        if not unread and (claim is None or claim.status.allocation is None):
            return node
    return ""


def _by_default_rules(state: ClusterState, trial: PodTrial) -> PodTrial:
    """With the default scheduler, where the pod names one whose rules are not known."""
    pod = trial.plan.pod
    name = pod.spec.scheduler_name
    if not name or name in state.schedulers:
        return trial
    ours = with_spec(pod, scheduler_name=DEFAULT_SCHEDULER)
    return replace(trial, plan=replace(trial.plan, pod=ours), scheduler=name)


def _is_misread(trial: PodTrial, dropped: Collection[tuple[str, str, str]]) -> bool:
    planned = trial.planned
    return (planned.kind, *planned.key) in dropped or any(key in dropped for key in claims_named(trial.plan.pod))


@dataclass(frozen=True, slots=True)
class _Blocked:
    """What keeps a pod from being created, or from ever getting its claims."""

    state: ClusterState
    refused: frozenset[tuple[str, str, str]]

    def of(self, pod: core.Pod) -> tuple[ObjectRef, ...]:
        """The claims and templates that a pod names and that are refused; classes of its that there are not."""
        return tuple(dict.fromkeys(self._found(pod)))

    def _found(self, pod: core.Pod) -> Iterator[ObjectRef]:
        name = missing_priority_class(self.state, pod)
        if name:
            yield ObjectRef(PRIORITY_CLASS, "", name)
        name = pod_admission.missing_runtime_class(self.state, pod)
        if name:
            yield ObjectRef(RUNTIME_CLASS, "", name)
        for key in claims_named(pod):
            if key in self.refused:
                yield ObjectRef(*key)


def claims_named(pod: core.Pod) -> Iterator[tuple[str, str, str]]:
    for entry in pod.spec.resource_claims:
        for kind, name in zip(_CLAIMS, sources(entry), strict=True):
            if name:
                yield kind, pod.metadata.namespace, name


def _bare(state: ClusterState, objects: Sequence[Planned]) -> Iterator[tuple[Planned, PodPlan]]:
    """A pod for every claim and template that no pod of the files names.

    It tolerates the taints by which nodes are kept for some pods, as those will that are to have the devices there.
    """
    nodes = state.inventory.nodes.values()
    kept = {taint.key for node in nodes for taint in node.spec.taints if keeps_for_some(taint)}
    tolerations = tuple(core.Toleration(key=key, operator="Exists") for key in sorted(kept))
    named = {key for each in objects for plan in each.pods for key in claims_named(plan.pod)}
    groups = {key for each in objects for key in _of_groups(each)}
    for planned in objects:
        if isinstance(planned.record, ResourceClaim | ResourceClaimTemplate):
            key = (planned.kind, planned.key.namespace, planned.name)
            if key not in named and key not in groups:
                pod = bare_pod(planned.key, shared=isinstance(planned.record, ResourceClaim))
                yield planned, PodPlan(with_spec(pod, tolerations=tolerations))


def _of_groups(planned: Planned) -> Iterator[tuple[str, str, str]]:
    """The claims and templates that the pods of a group share."""
    for entry in planned.record.spec.resource_claims if isinstance(planned.record, PodGroup) else ():
        for kind, name in zip(_CLAIMS, (entry.resource_claim_name, entry.resource_claim_template_name), strict=True):
            if name:
                yield kind, planned.key.namespace, name


# --- classes of pods ------------------------------------------------------------------------------------------------


def absent_classes(state: ClusterState, trial: PodTrial) -> tuple[AbsentClass, ...]:
    """PriorityClasses and RuntimeClasses that do not exist, where they stand in the manifest, and those that exist.

    The server refuses each pod. Upstream: plugin/pkg/admission/priority/admission.go (admitPod) and
    plugin/pkg/admission/runtimeclass/admission.go (prepareObjects) are about pods alone: their workload is created.
    """
    inventory = state.inventory
    there = {PRIORITY_CLASS: inventory.priority_classes, RUNTIME_CLASS: inventory.runtime_classes}
    return tuple(_absent(state, trial, each, there) for each in trial.blocked if each.kind in _CLASS_FIELDS)


def _absent(state: ClusterState, trial: PodTrial, ref: ObjectRef, there: Mapping[str, Collection[str]]) -> AbsentClass:
    known = tuple(sorted(there[ref.kind]))
    left_out = not known and state.evidence.coverage(ref.kind) is Coverage.ASSUMED
    return AbsentClass(ref, f"{trial.plan.spec_at}.{_CLASS_FIELDS[ref.kind]}", known, left_out)
