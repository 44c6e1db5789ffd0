"""Other numbers of pods than that of the manifest: fewer of them, and more."""

from __future__ import annotations

from kubectl_dra.reports.base import ReportRecord


class FieldNumber(ReportRecord, frozen=True):
    """A field of the manifest, and a number for it."""

    path: str
    value: int


class FewerPods(ReportRecord, frozen=True):
    """The ``fields`` with which so many ``pods`` are made as fit; ``at``: where their object stands in the files."""

    fields: tuple[FieldNumber, ...]
    pods: int
    at: str = ""


class Growing(ReportRecord, frozen=True):
    """Who may make more pods later, up to ``most``, of which ``fit`` find a node; None: not known."""

    by: str
    most: int
    fit: int | None
