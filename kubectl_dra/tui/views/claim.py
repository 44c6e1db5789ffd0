"""One claim: its page, its diagnosis, and the ways to its pods and devices."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.devices.claim_page import claim_page
from kubectl_dra.output.pending.claim_page import claim_pending_page, ending_commands
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.reports.claims.claim import ClaimReport
from kubectl_dra.reports.pending.pending import ClaimPendingReport
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.queries import ClaimQuery
from kubectl_dra.tui.views.reader import RecordPage, is_wide

Both = tuple[ClaimReport, ClaimPendingReport]


class ClaimView(RecordPage[Both]):
    """describe-claim."""

    document = object_document("ResourceClaim")

    def __init__(self, key: Key) -> None:
        super().__init__(ClaimQuery(key))
        self.named = self.key = key
        self.crumb = safe(str(key))

    def page_of(self, record: Both) -> Sequence[Safe]:
        return claim_page(record[0], self.dra.now, is_wide(), self.dra.address)

    def do_why(self) -> None:
        self.dra.push(WhyClaimPage(self.key))

    def do_used_by(self) -> None:
        self.dra.open_pod_of(self.key)

    def do_open(self) -> None:
        report = self.worker.record(self.question)
        results = report[0].results if report is not None else ()
        if results:
            devices = frozenset(DeviceId(each.driver, each.pool, each.device) for each in results)
            self.dra.open_devices(devices, Safe("its devices"))
        else:
            self.dra.say(Safe("it holds no devices"))

    def do_try_selector(self) -> None:
        self.dra.try_claim(self.key)


class WhyClaimPage(RecordPage[Both]):
    """why-pending of a claim."""

    crumb = Safe("why")
    document = object_document("ResourceClaim")

    def __init__(self, key: Key) -> None:
        super().__init__(ClaimQuery(key))
        self.named = self.key = key

    def page_of(self, record: Both) -> Sequence[Safe]:
        return claim_pending_page(record[1], self.dra.now, self.dra.address)

    def do_copy(self) -> None:
        """The command that ends what nobody needs any more; the name where there is nothing to end."""
        record = self.worker.record(self.question)
        lines = ending_commands(record[1]) if record is not None else []
        if lines:
            self.dra.copy_commands(lines)
        else:
            self.dra.copy_lines([safe(str(self.key))])

    def do_used_by(self) -> None:
        self.dra.open_pod_of(self.key)
