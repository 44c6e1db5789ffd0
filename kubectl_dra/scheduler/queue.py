"""What keeps a pod out of the scheduling queue: no attempt is made, and but for scheduling gates nothing is written.

Upstream: PreEnqueue of the plugins schedulinggates, dynamicresources and gangscheduling; the queue's own choice of
pods. Whether the members of a PodGroup that exists wait for each other is decided with the group (``gangs/``).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, unknown, unresolvable

SCHEDULING_GATES = "SchedulingGates"


def gates(snapshot: Snapshot, pod: Pod) -> Iterator[Status]:
    """Every plugin that keeps the pod out; which of them is asked first is chance."""
    if pod.spec.scheduling_gates:
        names = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        yield unresolvable(f"waiting for scheduling gates: [{names}]").of(SCHEDULING_GATES)
    entries = resolve(snapshot.inventory, snapshot.evidence, snapshot.features, pod)
    broken = next((entry for entry in entries if entry.problem is not None), None)
    if broken is not None:
        status = unresolvable(broken.text, detail=broken) if broken.text else unknown("ResourceClaim")
        yield status.of("DynamicResources")
    if (missing := _missing_group(snapshot, pod)) is not None:
        yield missing.of("GangScheduling")


def _missing_group(snapshot: Snapshot, pod: Pod) -> Status | None:
    """What a pod waits for that names a PodGroup which does not exist."""
    own = pod.spec.scheduling_group
    if own is None or not own.pod_group_name or not snapshot.features.generic_workload:
        return None
    name, namespace = own.pod_group_name, pod.metadata.namespace
    if Key(namespace, name) in snapshot.inventory.groups.pod_groups:
        return None
    if not snapshot.evidence.complete("PodGroup", namespace):
        return unknown("PodGroup")
    return unresolvable(f'waiting for pods\'s pod group "{name}" to appear in scheduling queue')
