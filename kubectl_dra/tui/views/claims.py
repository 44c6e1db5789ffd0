"""All claims: where each stands; unused and deleting ones stand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.holders import short_state
from kubectl_dra.output.devices.lists import CLAIMS as CLAIM_COLUMNS
from kubectl_dra.output.devices.lists import held_devices
from kubectl_dra.output.devices.parts import UNKNOWN, ranges
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.claims.claim_list import ClaimRow
from kubectl_dra.reports.devices.holders import Consumer
from kubectl_dra.reports.unread import CLAIMS
from kubectl_dra.tui.columns import Column, Look, chosen
from kubectl_dra.tui.documents import object_document
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import Claims
from kubectl_dra.tui.views.claim import ClaimView, WhyClaimPage
from kubectl_dra.tui.views.reader import ReportView


class ClaimsView(ListView[ClaimRow]):
    """The list of claims of the namespaces in view."""

    extras = frozenset({"namespace"})
    describes_row = True
    crumb = Safe("claims")
    nothing = Safe("There are no ResourceClaims.")
    about = CLAIMS
    document = object_document("ResourceClaim")

    def __init__(self, only: frozenset[Key] | None = None) -> None:
        """``only``: these claims, whatever namespace is in view."""
        super().__init__()
        self.only = only
        if only is not None:
            self.crumb = Safe("its claims")

    def queries(self) -> Sequence[Claims]:
        return (Claims(self.dra.namespace if self.only is None else ""),)

    def columns(self) -> Sequence[Column[ClaimRow]]:
        spaces = [] if self.dra.namespace else [Look("NAMESPACE", least=8)]
        return chosen(CLAIM_COLUMNS, lambda: self.dra.now, (*spaces, *_LOOKS))

    def identity(self, row: ClaimRow) -> Key:
        return Key(row.namespace, row.name)

    def text_of(self, row: ClaimRow) -> str:
        users = (consumer.name for consumer in row.reserved_for)
        return " ".join((f"{row.namespace}/{row.name}", row.printed_state, *row.devices, *users))

    def opened(self, row: ClaimRow) -> None:
        self.dra.push(ClaimView(self.identity(row)))

    def is_fault(self, row: ClaimRow) -> bool:
        return row.state in _ATTENTION or bool(row.unused and row.devices)

    def preview_of(self, row: ClaimRow) -> ReportView:
        return ClaimView(self.identity(row))

    def do_describe(self) -> None:
        self.do_open()

    def do_why(self) -> None:
        if self.grid.selected is not None:
            self.dra.push(WhyClaimPage(self.identity(self.grid.selected)))

    def do_used_by(self) -> None:
        if self.grid.selected is not None:
            self.dra.open_pod_of(self.identity(self.grid.selected))

    def do_try_selector(self) -> None:
        if self.grid.selected is not None:
            self.dra.try_claim(self.identity(self.grid.selected))


_WORDS: Final = {
    ClaimVerdict.PENDING: "pending",
    ClaimVerdict.ALLOCATED: "allocated",
    ClaimVerdict.RESERVED: "in use",
    ClaimVerdict.UNRESERVED: "unreserved",
    ClaimVerdict.DELETING: "deleting",
}


_ATTENTION: Final = (ClaimVerdict.DELETING, ClaimVerdict.UNRESERVED, ClaimVerdict.PENDING)


def _rank(row: ClaimRow) -> tuple[int, str]:
    return (_ATTENTION.index(row.state) if row.state in _ATTENTION else len(_ATTENTION)), row.printed_state


def state_word(row: ClaimRow) -> Safe:
    """One word; what somebody should look at stands out."""
    text = Safe(_WORDS[row.state])
    if row.state is ClaimVerdict.DELETING:
        return styled(text, Style.BAD)
    if row.unused and row.devices:
        return styled(Safe("unused"), Style.WARN)
    if row.state is ClaimVerdict.PENDING:
        return styled(text, Style.DIM) if row.unused else styled(text, Style.WARN)
    return text


def _devices(row: ClaimRow) -> Safe:
    text = held_devices(row)
    return text if row.devices else styled(text, Style.DIM)


def _which(row: ClaimRow) -> Safe:
    # The classes stand beside it: without the driver there is room for the names.
    return (
        Safe(", ").join(ranges([name.partition("/")[2] for name in row.devices]))
        if row.devices
        else styled(Safe("-"), Style.DIM)
    )


def users_word(row: ClaimRow) -> Safe:
    """Consumers live in the claim's namespace, so their names will do."""
    users = [_user(each) for each in row.reserved_for]
    if not users:
        return styled(UNKNOWN if row.unused is None else Safe("-"), Style.DIM)
    more = fmt(" +{}", len(users) - 1) if len(users) > 1 else Safe("")
    return users[0] + more


def _user(consumer: Consumer) -> Safe:
    kind = Safe("pod") if consumer.resource == "pods" else safe(consumer.resource)
    state = short_state(consumer)
    text = fmt("{} {}", kind, consumer.name)
    return styled(fmt("{} ({})", text, state), Style.WARN) if state else text


_LOOKS: Final[tuple[Look | Column[ClaimRow], ...]] = (
    *(Look("NAME", least=14), Look("STATE", cell=state_word, key=_rank), Look("DEVICES", right=True, cell=_devices)),
    Column("WHICH", _which, least=14, drop=2, inside=True),
    *(Look("CLASSES", least=12, drop=3), Look("USED BY", least=14, cell=users_word), Look("AGE", right=True)),
)
