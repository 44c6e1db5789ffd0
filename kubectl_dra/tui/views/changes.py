"""What changed last, as far as objects tell of it themselves: a list with all that the overview has no room for."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.output.recent import change_text
from kubectl_dra.output.safe import Safe, Style, plain, styled
from kubectl_dra.output.words import age
from kubectl_dra.reports.recent import Change
from kubectl_dra.reports.unread import Subject
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import RecentChanges
from kubectl_dra.tui.views.pool import PoolDevices

#: What makes the lines.
CHANGES: Final = Subject(("Pod", "ResourceClaim", "ResourceSlice", "DeviceTaintRule"))
#: So many are looked through; an object that is gone leaves no trace.
_MOST: Final = 1000


class ChangesView(ListView[Change]):
    """The newest first, of the namespace in view."""

    extras = frozenset({"namespace"})
    crumb = Safe("changes")
    nothing = Safe("No change is recorded.")
    about = CHANGES

    def queries(self) -> Sequence[RecentChanges]:
        return (RecentChanges(self.dra.namespace, _MOST),)

    def columns(self) -> Sequence[Column[Change]]:
        return [
            Column("AGO", lambda c: styled(age(c.time, self.dra.now), Style.DIM), right=True),
            Column("CHANGE", change_text, least=20, key=lambda c: plain(change_text(c))),
        ]

    def identity(self, row: Change) -> Hashable:
        return row.time, row.kind, row.subject, row.detail

    def text_of(self, row: Change) -> str:
        return plain(change_text(row))

    def named_by(self, row: Change) -> str:
        return str(row.subject.key) if row.subject.namespace else row.subject.name

    def can(self, action: str) -> bool:
        """Rows are about objects of several kinds, which their pages have as YAML."""
        return action != "yaml" and super().can(action)

    def opened(self, row: Change) -> None:
        open_change(row, self.dra)


def open_change(change: Change, host: Host) -> None:
    """The page of what has changed."""
    subject = change.subject
    if subject.kind == "ResourceClaim":
        host.open_claim(Key(subject.namespace, subject.name))
    elif subject.kind == "Pod":
        host.open_pod(Key(subject.namespace, subject.name))
    elif subject.kind == "ResourceSlice":
        driver, _, pool = change.detail.partition("/")
        host.push(PoolDevices(PoolId(driver, pool)))
    else:
        host.run_action_id("taints")
