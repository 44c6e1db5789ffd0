"""In which order ways out are told: by what they change, and within that by how much they ask.

First nothing (waiting), then how the pod's own workload is updated, then its request, then the cluster, then the work
of others, then copying the pod's data. Tolerating the taint of a device comes last: the taint usually reports a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.repelled import RemoveLabel, ScaleDown
from kubectl_dra.diagnosis.remedies.volume_ways import ClearSelectedNode, MoveVolume
from kubectl_dra.diagnosis.rollouts import EditRollout

_OF_THE_NAMESPACE: Final = ("ResourceClaim", "ResourceClaimTemplate", "PersistentVolumeClaim")


class Area(StrEnum):
    """What a way out changes."""

    WAIT = "wait"
    ROLLOUT = "rollout"
    REQUEST = "request"
    CLUSTER = "cluster"
    OTHER_WORK = "otherWork"
    DATA = "data"
    IN_SPITE = "inSpiteOfTaint"


_ORDER: Final = tuple(Area)


def area(actions: Sequence[records.Action]) -> Area:
    """What the actions change: the part of them that reaches farthest."""
    return max(map(_area, actions), key=_ORDER.index, default=Area.WAIT)


def rank(actions: Sequence[records.Action]) -> int:
    """Sorts ways out; those of the same rank stay in their order."""
    return _ORDER.index(area(actions))


def tolerates_device_taint(actions: Sequence[records.Action]) -> bool:
    """Whether devices are taken in spite of a taint."""
    return any(map(_tolerates, actions))


def _tolerates(action: records.Action) -> bool:
    return isinstance(action, records.EditClaim) and action.field.startswith("tolerations")


def _area(action: records.Action) -> Area:
    match action:
        case records.Wait():
            return Area.WAIT
        case EditRollout():
            return Area.ROLLOUT
        case records.EditClaim() if _tolerates(action):
            return Area.IN_SPITE
        case (
            records.EditClaim()
            | records.RenewClaim()
            | records.EditPod()
            | records.RemoveGates()
            | RemoveLabel()
            | ClearSelectedNode()
            | records.RestartPods()
        ):
            return Area.REQUEST
        case records.CreateObject(ref=ref) if ref.kind in _OF_THE_NAMESPACE:
            return Area.REQUEST
        case records.DeletePod() | ScaleDown():
            return Area.OTHER_WORK
        case MoveVolume():
            return Area.DATA
    return Area.CLUSTER
