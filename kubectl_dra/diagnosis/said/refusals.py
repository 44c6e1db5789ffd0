"""What the scheduler said although a node fits: what it could not score or write, and whether that still holds.

The scheduler's memory and the API server decide after every filter: quotas, admission, other writers; storage drivers
make volumes; extenders and plugins outside the default profile have reasons of their own. Such a refusal is not
predicted; one that is newer than everything it can depend on is the verdict, with its own words. What extenders and
other plugins depend on is not known, so that theirs leave the verdict open.

Upstream: schedule_one.go (bindingCycle, handleBindingCycleError; an error of Reserve, Permit, PreBind or Bind becomes
the pod's condition with the reason SchedulerError), and the pod is tried again after a backoff of at most 10 seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, IgnoredResource, Observed, Refusal, SearchSize
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.meta import Condition, ManagedFields, ObjectMeta
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.scheduler import fit_error
from kubectl_dra.scheduler.extended import asked, served_resources
from kubectl_dra.scheduler.plugins.node_resources_fit import allocatable_of
from kubectl_dra.scheduler.profile import PLUGINS

_WRITES: Final = re.compile(
    r'(?:binding rejected: )?running (?:Reserve|Permit|PreBind|PreBindPreFlight|Bind) plugin "[^"]*": '
    r"|binding rejected: "
)
#: Upstream: schedule_one.go, prioritizeNodes; with a single node that fits nothing is scored.
_SCORES: Final = re.compile(r'running (?:PreScore plugin "[^"]*"|Score plugins): ')
#: Who speaks. Upstream: framework/runtime/framework.go.
_SPEAKER: Final = re.compile(
    r'running (?:(?P<point>\w+) plugin "([^"]+)"|"([^"]+)" filter plugin|Score plugins: plugin "([^"]+)" failed with): '
)
#: Upstream: pkg/scheduler/extender.go, send; net/http's url.Error.
_EXTENDER: Final = re.compile(r'Post "https?://[^"]*": |failed \S+ with extender at URL |extender: ')
#: Upstream: plugins/dynamicresources, Filter, with DRASchedulerFilterTimeout; it ends the whole attempt.
_TIMED_OUT: Final = re.compile(
    r'running "DynamicResources" filter plugin: node (\S+): timed out trying to allocate devices\b'
)
_LATE: Final = re.compile(r"rejected due to timeout after waiting \S+ at plugin (\S+)")
_REJECTED: Final = "binding rejected: "
_VOLUMES: Final = "VolumeBinding"
# Two writers at once: the next attempt reads again.
_PASSING: Final = ("the object has been modified", "got allocated elsewhere in the meantime", "context canceled")
_EVENT: Final = "FailedScheduling"
_SCHEDULED: Final = "PodScheduled"
#: A part of the object with a writer of its own, in managedFields.
_STATUS: Final = "status"
#: Upstream: the name of the program, from rest.DefaultKubernetesUserAgent.
_SCHEDULER: Final = "kube-scheduler"
#: The plugins of the default profile that fail with words of their own.
_OWN: Final = frozenset({*(plugin.name for plugin in PLUGINS), "DefaultBinder", "SchedulingGates", "GangScheduling"})


class Order(StrEnum):
    """Whether a refusal is newer than the last change of what it depends on."""

    NEWER = "newer"
    OLDER = "older"
    UNKNOWN = "unknown"


def standing(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], seen: Observed | None
) -> tuple[Order, Cause] | None:
    """A refusal that may still hold, and whether it does; None where there is none, or it is known to be old."""
    if seen is None or seen.status != "False":
        return None
    if seen.reason == fit_error.UNSCHEDULABLE:
        return _turned_away(state, pod, claims, seen) or _ignored(state, pod, seen)
    if seen.reason != fit_error.SCHEDULER_ERROR:
        return None
    if not is_refusal(seen.message):
        return _timed_out(state, pod, claims, seen)
    code = _code(seen.message)
    came = order(pod, seen, (*depends_on(state, claims), *(_storage(state) if code is Code.VOLUMES_AT_BINDING else ())))
    if came is Order.OLDER:
        return None
    if code is Code.REFUSED_BY_ANOTHER:
        came = Order.UNKNOWN
    return came, _cause(seen.message, seen.time, known=came is Order.NEWER)


def _timed_out(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], seen: Observed
) -> tuple[Order, Cause] | None:
    """A search for devices that took the scheduler too long, where nothing that it searches is known to be as new.

    How long it takes depends on the scheduler's machine and on what other claims hold, not on the objects of the pod
    alone. Where it is not known what came first, the search may be a shorter one by now.
    """
    match = _TIMED_OUT.match(seen.message)
    if match is None or match[1] not in state.inventory.nodes:
        return None
    own = {(claim.metadata.namespace, claim.metadata.name) for claim in claims}
    others = (c for c in state.inventory.claims.values() if (c.metadata.namespace, c.metadata.name) not in own)
    about = (*depends_on(state, claims), *((each.metadata, tuple(_times_of(each))) for each in others))
    if order(pod, seen, about) is not Order.NEWER:
        return None
    return Order.NEWER, Cause(Code.SEARCH_TIMEOUT, SearchSize(0), nodes=(match[1],))


def _turned_away(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], seen: Observed
) -> tuple[Order, Cause] | None:
    """A pod that a plugin let wait after a node was chosen, until its time was over.

    Upstream: framework/runtime/waiting_pods_map.go.
    """
    words = waited_in_vain(seen) or _unknown_words(seen)
    if words is None or order(pod, seen, depends_on(state, claims)) is Order.OLDER:
        return None
    refusal = Refusal(words, seen.message, seen.time or "", order_known=False)
    return Order.UNKNOWN, Cause(Code.REFUSED_BY_ANOTHER, refusal)


def _unknown_words(seen: Observed) -> str | None:
    """Words that no scheduler of Kubernetes writes where it refuses a pod: whose they are is not known."""
    known = fit_error.parse_fit_error(seen.message) is not None or seen.message == fit_error.NO_NODES_MESSAGE
    return None if known or not seen.message or _is_foreign(seen.message) else seen.message


def waited_in_vain(seen: Observed) -> str | None:
    """What is written where another plugin let the pod wait on a node that fits until its time was over."""
    said = fit_error.parse_fit_error(seen.message)
    waited = ((reason, _LATE.fullmatch(reason)) for reason in (said.reasons if said is not None else ()))
    return next((reason for reason, match in waited if match is not None and match[1] not in _OWN), None)


def _code(message: str) -> Code:
    """Whose refusal it is."""
    speaker = _speaker(message)
    if (speaker is not None and speaker not in _OWN) or _EXTENDER.match(message):
        return Code.REFUSED_BY_ANOTHER
    if _SCORES.match(message):
        return Code.SCORING_FAILED
    return Code.VOLUMES_AT_BINDING if speaker == _VOLUMES else Code.API_ERROR_AT_BINDING


def _speaker(message: str) -> str | None:
    match = _SPEAKER.match(message.removeprefix(_REJECTED))
    return (match[2] or match[3] or match[4]) if match is not None else None


def _is_foreign(message: str) -> bool:
    """Whether an extender or a plugin that is not in the default profile speaks, at whatever point."""
    return _code(message) is Code.REFUSED_BY_ANOTHER


def _ignored(state: ClusterState, pod: Pod, seen: Observed) -> tuple[Order, Cause] | None:
    """An extended resource of a class that the scheduler missed on nodes which do not offer it themselves.

    A scheduler that serves it from the class does not count it there. Upstream: noderesources/fit.go, fitsRequest and
    the plugin's withDeviceClass; DRAExtendedResource is a gate of the scheduler too.
    """
    said, nodes = fit_error.parse_fit_error(seen.message), state.inventory.nodes.values()
    if said is None:
        return None
    served = served_resources(state)
    for resource in sorted(asked(pod)):
        offering = sum(allocatable_of(node, resource) > 0 for node in nodes)
        if resource not in served or said.reasons.get(f"Insufficient {resource}", 0) <= offering:
            continue
        metadata = served[resource].metadata
        came = order(pod, seen, [(metadata, ())])
        if came is Order.OLDER:
            continue
        if said.nodes != len(nodes):
            # Nodes came or went since: those that offered the resource may be among them.
            came = Order.UNKNOWN
        known = came is Order.NEWER
        detail = IgnoredResource(resource, metadata.name, seen.time or "", known)
        return came, Cause(Code.EXTENDED_RESOURCE_IGNORED, detail)
    return None


def earlier(events: Iterable[Event], seen: Observed | None) -> Cause | None:
    """The last refusal that events tell of, where the scheduler has said something else since."""
    now = seen.message if seen is not None else ""
    about = [
        event
        for event in events
        if event.reason == _EVENT and events_.text(event) != now and is_refusal(events_.text(event))
    ]
    last = max(about, key=events_.last_seen, default=None)
    if last is None:
        return None
    return _cause(events_.text(last), events_.last_seen(last) or None, earlier=True)


def before(seen: Observed) -> Cause:
    """The words on the pod, where something else is in its way by now."""
    return _cause(seen.message, seen.time, earlier=True)


def is_refusal(message: str) -> bool:
    """Whether the scheduler had nodes that fit and could not score or write, for a reason that may last."""
    known = _WRITES.match(message) is not None or _SCORES.match(message) is not None or _is_foreign(message)
    return known and not any(text in message for text in _PASSING)


def _cause(message: str, time: str | None, *, known: bool = True, earlier: bool = False) -> Cause:
    code = _code(message)
    match = _SCORES.match(message) or _WRITES.match(message)
    # Who speaks is part of what a foreign plugin says.
    words = message[match.end() :] if match is not None and code is not Code.REFUSED_BY_ANOTHER else message
    plugin, point = "", ""
    if code is Code.REFUSED_BY_ANOTHER and (speaker := _SPEAKER.match(message.removeprefix(_REJECTED))) is not None:
        plugin, point = _speaker(message) or "", speaker["point"] or ""
        words = message.removeprefix(_REJECTED)[speaker.end() :]
    return Cause(code, Refusal(words, message, time or "", known, earlier, plugin, point))


# --- what came first ------------------------------------------------------------------------------------------------


def order(pod: Pod, seen: Observed, about: Iterable[tuple[ObjectMeta, Sequence[str]]]) -> Order:
    """By resource versions, which grow through the whole server; else by the times that objects tell.

    The words may have been repeated since, which changes no pod: then a time that is later than theirs makes them old.
    They are new where each object tells when it was last written, all of it before them. Upstream: apimachinery's
    ManagedFieldsEntry, whose time is that of the last change of any field of its manager.
    """
    others = list(about)
    if _has_new_spec(pod):
        return Order.OLDER
    said, changed = _said(pod, seen), _changed(pod)
    texts = (text for metadata, times in others for text in (*_times(metadata), *times))
    times = [time for text in texts if (time := parse_time(text)) is not None]
    if said is not None and any(time > said for time in changed):
        return Order.OLDER
    own, versions = _version_of_words(pod), [metadata.revision for metadata, _ in others]
    known = [version for version in versions if version is not None]
    if own is not None and len(known) == len(versions) and all(version < own for version in known):
        return Order.NEWER
    if said is not None and any(time > said for time in times):
        return Order.OLDER
    dated = all(any(each.time for each in metadata.managed_fields) for metadata, _ in others)
    return Order.NEWER if said is not None and dated and all(time < said for time in times) else Order.UNKNOWN


def _has_new_spec(pod: Pod) -> bool:
    """Whether the scheduler spoke of an earlier spec. Upstream: schedule_one.go, observedGeneration since 1.34."""
    condition = next((each for each in pod.status.conditions if each.type == _SCHEDULED), None)
    return condition is not None and 0 < condition.observed_generation < pod.metadata.generation


def _said(pod: Pod, seen: Observed) -> datetime | None:
    """When the words were said last: a condition keeps the time of its first words, its writer's entry has the last."""
    texts = (seen.time, *(each.time for each in pod.metadata.managed_fields if _is_of_scheduler(each)))
    return max((time for text in texts if (time := parse_time(text or "")) is not None), default=None)


def _changed(pod: Pod) -> list[datetime]:
    """When people and controllers wrote the pod: all but its status, which does not decide where it may run."""
    texts = (each.time for each in pod.metadata.managed_fields if each.subresource != _STATUS)
    return [time for text in texts if (time := parse_time(text or "")) is not None]


def _version_of_words(pod: Pod) -> int | None:
    """The pod's version where its condition was the last thing written, as far as the pod tells."""
    ours, others = list[datetime](), list[datetime]()
    for each in pod.metadata.managed_fields:
        time = parse_time(each.time or "")
        if time is not None:
            (ours if _is_of_scheduler(each) else others).append(time)
    created = parse_time(pod.metadata.creation_timestamp or "")
    if created is not None and others.count(created) == 1:
        # Whoever made the pod, in the second in which the scheduler may have refused it already.
        others.remove(created)
    last = not pod.metadata.managed_fields or (bool(ours) and all(time < max(ours) for time in others))
    return pod.metadata.revision if last else None


def _is_of_scheduler(entry: ManagedFields) -> bool:
    return (entry.subresource, entry.manager) == (_STATUS, _SCHEDULER)


def depends_on(state: ClusterState, claims: Sequence[ResourceClaim]) -> Iterator[tuple[ObjectMeta, Sequence[str]]]:
    """What decides about devices, each with the times that it tells beside those of its metadata."""
    for claim in claims:
        yield claim.metadata, tuple(_times_of(claim))
    inventory = state.inventory
    for objects in (inventory.classes, inventory.slices, inventory.taint_rules):
        yield from ((record.metadata, ()) for record in objects.values())


def _storage(state: ClusterState) -> Iterator[tuple[ObjectMeta, Sequence[str]]]:
    storage = state.inventory.storage
    for objects in (storage.claims, storage.volumes, storage.classes):
        yield from ((record.metadata, ()) for record in objects.values())


def _times(metadata: ObjectMeta) -> Iterator[str]:
    written = (each.time for each in metadata.managed_fields)
    yield from (time for time in (metadata.creation_timestamp, metadata.deletion_timestamp, *written) if time)


def _times_of(claim: ResourceClaim) -> Iterator[str]:
    allocation = claim.status.allocation
    if allocation is not None and allocation.allocation_timestamp:
        yield allocation.allocation_timestamp
    for device in claim.status.devices:
        yield from (time for time in map(_time, device.conditions) if time)


def _time(condition: Condition) -> str:
    return condition.last_transition_time or ""
