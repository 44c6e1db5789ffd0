"""get podgroups: one line per PodGroup, with its pods and what the scheduler says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.gangs.cycles import group_key
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.scheduling import INITIALLY_SCHEDULED, PodGroup
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord


class GroupRow(ReportRecord, frozen=True):
    """One group. ``min_count`` is None for a group that is no gang; ``state`` is what the scheduler wrote last.

    ``pods`` are those that are not finished, None where pods could not be read; ``running`` of them have a node.
    """

    namespace: str
    name: str
    min_count: int | None
    pods: int | None
    running: int | None
    state: str
    message: str
    topology_key: str
    claims: tuple[str, ...]
    priority: int
    workload: ObjectRef | None
    created: str | None


def group_rows(groups: Iterable[PodGroup], facts: ClusterState) -> tuple[GroupRow, ...]:
    """One row per group, by namespace and name."""
    rows = (_row(group, facts) for group in groups)
    return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))


@derived("pods")
def _counts(state: ClusterState) -> tuple[Counter[Key], Counter[Key]]:
    """How many pods each group has that are not finished, and how many of these have a node."""
    everyone, running = Counter[Key](), Counter[Key]()
    for pod in state.inventory.pods.values():
        key = group_key(pod)
        if key is not None and not is_terminal(pod):
            everyone[key] += 1
            running[key] += bool(pod.spec.node_name)
    return everyone, running


def _row(group: PodGroup, facts: ClusterState) -> GroupRow:
    key, spec = key_of(group.metadata), group.spec
    everyone, running = _counts(facts)
    known = facts.evidence.complete("Pod", key.namespace)
    condition = next((each for each in group.status.conditions if each.type == INITIALLY_SCHEDULED), None)
    made = {status.name: status.resource_claim_name for status in group.status.resource_claim_statuses}
    names = (entry.resource_claim_name or made.get(entry.name) for entry in spec.resource_claims)
    gang, workload = spec.scheduling_policy.gang, spec.workload_ref
    return GroupRow(
        key.namespace,
        key.name,
        gang.min_count if gang is not None else None,
        everyone[key] if known else None,
        running[key] if known else None,
        condition.reason if condition is not None else "",
        condition.message if condition is not None else "",
        group.topology_key or "",
        tuple(name for name in names if name),
        spec.priority or 0,
        ObjectRef("Workload", key.namespace, workload.workload_name) if workload is not None else None,
        group.metadata.creation_timestamp,
    )
