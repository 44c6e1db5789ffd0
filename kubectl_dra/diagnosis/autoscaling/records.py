"""Node groups of autoscalers: what a fresh node of each would be, and whether a pod would fit on it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from kubectl_dra.diagnosis.records import Cause, Missing, NodeOutcome
from kubectl_dra.model.base import ReportRecord


class Doubt(StrEnum):
    """Why an autoscaler may see a group otherwise than it will be, or why the answer about it is not sure."""

    INCOMPLETE_POOL = "incompletePool"
    NO_DEVICES = "noDevices"
    NO_ATTRIBUTES = "noAttributes"
    AT_MAXIMUM = "atMaximum"
    AT_LIMIT = "atLimit"
    IGNORES_CLAIMS = "ignoresClaims"
    CAPACITY_UNKNOWN = "capacityUnknown"
    LABELS_OPEN = "labelsOpen"
    STARTUP_TAINTS = "startupTaints"


class GroupVerdict(ReportRecord, frozen=True):
    """Whether a pod would fit on a fresh node of a group: the node's ``outcome``, and what is in the way (``causes``).

    ``size``, ``minimum`` and ``maximum`` are numbers of nodes, None where they are not said. ``devices``: how many the
    node would publish as far as that is known. ``failed``: why its newest node could not be launched, at ``failed_at``.
    """

    kind: str
    name: str
    outcome: NodeOutcome
    causes: tuple[Cause, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    devices: int = 0
    size: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    like: str = ""
    failed: str = ""
    failed_at: str = ""

    @property
    def fits(self) -> bool:
        return self.outcome is NodeOutcome.FITS


class JudgedGroups(msgspec.Struct, frozen=True):
    """The answers about all groups that are known, and what could not be read of groups and of their nodes."""

    verdicts: tuple[GroupVerdict, ...]
    missing: tuple[Missing, ...] = ()
