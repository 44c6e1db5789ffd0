"""In which order ways out are told: by what they change, and within that by how much they ask.

First nothing (waiting), then how the pod's own workload is updated, then its request, then the cluster, then the work
of others, then to do without a part of the request, then copying the pod's data. Tolerating the taint of a device comes
last: the taint usually reports a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.actions import (
    ClearSelectedNode,
    EditGroup,
    MoveVolume,
    RemoveLabel,
    ScaleDown,
    SetDeletionCost,
)
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.model.quantity import Quantity

#: Fields of a claim: a whole request, and amounts of one.
_REQUESTS: Final = "requests"
_AMOUNTS: Final = ("count", "capacity.requests")
_HALF: Final = 0.5
_OF_THE_NAMESPACE: Final = ("ResourceClaim", "ResourceClaimTemplate", "PersistentVolumeClaim")


class Area(StrEnum):
    """What a way out changes."""

    WAIT = "wait"
    ROLLOUT = "rollout"
    REQUEST = "request"
    CLUSTER = "cluster"
    OTHER_WORK = "otherWork"
    DO_WITHOUT = "doWithout"
    DATA = "data"
    IN_SPITE = "inSpiteOfTaint"


_ORDER: Final = tuple(Area)


def area(actions: Sequence[records.Action]) -> Area:
    """What the actions change: the part of them that reaches farthest."""
    return max(map(_area, actions), key=_ORDER.index, default=Area.WAIT)


def rank(actions: Sequence[records.Action]) -> int:
    """Sorts ways out; those of the same rank stay in their order."""
    return _ORDER.index(area(actions))


def asks_for_less(actions: Sequence[records.Action]) -> bool:
    """Whether the pod gets less than it asks for, or what it did not want."""
    return any(map(_is_less, actions))


def tolerates_device_taint(actions: Sequence[records.Action]) -> bool:
    """Whether devices are taken in spite of a taint."""
    return any(map(_tolerates, actions))


def tolerates_as_the_pod(action: records.Action) -> bool:
    """Whether the pod has such a toleration already, where it counts for nodes."""
    return _is_toleration(action) and bool(action.before) and "=" not in action.before  # type: ignore[union-attr]


def _tolerates(action: records.Action) -> bool:
    """Who has written such a toleration, be it in the pod or with another value, wants the devices."""
    return _is_toleration(action) and not action.before  # type: ignore[union-attr]


def _is_toleration(action: records.Action) -> bool:
    return isinstance(action, records.EditClaim) and action.field.startswith("tolerations")


def _is_less(action: records.Action) -> bool:
    """A smaller amount, another value of an attribute, or a condition that is dropped."""
    match action:
        case records.EditClaim():
            share = _share(action)
            return not action.after or bool(action.offers) or (share is not None and share < 1)
        case records.EditPod():
            return not action.after
    return False


def _gives_up(action: records.EditClaim) -> bool:
    """Whether a whole request goes, or more than half of what one asks for."""
    share = _share(action)
    return (action.field == _REQUESTS and not action.after) or (share is not None and share < _HALF)


def _share(action: records.EditClaim) -> float | None:
    """What is left of an amount; None of what is no amount."""
    if action.field.partition("[")[0] not in _AMOUNTS:
        return None
    try:
        before, after = (Quantity.parse(text).at_scale(-9)[0] for text in (action.before, action.after))
    except ValueError:
        return None
    return after / before if before else None


def _area(action: records.Action) -> Area:
    match action:
        case records.Wait():
            return Area.WAIT
        case EditRollout():
            return Area.ROLLOUT
        case records.EditClaim() if _tolerates(action):
            return Area.IN_SPITE
        case records.EditClaim() if _gives_up(action):
            return Area.DO_WITHOUT
        case EditGroup():
            return Area.DO_WITHOUT
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
        case records.DeletePod() | ScaleDown() | SetDeletionCost():
            return Area.OTHER_WORK
        case MoveVolume(volume=volume):
            return Area.DATA if volume else Area.REQUEST
    return Area.CLUSTER
