"""What the diagnosis of a pod takes for granted, because the API does not tell it."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.open_plugins import open_groups
from kubectl_dra.diagnosis.records import Assumption, AssumptionKind
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.scheduler.binding import readiness
from kubectl_dra.scheduler.claims import claims_of
from kubectl_dra.scheduler.extended import clashing_resources


def assumptions(world: ClusterState, pod: Pod, *, in_order: bool) -> Iterator[Assumption]:
    """What does not depend on the verdict. ``in_order``: but that the order of the search plays a part in it."""
    if world.evidence.server_version is None:
        yield Assumption(AssumptionKind.FEATURES, f"1.{world.features.minor}")
    if in_order and not world.features.deterministic:
        yield Assumption(AssumptionKind.SEARCH_ORDER, f"1.{world.features.minor}")
    for need in needs.POD:
        if need.decides and world.evidence.coverage(need.kind) is Coverage.ASSUMED:
            yield Assumption(AssumptionKind.NONE_OF_KIND, need.kind)
    waits = any(readiness(claim).waiting for claim in claims_of(pod, world.inventory))
    if waits and world.observed_at is None:
        yield Assumption(AssumptionKind.CLOCK)
    for name in clashing_resources(world):
        if any(name in container.resources.requests for container in pod.spec.containers):
            yield Assumption(AssumptionKind.EXTENDED_RESOURCE_CLASH, name)
    if pod.spec.scheduling_group is not None and open_groups(world, pod):
        yield Assumption(AssumptionKind.POD_GROUP, pod.spec.scheduling_group.pod_group_name)
    if world.features.node_allocatable_resources:
        yield Assumption(AssumptionKind.NODE_ALLOCATABLE)
