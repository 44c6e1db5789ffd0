"""What Kueue adds to the pods of work in a queue when it starts it: node labels and tolerations of its flavors.

Upstream: Kueue's pkg/scheduler/flavorassigner gives work one flavor of each resource group that covers what it
requests; pkg/podset (FromAssignment, Merge) writes them into the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.flavor_choice import Used
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.queues import FLAVOR, ClusterQueue, FlavorSpec, QueueObjects, ResourceGroup
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.simulation.queue_room import Templates, chosen, with_templates

#: Kueue counts pods as well, where a group covers them.
_PODS = "pods"


def with_flavors(state: ClusterState, objects: Iterable[Planned]) -> list[Planned]:
    """The objects with the pods of those that wait in a queue as Kueue starts them."""
    objects, used = list(objects), dict[str, Used]()
    templates = with_templates(state, objects)
    return [_with_flavors(state, each, templates, used) if each.queue and each.pods else each for each in objects]


def _with_flavors(state: ClusterState, planned: Planned, templates: Templates, used: dict[str, Used]) -> Planned:
    """``used``: what those before it take of each ClusterQueue."""
    queues = state.inventory.queues
    namespace = planned.key.namespace or next((plan.pod.metadata.namespace for plan in planned.pods), "")
    local = queues.local_queues.get(Key(namespace, planned.queue))
    cluster = queues.cluster_queues.get(local.spec.cluster_queue) if local is not None else None
    if cluster is None:
        return planned
    found = chosen(state, planned, templates, cluster, used.get(cluster.metadata.name))
    if found is None:
        return replace(planned, pods=tuple(_started(queues, cluster, plan, None) for plan in planned.pods))
    used[cluster.metadata.name] = used.get(cluster.metadata.name, Used()) + found.used
    pods = []
    for plan, copies, flavors in zip(planned.pods, found.copies, found.flavors, strict=True):
        # Kueue sets the number of pods of work that may start with fewer.
        fewer = plan.copies is not None and found.reduced
        pods.append(_started(queues, cluster, replace(plan, copies=copies) if fewer else plan, flavors))
    return replace(planned, pods=tuple(pods))


def _started(queues: QueueObjects, cluster: ClusterQueue, plan: PodPlan, chosen_: Mapping[int, str] | None) -> PodPlan:
    """With the flavor that is chosen of each group, or its only one; else, and of one unread, it is open what is added.

    Of a group that covers what the pods may not request it is open whether it plays a part.
    """
    pod, given, left = plan.pod, list[str](), list[str]()
    for position, group in enumerate(cluster.spec.resource_groups):
        names = [each.name for each in group.flavors]
        covers = _covers(group, pod)
        if chosen_ is not None:
            names = [chosen_[position]] if position in chosen_ else []
            covers = bool(names)
        if covers is False or not any(_says(queues, name) for name in names):
            continue
        known = queues.flavors.get(names[0]) if len(names) == 1 else None
        if known is None or covers is None or _conflicts(pod, known.spec):
            left += names
            continue
        given += names
        tolerations = tuple(each for each in known.spec.tolerations if each not in pod.spec.tolerations)
        pod = with_spec(
            pod,
            node_selector={**pod.spec.node_selector, **known.spec.node_labels},
            tolerations=(*pod.spec.tolerations, *tolerations),
        )
    return replace(plan, pod=pod, flavors=tuple(given), flavor_open=tuple(dict.fromkeys(left)))


def _covers(group: ResourceGroup, pod: Pod) -> bool | None:
    """Whether the group covers anything that a pod requests; None: perhaps its devices."""
    covered = set(group.covered_resources) or {each.name for flavor in group.flavors for each in flavor.resources}
    if covered & {_PODS, *pod_requests(pod)}:
        return True
    return None if pod.spec.resource_claims else False


def _says(queues: QueueObjects, name: str) -> bool:
    """Whether a flavor adds anything to pods, or may."""
    known = queues.flavors.get(name)
    if known is None:
        return FLAVOR not in queues.complete
    return bool(known.spec.node_labels or known.spec.tolerations)


def _conflicts(pod: Pod, flavor: FlavorSpec) -> bool:
    """Whether Kueue would not put the pod on the flavor, as the pod wants another value of a label."""
    own = pod.spec.node_selector
    return any(own.get(key, value) != value for key, value in flavor.node_labels.items())


def without_flavor_edits(
    state: ClusterState, plan: PodPlan, ways: tuple[RemedyReport, ...]
) -> tuple[RemedyReport, ...]:
    """Ways out but for those that drop from the pod what Kueue adds: it would add it again."""
    flavors = state.inventory.queues.flavors
    added = {f"nodeSelector[{key}]" for name in plan.flavors for key in flavors[name].spec.node_labels}
    return tuple(way for way in ways if not any(isinstance(a, EditPod) and a.field in added for a in way.actions))


def open_flavors(plan: PodPlan) -> Iterator[str]:
    """The flavors of which Kueue chooses."""
    yield from (f"{FLAVOR} {name}" for name in plan.flavor_open)
