"""What could not be read, which answers it leaves open, and the commands with which an administrator permits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import missing
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.unread import rights_lines
from kubectl_dra.tui.views.reader import ReportView

_MEANS: Final = Safe(
    "Numbers with ≥ are at least so large, those with ≤ at most; where there is a ? nothing is known. "
    "An empty list that lacks something says so, and verdicts that would depend on it are unknown."
)


class UnreadView(ReportView):
    """As the first lines of a command's page, of everything that decides."""

    crumb = Safe("not read")

    def lines(self) -> Sequence[Safe] | None:
        return None if self.dra.cluster is None else list(self._lines())

    def _lines(self) -> Iterator[Safe]:
        evidence = self.dra.state_now.evidence
        found = list(rights_lines(missing(evidence, needs.POD, self.dra.namespace), evidence.address))
        if not found:
            yield Safe("Everything that decides could be read.")
            return
        yield from found
        yield Safe("")
        yield from wrapped(_MEANS)
