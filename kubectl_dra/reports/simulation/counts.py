"""Other numbers of pods than that of the manifest: fewer of them, and more."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.pending import PendingReport


class FieldNumber(ReportRecord, frozen=True):
    """A field of the manifest, and a number for it."""

    path: str
    value: int


class InGroups(ReportRecord, frozen=True):
    """Pods of several kinds that come in ``groups``, ``pods`` of this kind in each; ``field``: how many there are."""

    field: str
    groups: int
    pods: int


class OtherNumber(ReportRecord, frozen=True):
    """A field of another object of the files, and a number for it."""

    object: ObjectRef
    path: str
    value: int


class FewerPods(ReportRecord, frozen=True):
    """The ``fields`` with which so many ``pods`` are made as fit; ``at``: where their object stands in the files.

    ``also``: what else waits for as many as there were. ``heals``: other parts of the object that then fit as well.
    """

    fields: tuple[FieldNumber, ...]
    pods: int
    at: str = ""
    also: tuple[OtherNumber, ...] = ()
    heals: tuple[str, ...] = ()


class KeptOff(ReportRecord, frozen=True):
    """A DaemonSet would fit on all its nodes with a ``label`` (``KEY=VALUE``) in its node selector, the ``field``.

    It would make no pods on ``nodes`` then, where they don't fit. ``label`` empty: none tells these nodes from others.
    ``others``: nodes on which they don't fit for other reasons.
    """

    nodes: tuple[str, ...]
    field: str
    label: str = ""
    others: tuple[ElsewhereOff, ...] = ()


class ElsewhereOff(ReportRecord, frozen=True):
    """Nodes on which pods of a DaemonSet don't fit, and what is told of the first; ``label``: what others have."""

    nodes: tuple[str, ...]
    pending: PendingReport
    label: str = ""


class Growing(ReportRecord, frozen=True):
    """Who may make more pods later, up to ``most``, of which ``fit`` find a node; None: not known.

    ``passing``: for a while.
    """

    by: str
    most: int
    fit: int | None
    passing: bool = False
