"""The page of something that waits: why, and then, once they have been tried, the ways out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from kubectl_dra.output.safe import Safe, Style, styled
from kubectl_dra.tui.desk import Topic
from kubectl_dra.tui.views.reader import ReportView

R = TypeVar("R")


class WaitingPage(ReportView, Generic[R]):
    """``quick`` finds why something waits, ``full`` tries ways out as well: that takes longer, and nobody waits for it.

    A record of None says that what waited is gone.
    """

    def __init__(self, quick: Topic[R | None], full: Topic[R | None]) -> None:
        super().__init__()
        self._quick, self._full = quick, full

    def topics(self) -> Sequence[Topic[object]]:
        """The diagnosis, then the ways out."""
        return (self._quick, self._full)

    @abstractmethod
    def report_lines(self, report: R) -> list[Safe]:
        """The page of a report, as its command prints it."""

    @property
    def report(self) -> R | None:
        """The one with ways out, unless a newer one says that what waited is gone; None if it is, or not known yet."""
        full, quick = self.desk.result(self._full), self.desk.result(self._quick)
        found = quick if full is None or (quick is not None and quick.record is None) else full
        return found.record if found is not None else None

    def lines(self) -> Sequence[Safe] | None:
        """The newest page; while ways out are tried, that is said."""
        report = self.report
        if report is None:
            known = self.desk.result(self._quick) is not None or self.desk.result(self._full) is not None
            return [self.gone] if known else None
        lines = self.report_lines(report)
        if self.desk.result(self._full) is None:
            lines += [Safe(""), styled(Safe("Ways out are being checked …"), Style.DIM)]
        return lines
