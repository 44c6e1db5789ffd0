"""What views can ask of workloads: which lack their pods, and how far one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.kinds import Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.makers import refusal_of_workload
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.gates.refused_work import refused_workloads
from kubectl_dra.diagnosis.gates.waiting_work import waiting_work
from kubectl_dra.diagnosis.pod.idle import idle
from kubectl_dra.diagnosis.pod.workloads import resolve_workload
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said import kubelet
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.pending.ailing import AilingWorkload, ailing_workload
from kubectl_dra.reports.pending.idle import WorkloadPendingReport, idle_report, refused_report, waiting_report
from kubectl_dra.reports.pending.rejected import RejectedPods, rejected_pods
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand


@dataclass(frozen=True, slots=True)
class WorkQuery:
    """The workloads of all namespaces that lack pods with devices: refused by the API server, or in a queue."""

    def compute(self, cluster: ClusterState) -> tuple[WorkloadPendingReport, ...]:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> tuple[WorkloadPendingReport, ...]:
        """The same with the controllers that were refused and with queues, of which no watch follows some."""
        return tuple(_lacking(reading.queues(cluster), reading))


WORK: Final = WorkQuery()


def _lacking(cluster: ClusterState, reading: OnDemand) -> Iterator[WorkloadPendingReport]:
    for refused in refused_workloads(cluster, "", reading.owner):
        yield refused_report(cluster, refused.workload, refused.refusal)
    for found in waiting_work(cluster, ""):
        yield waiting_report(cluster, found)


@dataclass(frozen=True, slots=True)
class FailedPodsQuery:
    """The pods of all namespaces that their nodes did not take, by reason."""

    def compute(self, cluster: ClusterState) -> tuple[RejectedPods, ...]:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> tuple[RejectedPods, ...]:
        """The same with those that no watch follows."""
        return rejected_pods(reading.failed_pods(cluster), "", lambda _labels: True)


FAILED_PODS: Final = FailedPodsQuery()


@dataclass(frozen=True, slots=True)
class WorkloadState:
    """``pods``: those that wait, else those that do not do their work; ``report``: why there are no more of them."""

    ailing: AilingWorkload
    pods: tuple[Key, ...]
    report: WorkloadPendingReport | None


@dataclass(frozen=True, slots=True)
class WorkloadQuery:
    """How far one workload is; None where nothing is known of it."""

    kind: Kind
    key: Key

    def compute(self, cluster: ClusterState) -> WorkloadState | None:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> WorkloadState | None:
        """The same with the workload itself and the owners of its pods."""
        state, ref = _with_workload(cluster, self.kind, self.key, reading), ObjectRef.of(self.kind.name, self.key)
        inventory = state.inventory
        pods = resolve_workload(inventory, self.kind.name, self.key, reading.owner)
        known = (self.kind.name, *self.key)
        if not pods and known not in inventory.workloads and known not in inventory.makers:
            return None
        waiting = [pod for pod in pods if is_pending(pod)]
        shown = waiting or [pod for pod in pods if kubelet.is_unwell(pod)]
        report = None if waiting else _why_none(state, self.kind, self.key, pods)
        found = ailing_workload(inventory, ref, pods)
        return WorkloadState(found, tuple(key_of(pod.metadata) for pod in shown), report)


def _why_none(state: ClusterState, kind: Kind, key: Key, pods: tuple[Pod, ...]) -> WorkloadPendingReport | None:
    """As why-pending answers of a workload none of whose pods waits."""
    ref = ObjectRef.of(kind.name, key)
    refused = refusal_of_workload(state, ref, pods)
    held = idle(state, kind.name, key) if not pods or refused is None else None
    if held is not None:
        return idle_report(state, ref, held)
    return refused_report(state, ref, refused) if refused is not None else None


def _with_workload(cluster: ClusterState, kind: Kind, key: Key, reading: OnDemand) -> ClusterState:
    """The cluster with what is read of a workload of a built-in kind, where it is not known yet."""
    known, place = cluster.inventory.workloads, (kind.name, *key)
    if place in known or reading.owner is None or not kind.versions:
        return cluster
    found = reading.owner(key.namespace, OwnerReference(kind.api_version, kind.name, key.name))
    if not isinstance(found, WorkloadObject):
        return cluster
    return cluster.changed(cluster.inventory.replace(workloads={**known, place: found}))
