"""A plan to taint devices or to remove taints: the exact writes, and whom they hit.

Built in ``reports.taints.taint_plan``, carried out by ``source.live.write``, shown by ``output.taints``. No I/O, no
wording.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import DeviceTaint, DeviceTaintSelector

MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "kubectl-dra"


class Verb(StrEnum):
    """What is done to a DeviceTaintRule."""

    CREATE = "create"
    PATCH = "patch"
    DELETE = "delete"


class Fate(StrEnum):
    """What becomes of a pod, from the worst to the best."""

    EVICTED = "evicted"  # deleted as soon as the rule is there
    LATER = "evictedLater"  # deleted when the toleration ends
    ON_BINDING = "evictedWhenBound"  # not on a node yet; deleted when it is
    UNCERTAIN = "uncertain"  # depends on what can't be read
    SPARED = "spared"  # was to be evicted by the rule as it is, and no longer is
    KEPT = "kept"


class Why(StrEnum):
    """What decides about a use of a device."""

    NOT_TOLERATED = "notTolerated"
    EMPTY_EFFECT = "emptyEffect"  # a toleration without effect counts for scheduling, not against eviction
    TOLERATED_FOR = "toleratedFor"  # tolerationSeconds
    TOLERATED = "tolerated"
    NO_EVICTION = "noEviction"  # the effect evicts nobody, or the rule goes away
    EXTENDED_RESOURCE = "extendedResource"  # versions of the eviction controller differ about these
    DELETING = "deleting"  # somebody has deleted the pod already
    NOT_RESERVED = "notReserved"  # the claim is not reserved for the pod, or not made for it
    NOT_READ = "notRead"  # the claim is reserved for a consumer that could not be read
    NO_POD = "noPod"  # no pod uses the claim


class PlanTarget(ReportRecord, frozen=True):
    """Where the plan would be carried out, and as whom; all empty for a file. ``as_user`` is who is impersonated."""

    context: str = ""
    cluster: str = ""
    server: str = ""
    user: str = ""
    as_user: str = ""


class PlannedTaint(ReportRecord, frozen=True):
    """A taint of the plan; what is empty is there as well, other than in a rule of the API."""

    key: str
    value: str
    effect: str

    @classmethod
    def of(cls, taint: DeviceTaint) -> PlannedTaint:
        return cls(taint.key, taint.value, taint.effect)

    @property
    def for_rule(self) -> DeviceTaint:
        """The same for the spec of a DeviceTaintRule."""
        return DeviceTaint(self.key, self.value, self.effect)


class RuleWrite(ReportRecord, frozen=True):
    """One write of one DeviceTaintRule in ``api_version``.

    ``taint`` is the taint afterwards, for a deletion the one that goes. ``before`` is what a patch replaces. ``uid``
    and ``resource_version`` are what the object must still have; a creation has none. ``own`` tells rules that this
    program made from those of others.
    """

    verb: Verb
    name: str
    api_version: str
    selector: DeviceTaintSelector | None
    taint: PlannedTaint
    before: PlannedTaint | None = None
    uid: str = ""
    resource_version: str = ""
    own: bool = True


class OtherTaint(PlannedTaint, frozen=True):
    """A taint that is on the device whatever the plan does; ``rule`` is empty for one that the driver set."""

    rule: str


class PlannedDevice(ReportRecord, frozen=True):
    """A device of the plan. ``pool_devices`` counts the devices of its pool; 0 where the device is not published."""

    driver: str
    pool: str
    device: str
    pool_devices: int
    shared: bool
    others: tuple[OtherTaint, ...]

    @property
    def id(self) -> DeviceId:
        return DeviceId(self.driver, self.pool, self.device)


class Use(ReportRecord, frozen=True):
    """One allocation result that the taint meets; ``seconds`` is tolerationSeconds where that decides."""

    device: str
    claim: str
    request: str
    share_id: str
    consumed_capacity: dict[str, str]
    admin_access: bool
    extended_resource: str
    fate: Fate
    why: Why
    seconds: int | None


class Hit(ReportRecord, frozen=True):
    """A pod that uses devices of the plan, or a claim that holds them without any (``pod`` is then empty).

    The eviction controller deletes a pod at the earliest time that any of its claims gives: ``fate``, ``why`` and
    ``seconds`` are those of that use. ``anyway`` names the rules (or ``driver``) that evict the pod without this plan.
    ``controller``: the kind of what starts an evicted pod again; empty where nothing does, or the pod was not read.
    """

    namespace: str
    pod: str
    uid: str
    node: str
    fate: Fate
    why: Why
    seconds: int | None
    uses: tuple[Use, ...]
    anyway: tuple[str, ...]
    controller: str


class TaintPlan(ReportRecord, frozen=True):
    """All of a plan. ``present`` names own rules that say already what was asked for, so that nothing is to be done.

    ``taint`` is what was asked for; of a removal its value and effect may be empty. ``failing`` counts the devices for
    which the expression of ``--match`` could not be evaluated. ``partial`` names kinds of which not every object could
    be read.
    """

    target: PlanTarget
    removal: bool
    taint: PlannedTaint
    devices: tuple[PlannedDevice, ...]
    writes: tuple[RuleWrite, ...]
    present: tuple[str, ...]
    hits: tuple[Hit, ...]
    partial: tuple[str, ...] = ()
    failing: int = 0

    @property
    def substance(self) -> tuple[object, ...]:
        """What a second reading must find unchanged before anything is written: devices, writes and hits."""
        writes = tuple(msgspec.structs.replace(write, resource_version="") for write in self.writes)
        return self.devices, writes, self.hits, self.present

    def evicted(self) -> tuple[Hit, ...]:
        """The pods on nodes that the eviction controller deletes, now or later."""
        return tuple(hit for hit in self.hits if hit.fate in (Fate.EVICTED, Fate.LATER))
