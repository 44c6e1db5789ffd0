"""Pods that the descheduler has evicted, and what is made in their place and waits.

Upstream: sigs.k8s.io/descheduler, pkg/descheduler/evictions (EvictPod): an event of type Normal about the pod that
goes, whose reason is the strategy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said import events
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.base import ReportRecord

_EVICTED: Final = re.compile(r"pod evicted from (?P<node>\S+) node by sigs\.k8s\.io/descheduler")
#: Controllers replace a pod at once, or when it has ended.
_REPLACED: Final = timedelta(minutes=10)


class Descheduled(ReportRecord, frozen=True):
    """``pod``, in whose place another one was made, was evicted from ``node`` by a ``strategy``."""

    pod: ObjectRef
    node: str
    strategy: str
    time: str


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
    return max(found, key=lambda each: each.time, default=None)


@derived("events")
def _evictions(state: ClusterState) -> Sequence[tuple[str, datetime, Descheduled]]:
    """All of them, with the uid of the pod that went."""
    found = []
    for (kind, namespace, name), about in state.inventory.events_by_object.items():
        for each in about if kind == "Pod" else ():
            match, last = _EVICTED.fullmatch(events.text(each)), events.last_seen(each)
            time = parse_time(last) if match is not None else None
            if match is not None and time is not None:
                said = Descheduled(ObjectRef("Pod", namespace, name), match["node"], each.reason, last)
                found.append((events.subject_uid(each), time, said))
    return found
