"""The verdicts about pods, claims and nodes, and what the numbers of a diagnosis are worth."""

from __future__ import annotations

from enum import StrEnum

from kubectl_dra.model.base import ReportRecord


class Verdict(StrEnum):
    """What becomes of a pod, in the order in which the first that holds is taken."""

    NOT_PENDING = "NotPending"
    ENDED = "Ended"
    PREPARING = "Preparing"
    DELETING = "Deleting"
    GATED = "Gated"
    OTHER_SCHEDULER = "OtherScheduler"
    BINDING = "Binding"
    SCHEDULER_ERROR = "SchedulerError"
    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    UNKNOWN = "Unknown"


class ClaimVerdict(StrEnum):
    """The state of a claim."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    RESERVED = "Reserved"
    UNRESERVED = "Unreserved"
    DELETING = "Deleting"


class NodeOutcome(StrEnum):
    """What one attempt gives on a node."""

    REJECTED = "Rejected"  # by a plugin before DynamicResources
    CLAIM_UNAVAILABLE = "ClaimUnavailable"
    CANNOT_ALLOCATE = "CannotAllocate"
    FATAL = "Fatal"
    FITS = "Fits"
    UNDECIDED = "Undecided"


class Agreement(StrEnum):
    """The prediction beside what the pod's condition says."""

    AGREES = "agrees"
    STALE = "stale"  # the condition was written about an earlier state
    UNTRACED = "untraced"  # the pod fits, and nothing that was read is newer: something may have been deleted
    DIFFERS = "differs"
    UNOBSERVED = "unobserved"  # the scheduler has written nothing yet
    UNCHECKED = "unchecked"  # no message could be predicted


class AssumptionKind(StrEnum):
    """What can't be read from the API."""

    NONE_OF_KIND = "noneOfKind"  # a plain list: kinds that do not occur are taken as none
    CLOCK = "clock"  # no time of reading: nothing is taken as timed out
    EXTENDED_RESOURCE_CLASH = "extendedResourceClash"  # several classes serve a resource; the newest is taken
    POD_GROUP = "podGroup"  # groups of this version, or groups of groups, are not simulated
    NODE_ALLOCATABLE = "nodeAllocatable"  # resources that devices add to a pod's requests are not simulated
    SEARCH_ORDER = "searchOrder"  # this scheduler's order is random: the first solution, or error, is not predicted
    NOT_SIMULATED = "notSimulated"  # a plugin that decides about something in the pod: it is taken to admit all nodes
    NOMINATED = "nominated"  # a pod of lower priority, nominated for a node, waits; it may be being bound there
    FEATURES = "features"  # the server's version is not known: the feature gates' defaults of another one are taken


class Bound(StrEnum):
    """How a number relates to the truth, given what could be read."""

    EXACT = "exact"
    AT_LEAST = "atLeast"
    AT_MOST = "atMost"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        """What stands before the number."""
        return {Bound.EXACT: "", Bound.AT_LEAST: "≥", Bound.AT_MOST: "≤", Bound.UNKNOWN: "?"}[self]


class Count(ReportRecord, frozen=True):
    """A number and how sure it is."""

    value: int
    bound: Bound = Bound.EXACT


class Amount(ReportRecord, frozen=True):
    """A quantity in Kubernetes' notation and how sure it is."""

    value: str
    bound: Bound = Bound.EXACT


class Certainty(ReportRecord, frozen=True):
    """What the numbers of a diagnosis are worth: devices that exist, devices left over, nodes that pass or fit."""

    devices: Bound = Bound.EXACT
    free_devices: Bound = Bound.EXACT
    nodes: Bound = Bound.EXACT
