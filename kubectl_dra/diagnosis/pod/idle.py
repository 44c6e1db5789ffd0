"""Workloads that have no pods to diagnose: held back, in a queue, or scaled to none; would a pod of them fit?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.gates.queues import HeldBy, Queued, queued
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.records import ObjectRef, PodDiagnosis
from kubectl_dra.model.core import Pod, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.makers import Maker, managed_elsewhere
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.names import DEFAULT_SCHEDULER
from kubectl_dra.model.queues import QUEUE_LABEL
from kubectl_dra.model.workloads import WorkloadObject

_SUSPEND: Final = "spec.suspend"
_FAILED: Final = "Failed"
_ENDS: Final = (_FAILED, "Complete")
#: All pods are tried while that takes no more than this: pods times nodes.
_EFFORT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Idle:
    """``maker``: what holds the pods back, or why there are to be none.

    ``nodes``: where one pod of each template would go now, each as if it were alone, by what its object calls it;
    ``failed`` what keeps the first that goes nowhere (placed in ``state``), which is called ``role``. ``waits``: what
    Kueue says. ``owner``: the controller that holds a part of it. ``like``: what was tried instead, whose pods differ
    in their names only; ``failed`` is about that one. ``all_pods``: what comes of all at once, None where that was not
    tried. ``ended``: the condition by which a Job makes no more.
    """

    maker: Maker = field(default_factory=Maker)
    nodes: Mapping[str, str] = field(default_factory=dict)
    role: str = ""
    failed: PodDiagnosis | None = None
    state: ClusterState | None = None
    waits: Queued | None = None
    owner: ObjectRef | None = None
    like: ObjectRef | None = None
    all_pods: AllPods | None = None
    ended: Condition | None = None


class AllPods(msgspec.Struct, frozen=True):
    """All pods that work makes at the same time: of those called ``role``, the first that lack some, ``copies`` fit.

    ``wanted`` of these are to run; ``failed`` is about the next one, placed in ``state``. All fit: no ``failed``.
    """

    role: str
    copies: int
    wanted: int
    failed: PodDiagnosis | None = None
    state: ClusterState | None = None


def held(state: ClusterState, kind: str, key: Key) -> Maker | None:
    """What holds back the pods of a workload, or makes it have none; None where nothing does."""
    found = _made(state, kind, key)
    return found if found is not None and (found.suspended_by or found.scaled or found.managed_by) else None


def idle(state: ClusterState, kind: str, key: Key) -> Idle | None:
    """Why a workload has no pods, or makes no more; None where nothing holds them back."""
    ended = _end_of(state, kind, key)
    found = _made(state, kind, key) if ended is not None else held(state, kind, key)
    if found is None:
        return None
    if ended is not None:
        base = Idle(found, owner=_owner(state, kind, key), ended=ended)
        return _tried_once(state, base, ObjectRef.of(kind, key)) if ended.type == _FAILED else base
    in_queue = bool(found.queue and (found.suspended_by or found.managed_by))
    waits = queued(state, found.queue, key.namespace, (kind, key.name)) if in_queue else None
    base = Idle(found, waits=waits, owner=_owner(state, kind, key))
    elsewhere = found.managed_by or (waits is not None and waits.held_by in (HeldBy.OTHER_CLUSTER, HeldBy.OFFERED))
    return base if found.scaled or elsewhere else _tried_once(state, base, ObjectRef.of(kind, key))


def _end_of(state: ClusterState, kind: str, key: Key) -> Condition | None:
    """Upstream: pkg/controller/job/util/utils.go, FinishedCondition."""
    job = state.inventory.workloads.get((kind, key.namespace, key.name)) if kind == "Job" else None
    conditions = job.status.conditions if isinstance(job, WorkloadObject) else ()
    return next((each for each in conditions if each.type in _ENDS and each.status == "True"), None)


def naming(state: ClusterState, claim: Key) -> tuple[tuple[ObjectRef, Maker], ...]:
    """Workloads whose pods name a claim, and which have none as somebody holds them back."""
    return tuple(_naming(state).get(claim, ()))


@derived()
def _naming(state: ClusterState) -> Mapping[Key, list[tuple[ObjectRef, Maker]]]:
    found: dict[Key, list[tuple[ObjectRef, Maker]]] = {}
    for kind, namespace, workload in sorted({*state.inventory.workloads, *state.inventory.makers}):
        key = Key(namespace, workload)
        maker = held(state, kind, key)
        if maker is None or _owner(state, kind, key) is not None:
            continue
        entries = (entry for _, pod in maker.pods for entry in pod.spec.resource_claims)
        for name in dict.fromkeys(entry.resource_claim_name for entry in entries if entry.resource_claim_name):
            found.setdefault(Key(namespace, name), []).append((ObjectRef.of(kind, key), maker))
    return found


def _made(state: ClusterState, kind: str, key: Key) -> Maker | None:
    """What a workload says of its pods."""
    known = state.inventory.makers.get((kind, key.namespace, key.name))
    if known is not None:
        return known
    workload = state.inventory.workloads.get((kind, key.namespace, key.name))
    if not isinstance(workload, WorkloadObject):
        return None
    made = workload.template_of(kind, Pod())
    template = made[1] if made is not None else None
    pods = (("", Pod(ObjectMeta(labels=template.metadata.labels), template.spec)),) if template is not None else ()
    return Maker(
        suspended_by=_SUSPEND if workload.spec.suspend is True else "",
        queue=workload.metadata.labels.get(QUEUE_LABEL, ""),
        pods=pods,
        copies=_at_once(workload) if pods else (),
        scaled=workload.spec.replicas == 0,
        labels=workload.metadata.labels,
        managed_by=managed_elsewhere(workload.spec.managed_by),
    )


def _at_once(job: WorkloadObject) -> tuple[int, ...]:
    """How many pods a Job runs at the same time. Upstream: pkg/controller/job, manageJob."""
    spec = job.spec
    if spec.parallelism is None:
        return ()
    left = None if spec.completions is None else max(spec.completions - job.status.succeeded, 0)
    return (spec.parallelism if left is None else min(spec.parallelism, left),)


def _owner(state: ClusterState, kind: str, key: Key) -> ObjectRef | None:
    """What a part of another workload belongs to: that is resumed, not the part."""
    workload = state.inventory.workloads.get((kind, key.namespace, key.name))
    reference = workload.metadata.controller if workload is not None else None
    return ObjectRef(reference.kind, key.namespace, reference.name) if reference is not None else None


@derived()
def _known(state: ClusterState) -> dict[Hashable, tuple[ObjectRef, Idle]]:
    """What was tried already: hundreds of workloads are held back that differ in their names only."""
    return {}


def _tried_once(state: ClusterState, base: Idle, workload: ObjectRef) -> Idle:
    parts = [(role, encode_part((pod.metadata.labels, pod.spec))) for role, pod in base.maker.pods]
    known, alike = _known(state), (workload.namespace, tuple(parts), base.maker.copies)
    if alike not in known:
        known[alike] = workload, _tried(state, base, workload.key)
    like, found = known[alike]
    if like == workload:
        return replace(found, waits=base.waits, ended=base.ended)
    tried = {name: getattr(found, name) for name in ("nodes", "role", "failed", "state", "all_pods")}
    return replace(base, **tried, like=like)


def _tried(state: ClusterState, base: Idle, key: Key) -> Idle:
    """With one pod of each template tried, until one does not fit; then with all of them at once."""
    nodes: dict[str, str] = {}
    for role, pod in base.maker.pods:
        placed = place(state, [_named(pod, key, role)])
        if placed.failed is not None:
            return replace(base, nodes=nodes, role=role, failed=placed.failed, state=placed.state)
        nodes[role] = next(iter(placed.nodes), "")
    return replace(base, nodes=nodes, all_pods=_all_of(state, key, base.maker))


def _all_of(state: ClusterState, key: Key, maker: Maker) -> AllPods | None:
    if sum(maker.copies) < 2 or sum(maker.copies) * len(state.inventory.nodes) > _EFFORT:
        return None
    then = state
    for (role, pod), copies in zip(maker.pods, maker.copies, strict=True):
        first = _named(pod, key, role)
        placed = place(then, (_numbered(first, number) for number in range(copies)))
        if placed.failed is not None:
            return AllPods(role, placed.copies, copies, placed.failed, placed.state)
        then = placed.state
    return AllPods("", sum(maker.copies), sum(maker.copies))


def _numbered(pod: Pod, number: int) -> Pod:
    name = f"{pod.metadata.name}-{number}"
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, name=name, uid=name))


def _named(pod: Pod, key: Key, role: str) -> Pod:
    """The pod as it would come, under a name that no other has."""
    name = "-".join(filter(None, (key.name, role.lower().replace(" ", "-"), "simulated")))
    meta = ObjectMeta(name=name, namespace=key.namespace, uid=name, labels=pod.metadata.labels)
    spec = pod.spec
    if not spec.scheduler_name:
        spec = msgspec.structs.replace(spec, scheduler_name=DEFAULT_SCHEDULER)
    return Pod(meta, spec, PodStatus(phase="Pending"))
