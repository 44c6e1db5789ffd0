"""Why one pod waits: the page of why-pending with verified ways out, kept up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.queries import PodQuery
from kubectl_dra.tui.view import READING
from kubectl_dra.tui.views.numbers import NumbersView
from kubectl_dra.tui.views.waiting import WaitingPage

_MORE: Final = Safe("x shows the commands and manifests")
_NAMED: Final = 3


class DiagnosisView(WaitingPage[PendingReport]):
    """The page; ways out are tried while the rest can already be read."""

    gone = Safe("The pod does not exist any more.")
    document = object_document("Pod")

    def __init__(self, pod: Key) -> None:
        super().__init__(PodQuery(pod), PodQuery(pod, remedies=True))
        self.named = self.pod = pod
        self.crumb = safe(str(pod))
        #: The pod as it was when it was seen last.
        self._last: Pod | None = None

    def show(self) -> None:
        if self.dra.cluster is not None:
            self._last = self.dra.cluster.inventory.pods.get(self.pod, self._last)
        super().show()

    def headline(self, report: PendingReport) -> Safe:
        return pending_summary(report)

    def report_lines(self, report: PendingReport, *, apart: bool) -> list[Safe]:
        return pending_page(report, self.dra.now, self.dra.address, more=styled(_MORE, Style.DIM), apart=apart)

    def gone_lines(self) -> Sequence[Safe]:
        """With the pods that its controller has made since."""
        newer = self._newer
        if not newer:
            return [self.gone]
        number = Safe("A newer pod" if len(newer) == 1 else "Newer pods")
        named = shortened([str(key) for key in newer], _NAMED)
        lines = wrapped(fmt("{} {} of the same controller: {}.", self.gone, number, named))
        key = Safe("enter opens it" if len(newer) == 1 else "enter lists them")
        return [*lines, Safe(""), styled(key, Style.DIM)]

    @property
    def _newer(self) -> Sequence[Key]:
        """The newest first."""
        last, owners = self._last, Owners(self.dra.state_now.inventory)
        whose = owners.named(last) if last is not None else None
        if last is None or whose is None:
            return ()
        created = last.metadata.creation_timestamp or ""
        others = (pod for pod in self.dra.state_now.inventory.pods.values() if owners.named(pod) == whose)
        newer = [each.metadata for each in others if (each.metadata.creation_timestamp or "") > created]
        return [key_of(each) for each in sorted(newer, key=lambda meta: meta.creation_timestamp or "", reverse=True)]

    def codes(self, report: PendingReport) -> Sequence[Code]:
        return list(dict.fromkeys(cause.code for cause in report.causes))

    def remedies(self, report: PendingReport) -> Sequence[RemedyReport]:
        return report.remedies

    def can(self, action: str) -> bool:
        """There are numbers only where devices were counted."""
        if action == "numbers" and not self.on_ways:
            return self._has_numbers
        if action == "open" and self.is_gone:
            return bool(self._newer)
        if action == "open" and not self.on_ways:
            return self._has_numbers or super().can("explain") or self._has_claims
        return super().can(action)

    @property
    def _has_numbers(self) -> bool:
        report = self.report
        return report is not None and any(group.requests for group in report.nodes)

    @property
    def _has_claims(self) -> bool:
        report = self.report
        return report is not None and bool(report.asks)

    def do_open(self) -> None:
        """The way out under the cursor, else the devices behind the numbers, the reason, or the claims if it runs.

        Of a pod that is gone those in its place.
        """
        if self.is_gone:
            self.dra.open_pods(self._newer)
        elif self.on_ways:
            self.ways.grid.open_selected()
        elif self._has_numbers:
            self.do_numbers()
        elif super().can("explain"):
            self.do_explain()
        else:
            self.do_used_by()

    def do_numbers(self) -> None:
        self.dra.push(NumbersView(self.pod))

    def do_used_by(self) -> None:
        report = self.report
        self.dra.open_claims_of([Key(a.namespace, a.name) for a in report.asks if a.name] if report is not None else ())

    def do_tree(self) -> None:
        self.dra.open_tree(self.pod)

    def do_try_selector(self) -> None:
        report = self.report
        if report is None or not report.asks:
            self.dra.say(READING if report is None else Safe("this pod has no claim yet"))
            return
        self.dra.try_claim(Key(report.asks[0].namespace, report.asks[0].name))
