"""Devices that are kept for nobody and would be enough: they stand in the first line, beside what the nearest lacks."""

from __future__ import annotations

from kubectl_dra.diagnosis.codes import Family
from kubectl_dra.diagnosis.remedies.records import DeleteClaim, EndReservations
from kubectl_dra.output.pending.removals import users_gone
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, first_of, plural
from kubectl_dra.reports.pending.pending import PendingReport

_NAMES = 2


def kept_sentence(report: PendingReport, reason: Safe) -> Safe | None:
    """``4 devices on n1 are kept for PodGroup run-1 without pods``; nothing where ``reason`` names the claims.

    Only of the first way out that does nothing but give such devices back.
    """
    of_devices = report.code is None or report.code.family is Family.DEVICES
    for remedy in report.remedies if of_devices else ():
        kept = [each for each in remedy.actions if isinstance(each, DeleteClaim | EndReservations)]
        if not remedy.verified or not kept or len(kept) < len(remedy.actions):
            continue
        if any(each.claim.name in reason for each in kept):
            return None
        number = sum(len(each.frees) for each in kept)
        whom = first_of(list(dict.fromkeys(map(_whom, kept))), _NAMES)
        where = fmt(" on {}", remedy.nodes[0]) if len(remedy.nodes) == 1 else Safe("")
        return fmt("{}{} {} kept for {}", counted(number, "device"), where, Safe(plural("is", number)), whom)
    return None


def _whom(action: DeleteClaim | EndReservations) -> Safe:
    if isinstance(action, DeleteClaim):
        return fmt("nobody (claim {})", action.claim.name)
    return users_gone(action.held_for, action.pods)
