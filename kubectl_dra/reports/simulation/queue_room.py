"""Work of the files that waits in a queue of Kueue: what is certain of the queue, and of its quota."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.planned import Planned, PodPlan
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.flavor_choice import FlavorChoice, PlannedSet, Used, choice, devices_by_class
from kubectl_dra.diagnosis.gates.queue_room import Admits, QueueRoom, Room, queue_room
from kubectl_dra.diagnosis.gates.queues import HeldBy, Queued, queue_of, queued
from kubectl_dra.model.ids import Key
from kubectl_dra.model.queues import NO_QUEUES, ClusterQueue, QueueConfig
from kubectl_dra.model.requests import pod_requests
from kubectl_dra.model.resource import ResourceClaimTemplate

#: Kueue admits each of their pods by itself (upstream: pkg/controller/jobs/deployment).
_ONE_BY_ONE: Final = frozenset({"Deployment"})
#: Kueue admits each of their groups by itself (upstream: pkg/controller/jobs/leaderworkerset).
_IN_GROUPS: Final = "LeaderWorkerSet"
#: Of a batch Job, the number of pods with which Kueue may start it (upstream: pkg/controller/jobs/job, minPodsCount).
LEAST: Final = "kueue.x-k8s.io/job-min-parallelism"
_HELD: Final[Mapping[Room, HeldBy]] = {
    Room.NEVER: HeldBy.QUOTA_TOO_SMALL,
    Room.SOME: HeldBy.QUOTA,
    Room.LATER: HeldBy.QUOTA,
}

Templates = Mapping[Key, ResourceClaimTemplate]


def waits_and_room(
    state: ClusterState, planned: Planned, templates: Templates
) -> tuple[Queued | None, QueueRoom | None]:
    """What is known of the queue, and whether its quota has room; nothing where nothing is known of queues."""
    queues = state.inventory.queues
    if queues is NO_QUEUES or not (planned.queue and planned.pods):
        return None, None
    namespace = planned.key.namespace or next((plan.pod.metadata.namespace for plan in planned.pods), "")
    there = queued(state, planned.queue, namespace, (planned.kind, planned.name))
    if there.held_by is HeldBy.ADMITTED:
        return there, None
    found = queue_of(state, planned.queue, namespace)
    # Of work that does not exist nobody has made anything.
    found = msgspec.structs.replace(found, unread=tuple(kind for kind in found.unread if kind != "Workload"))
    cluster = queues.cluster_queues.get(found.cluster_queue)
    if cluster is None or not found.quota or found.held_by is not HeldBy.UNKNOWN:
        return found, None
    sets, units = _sets(planned, templates, queues.config)
    config = queues.config
    undeclared = Room.NOW if config.only_declared else Room.NEVER if config.known else Room.UNKNOWN
    room = queue_room(queues, cluster, sets, units, undeclared=undeclared)
    if changed := sorted(config.transformed & {name for each in sets for name in each.requests}):
        room = QueueRoom(Room.UNKNOWN, changed[0])
    uncounted = _all_uncounted(planned, templates, config)
    held = _HELD.get(room.room, found.held_by)
    return msgspec.structs.replace(found, held_by=held, uncounted=uncounted), room


def with_templates(state: ClusterState, objects: Iterable[Planned]) -> Templates:
    """The templates of the cluster and of the files."""
    made = {each.key: each.record for each in objects if isinstance(each.record, ResourceClaimTemplate)}
    return {**state.inventory.templates, **made}


def chosen(
    state: ClusterState, planned: Planned, templates: Templates, cluster: ClusterQueue, before: Used | None
) -> FlavorChoice | None:
    """With which flavors, and how many of its pods, Kueue starts it now; None where it does not, or that is not known.

    ``before``: what other work of the files takes first.
    """
    config, queues = state.inventory.queues.config, state.inventory.queues
    sets, units = _sets(planned, templates, config)
    requested = {name for each in sets for name in each.requests}
    if _all_uncounted(planned, templates, config) or config.transformed & requested:
        return None
    return choice(queues, cluster, sets, units, before)


def admits(planned: Planned, waits: Queued | None, room: QueueRoom | None, config: QueueConfig) -> Admits:
    """Whether Kueue starts it as things are; Yes of what waits in no queue."""
    held = waits.held_by if waits is not None else HeldBy.UNKNOWN
    if not (planned.queue and planned.pods) or held is HeldBy.ADMITTED:
        return Admits.YES
    if held is HeldBy.NO_KUEUE:
        return Admits.NO if planned.suspended else Admits.YES
    if held in (HeldBy.NO_QUEUE, HeldBy.STOPPED, HeldBy.COHORT_CIRCLE):
        return Admits.NO
    open_ = Admits.UNKNOWN if config.known else Admits.UNREAD
    if waits is None or room is None:
        return Admits.UNREAD
    if room.room is Room.UNKNOWN or (room.room is Room.NOW and waits.uncounted):
        return open_
    if room.room is Room.NOW:
        return Admits.YES
    return Admits.UNKNOWN if room.may_evict and room.room is Room.LATER else Admits.NO


def _set(planned: Planned, plan: PodPlan, templates: Templates, config: QueueConfig) -> PlannedSet:
    requests, devices = Counter[str](pod_requests(plan.pod)), dict[str, dict[str, int]]()
    counts, _ = devices_by_class(plan.pod, templates)
    for name, number in counts.items():
        resource = config.device_resources.get(name)
        if resource is not None and name not in config.metered:
            requests[resource] += number
            devices.setdefault(resource, {})[name] = number
    counted = {name: number for name, number in requests.items() if not name.startswith(config.excluded)}
    copies = 1 if plan.copies is None else plan.copies
    least = _least(planned) if planned.kind == "Job" else None
    return PlannedSet(
        plan.role, copies, counted, plan.pod, devices, copies if least is None else least, plan.counted_by.scale
    )


def _all_uncounted(planned: Planned, templates: Templates, config: QueueConfig) -> tuple[str, ...]:
    return tuple(sorted({name for plan in planned.pods for name in _uncounted(plan, templates, config)}))


def _uncounted(plan: PodPlan, templates: Templates, config: QueueConfig) -> Iterator[str]:
    """The classes whose devices were compared with no quota, because how Kueue counts them is not known."""
    counts, unclear = devices_by_class(plan.pod, templates)
    yield from unclear
    yield from (name for name in counts if name not in config.device_resources or name in config.metered)


def _least(planned: Planned) -> int | None:
    """Below its number of pods, how few Kueue may start; None where it says nothing of that."""
    text = planned.annotations.get(LEAST, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _sets(planned: Planned, templates: Templates, config: QueueConfig) -> tuple[list[PlannedSet], int]:
    return _units(planned, [_set(planned, plan, templates, config) for plan in planned.pods])


def _units(planned: Planned, sets: Sequence[PlannedSet]) -> tuple[list[PlannedSet], int]:
    """What Kueue admits at once, and how often."""
    if planned.kind in _ONE_BY_ONE and len(sets) == 1:
        return [_with(sets[0], 1)], sets[0].copies
    if planned.kind == _IN_GROUPS and planned.group and planned.group[0]:
        units = sets[0].copies // planned.group[0]
        return [_with(each, number) for each, number in zip(sets, planned.group, strict=True)], units
    return list(sets), 1


def _with(pods: PlannedSet, copies: int) -> PlannedSet:
    return PlannedSet(pods.name, copies, pods.requests, pods.pod, pods.devices, copies)
