"""The cross-check of ``test-selector``: where an independent engine says something else of a device than we do."""

from __future__ import annotations

from typing import Final

from kubectl_dra.reports.selector.records import CrossCheck, Difference
from kubectl_dra.reports.selector.scoping import ScopedDevice
from kubectl_dra.selectors.evaluate import Outcome
from kubectl_dra.selectors.second import NAME, SecondOpinion
from kubectl_dra.selectors.trial import SelectorTrial

#: The other engine takes a millisecond or so per device, and devices of a kind say the same.
_COMPARED: Final = 1000
_SHOWN: Final = 10


def cross_check(trial: SelectorTrial[ScopedDevice]) -> CrossCheck:
    """Ask the second engine about the devices that are meant."""
    opinion = SecondOpinion(trial.selectors, trial.features.shows_sharing)
    decided = [(member, ours) for member, ours in trial.meant if ours.outcome is not Outcome.UNDECIDED]
    chosen = [] if opinion.gaps else decided[:_COMPARED]
    differences = []
    for member, ours in chosen:
        theirs = opinion.decide(member.driver, member.device)
        if theirs.outcome is not ours.outcome:
            differences.append(Difference(str(member.id), ours.outcome, theirs.outcome, theirs.error))
    left_out = len(trial.meant) - len(chosen)
    return CrossCheck(NAME, len(chosen), len(differences), tuple(differences[:_SHOWN]), opinion.gaps, left_out)
