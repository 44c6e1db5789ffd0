"""A pod that the default profile admits to a node, and that an extender or another plugin has refused.

By which rules those decide is not known. What the scheduler said last is its verdict while it explains every node that
fits; where more nodes fit than they have refused, they may or may not refuse those too.
"""

from __future__ import annotations

from dataclasses import replace

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import GangElsewhere, NodeOutcome, Observed, PodDiagnosis, Verdict
from kubectl_dra.diagnosis.said import agreement, refusals
from kubectl_dra.scheduler import fit_error


def have_spoken(judgement: Judgement, seen: Observed | None) -> bool:
    """Whether a pod that would fit was refused by a plugin that is not in the default profile."""
    if judgement.verdict is not Verdict.SCHEDULABLE or seen is None or seen.status != "False":
        return False
    said = fit_error.parse_fit_error(seen.message)
    return said is not None and bool(agreement.not_simulated(said, unspread=judgement.unspread))


def refuse_all(judgement: Judgement, seen: Observed | None) -> bool:
    """Whether the scheduler's words say that plugins not simulated here reject all nodes that would fit."""
    if judgement.verdict is not Verdict.SCHEDULABLE or seen is None or seen.status != "False":
        return False
    return judgement.prediction.meets(seen.message)


def judged(judgement: Judgement, seen: Observed | None) -> Judgement:
    """The judgement with what other plugins said of it; a pod that waited in vain was admitted, and may be again."""
    if seen is None or not have_spoken(judgement, seen) or refusals.waited_in_vain(seen) is not None:
        return judgement
    if refuse_all(judgement, seen):
        verdict, reason = Verdict.UNSCHEDULABLE, fit_error.UNSCHEDULABLE
        return replace(judgement, verdict=verdict, reason=reason, messages=(seen.message,))
    return replace(judgement, verdict=Verdict.UNKNOWN, reason=None, messages=())


def refused(diagnosis: PodDiagnosis) -> bool:
    """Whether only other plugins keep the pod from a node: no change of what is known could be seen to help.

    So do programs that try none of a gang which lacks pods.
    """
    if diagnosis.causes and isinstance(gang := diagnosis.causes[0].detail, GangElsewhere) and gang.present:
        return True
    fits = any(group.outcome is NodeOutcome.FITS for group in diagnosis.nodes)
    return fits and any(cause.code is Code.OTHER_PLUGIN for cause in diagnosis.causes[:1])
