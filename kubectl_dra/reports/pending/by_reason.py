"""Pods and claims by their main reason, for lists."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport


class ReasonGroup(ReportRecord, frozen=True):
    """Pods with the same main reason."""

    code: Code | None
    meaning: str
    pods: tuple[ObjectRef, ...]


class ClaimGroup(ReportRecord, frozen=True):
    """Claims with the same main reason."""

    code: Code | None
    claims: tuple[ObjectRef, ...]


def reason_groups(reports: Iterable[PendingReport]) -> tuple[ReasonGroup, ...]:
    """Pods by main reason: the most frequent first, those that fit now last, then by code."""
    found = _by_code((report.code, report.pod) for report in reports)
    return tuple(ReasonGroup(code, code.meaning if code is not None else "", pods) for code, pods in found)


def claim_groups(reports: Iterable[ClaimPendingReport]) -> tuple[ClaimGroup, ...]:
    """Claims by main reason, in the same order; of each reason by namespace and name."""
    found = _by_code((report.code, report.claim) for report in reports)
    return tuple(ClaimGroup(code, tuple(sorted(claims, key=lambda ref: ref.key))) for code, claims in found)


def _by_code(found: Iterable[tuple[Code | None, ObjectRef]]) -> list[tuple[Code | None, tuple[ObjectRef, ...]]]:
    groups: dict[Code | None, list[ObjectRef]] = {}
    for code, ref in found:
        groups.setdefault(code, []).append(ref)

    def rank(item: tuple[Code | None, list[ObjectRef]]) -> tuple[bool, int, str]:
        return item[0] is Code.FITS_NOW, -len(item[1]), item[0] or ""

    return [(code, tuple(refs)) for code, refs in sorted(groups.items(), key=rank)]
