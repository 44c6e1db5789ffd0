"""What keeps a pod out of the scheduling queue: no attempt is made, and but for scheduling gates nothing is written.

Upstream: PreEnqueue of the plugins schedulinggates and dynamicresources; the queue's own choice of pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.cluster.state import DEFAULT_SCHEDULER
from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.scheduler.status import Status, unknown, unresolvable

SCHEDULING_GATES = "SchedulingGates"


def ignored(snapshot: Snapshot, pod: Pod) -> bool:
    """Whether the pod is another scheduler's, or is being deleted."""
    ours = (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in snapshot.profiles
    return not ours or pod.metadata.deletion_timestamp is not None


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
