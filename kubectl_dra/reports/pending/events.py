"""What events say beside those of the pod itself: warnings about objects that it names, and words of autoscalers.

Sources: cluster-autoscaler's processors/status (TriggeredScaleUp, NotTriggerScaleUp), karpenter's
controllers/provisioning/scheduling/events (Nominated, FailedScheduling; its component is ``karpenter``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.cluster.state import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said import events
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, is_true
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.scheduler.claims import claims_of
from kubectl_dra.scheduler.storage import CLAIM

_REFUSES: Final = {"NotTriggerScaleUp": "cluster-autoscaler"}
_ACTS: Final = {"TriggeredScaleUp": "cluster-autoscaler", "Nominated": "karpenter"}
_KARPENTER: Final = "karpenter"
#: They say it again with every attempt, cluster-autoscaler every few seconds and Karpenter at least every 5 minutes;
#: the API server keeps events for an hour.
_SILENT: Final = timedelta(hours=1)
#: A node that is not there by then is given up: cluster-autoscaler's --max-node-provision-time, and the time that
#: Karpenter gives a NodeClaim to register (pkg/controllers/nodeclaim/lifecycle/liveness.go).
_PROVISIONED: Final = timedelta(minutes=15)
#: So long a node may take until it is ready and its drivers have published their devices.
_STARTED: Final = timedelta(minutes=10)
_NODES: Final = 3
_DEFAULT: Final = "default"
_FAILED: Final = "FailedScheduling"


class NamedEvent(ReportRecord, frozen=True):
    """What ``by`` said last of ``object``, ``times`` until ``time``."""

    object: ObjectRef
    reason: str
    message: str
    time: str
    times: int
    by: str


def named_event(pod: Pod, inventory: Inventory) -> NamedEvent | None:
    """The newest of all that the pod names."""
    found = (event for kind, meta in _named(pod, inventory) for event in _about(kind, meta, inventory))
    return max(found, key=lambda each: (each.time, each.reason), default=None)


def _named(pod: Pod, inventory: Inventory) -> Iterator[tuple[str, ObjectMeta]]:
    """Claims for devices, and those for volumes that have none yet: of a bound one every warning is over."""
    for claim in claims_of(pod, inventory):
        yield "ResourceClaim", claim.metadata
    for volume in pod.spec.volumes:
        own = f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else ""
        name = own if volume.persistent_volume_claim is None else volume.persistent_volume_claim.claim_name
        found = inventory.storage.claims.get(Key(pod.metadata.namespace, name)) if name else None
        if found is not None and not found.spec.volume_name:
            yield CLAIM, found.metadata


def _about(kind: str, meta: ObjectMeta, inventory: Inventory) -> Iterator[NamedEvent]:
    """None about another object that had its name."""
    for each in inventory.events_by_object.get((kind, meta.namespace, meta.name), ()):
        if each.type == "Warning" and events.subject_uid(each) in ("", meta.uid):
            yield _named_event(ObjectRef.of(kind, key_of(meta)), each)


def last_of_node(node: str, reasons: Collection[str], inventory: Inventory) -> NamedEvent | None:
    """The newest event of some reasons about a node; the kubelet writes it without a namespace (pkg/kubelet)."""
    about = (each for space in ("", _DEFAULT) for each in inventory.events_by_object.get(("Node", space, node), ()))
    found = [_named_event(ObjectRef("Node", "", node), each) for each in about if each.reason in reasons]
    return max(found, key=lambda each: each.time, default=None)


def _named_event(ref: ObjectRef, event: Event) -> NamedEvent:
    last, by = events.last_seen(event), events.reporter(event)
    return NamedEvent(ref, event.reason, events.text(event), last, events.times(event), by)


class StartingNode(ReportRecord, frozen=True):
    """A node that has just ``joined``: not ``ready``, or without devices as long as no driver has published any."""

    node: str
    joined: str
    ready: bool


class AutoscalerWords(ReportRecord, frozen=True):
    """The last event of an autoscaler: whether it ``adds`` a node for the pod, its words, and when.

    ``old``: it has said nothing for so long that it may have stopped trying, or given up the node that it added.
    ``joined``: the first few nodes that have come since it said that it adds one; ``starting``: those of them that may
    have devices soon.
    """

    autoscaler: str
    adds: bool
    message: str
    time: str = ""
    old: bool = False
    joined: tuple[str, ...] = ()
    starting: tuple[StartingNode, ...] = ()


def autoscaler_words(pod: Pod, state: ClusterState) -> AutoscalerWords | None:
    """The newest of them about this very pod; None where there is none."""
    about = filter(_who, events_.about(state.inventory, pod))
    last = max(about, key=events_.last_seen, default=None)
    if last is None:
        return None
    seen = events_.last_seen(last)
    time = parse_time(seen)
    adds = last.reason in _ACTS
    old = time is not None and state.now - time > (_PROVISIONED if adds else _SILENT)
    joined = _joined_since(time, state) if adds and time is not None else ()
    starting = tuple(_starting(joined, state))
    return AutoscalerWords(_who(last), adds, events_.text(last), seen, old, joined, starting)


def _joined_since(time: datetime, state: ClusterState) -> tuple[str, ...]:
    made = {name: parse_time(node.metadata.creation_timestamp) for name, node in state.inventory.nodes.items()}
    return tuple(sorted(name for name, since in made.items() if since is not None and since >= time))[:_NODES]


def _starting(names: Iterable[str], state: ClusterState) -> Iterator[StartingNode]:
    """Those that are not what they will be: kubelet and network come up, then drivers, each in minutes."""
    inventory = state.inventory
    for name in names if state.evidence.complete("ResourceSlice") else ():
        node = inventory.nodes[name]
        made = node.metadata.creation_timestamp or ""
        ready = is_true(node.status.conditions, "Ready")
        since = parse_time(made)
        if since is not None and state.now - since < _STARTED and not (ready and inventory.slices_by_node.get(name)):
            yield StartingNode(name, made, ready)


def _who(event: Event) -> str:
    if event.reason == _FAILED:
        component = events_.reporter(event)
        return _KARPENTER if component.startswith(_KARPENTER) else ""
    return _REFUSES.get(event.reason) or _ACTS.get(event.reason) or ""
