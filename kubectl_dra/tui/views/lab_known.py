"""The selectors that the cluster has already, to load one into the lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubectl_dra.model.ids import Key
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.selector.known import KnownSelector
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.desk import Topic
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.topics import Known

if TYPE_CHECKING:
    from kubectl_dra.tui.views.lab import LabView


class KnownView(ListView[KnownSelector]):
    """All selectors of classes, templates and claims; enter loads one into the lab."""

    crumb = Safe("load")
    nothing = Safe("There is no selector anywhere.")

    def __init__(self, lab: LabView, only: Key | None = None) -> None:
        self.lab = lab
        self.only = only
        super().__init__()

    def topics(self) -> Sequence[Topic[object]]:
        """All selectors."""
        return (Known(),)

    def columns(self) -> Sequence[Column[KnownSelector]]:
        """Whose, and the text in one line."""
        return [
            Column("FROM", _origin, least=14, key=lambda s: (s.kind, s.namespace, s.name)),
            Column("REQUEST", lambda s: safe(s.request), least=6, drop=2),
            Column("BEHIND CLASS", lambda s: safe(s.device_class or "-"), least=8, drop=1),
            Column("SELECTOR", lambda s: safe(" ".join(s.expression.split())), least=40),
        ]

    def all_rows(self) -> Sequence[KnownSelector] | None:
        """Those of one object, or all."""
        rows = self.desk.record(Known())
        if rows is None or self.only is None:
            return rows
        return [row for row in rows if (row.namespace, row.name) == self.only]

    def identity(self, row: KnownSelector) -> tuple[str, str, str, str, int]:
        """Where it stands."""
        return row.kind, row.namespace, row.name, row.request, row.index

    def text_of(self, row: KnownSelector) -> str:
        """Names and text."""
        return f"{row.kind} {row.namespace}/{row.name} {row.request} {row.device_class} {row.expression}"

    def opened(self, row: KnownSelector) -> None:
        """Into the editor."""
        self.dra.do_back()
        self.lab.load(row)


def _origin(selector: KnownSelector) -> Safe:
    words = {"DeviceClass": "class", "ResourceClaimTemplate": "template", "ResourceClaim": "claim"}
    name = f"{selector.namespace}/{selector.name}" if selector.namespace else selector.name
    return fmt("{} {}", Safe(words[selector.kind]), name)
