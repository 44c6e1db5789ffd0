"""In which order ways out are told: by what they change, and within that by how much they ask.

First nothing (waiting), then the pod's own request, then the cluster, then the work of others. Tolerating the taint of
a device comes last in its part: the taint reports a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.remedies.records import (
    Action,
    CreateObject,
    DeletePod,
    EditClaim,
    EditPod,
    RemoveGates,
    RenewClaim,
    Wait,
)

_OF_THE_NAMESPACE: Final = ("ResourceClaim", "ResourceClaimTemplate")


class Area(StrEnum):
    """What a way out changes."""

    WAIT = "wait"
    REQUEST = "request"
    CLUSTER = "cluster"
    OTHER_WORK = "otherWork"


_ORDER: Final = tuple(Area)


def area(actions: Sequence[Action]) -> Area:
    """What the actions change: the part of them that reaches farthest."""
    return max(map(_area, actions), key=_ORDER.index, default=Area.WAIT)


def rank(actions: Sequence[Action]) -> tuple[int, bool]:
    """Sorts ways out; those of the same rank stay in their order."""
    return _ORDER.index(area(actions)), tolerates_device_taint(actions)


def tolerates_device_taint(actions: Sequence[Action]) -> bool:
    """Whether devices are taken in spite of a taint."""
    return any(isinstance(action, EditClaim) and action.field.startswith("tolerations") for action in actions)


def _area(action: Action) -> Area:
    match action:
        case Wait():
            return Area.WAIT
        case EditClaim() | RenewClaim() | EditPod() | RemoveGates():
            return Area.REQUEST
        case CreateObject(ref=ref) if ref.kind in _OF_THE_NAMESPACE:
            return Area.REQUEST
        case DeletePod():
            return Area.OTHER_WORK
    return Area.CLUSTER
