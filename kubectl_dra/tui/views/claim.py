"""One claim: its page, its diagnosis, and the ways to its pods and devices."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.devices.claim_page import claim_page
from kubectl_dra.output.pending.claim_page import claim_pending_page
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.documents import claim_document
from kubectl_dra.tui.queries import Claim
from kubectl_dra.tui.view import Subject
from kubectl_dra.tui.views.reader import ReportView


class ClaimView(ReportView):
    """describe-claim."""

    def __init__(self, key: Key) -> None:
        super().__init__()
        self.key = key
        self.crumb = safe(str(key))
        self.asked = Claim(key)

    def queries(self) -> Sequence[Claim]:
        """The claim."""
        return (self.asked,)

    def lines(self) -> Sequence[Safe] | None:
        """The page of the command."""
        found = self.worker.answer(self.asked)
        if found is None:
            return None
        if found.record is None:
            return [self.gone]
        return claim_page(found.record[0], self.dra.now, self.is_wide)

    @property
    def subject(self) -> Subject:
        """The claim."""
        return Subject(str(self.key), lambda: claim_document(self.dra.facts_now, self.key))

    def do_why(self) -> None:
        """Why it waits, keeps its devices, or does not go away."""
        self.dra.push(WhyClaimPage(self.key))

    def do_used_by(self) -> None:
        """The pod that uses it or waits for it."""
        self.dra.open_pod_of(self.key)

    def do_open(self) -> None:
        """The devices that it holds."""
        report = self.worker.record(self.asked)
        results = report[0].results if report is not None else ()
        if results:
            devices = frozenset(DeviceId(each.driver, each.pool, each.device) for each in results)
            self.dra.open_devices(devices, Safe("its devices"))
        else:
            self.dra.say(Safe("it holds no devices"))

    def do_try_selector(self) -> None:
        """Its selectors in the lab."""
        self.dra.try_claim(self.key)


class WhyClaimPage(ReportView):
    """why-pending of a claim."""

    crumb = Safe("why")

    def __init__(self, key: Key) -> None:
        super().__init__()
        self.key = key
        self.asked = Claim(key)

    def queries(self) -> Sequence[Claim]:
        """The claim."""
        return (self.asked,)

    def lines(self) -> Sequence[Safe] | None:
        """The page of the command."""
        found = self.worker.answer(self.asked)
        if found is None:
            return None
        return [self.gone] if found.record is None else claim_pending_page(found.record[1], self.dra.now)

    @property
    def subject(self) -> Subject:
        """The claim."""
        return Subject(str(self.key), lambda: claim_document(self.dra.facts_now, self.key))

    def do_used_by(self) -> None:
        """The pod that uses it or waits for it."""
        self.dra.open_pod_of(self.key)
