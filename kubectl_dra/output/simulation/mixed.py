"""The first line where some pods of the files fit and others do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.simulation.domains import told_once
from kubectl_dra.output.simulation.numbers import whole_groups
from kubectl_dra.output.simulation.verdicts import name_of
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import PodSimulation, SimulationReport
from kubectl_dra.reports.simulation.whole import by_group

_NAMED: Final = 8


def mixed_text(report: SimulationReport) -> Safe | None:
    """Which of several do not fit, where others do; None where one sentence about one of them says it all."""
    shown = list(told_once(by_group(report.pods)))
    failing = [pod for pod in shown if pod.fits is Fits.NO]
    never, later = [pod for pod in failing if never_fits(pod)], [pod for pod in failing if pod.in_turn]
    if not failing or len(shown) in (len(never), len(later)) or report.gangs:
        return None
    together = _in_all(report, never, shown) if never else Safe("")
    if len(failing) == len(never) == 1 and not together:
        return None  # its own sentence comes first, which has the cause too
    parts = [fmt("{} runs {} of {} at a time", name_of(pod), pod.copies, pod.wanted or 0) for pod in later]
    parts = parts[:_NAMED]
    if never:
        parts.insert(0, fmt("{} {} not{}", _names(never), Safe(plural("does", len(never))), together))
    return fmt("Not everything fits{}: {}.", Safe("" if never else " at once"), Safe("; ").join(parts))


def never_fits(pod: PodSimulation) -> bool:
    """Whether some of it do not fit, and no others of the files have to end for that."""
    return pod.fits is Fits.NO and not pod.in_turn


def _names(pods: Sequence[PodSimulation]) -> Safe:
    """Each object once, with the kinds of its pods."""
    more = fmt(" and {} more", len(pods) - _NAMED) if len(pods) > _NAMED else Safe("")
    roles: dict[ObjectRef, list[PodSimulation]] = {}
    for pod in pods[:_NAMED]:
        roles.setdefault(pod.subject, []).append(pod)
    named = ((of[0], [pod.role for pod in of[1:]]) for of in roles.values())
    return Safe("; ").join(_with_roles(first, rest) for first, rest in named) + more


def _with_roles(first: PodSimulation, rest: Sequence[str]) -> Safe:
    others = list(filter(None, rest))
    if not first.role or not others:
        return name_of(first)
    head = name_of(msgspec.structs.replace(first, role=""))
    return fmt("{}, {}", head, listed([first.role, *others]))


def _in_all(report: SimulationReport, never: Sequence[PodSimulation], shown: Sequence[PodSimulation]) -> Safe:
    """How many of an object's pods fit in all, where one of its kinds of pods is all that never does."""
    first = never[0]
    its = [pod for pod in shown if pod.subject == first.subject]
    others = any(pod.subject != first.subject for pod in never)
    if others or len(its) < 2 or any(pod.wanted is None or pod.capped or pod.undecided for pod in its):
        return Safe("")
    partly = any(each.left_out for each in report.manifests if each.object == first.subject)
    text = ": {} of the {} pods tried fit" if partly else ": {} of its {} pods fit"
    # Of pods that are refused it is only said how many would fit.
    fit = fmt(text, sum(pod.copies for pod in its if not pod.refused), sum(pod.wanted or 0 for pod in its))
    return fit + whole_groups(its, never)
