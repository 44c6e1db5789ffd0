"""What comes after a way out is taken: who else waits for the same, and what the pod meets next."""

from __future__ import annotations

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef, Verdict
from kubectl_dra.model.base import ReportRecord


class Prospect(ReportRecord, frozen=True):
    """What a pod meets that nothing keeps out of the queue any more: the verdict, and its main reason."""

    verdict: Verdict
    code: Code | None = None


class Competition(ReportRecord, frozen=True):
    """How many other pending pods and PodGroups could use what a remedy frees, adds or allows.

    ``before`` of them are tried first and get a node there, the ``first`` three by name; ``after`` come later.
    ``groups`` of all are PodGroups. ``again``: so many are pods that a controller makes in place of deleted ones, which
    are named as these. ``lost``: those before leave nothing for this pod; None where they came at the same moment, so
    that either may be tried first. ``untried``: so many more that wait may; ``untried_first``: some of them before it.
    """

    before: int = 0
    after: int = 0
    groups: int = 0
    again: int = 0
    first: tuple[ObjectRef, ...] = ()
    lost: bool | None = False
    untried: int = 0
    untried_first: bool = False

    @property
    def may_be_lost(self) -> bool:
        """Whether it is not sure that anything is left for this pod."""
        return self.lost is not False

    @property
    def count(self) -> int:
        return self.before + self.after

    @property
    def taken_back(self) -> bool:
        """Whether what is made in place of deleted pods is all that leaves nothing for this pod."""
        return self.lost is True and self.count == self.again
