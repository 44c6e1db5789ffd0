"""Which Workload explains a PodGroup, or one that is not there. The scheduler reads no Workload; people do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.records import GroupTemplate, TemplateState
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.model.scheduling import ControllerReference, PodGroup

WORKLOAD: Final = "Workload"


def template_of(state: ClusterState, group: PodGroup) -> GroupTemplate | None:
    """The template that a group was made from, and whether it says the same as the group; None if it names none."""
    reference = group.spec.workload_ref
    if reference is None:
        return None
    name, namespace = reference.template_name, group.metadata.namespace
    workload = state.inventory.groups.workloads.get(Key(namespace, reference.workload_name))
    if workload is None:
        # A plain file without any Workload does not say that there is none.
        read = state.evidence.coverage(WORKLOAD, namespace) is Coverage.COMPLETE
        return GroupTemplate(name, TemplateState.NO_WORKLOAD if read else TemplateState.NOT_READ)
    found = next((each for each in workload.spec.pod_group_templates if each.name == name), None)
    if found is None:
        return GroupTemplate(name, TemplateState.NO_TEMPLATE)
    wanted, own = found.scheduling_policy.gang, group.spec.scheduling_policy.gang
    # Of what it copies, minCount alone can be changed in a group.
    alike = (wanted.min_count if wanted else None) == (own.min_count if own else None)
    return GroupTemplate(
        name, TemplateState.SAME if alike else TemplateState.DIFFERS, wanted.min_count if wanted else None
    )


def workloads_for(state: ClusterState, pod: Pod) -> tuple[str, ...]:
    """The Workloads of the pod's controller, which makes its groups; by name."""
    return tuple(sorted(_workloads_for(state, pod)))


def _workloads_for(state: ClusterState, pod: Pod) -> Iterator[str]:
    owner = pod.metadata.controller
    if owner is None:
        return
    wanted = ControllerReference(owner.api_version.rpartition("/")[0], owner.kind, owner.name)
    for workload in state.inventory.groups.workloads.values():
        if workload.metadata.namespace == pod.metadata.namespace and workload.spec.controller_ref == wanted:
            yield workload.metadata.name
