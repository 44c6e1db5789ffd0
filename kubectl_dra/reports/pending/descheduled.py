"""Pods that the descheduler has evicted, or a scheduler for others, and what is made in their place and waits.

Upstream: sigs.k8s.io/descheduler, pkg/descheduler/evictions (EvictPod): an event of type Normal about the pod that
goes, whose reason is the strategy; kube-scheduler, framework/preemption/executor.go (PreemptPod), with the uid of the
pod or group that needs the room.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.pod.siblings import NextRun, next_run
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis
from kubectl_dra.diagnosis.said import events
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.reports.base import ReportRecord

_EVICTED: Final = re.compile(r"pod evicted from (?P<node>\S+) node by sigs\.k8s\.io/descheduler")
_PREEMPTED: Final = re.compile(r"Preempted by \S+ (?P<uid>[0-9a-f-]{36}) on node (?P<node>\S+)")
#: Controllers replace a pod at once, or when it has ended.
_REPLACED: Final = timedelta(minutes=10)


class Descheduled(ReportRecord, frozen=True):
    """``pod``, in whose place another one was made, was evicted from ``node`` by a ``strategy``.

    ``preempted``: for others, by a scheduler. ``for_pod``: for which one, where it is there; ``priority``: what it has.
    """

    pod: ObjectRef
    node: str
    strategy: str
    time: str
    preempted: bool = False
    for_pod: ObjectRef | None = None
    priority: int = 0


class Turn(ReportRecord, frozen=True):
    """Whose place a pod has taken, and what its CronJob does when the next run comes due and it still waits."""

    descheduled: Descheduled | None
    next_run: NextRun | None


def turn(state: ClusterState, diagnosis: PodDiagnosis, owners: Owners) -> Turn | None:
    """None where neither is known."""
    pod, after = state.inventory.pods.get(diagnosis.pod.key), next_run(state, diagnosis, owners)
    before = descheduled(pod, state) if pod is not None else None
    return Turn(before, after) if before is not None or after is not None else None


def descheduled(pod: Pod, state: ClusterState) -> Descheduled | None:
    """The newest such event shortly before the pod was made: of its own name, or of a pod of its ReplicaSet."""
    made, maker = parse_time(pod.metadata.creation_timestamp), pod.metadata.controller
    if made is None or maker is None:
        return None
    found = [
        each
        for uid, time, each in _evictions(state)
        if each.pod.namespace == pod.metadata.namespace
        and uid != pod.metadata.uid
        and (each.pod.name == pod.metadata.name or each.pod.name.startswith(f"{maker.name}-"))
        and timedelta(0) <= made - time <= _REPLACED
    ]
    last = max(found, key=lambda each: each.time, default=None)
    return _with_gainer(last, state.inventory) if last is not None and last.preempted else last


def _with_gainer(found: Descheduled, inventory: Inventory) -> Descheduled:
    """With the pod for which it had to go, whose uid is all that the event has of it."""
    gainer = inventory.pods_by_uid.get(found.strategy)
    if gainer is None:
        return replace(found, strategy="")
    ref = ObjectRef.of("Pod", key_of(gainer.metadata))
    return replace(found, strategy="", for_pod=ref, priority=gainer.spec.priority or 0)


@derived("events")
def _evictions(state: ClusterState) -> Sequence[tuple[str, datetime, Descheduled]]:
    """All of them, with the uid of the pod that went."""
    found = []
    for (kind, namespace, name), about in state.inventory.events_by_object.items():
        for each in about if kind == "Pod" else ():
            text, last = events.text(each), events.last_seen(each)
            preempted = _PREEMPTED.fullmatch(text)
            match = preempted or _EVICTED.fullmatch(text)
            time = parse_time(last) if match is not None else None
            if match is not None and time is not None:
                strategy = preempted["uid"] if preempted is not None else each.reason
                ref = ObjectRef("Pod", namespace, name)
                said = Descheduled(ref, match["node"], strategy, last, preempted is not None)
                found.append((events.subject_uid(each), time, said))
    return found
