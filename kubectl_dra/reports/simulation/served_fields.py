"""Fields that this server drops, because it does not serve what they are about: said of a manifest like any other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kubectl_dra.api.admission.disabled import Dropped, without_disabled
from kubectl_dra.api.kinds import POD_GROUP, WORKLOAD
from kubectl_dra.api.lint import Finding, Mistake
from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.api.workloads.beside import OLD_SCHEDULER, Gang
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.workload_refs import policy_of
from kubectl_dra.model.base import Record, with_spec
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.features import NEWEST_MINOR, WORKLOAD_REF_MINOR, Features, gate_defaults
from kubectl_dra.model.ids import Key
from kubectl_dra.model.scheduling import Workload
from kubectl_dra.reports.simulation.existing import existing

_GROUP = "schedulingGroup"


def is_unserved(evidence: Evidence, kind: str) -> bool:
    """Whether a server that was asked does not serve a kind; a plain list says nothing of any server."""
    return evidence.server_version is not None and evidence.coverage(kind) is Coverage.NOT_SERVED


def as_served(state: ClusterState, objects: Iterable[Planned]) -> Iterator[Planned]:
    """The objects, with what the server drops of them among their findings.

    Upstream: dropDisabledSchedulingGroup in pkg/api/pod/util.go; PodGroups are served where their gate is on.
    """
    dropped = is_unserved(state.evidence, POD_GROUP.name)
    for planned in as_stored(state, tuple(objects)):
        grouped = [plan for plan in planned.pods if dropped and plan.pod.spec.scheduling_group is not None]
        if not grouped:
            yield planned
            continue
        found = {_path(planned, plan.role) for plan in grouped}
        message = "this server has no PodGroups (feature gate GenericWorkload): each pod is placed by itself"
        more = (Finding(path, message, False, Mistake.UNSERVED_FIELD) for path in sorted(found))
        yield replace(planned, findings=(*planned.findings, *more))


def as_stored(state: ClusterState, objects: Sequence[Planned]) -> Iterator[Planned]:
    """The objects without what the server drops where a gate is off, which is said of them; in gangs as below."""
    return (_enabled(state, each) for each in _with_workload_refs(state, objects))


def _enabled(state: ClusterState, planned: Planned) -> Planned:
    if planned.record is None:
        return planned
    old, features = existing(state.inventory, planned), state.features
    record, dropped = without_disabled(planned.record, features, old if isinstance(old, Record) else None)
    found = (Finding(each.path, _off(each, features), False, Mistake.UNSERVED_FIELD) for each in dropped)
    return replace(planned, record=record, findings=(*planned.findings, *found)) if dropped else planned


def _off(dropped: Dropped, features: Features) -> str:
    gate, minor = dropped.gate, features.minor
    if gate_defaults(minor).get(gate):
        return f"feature gate {gate} is off"
    if gate not in gate_defaults(minor):
        return f"Kubernetes 1.{minor} does not have this field yet"
    later = next((each for each in range(minor + 1, NEWEST_MINOR + 1) if gate_defaults(each).get(gate)), None)
    since = f", and on since 1.{later}" if later is not None else ""
    text = f"feature gate {gate} is off by default in Kubernetes 1.{minor}{since}"
    return f"{text} (if it is on: --feature-gates {gate}=true)"


def _with_workload_refs(state: ClusterState, objects: Sequence[Planned]) -> Iterator[Planned]:
    """The objects, whose pods that name a Workload are in its gang where the server has it, and name it no more."""
    of_files = {each.key: each.record for each in objects if isinstance(each.record, Workload)}
    workloads = {**state.inventory.groups.workloads, **of_files}
    return (_with_workload_ref(state, each, workloads) for each in objects)


def _path(planned: Planned, role: str) -> str:
    if planned.kind == "Pod":
        return f"spec.{_GROUP}"
    return f"{_GROUP} of {role}" if role else f"{_GROUP} of its pods"


def _with_workload_ref(state: ClusterState, planned: Planned, workloads: Mapping[Key, Workload]) -> Planned:
    """With what the server makes of ``workloadRef``, which only one version has.

    Upstream, 1.35: dropDisabledWorkloadRef in pkg/api/pod/util.go (feature gate GenericWorkload).
    """
    named = [each for each in planned.findings if each.path.rpartition(".")[2] == "workloadRef"]
    evidence = state.evidence
    if not named:
        return planned
    findings = [each for each in planned.findings if each not in named]
    if evidence.server_version is None or evidence.server_version[1] != WORKLOAD_REF_MINOR:
        text = f"only Kubernetes 1.{WORKLOAD_REF_MINOR} has this field; later versions have schedulingGroup"
        findings += [replace(each, message=text) for each in named]
    elif is_unserved(evidence, WORKLOAD.name):
        text = "this server has no Workloads (feature gate GenericWorkload): each pod is placed by itself"
        findings += [replace(each, message=text, code=Mistake.UNSERVED_FIELD) for each in named]
    else:
        pods = tuple(_in_gang(state, plan, workloads) for plan in planned.pods)
        return replace(planned, findings=tuple(findings), pods=pods)
    pods = tuple(replace(plan, pod=with_spec(plan.pod, workload_ref=None)) for plan in planned.pods)
    return replace(planned, findings=tuple(findings), pods=pods)


def _in_gang(state: ClusterState, plan: PodPlan, workloads: Mapping[Key, Workload]) -> PodPlan:
    """A plan with its gang, whose pods are then placed one by one and counted, as the first would wait for the last."""
    policy = policy_of(state, plan.pod, workloads)
    if policy is None:
        return plan
    name, namespace = f"{WORKLOAD.name} {policy.workload.name}", policy.workload.namespace
    gang = Gang(OLD_SCHEDULER, name, namespace, policy.least, ref=policy.ref)
    return replace(plan, gang=gang, pod=with_spec(plan.pod, workload_ref=None))
