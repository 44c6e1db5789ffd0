"""Volumes that do not come to a pod's node: which event names the cause, and which pods elsewhere have the volume.

Upstream: pkg/controller/volume/attachdetach/reconciler (reportMultiAttachError), pkg/kubelet/volumemanager
(WaitForAttachAndMount: its words sum up what other events say).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Cause, KubeletText, ObjectRef, VolumeHeld
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.storage import used_claims

ATTACH_FAILED: Final = "FailedAttachVolume"
#: Reasons of events that are about volumes, and about no device.
OF_VOLUMES: Final = frozenset({ATTACH_FAILED, "FailedMount", "FailedMapVolume"})
_ATTACHED: Final = "SuccessfulAttachVolume"
_SUMMARY: Final = "Unable to attach or mount volumes: "
_VOLUME: Final = re.compile(r'for volume "(?P<name>[^"]+)"')
_ELSEWHERE: Final = "Multi-Attach error"


def sums_up(event: Event) -> bool:
    """Whether an event only counts the volumes that are missing: why they are, others say."""
    return events_.text(event).startswith(_SUMMARY)


def is_attached_since(event: Event, others: Iterable[Event]) -> bool:
    """Whether a volume that could not be attached is attached by now."""
    if event.reason != ATTACH_FAILED:
        return False
    seen, volume = events_.last_seen(event), _volume_in(events_.text(event))
    later = (each for each in others if each.reason == _ATTACHED and events_.last_seen(each) >= seen)
    return any(_volume_in(events_.text(each)) == volume for each in later)


def _volume_in(text: str) -> str:
    found = _VOLUME.search(text)
    return found["name"] if found is not None else ""


def with_holders(state: ClusterState, pod: Pod, cause: Cause) -> Cause:
    """The cause with the pods on other nodes that use a volume which is still attached there."""
    said = cause.detail
    if not isinstance(said, KubeletText) or not said.text.startswith(_ELSEWHERE):
        return cause
    claims = _claims(state, pod, _volume_in(said.text))
    held = VolumeHeld(_volume_in(said.text), sorted(claims)[0] if len(claims) == 1 else "", *_users(state, pod, claims))
    return replace(cause, detail=replace(said, held=held))


def _claims(state: ClusterState, pod: Pod, volume: str) -> frozenset[str]:
    """The pod's claims that may be bound to the volume: the one that is, where they were read."""
    names, stored = frozenset(used_claims(pod.spec.volumes)), state.inventory.storage.claims
    keys = {name: Key(pod.metadata.namespace, name) for name in names}
    bound = {name for name, key in keys.items() if key in stored and stored[key].spec.volume_name == volume}
    return frozenset(bound) or frozenset(name for name, key in keys.items() if key not in stored)


def _users(state: ClusterState, pod: Pod, claims: frozenset[str]) -> tuple[tuple[ObjectRef, ...], tuple[str, ...]]:
    """The pods that use any of the claims on other nodes, and these nodes."""
    found = sorted(_elsewhere(state, pod, claims), key=lambda each: key_of(each.metadata))
    refs = tuple(ObjectRef.of("Pod", key_of(each.metadata)) for each in found)
    return refs, tuple(sorted({each.spec.node_name for each in found}))


def _elsewhere(state: ClusterState, pod: Pod, claims: frozenset[str]) -> Iterator[Pod]:
    for other in state.inventory.pods.values():
        node, namespace = other.spec.node_name, other.metadata.namespace
        if not node or node == pod.spec.node_name or namespace != pod.metadata.namespace or is_terminal(other):
            continue
        if not claims.isdisjoint(used_claims(other.spec.volumes)):
            yield other
