"""Pods of drivers that do not run: why nothing is published, or why nothing prepares devices on a node."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from kubectl_dra.cluster import ClusterState, derived_for_each
from kubectl_dra.diagnosis.claim.reserved import STARTING
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassOffer,
    KubeletText,
    NodeGroup,
    NodeOutcome,
    ObjectRef,
    PodDiagnosis,
)
from kubectl_dra.diagnosis.said import events
from kubectl_dra.diagnosis.said.kubelet import how_ended, warning
from kubectl_dra.model import differences
from kubectl_dra.model.core import ContainerStatus, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.claims.ask import ClaimAsk
from kubectl_dra.reports.pending.drivers import DriverOnNode, named_by, plugins

_MOST: Final = 3
_DAEMON_SET: Final = "DaemonSet"
#: The label that tells pods of one template of a DaemonSet from those of another.
_TEMPLATE: Final = "controller-revision-hash"
_WITHOUT_DEVICES: Final = frozenset({Code.NO_DEVICE_IN_CLASS, Code.CLASS_SELECTS_NOTHING, Code.DEVICES_OF_GONE_NODES})


class Rollout(ReportRecord, frozen=True):
    """An update of a DaemonSet that has not come to the end: so many of its ``pods`` are of the new template."""

    daemon_set: ObjectRef
    updated: int
    pods: int


class FailingPod(ReportRecord, frozen=True):
    """A pod that probably is a driver's, and does not run: ``state`` is why its container waits, or ``not ready``.

    ``message``: the last words of the container that ended; ``ended``: how it ended, ``OOMKilled`` or ``exit code 1``.
    ``rollout``: the update of its DaemonSet that goes on, where it is one of the new pods.
    """

    pod: ObjectRef
    node: str
    state: str
    restarts: int = 0
    message: str = ""
    ended: str = ""
    rollout: Rollout | None = None


class StartingDriver(ReportRecord, frozen=True):
    """A node without devices on which the driver is starting; ``cordoned``: it would take no pod yet."""

    pod: FailingPod
    cordoned: bool


def all_failing(
    diagnosis: PodDiagnosis, drivers: Iterable[DriverOnNode], asks: Collection[ClaimAsk], state: ClusterState
) -> tuple[FailingPod, ...]:
    """Those where the pod fits; else those of the drivers that matter, else those on nodes without devices."""
    return (
        failing_where_it_fits(diagnosis.nodes, asks, state)
        or failing_pods(diagnosis.causes, drivers, state)
        or failing_elsewhere(diagnosis.nodes, asks, state)
    )


def failing_pods(
    causes: Collection[Cause], drivers: Iterable[DriverOnNode], state: ClusterState
) -> tuple[FailingPod, ...]:
    """Those of the drivers that matter, at most three."""
    found = [each for driver in drivers for each in failing_among(driver.likely_pods, state.inventory)]
    for cause in causes:
        if cause.code in _WITHOUT_DEVICES and isinstance(cause.detail, ClassOffer):
            for name in named_by(cause.detail.device_class, state.inventory):
                found += _on_any_node(state, name).failing
    return tuple(dict.fromkeys(found))[:_MOST]


def failing_elsewhere(
    groups: Iterable[NodeGroup], asks: Iterable[ClaimAsk], state: ClusterState
) -> tuple[FailingPod, ...]:
    """Those on nodes that were tried and have no device of a class while others have some, at most three."""
    classes = {(ask.name, each.name): each.device_class for ask in asks for each in ask.requests}
    found: list[FailingPod] = []
    for group in groups:
        lacking = {
            (each.claim.name, each.request)
            for each in group.requests
            if group.outcome is NodeOutcome.CANNOT_ALLOCATE and each.funnel is not None and not each.funnel.total
        }
        drivers = [name for each in lacking & classes.keys() for name in named_by(classes[each], state.inventory)]
        nodes = frozenset(group.nodes) if drivers else frozenset()
        found += (each for name in sorted(drivers) for each in _on_any_node(state, name).failing if each.node in nodes)
    return tuple(dict.fromkeys(found))[:_MOST]


def starting_drivers(
    groups: Iterable[NodeGroup], asks: Iterable[ClaimAsk], state: ClusterState
) -> tuple[StartingDriver, ...]:
    """Those of drivers that will publish devices soon, on nodes that were tried or are only cordoned; at most three."""
    classes = sorted({each.device_class for ask in asks for each in ask.requests})
    drivers = dict.fromkeys(name for each in classes for name in named_by(each, state.inventory))
    starting = {driver: found for driver in drivers if (found := _on_any_node(state, driver).starting)}
    if not starting:
        return ()
    nodes = {
        name: is_cordoned
        for group in groups
        if (is_cordoned := _is_cordoned(group)) is not None
        for name in group.nodes
    }
    slices = state.inventory.slices_by_node
    return tuple(
        StartingDriver(each, nodes[each.node])
        for driver, pods in starting.items()
        for each in pods
        if each.node in nodes and all(own.spec.driver != driver for own in slices.get(each.node, ()))
    )[:_MOST]


def _is_cordoned(group: NodeGroup) -> bool | None:
    """Whether nodes would do but for a cordon; None for those that are kept off for other reasons."""
    if group.outcome is NodeOutcome.CANNOT_ALLOCATE:
        return False
    codes = {cause.code for cause in group.causes}
    return True if codes == {Code.NODE_UNSCHEDULABLE} else None


def failing_where_it_fits(
    groups: Iterable[NodeGroup], asks: Iterable[ClaimAsk], state: ClusterState
) -> tuple[FailingPod, ...]:
    """Those on nodes where a pod fits, which would not start there; at most three."""
    fitting = [group for group in groups if group.outcome is NodeOutcome.FITS]
    classes = sorted({each.device_class for ask in asks for each in ask.requests}) if fitting else []
    drivers = dict.fromkeys(name for each in classes for name in named_by(each, state.inventory))
    failing = dict.fromkeys(each for name in drivers for each in _on_any_node(state, name).failing)
    nodes = {name for group in fitting for name in group.nodes} if failing else set()
    return tuple(each for each in failing if each.node in nodes)[:_MOST]


class _DriverPods(NamedTuple):
    """The pods of a driver's kubelet plugin that do not run, and those that are starting."""

    failing: tuple[FailingPod, ...]
    starting: tuple[FailingPod, ...]


def _later_known(
    known: dict[object, _DriverPods], before: ClusterState, after: ClusterState
) -> dict[object, _DriverPods] | None:
    """The same where no pod of a DaemonSet is another one."""
    old, new = before.inventory, after.inventory
    if old.workloads is not new.workloads or old.events is not new.events:
        return None
    keys = (*differences.changed(old.pods, new.pods), *differences.gone(old.pods, new.pods))
    pods = (pod for key in keys for pod in (old.pods.get(key), new.pods.get(key)) if pod is not None)
    return None if any(each.kind == _DAEMON_SET for pod in pods for each in pod.metadata.owner_references) else known


@derived_for_each("pods", "workloads", "events", later=_later_known)
def _on_any_node(state: ClusterState, driver: str) -> _DriverPods:
    """Many pods wait for the same driver, and to look for its pods takes all pods."""
    refs = plugins(driver, "", state.inventory, None)
    return _DriverPods(failing_among(refs, state.inventory), starting_among(refs, state.inventory))


def failing_among(refs: Iterable[ObjectRef], inventory: Inventory) -> tuple[FailingPod, ...]:
    """Those of these pods that do not run."""
    rollouts = _Rollouts(inventory)
    found = (_failing(inventory.pods[ref.key], inventory, rollouts) for ref in refs)
    return tuple(each for each in found if each is not None)


def starting_among(refs: Iterable[ObjectRef], inventory: Inventory) -> tuple[FailingPod, ...]:
    """Those of these pods none of whose containers has started yet; ``state`` is why they wait."""
    found: list[FailingPod] = []
    for ref in refs:
        pod = inventory.pods[ref.key]
        # One of those that initialize it may run.
        statuses = pod.status.container_statuses
        waiting = [each.state.waiting.reason for each in statuses if each.state.waiting is not None]
        if any(_state(each, init=True) for each in pod.status.init_container_statuses):
            continue
        if pod.spec.node_name and waiting and len(waiting) == len(statuses) and set(waiting) <= set(STARTING):
            found.append(FailingPod(ref, pod.spec.node_name, waiting[0]))
    return tuple(found)


def _failing(pod: Pod, inventory: Inventory, rollouts: _Rollouts) -> FailingPod | None:
    bad = [found for status in pod.status.init_container_statuses if (found := _state(status, init=True))]
    bad += [found for status in pod.status.container_statuses if (found := _state(status))]
    ref = ObjectRef.of("Pod", key_of(pod.metadata))
    if not bad:
        return _held_up(pod, ref, inventory)
    worst, restarts = max(bad, key=lambda each: each[1])
    rollout = rollouts.of(pod)
    return FailingPod(ref, pod.spec.node_name, worst.state, restarts, worst.message, worst.ended, rollout)


class _Rollouts:
    """Updates of DaemonSets; what takes all pods is looked for once for each set, whose pods may all crash."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._newest: dict[OwnerReference, str] = {}

    def of(self, pod: Pod) -> Rollout | None:
        """The update that made a pod of a DaemonSet, while others are still of the template before."""
        owner = pod.metadata.controller
        if owner is None or owner.kind != _DAEMON_SET:
            return None
        key = Key(pod.metadata.namespace, owner.name)
        daemons = self._inventory.workloads.get((_DAEMON_SET, key.namespace, key.name))
        if not isinstance(daemons, WorkloadObject):
            return None
        updated, wanted = daemons.status.updated_number_scheduled, daemons.status.desired_number_scheduled
        if not 0 < updated < wanted:
            return None
        own = pod.metadata.labels.get(_TEMPLATE, "")
        is_new = own and own == self._newest_template(owner)
        return Rollout(ObjectRef.of(_DAEMON_SET, key), updated, wanted) if is_new else None

    def _newest_template(self, owner: OwnerReference) -> str:
        """That of its newest pod (upstream: pkg/controller/daemon/update.go)."""
        if owner not in self._newest:
            siblings = (each.metadata for each in self._inventory.pods.values() if each.metadata.controller == owner)
            newest = max(siblings, key=lambda each: (each.creation_timestamp or "", each.name))
            self._newest[owner] = newest.labels.get(_TEMPLATE, "")
        return self._newest[owner]


def _held_up(pod: Pod, ref: ObjectRef, inventory: Inventory) -> FailingPod | None:
    """A pod on its node none of whose containers has started, with what the kubelet warns of last: a volume, say."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    if pod.status.phase != "Pending" or any(each.state.waiting is None for each in statuses):
        return None
    cause = warning(pod, events.about(inventory, pod)) if pod.spec.node_name else None
    if cause is None or cause.code is not Code.KUBELET_WARNS or not isinstance(cause.detail, KubeletText):
        return None
    return FailingPod(ref, pod.spec.node_name, cause.detail.reason, message=" ".join(cause.detail.text.split()))


class _Trouble(NamedTuple):
    state: str
    message: str = ""
    ended: str = ""


def _state(status: ContainerStatus, *, init: bool = False) -> tuple[_Trouble, int] | None:
    """What is wrong with a container, and its restarts; None for one that runs, has ended well, or is only starting.

    One of the containers that ``init`` a pod is not ready until it has ended.
    """
    waiting, ended = status.state.waiting, status.state.terminated or status.last_state.terminated
    words = " ".join(ended.message.split()) if ended is not None else ""
    how = how_ended(ended)
    if waiting is not None and waiting.reason and waiting.reason not in STARTING:
        # That it is started again after a pause is known from the reason.
        words = words or (" ".join(waiting.message.split()) if ended is None else "")
        return _Trouble(waiting.reason, words, how), status.restart_count
    if status.state.terminated is not None:
        reason = status.state.terminated.reason or "Error"
        return (_Trouble(reason, words, how), status.restart_count) if status.state.terminated.exit_code else None
    running = status.state.running is not None and not init
    return (_Trouble("not ready", words, how), status.restart_count) if running and not status.ready else None
