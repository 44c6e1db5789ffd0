"""What a pod asks of plugins that are not in the default profile, or decide about several pods at once.

What the configuration of a scheduler adds (plugins and extenders of its own) can't be read.
"""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import FIRST_MINOR, group_of
from kubectl_dra.diagnosis.records import OpenPlugin
from kubectl_dra.model.core import Pod

GANGS = OpenPlugin("GangScheduling", ("spec.schedulingGroup",))
COMPOSITE = OpenPlugin("GangScheduling", ("PodGroup spec.parentCompositePodGroupName",))


def open_plugins(state: ClusterState, pod: Pod) -> tuple[OpenPlugin, ...]:
    """The plugins that decide about something in the pod's spec, with the fields that they look at.

    Groups are simulated as Kubernetes 1.37 places them; where that feature is off they mean nothing.
    """
    if pod.spec.scheduling_group is None:
        return ()
    if state.features.minor < FIRST_MINOR:
        return (GANGS,)
    group = group_of(state, pod)
    nested = group is not None and group.spec.parent_composite_pod_group_name is not None
    return (COMPOSITE,) if nested and state.features.composite_pod_groups else ()
