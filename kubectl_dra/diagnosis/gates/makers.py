"""Why a controller makes no more pods: what the API server answered it, by the events about the controller's object.

Upstream: pkg/controller/controller_utils.go (FailedCreatePodReason; Jobs, ReplicaSets, DaemonSets) and
pkg/controller/statefulset/stateful_pod_control.go write the same reason; the words about a quota are those of
plugin/pkg/admission/resourcequota/controller.go, checkRequest. Events are gone after an hour: the condition
ReplicaFailure of a ReplicaSet, which its Deployment repeats, stays until a pod was made
(pkg/controller/replicaset/replica_set_utils.go, calculateStatus; pkg/controller/deployment/progress.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.quota_pods import with_pods
from kubectl_dra.diagnosis.records import MakerRefusal, ObjectRef, QuotaShortage
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.workloads import WorkloadObject

_REASON: Final = "FailedCreate"
_QUOTA: Final = re.compile(
    r"exceeded quota: (?P<quota>[^,]+), requested: (?P<requested>\S+), used: (?P<used>\S+), limited: (?P<hard>\S+)"
)


def refusal(state: ClusterState, pods: Iterable[Pod]) -> MakerRefusal | None:
    """The last refusal that a controller of these pods met, where it has made none of them since."""
    found = [each for maker, made in made_by(pods).items() if (each := refusal_of(state, maker, made)) is not None]
    return max(found, key=lambda each: each.time, default=None)


def refusal_of_workload(state: ClusterState, workload: ObjectRef, pods: Iterable[Pod]) -> MakerRefusal | None:
    """The last refusal that a workload met, or a ReplicaSet of a Deployment, where no pod of it is younger."""
    made, makers = tuple(pods), [workload]
    if workload.kind == "Deployment":
        part = re.compile(rf"{re.escape(workload.name)}-[a-z0-9]+")
        about = (key for key in state.inventory.events_by_object if key[:2] == ("ReplicaSet", workload.namespace))
        makers += [ObjectRef(*key) for key in about if part.fullmatch(key[2])]
    found = [each for maker in dict.fromkeys(makers) if (each := refusal_of(state, maker, made)) is not None]
    return max(found, key=lambda each: each.time, default=None)


def refusal_of(state: ClusterState, maker: ObjectRef, made: Iterable[Pod] = ()) -> MakerRefusal | None:
    """The last refusal that one controller met, where none of the pods that it has ``made`` is younger."""
    events = state.inventory.events_by_object.get((maker.kind, maker.namespace, maker.name), ())
    last = max((event for event in events if event.reason == _REASON), key=events_.last_seen, default=None)
    if last is None:
        return _still_refused(state, maker)
    if _made_since(last, made):
        return None
    when = events_.times(last), events_.first_seen(last), events_.last_seen(last)
    return _refused(state, maker, events_.text(last), *when)


def _still_refused(state: ClusterState, maker: ObjectRef) -> MakerRefusal | None:
    found = state.inventory.workloads.get((maker.kind, maker.namespace, maker.name))
    conditions = found.status.conditions if isinstance(found, WorkloadObject) else ()
    said = next((each for each in conditions if (each.type, each.status) == ("ReplicaFailure", "True")), None)
    if said is None or said.reason != _REASON:
        return None
    since = said.last_transition_time or ""
    return _refused(state, maker, said.message, 1, since, since)


def _refused(state: ClusterState, maker: ObjectRef, text: str, times: int, first: str, last: str) -> MakerRefusal:
    shortages = tuple(with_pods(state, maker.namespace, each) for each in said_shortages(text, "Pod"))
    return MakerRefusal(maker, text, shortages, times, first, last)


def made_by(pods: Iterable[Pod]) -> dict[ObjectRef, list[Pod]]:
    found: dict[ObjectRef, list[Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        if owner is not None:
            found.setdefault(ObjectRef(owner.kind, pod.metadata.namespace, owner.name), []).append(pod)
    return found


def _made_since(event: Event, made: Iterable[Pod]) -> bool:
    said = parse_time(events_.last_seen(event))
    times = (parse_time(pod.metadata.creation_timestamp or "") for pod in made)
    return said is not None and any(time > said for time in times if time is not None)


def said_shortages(text: str, kind: str = "ResourceClaim") -> Iterator[QuotaShortage]:
    """What a quota lacks for an object, one for each resource; none where the words are not about a quota."""
    found = _QUOTA.search(text)
    if found is None:
        return
    used, hard = _amounts(found["used"]), _amounts(found["hard"])
    for name, requested in _amounts(found["requested"]).items():
        if name in used and name in hard:
            yield QuotaShortage(found["quota"], name, hard[name], used[name], requested, kind=kind)


def _amounts(text: str) -> dict[str, str]:
    """``pods=1,requests.cpu=2`` by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)
