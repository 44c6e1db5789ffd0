"""Work that waits in a queue and has no pods yet, so that no pod tells of it: of Kueue and of Volcano.

Kueue suspends the work until it is admitted; Volcano's admission webhook makes its controller create the pods of a Job
only when its group has left the queue (phase Inqueue; upstream: pkg/controllers/job, and pkg/webhooks/admission/pods).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.elsewhere import VOLCANO, volcano_gangs
from kubectl_dra.diagnosis.gates.queues import HeldBy, Queued, queued
from kubectl_dra.diagnosis.pod.workloads import without_pods
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.gang_objects import VOLCANO as OF_VOLCANO
from kubectl_dra.model.gang_objects import OtherGroup
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.queues import QueuedWorkload
from kubectl_dra.scheduler.extended import ClassMap, served_resources
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX

#: What is over, or starts elsewhere.
_STARTED: Final = (HeldBy.ADMITTED, HeldBy.OTHER_CLUSTER)
_DEFAULT_QUEUE: Final = "default"


class WaitingWork(msgspec.Struct, frozen=True):
    """``work``: what makes the pods, or the object of the queue's program where that is not known."""

    work: ObjectRef
    waits: Queued


def waiting_work(state: ClusterState, namespace: str) -> tuple[WaitingWork, ...]:
    """The work of a namespace (empty: of all), by its name; of what certainly requests no devices nothing."""
    found = [*_of_kueue(state, namespace), *_of_volcano(state, namespace)]
    return tuple(sorted(found, key=lambda each: (each.work.namespace, each.work.name, each.work.kind)))


def _of_kueue(state: ClusterState, namespace: str) -> Iterator[WaitingWork]:
    served, by_kind = served_resources(state), defaultdict[str, dict[Key, str]](dict)
    for key, work in state.inventory.queues.workloads.items():
        if namespace in ("", key.namespace) and not _is_over(work) and _may_want_devices(work, served):
            owner = _maker(work.metadata, "Workload", key)
            by_kind[owner.kind].setdefault(owner.key, work.spec.queue_name)
    for kind, queues in by_kind.items():
        if kind == "Pod":
            continue
        for key in without_pods(state.inventory, kind, queues):
            waits = queued(state, queues[key], key.namespace, (kind, key.name))
            if waits.held_by not in _STARTED:
                yield WaitingWork(ObjectRef.of(kind, key), waits)


def _is_over(work: QueuedWorkload) -> bool:
    return any(each.type in ("Finished", "Admitted") and each.status == "True" for each in work.status.conditions)


def _may_want_devices(work: QueuedWorkload, served: ClassMap) -> bool:
    """Whether its pods name claims, or resources that a class serves; of pods that are not written it may be."""
    sets = [each.template.spec for each in work.spec.pod_sets]
    if not sets or any(not each.containers for each in sets):
        return True
    names = (name for each in sets for container in each.containers for name in container.resources.requests)
    return any(each.resource_claims for each in sets) or any(
        name in served or name.startswith(DEVICE_CLASS_PREFIX) for name in names
    )


def _of_volcano(state: ClusterState, namespace: str) -> Iterator[WaitingWork]:
    for (system, key), group in state.inventory.gangs.groups.items():
        waits = system == OF_VOLCANO and group.status.phase in ("", "Pending") and namespace in ("", key.namespace)
        # Last, as it takes a look at all pods.
        if waits and key not in volcano_gangs(state):
            queue = group.spec.queue or _DEFAULT_QUEUE
            yield WaitingWork(_maker(group.metadata, "PodGroup", key), Queued(queue, message=_words(group)))


def _words(group: OtherGroup) -> str:
    said: Iterable[str] = (each.message for each in reversed(group.status.conditions) if each.status == "True")
    phase = group.status.phase or "not written yet"
    return next(filter(None, said), f"{VOLCANO.name} has not taken its PodGroup out of the queue (phase {phase})")


def _maker(meta: ObjectMeta, kind: str, key: Key) -> ObjectRef:
    owner = meta.controller or next(iter(meta.owner_references), None)
    return ObjectRef(owner.kind, key.namespace, owner.name) if owner is not None else ObjectRef.of(kind, key)
