"""Pods that should have ended and still hold devices: what the kubelet says about them, and what does not run there.

The kubelet ends a pod's containers, and the driver unprepares its devices, before the claim is free; a finalizer keeps
only the object of a pod that has ended (upstream: pkg/kubelet, SyncTerminatingPod, and pkg/controller/resourceclaim,
isPodDone).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.claim.reserved import OUT_OF_SERVICE, never_ends
from kubectl_dra.diagnosis.gates.pending import is_pending
from kubectl_dra.diagnosis.said import events
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.devices.twins import twins
from kubectl_dra.reports.pending.drivers import plugins
from kubectl_dra.reports.pending.failing_pods import FailingPod, failing_among

_MOST: Final = 3
_SLICE: Final = "ResourceSlice"
#: What the kubelet reports only of pods that it ends (upstream: pkg/kubelet/events).
_OF_THE_END: Final = frozenset({"FailedKillPod", "FailedPreStopHook", "ExceededGracePeriod"})
_UNPREPARING: Final = "Unprepare"
#: A kubelet that works takes some seconds beyond the grace period.
_USUAL: Final = timedelta(minutes=1)


class LingeringPod(ReportRecord, frozen=True):
    """A pod on ``node`` that holds devices of ``drivers`` in vain: it should have ended at ``due``, or does not run.

    Without ``due`` and ``broken`` it is not being deleted, and would not end if it were: its node is ``unreachable``.

    Without ``drivers`` it is in the way otherwise: by a volume, a host port, CPUs, or a claim that is being deleted.

    ``reason``, ``message`` and ``time`` are those of the newest failure to end it that was reported.
    ``plugins`` probably are the drivers' pods on its node, ``failing`` those of them that do not run.
    ``broken``: of a pod that is to run, why it does not, since ``time``; ``due`` is empty then.
    ``node_down``: since when its node has not been ready; ``unreachable``: the kubelet there has stopped reporting, so
    that nothing ends the pod. ``out_of_service``: the node has the taint that lets its pods be removed all the same.
    ``now_called``: of an unreachable node those that publish the same devices, under which its machine may run by now.
    ``silent``: of a pod that is asked about, those of its drivers that no longer publish the pools of its devices, if
    nothing else says why it does not end: until they run again, the kubelet cannot have the devices released.
    """

    pod: records.ObjectRef
    node: str
    due: str
    finalizers: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""
    time: str = ""
    drivers: tuple[str, ...] = ()
    plugins: tuple[records.ObjectRef, ...] = ()
    failing: tuple[FailingPod, ...] = ()
    broken: FailingPod | None = None
    node_down: str = ""
    unreachable: bool = False
    out_of_service: bool = False
    now_called: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    node_gone: bool = False


def lingering_for(diagnosis: records.PodDiagnosis, state: ClusterState) -> tuple[LingeringPod, ...]:
    """The pods in its way that hold devices in vain; of a pod that does not end, the pod itself."""
    ends = diagnosis.verdict is records.Verdict.DELETING
    if diagnosis.verdict is records.Verdict.PREPARING and (lost := tuple(_on_a_lost_node(diagnosis, state))):
        return lost
    pod = state.inventory.pods.get(diagnosis.pod.key) if ends else None
    return of_itself(pod, state) if pod is not None else lingering(diagnosis.nodes, state, diagnosis.causes)


def _on_a_lost_node(diagnosis: records.PodDiagnosis, state: ClusterState) -> Iterator[LingeringPod]:
    """The pod itself, where nothing starts it: its node has stopped reporting, or is there no more."""
    pod = state.inventory.pods.get(diagnosis.pod.key)
    told = _told(pod, (), state) if pod is not None else None
    if told is not None and (told.unreachable or told.node_gone):
        yield told


def lingering(
    groups: Iterable[records.NodeGroup], state: ClusterState, causes: Iterable[records.Cause] = ()
) -> tuple[LingeringPod, ...]:
    """Those that hold devices of nodes that were tried; first those whose time is over; at most three.

    Behind them those that ``causes`` name as what is in the way.
    """
    groups = tuple(groups)
    ending, failing = _holding(groups, records.HeldFor.ENDING, state), _holding(groups, records.HeldFor.FAILING, state)
    told = [_told(pod, drivers, state) for pod, drivers in ending if _is_overdue(pod, state)]
    told += (found for pod, drivers in failing if (found := _broken(pod, drivers, state)) is not None)
    known = {each.pod for each in told}
    named = (state.inventory.pods.get(key) for cause in causes for key in _in_the_way(cause))
    others = {pod.metadata.uid: pod for pod in named if pod is not None and _does_not_end(pod, state)}
    ending_too = (_told(pod, (), state) for pod in others.values())
    told += (each for each in ending_too if each.pod not in known)
    return tuple(told)[:_MOST]


def _in_the_way(cause: records.Cause) -> Iterator[Key]:
    """The pods that a cause names as those that have what the pod needs."""
    match cause.detail:
        case records.ClaimEntry(consumers=refs) | records.ClaimElsewhere(consumers=refs):
            yield from (ref.key for ref in refs if ref.kind == "Pod")
        case records.KubeletText(held=records.VolumeHeld(users=refs)):
            yield from (ref.key for ref in refs)
        case records.VolumeTrouble(users=users):
            yield from (Key(namespace, name) for namespace, _, name in (each.partition("/") for each in users))
        case records.NodeShortage(by=by) | records.TakenPorts(by=by) | records.Company(by=by):
            yield from (ref.key for each in by for ref in each.pods)
        case records.KeptAway(terms=terms):
            yield from (ref.key for term in terms for each in term.by for ref in each.pods)


def of_itself(pod: Pod, state: ClusterState) -> tuple[LingeringPod, ...]:
    """The same of a pod that is asked about: why it has not ended, if it should have."""
    if not _is_overdue(pod, state):
        return ()
    pools = {
        PoolId(result.driver, result.pool)
        for claim in state.inventory.claims_by_user.get(pod.metadata.uid, ())
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    }
    told = _told(pod, {pool.driver for pool in pools}, state)
    if told.unreachable or told.reason or told.failing or not state.evidence.complete(_SLICE):
        return (told,)
    # Upstream: pkg/kubelet/cm/dra/plugin, which deletes the slices of a plugin that has gone; kubernetes#129402.
    silent = sorted({pool.driver for pool in pools if not state.devices.index.of_pool(pool)})
    return (msgspec.structs.replace(told, silent=tuple(silent)),)


def overdue_pods(
    state: ClusterState, namespace: str = "", selects: Callable[[Mapping[str, str]], bool] | None = None
) -> tuple[LingeringPod, ...]:
    """The pods of a namespace, or of all, that hold devices for longer after their time than usual; the oldest first.

    Pods that have not started are among those that wait (``is_pending``), and for pods that have ended no claim is
    kept, whatever keeps their objects.
    """
    found = list[LingeringPod]()
    for pod in state.inventory.pods.values():
        meta = pod.metadata
        here = namespace in ("", meta.namespace) and (selects is None or selects(meta.labels))
        ended = is_pending(pod) or is_terminal(pod)
        if here and meta.deletion_timestamp and not ended and _is_overdue(pod, state, _USUAL):
            found += (told for told in of_itself(pod, state) if told.drivers)
    return tuple(sorted(found, key=lambda each: (each.due, each.pod.key)))


def _holding(
    groups: Iterable[records.NodeGroup], held_for: records.HeldFor, state: ClusterState
) -> Iterator[tuple[Pod, frozenset[str]]]:
    """The pods for which devices are held, with the drivers of these."""
    found: dict[Key, set[str]] = {}
    tried = (group for group in groups if group.outcome is records.NodeOutcome.CANNOT_ALLOCATE)
    funnels = (each.funnel for group in tried for each in group.requests if each.funnel is not None)
    for removal in (each for funnel in funnels for each in funnel.removed if each.held_for is held_for):
        for name in removal.source.split(", "):
            namespace, _, pod = name.partition("/")
            found.setdefault(Key(namespace, pod), set()).update(each.partition("/")[0] for each in removal.devices)
    pods = ((state.inventory.pods.get(key), drivers) for key, drivers in found.items())
    return ((pod, frozenset(drivers)) for pod, drivers in pods if pod is not None)


def _broken(pod: Pod, drivers: Iterable[str], state: ClusterState) -> LingeringPod | None:
    ref = records.ObjectRef.of("Pod", key_of(pod.metadata))
    why = next(iter(failing_among((ref,), state.inventory)), None)
    ready = next((each for each in pod.status.conditions if each.type == "Ready" and each.status == "False"), None)
    since = (ready.last_transition_time or "") if ready is not None else ""
    if why is None:
        return None
    return LingeringPod(ref, pod.spec.node_name, "", time=since, drivers=tuple(sorted(drivers)), broken=why)


def _does_not_end(pod: Pod, state: ClusterState) -> bool:
    """Whether it should have ended, or would not end if it were deleted."""
    return _is_overdue(pod, state) or (not pod.metadata.deletion_timestamp and never_ends(state.inventory, pod))


def _is_overdue(pod: Pod, state: ClusterState, by: timedelta = timedelta()) -> bool:
    # One without a node has nothing to end: it is done, whatever keeps its object (isPodDone).
    due = parse_time(pod.metadata.deletion_timestamp) if pod.spec.node_name else None
    return due is not None and due + by < state.now


def _told(pod: Pod, drivers: Iterable[str], state: ClusterState) -> LingeringPod:
    meta, node, inventory = pod.metadata, pod.spec.node_name, state.inventory
    said = [each for each in events.about(inventory, pod) if each.reason in _OF_THE_END or _UNPREPARING in each.reason]
    newest = max(said, key=events.last_seen, default=None)
    names = tuple(sorted(drivers))
    known = inventory.nodes.get(node, Node())
    ready = next((each for each in known.status.conditions if each.type == "Ready" and each.status != "True"), None)
    likely = tuple(dict.fromkeys(ref for name in names for ref in plugins(name, node, inventory)))
    unreachable = ready is not None and ready.status == "Unknown"
    return LingeringPod(
        records.ObjectRef("Pod", meta.namespace, meta.name),
        node,
        meta.deletion_timestamp or "",
        tuple(meta.finalizers),
        newest.reason if newest is not None else "",
        " ".join(events.text(newest).split()) if newest is not None else "",
        events.last_seen(newest) if newest is not None else "",
        names,
        likely,
        failing_among(likely, inventory),
        node_down=(ready.last_transition_time or "") if ready is not None else "",
        unreachable=unreachable,
        out_of_service=any(taint.key == OUT_OF_SERVICE for taint in known.spec.taints),
        now_called=twins(state).get(node, ()) if unreachable else (),
        node_gone=node not in inventory.nodes and state.evidence.complete("Node"),
    )
