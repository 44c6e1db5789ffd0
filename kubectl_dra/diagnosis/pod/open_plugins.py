"""What the diagnosis of a pod takes for granted, and what the pod asks of plugins beside the default profile.

What the configuration of a scheduler adds (plugins and extenders of its own) can't be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import FIRST_MINOR, group_of
from kubectl_dra.diagnosis.gangs.elsewhere import coscheduling_label
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.records import Assumption, AssumptionKind, NodeGroup, NodeOutcome, Observed, OpenPlugin
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.scheduler.binding import readiness
from kubectl_dra.scheduler.claims import claims_of
from kubectl_dra.scheduler.extended import clashing_resources
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.reasons import COSCHEDULING, plugin_of

GANGS = OpenPlugin("GangScheduling", ("spec.schedulingGroup",))
GANGS_OF_WORKLOADS = OpenPlugin("GangScheduling", ("spec.workloadRef",))
COMPOSITE = OpenPlugin("GangScheduling", ("PodGroup spec.parentCompositePodGroupName",))


def open_plugins(state: ClusterState, pod: Pod, seen: Observed | None = None) -> tuple[OpenPlugin, ...]:
    """The plugins that decide about something in the pod, with the fields that they look at.

    Coscheduling often runs in the default scheduler, under whose name nothing shows it but the label of a pod's gang;
    ``seen``: what the scheduler wrote, which may be that plugin's answer.
    """
    label = coscheduling_label(pod) if not _is_of_coscheduling(seen) else ""
    beside = (OpenPlugin(COSCHEDULING, (f"label {label}",)),) if label else ()
    return (*open_groups(state, pod), *beside)


def _is_of_coscheduling(seen: Observed | None) -> bool:
    said = parse_fit_error(seen.message) if seen is not None else None
    return said is not None and any(plugin_of(text) == COSCHEDULING for text in (*said.reasons, said.pre_filter))


def open_groups(state: ClusterState, pod: Pod) -> tuple[OpenPlugin, ...]:
    """GangScheduling, where the pod's group is not simulated.

    Groups are simulated as Kubernetes 1.37 places them; where that feature is off they mean nothing.
    """
    if pod.spec.scheduling_group is None:
        return ()
    if state.features.minor < FIRST_MINOR:
        return (GANGS,)
    group = group_of(state, pod)
    nested = group is not None and group.spec.parent_composite_pod_group_name is not None
    return (COMPOSITE,) if nested and state.features.composite_pod_groups else ()


def left_open(group: NodeGroup, plugins: Sequence[OpenPlugin]) -> NodeGroup:
    """The group with what was not checked there; what is rejected already stays so."""
    if not plugins or group.outcome is NodeOutcome.REJECTED:
        return group
    names = (*group.not_checked, *(each.plugin for each in plugins))
    return msgspec.structs.replace(group, not_checked=tuple(dict.fromkeys(names)))


def assumptions(state: ClusterState, pod: Pod, *, in_order: bool) -> Iterator[Assumption]:
    """What does not depend on the verdict. ``in_order``: but that the order of the search plays a part in it."""
    if state.evidence.server_version is None:
        yield Assumption(AssumptionKind.FEATURES, f"1.{state.features.minor}")
    if in_order and not state.features.deterministic:
        yield Assumption(AssumptionKind.SEARCH_ORDER, f"1.{state.features.minor}")
    for need in needs.POD:
        if need.decides and state.evidence.coverage(need.kind) is Coverage.ASSUMED:
            yield Assumption(AssumptionKind.NONE_OF_KIND, need.kind)
    waits = any(readiness(claim).waiting for claim in claims_of(pod, state.inventory))
    if waits and state.observed_at is None:
        yield Assumption(AssumptionKind.CLOCK)
    for name in clashing_resources(state):
        if any(name in container.resources.requests for container in pod.spec.containers):
            yield Assumption(AssumptionKind.EXTENDED_RESOURCE_CLASH, name)
    if pod.spec.scheduling_group is not None and open_groups(state, pod):
        yield Assumption(AssumptionKind.POD_GROUP, pod.spec.scheduling_group.pod_group_name)
    if state.features.node_allocatable_resources:
        yield Assumption(AssumptionKind.NODE_ALLOCATABLE)
