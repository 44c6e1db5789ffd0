"""Pods that have their node: what the kubelet says about preparing devices, health of devices, other waiting reasons.

Upstream: pkg/kubelet/cm/dra/manager.go (texts of FailedPrepareDynamicResources), KEP-4680 (allocatedResourcesStatus).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from kubectl_dra.diagnosis.claim.reserved import STARTING
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    BoundBy,
    Cause,
    ContainerWaits,
    Health,
    KubeletRejection,
    KubeletText,
    ObjectRef,
)
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.diagnosis.said import mounts
from kubectl_dra.diagnosis.said.health import reported
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import ContainerStateTerminated, ContainerStatus, Event, Node, Pod
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.requests import is_sidecar
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler.claims import is_reserved_for

PREPARE_FAILED: Final = "FailedPrepareDynamicResources"
_FAILED: Final = "Failed"
_RUNNING: Final = "Running"
#: Upstream: pkg/kubelet/kubelet.go, rejectPod.
WAS_REJECTED: Final = "Pod was rejected: "
#: Reasons of YuniKorn, for pods that have no node yet. Upstream: yunikorn-k8shim, pkg/common/constants.
NOT_PLACED: Final = ("ApplicationRejected", "ResourceReservationTimeout")
#: Reasons of kubelets that do not admit a pod. Upstream: pkg/kubelet/lifecycle/predicate.go and the resource managers.
_AT_ADMISSION: Final = (
    "OutOf",
    "UnexpectedAdmissionError",
    "TopologyAffinityError",
    "SMTAlignmentError",
    "Node",
    "Pod",
    *NOT_PLACED,
)
UNHEALTHY: Final = "Unhealthy"
#: They don't keep containers from starting (pkg/kubelet/network/dns, pkg/kubelet/kubelet_pods.go).
_HARMLESS: Final = frozenset({"DNSConfigForming", "FailedToRetrieveImagePullSecret", "CheckLimitsForResolvConf"})
#: Normal events of containers, which come only after mounts, devices and the sandbox (pkg/kubelet/events).
_PROGRESS: Final = frozenset({"Pulling", "Pulled", "Started"})
#: Who acts on a pod that has its node; the second one attaches volumes (pkg/controller/volume/attachdetach).
_ON_NODES: Final = frozenset({"kubelet", "attachdetach-controller"})
_PREFIX: Final = re.compile(
    r"Failed to prepare dynamic resources: (?:prepare dynamic resources: )?(?P<text>.*)", re.DOTALL
)
#: Reasons under which the runtime, a hook of a driver (NRI), or the kubelet itself refuses a container.
_REFUSED: Final = frozenset({"CreateContainerError", "RunContainerError"})
#: Of container runtimes, which give devices to containers by CDI (tags.cncf.io/container-device-interface, pkg/cdi,
#: Cache.InjectDevices).
_INJECTED: Final = re.compile(r"\bCDI\b")
_OF_A_CLAIM: Final = re.compile(r"\b(?:resource ?)?claims?\b", re.IGNORECASE)
_CRASHES: Final = "CrashLoopBackOff"
_CREATING: Final = frozenset({*STARTING, ""})

# Of client-go (NewGenericServerResponse), where the path of an API version is unknown to the server.
_NOT_SERVED: Final = "the server could not find the requested resource"

#: A driver that serves a claim for one pod at a time.
_ONE_POD: Final = re.compile(r"one (?:pod|consumer) per claim|(?:reserved for|used by) \d+ (?:consumers|pods)")

# The kubelet's error texts, most telling first; "claim" and "driver" name what they are about, "detail" the rest.
_TEXTS: Final = tuple(
    (re.compile(pattern, re.DOTALL), code)
    for pattern, code in (
        (r".*DRA driver (?P<driver>\S+) is not registered", Code.DRIVER_NOT_REGISTERED),
        # As kubelets before Kubernetes 1.34 say it (pkg/kubelet/cm/dra/plugin/plugin.go).
        (r".*plugin (?:name )?(?P<driver>\S+) not found in the list of registered DRA.*", Code.DRIVER_NOT_REGISTERED),
        (
            r"NodePrepareResources failed for (?:ResourceClaim |claim [^/\s]+/)(?P<claim>[^:\s]+): (?P<detail>.*)",
            Code.DRIVER_FAILED,
        ),
        (r"NodePrepareResources(: | failed: | skipped | left out | returned )(?P<detail>.*)", Code.DRIVER_FAILED),
        (
            r"pod .* is not allowed to use (?:ResourceClaim|resource claim) (?P<claim>[^(\s]+).*",
            Code.CLAIM_NOT_RESERVED,
        ),
        (r"ResourceClaim (?P<claim>\S+): not allocated", Code.CLAIM_NOT_ALLOCATED),
        (r"old ResourceClaim with same name (?P<claim>\S+) and different UID .*", Code.CLAIM_REPLACED),
        (r"ResourceClaim (?P<claim>\S+) is being unprepared", Code.CLAIM_REPLACED),
        (r"(?:failed to )?fetch ResourceClaim (?P<claim>[^:\s]+).*: (?P<detail>" + _NOT_SERVED + ")", Code.KUBELET_API),
        (r"fetch ResourceClaim (?P<claim>[^:\s]+): (?P<detail>.*)", Code.KUBELET_FAILED),
        (r"ResourceClaim (?:\S+/)?(?P<claim>[^:\s]+) was not created for Pod .*", Code.CLAIM_NOT_OWNED),
        (r"ResourceClaim (?P<claim>[^:\s]+): (?P<detail>.*)", Code.KUBELET_FAILED),
        (r"(?P<detail>.*)", Code.KUBELET_FAILED),
    )
)


def failure(pod: Pod, events: Iterable[Event], node: Node | None = None) -> Cause | None:
    """What the kubelet last said about preparing the devices of this very pod; ``node``: where it runs."""
    about = (event for event in events if event.reason == PREPARE_FAILED)
    last = max(about, key=events_.last_seen, default=None)
    version = node.status.node_info.kubelet_version if node is not None else ""
    return _cause(pod, last, version) if last is not None else None


def said(pod: Pod, events: Sequence[Event], node: Node | None, unusable: Sequence[Cause]) -> list[Cause]:
    """What has failed on the node, the newest first; ``unusable``: what the claims show of it."""
    prepared, other = failure(pod, events, node), warning(pod, events)
    found = [known_better(prepared, unusable)] if prepared is not None else []
    found = [other, *found] if other is not None else found
    return sorted(found, key=_seen, reverse=True)


def _seen(cause: Cause) -> str:
    return cause.detail.time if isinstance(cause.detail, KubeletText) else ""


def warning(pod: Pod, events: Iterable[Event]) -> Cause | None:
    """The newest Warning about anything else since the pod was scheduled; no cause once containers came after it."""
    scheduled = next((c for c in pod.status.conditions if c.type == "PodScheduled" and c.status == "True"), None)
    since = parse_time(scheduled.last_transition_time) if scheduled is not None else None
    about = [e for e in events if events_.reporter(e) in _ON_NODES]
    warnings = [e for e in about if e.type == "Warning" and e.reason != PREPARE_FAILED and _is_later(e, since)]
    warnings = [e for e in warnings if not mounts.is_attached_since(e, about)]
    last = max(
        warnings, key=lambda e: (e.reason not in _HARMLESS, not mounts.sums_up(e), events_.last_seen(e)), default=None
    )
    if last is None:
        return None
    seen = parse_time(events_.last_seen(last))
    overcome = any(e.reason in _PROGRESS and seen is not None and _is_later(e, seen) for e in about)
    text, time = events_.text(last), events_.last_seen(last)
    detail = KubeletText(
        text, detail=text, time=time, times=events_.times(last), first=events_.first_seen(last), reason=last.reason
    )
    code = Code.PREPARING if overcome or last.reason in _HARMLESS else Code.KUBELET_WARNS
    return Cause(code, detail, nodes=(pod.spec.node_name,))


def _is_later(event: Event, than: datetime | None) -> bool:
    """Whether an event was seen at a time or after it; where either is not known it was."""
    seen = parse_time(events_.last_seen(event))
    return seen is None or than is None or seen >= than


def _cause(pod: Pod, event: Event, version: str) -> Cause:
    message = events_.text(event)
    prefixed = _PREFIX.fullmatch(message)
    text = prefixed["text"] if prefixed is not None else message
    for pattern, code in _TEXTS:
        match = pattern.fullmatch(text)
        if match is not None:
            found = match.groupdict()
            time, known = events_.last_seen(event), version if code is Code.KUBELET_API else ""
            often, first = events_.times(event), events_.first_seen(event)
            detail = KubeletText(
                text, found.get("driver") or "", found.get("detail") or "", time, known, times=often, first=first
            )
            claim = found.get("claim")
            ref = ObjectRef("ResourceClaim", pod.metadata.namespace, claim) if claim else None
            return Cause(code, detail, claim=ref, nodes=(pod.spec.node_name,))
    raise AssertionError("the last pattern matches everything")


def told_by(message: str) -> Code | None:
    """The reason that the kubelet's or the runtime's message alone tells; None where it may be any."""
    prefixed = _PREFIX.search(message)
    text = prefixed["text"] if prefixed is not None else message
    found = next((code for pattern, code in _TEXTS if pattern.fullmatch(text)), Code.KUBELET_FAILED)
    if found is not Code.KUBELET_FAILED or prefixed is not None:
        return found
    return Code.DEVICE_NOT_INJECTED if _INJECTED.search(message) else None


def serves_one_pod(said: KubeletText) -> bool:
    """Whether a driver says that it serves a claim for one pod at a time."""
    return _ONE_POD.search(said.detail or said.text) is not None


def not_usable(pod: Pod, claims: Iterable[ResourceClaim], features: Features) -> Iterator[Cause]:
    """Claims that the pod can't use on its node: nobody allocates for a pod that has a node already."""
    for claim in claims:
        ref = ObjectRef.of_claim(claim)
        if claim.status.allocation is None:
            yield Cause(Code.CLAIM_NOT_ALLOCATED, claim=ref, nodes=(pod.spec.node_name,))
        elif not is_reserved_for(pod, claim, features):
            yield Cause(Code.CLAIM_NOT_RESERVED, claim=ref, nodes=(pod.spec.node_name,))


def known_better(failure: Cause, unusable: Iterable[Cause]) -> Cause:
    """The kubelet's words under the code of what the objects show: a claim without devices is reserved for nobody."""
    at_fault = Code.CLAIM_NOT_ALLOCATED, failure.claim
    if failure.code is Code.CLAIM_NOT_RESERVED and at_fault in ((each.code, each.claim) for each in unusable):
        return replace(failure, code=Code.CLAIM_NOT_ALLOCATED)
    return failure


def not_allocated_by(scheduler: str, cause: Cause) -> Cause:
    """Of a claim without devices: by the scheduler that bound the pod, where one has."""
    if not scheduler or cause.code is not Code.CLAIM_NOT_ALLOCATED:
        return cause
    said = cause.detail if isinstance(cause.detail, KubeletText) else None
    return replace(cause, detail=BoundBy(scheduler, said))


def rejected(inventory: Inventory, pod: Pod) -> Iterator[Cause]:
    """Why a pod has failed that its node did not take, or ended: of one whose containers failed no reason is given.

    Upstream: pkg/kubelet/kubelet.go, rejectPod, and pkg/kubelet/eviction.
    """
    if not is_rejected(pod):
        return
    controller = pod.metadata.controller
    alike = (
        each
        for each in inventory.pods.values()
        if controller is not None and each.metadata.controller == controller and each.status.phase == _FAILED
    )
    others = sum(each.status.reason == pod.status.reason for each in alike) - 1
    detail = KubeletRejection(pod.status.reason, pod.status.message, max(others, 0))
    yield Cause(Code.KUBELET_REJECTED, detail, nodes=(pod.spec.node_name,) if pod.spec.node_name else ())


def last_rejected(pods: Iterable[Pod]) -> Key | None:
    """The youngest of the pods that a kubelet rejected or ended; None where there is none."""
    found = [pod for pod in pods if is_rejected(pod)]
    last = max(found, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.metadata.name), default=None)
    return key_of(last.metadata) if last is not None else None


def was_not_taken(reason: str, message: str) -> bool:
    """Whether a pod that has failed for a reason never started on its node."""
    return message.startswith(WAS_REJECTED) or reason.startswith(_AT_ADMISSION)


def is_rejected(pod: Pod) -> bool:
    """Whether its node did not take a pod, or ended it."""
    return pod.status.phase == _FAILED and bool(pod.status.reason)


def unhealthy(pod: Pod, inventory: Inventory) -> Iterator[Cause]:
    """Devices that the pod's status does not report as healthy; health changes neither scheduling nor eviction."""
    for container, claim, request, said, device in reported(pod, inventory):
        if said.health != "Healthy":
            named = str(device) if device is not None else said.resource_id
            ref = ObjectRef.of("ResourceClaim", claim) if claim else None
            detail = Health(named, said.health or "Unknown", container, said.message)
            yield Cause(Code.DEVICE_UNHEALTHY, detail, claim=ref, request=request, nodes=(pod.spec.node_name,))


def not_running(pod: Pod, events: Iterable[Event]) -> Iterator[Cause]:
    """What is wrong with containers of a pod that has been started: they wait, as after a crash, or are not ready."""
    node = (pod.spec.node_name,)
    if pod.status.phase != _RUNNING or pod.metadata.deletion_timestamp is not None:
        return
    for status in _statuses(pod):
        state, last = status.state.waiting, status.state.terminated or status.last_state.terminated
        if state is not None and state.reason not in _CREATING:
            # Of a crash the last words tell more than for how long the kubelet waits; all else says what is wrong now.
            crashed = last if state.reason == _CRASHES else None
            words = " ".join((state if crashed is None else crashed).message.split())
            detail = ContainerWaits(status.name, state.reason, words, status.restart_count, how_ended(crashed))
            yield Cause(_code_of(detail), detail, nodes=node)
    for status in pod.status.container_statuses:
        if status.state.running is not None and not status.ready:
            detail = ContainerWaits(status.name, "", _probe(events), status.restart_count)
            yield Cause(Code.CONTAINER_WAITS, detail, nodes=node)


def is_unwell(pod: Pod) -> bool:
    """Whether a pod has been started and some container of it does not do its work."""
    return any(True for _ in not_running(pod, ()))


def how_ended(ended: ContainerStateTerminated | None) -> str:
    """``OOMKilled``, ``exit code 1``; empty for what has not ended."""
    if ended is None:
        return ""
    return ended.reason if ended.reason not in ("", "Error", "Completed") else f"exit code {ended.exit_code}"


def _probe(events: Iterable[Event]) -> str:
    """What the probes of a pod said last (upstream: pkg/kubelet/prober, ContainerUnhealthy)."""
    last = max((event for event in events if event.reason == UNHEALTHY), key=events_.last_seen, default=None)
    return " ".join(events_.text(last).split()) if last is not None else ""


def waiting(pod: Pod) -> Iterator[Cause]:
    """Containers that wait for something else than their creation: images, configuration, crashes."""
    for status in _statuses(pod):
        state = status.state.waiting
        if state is not None and state.reason not in _CREATING:
            detail = ContainerWaits(status.name, state.reason, state.message)
            yield Cause(_code_of(detail), detail, nodes=(pod.spec.node_name,))


def is_not_injected(waits: ContainerWaits) -> bool:
    """Whether the container runtime could not give a container its devices."""
    return waits.reason in _REFUSED and _INJECTED.search(waits.message) is not None


def _code_of(waits: ContainerWaits) -> Code:
    return Code.DEVICE_NOT_INJECTED if is_not_injected(waits) else Code.CONTAINER_WAITS


def initializing(pod: Pod) -> Iterator[Cause]:
    """An init container that runs: it has its devices, which are prepared before any container starts.

    One that is restarted always (a sidecar) is not waited for until it ends. Upstream: pkg/kubelet/kuberuntime.
    """
    ending = {each.name for each in pod.spec.init_containers if not is_sidecar(each)}
    for status in pod.status.init_container_statuses:
        state = status.state.running
        if state is not None and status.name in ending:
            detail = ContainerWaits(status.name, "", initializes=True, since=state.started_at or "")
            yield Cause(Code.CONTAINER_WAITS, detail, nodes=(pod.spec.node_name,))


def is_about_claim(waits: ContainerWaits) -> bool:
    """Whether a container was refused with words about a claim, rather than an image or a mount."""
    return waits.reason in _REFUSED and _OF_A_CLAIM.search(waits.message) is not None


def repeated(warned: Iterable[Cause], waiting: Sequence[Cause]) -> Iterator[Cause]:
    """Warnings that are what a container waits for because of a claim: they tell how often, and since when.

    Upstream: the kubelet's event Failed, ``Error: `` and the message of the container's state.
    """
    messages = [e.detail.message for e in waiting if isinstance(e.detail, ContainerWaits) and is_about_claim(e.detail)]
    for cause in warned:
        if isinstance(cause.detail, KubeletText) and cause.detail.text.removeprefix("Error: ") in messages:
            detail = replace(cause.detail, detail=cause.detail.text.removeprefix("Error: "))
            yield replace(cause, detail=detail)


def _statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    return (*pod.status.init_container_statuses, *pod.status.container_statuses)
