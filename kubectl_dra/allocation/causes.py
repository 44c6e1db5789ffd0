"""Why a candidate was rejected, as typed records with evidence; who words them lives above this package.

Each record belongs to one check that the scheduler makes for one device and one request, in the order of its checks.
"""

from __future__ import annotations

from dataclasses import dataclass

from kubectl_dra.allocation.pools import InvalidReason
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.resource import DeviceAttribute, DeviceTaint


@dataclass(frozen=True, slots=True)
class Cause:
    """Base of all causes."""


# --- pools ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PoolIncomplete(Cause):
    """Not exactly the expected number of slices of the newest generation was seen."""

    pool: PoolId
    generation: int
    seen: int
    expected: int


@dataclass(frozen=True, slots=True)
class PoolInvalid(Cause):
    """The pool contradicts itself."""

    pool: PoolId
    reason: InvalidReason


@dataclass(frozen=True, slots=True)
class PoolObsolete(Cause):
    """The node's slices are of an older generation than others of the pool."""

    pool: PoolId
    generation: int
    newer: int


@dataclass(frozen=True, slots=True)
class SliceIgnored(Cause):
    """A slice uses something that is switched off in the scheduler."""

    pool: PoolId
    slice_name: str
    feature: str


# --- devices --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeviceCause(Cause):
    """Base of causes about one device and one request; ``request`` is ``request`` or ``request/subrequest``."""

    device: DeviceId
    claim: Key
    request: str


@dataclass(frozen=True, slots=True)
class InUse(DeviceCause):
    """Held by these claims."""

    holders: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class TakenEarlier(DeviceCause):
    """Chosen before in the same attempt, for one of these claims of the pod."""

    by: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class NotInClass(DeviceCause):
    """A selector of the class says no."""

    device_class: str
    selector: int
    expression: str


@dataclass(frozen=True, slots=True)
class NotSelected(DeviceCause):
    """A selector of the request says no."""

    selector: int
    expression: str


@dataclass(frozen=True, slots=True)
class OtherNode(DeviceCause):
    """The device of a slice with per-device node selection is for other nodes."""


@dataclass(frozen=True, slots=True)
class FeatureOff(DeviceCause):
    """The device needs a feature that is off in the scheduler, or (``on_node``) on the node."""

    feature: str
    on_node: bool = False


@dataclass(frozen=True, slots=True)
class CapacityMissing(DeviceCause):
    """The device has no capacity of that name."""

    capacity: str


@dataclass(frozen=True, slots=True)
class CapacityPolicyRefuses(DeviceCause):
    """The amount is not one that the capacity's request policy allows."""

    capacity: str
    amount: str


@dataclass(frozen=True, slots=True)
class CapacityShort(DeviceCause):
    """Too little is left; amounts in 1e-9 units."""

    capacity: str
    needs: int
    left: int
    total: int
    holders: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class IncompatibleGroups(DeviceCause):
    """The device's compatibility groups have nothing in common with those in use; None stands for "declares none"."""

    counter_set: str
    groups: frozenset[str] | None
    present: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class CountersShort(DeviceCause):
    """A counter of the pool would be overdrawn; amounts in 1e-9 units, ``own``: by this device itself."""

    counter_set: str
    counter: str
    needs: int
    left: int
    own: bool


@dataclass(frozen=True, slots=True)
class Tainted(DeviceCause):
    """A taint that no toleration of the request covers."""

    taint: DeviceTaint


@dataclass(frozen=True, slots=True)
class ConstraintRefuses(DeviceCause):
    """A constraint of the claim refuses: ``seen`` None if the device lacks the attribute, ``expected`` what is held."""

    constraint: int
    attribute: str
    distinct: bool
    expected: tuple[DeviceAttribute, ...]
    seen: DeviceAttribute | None
