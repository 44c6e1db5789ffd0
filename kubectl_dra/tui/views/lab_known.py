"""The selectors that the cluster has already, to load one into the lab."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import Key
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.selector.known import KnownSelector
from kubectl_dra.reports.selector.scoping import all_devices, value_index
from kubectl_dra.selectors.comparisons import short_clause
from kubectl_dra.selectors.completion import NamedValue, named_values
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import KNOWN_SELECTORS, Report
from kubectl_dra.tui.report_worker import Query

if TYPE_CHECKING:
    from kubectl_dra.tui.views.lab import LabView

_SAVED: Final = "saved"
_TRIED: Final = "tried"
_START: Final = "start with"
#: What the list of devices is filtered by for those that are free.
FREE: Final = "matches free"
FREE_NAME: Final = "free "
_MODELS: Final = ("productname", "model", "type", "profile")
_SPEAKING: Final = ("productname", "model")
_MEMORIES: Final = ("memory", "vram")
_VALUES: Final = 6


class KnownView(ListView[KnownSelector]):
    """All selectors of classes, templates and claims; enter loads one into the lab."""

    crumb = Safe("load")
    nothing = Safe("There is no selector anywhere.")

    def __init__(self, lab: LabView, only: Key | None = None) -> None:
        self.lab = lab
        self.only = only
        self._made: tuple[object, Sequence[KnownSelector]] = (None, ())
        super().__init__()

    def queries(self) -> Sequence[Query[object]]:
        return (KNOWN_SELECTORS, STARTS)

    def columns(self) -> Sequence[Column[KnownSelector]]:
        return [
            Column("FROM", _origin, least=14, key=lambda s: (s.kind, s.namespace, s.name)),
            Column("REQUEST", lambda s: safe(s.request), least=6, drop=2),
            Column("BEHIND CLASS", lambda s: safe(s.device_class or "-"), least=8, drop=1),
            Column("SELECTOR", lambda s: safe(short_clause(s.expression)), least=40),
        ]

    def all_rows(self) -> Sequence[KnownSelector] | None:
        rows = self.worker.record(KNOWN_SELECTORS)
        if rows is None:
            return None
        if self.only is None:
            known = (
                rows,
                self.worker.record(STARTS),
                self.dra.memory.selectors,
                tuple(self.dra.memory.saved.items()),
            )
            if self._made[0] != known:
                self._made = known, [*self._saved(), *(self.worker.record(STARTS) or ()), *self._tried(), *rows]
            return self._made[1]
        return [row for row in rows if (row.namespace, row.name) == self.only]

    def _saved(self) -> Iterator[KnownSelector]:
        saved = sorted(self.dra.memory.saved.items())
        return (KnownSelector(_SAVED, "", name, "", 0, text, None) for name, text in saved)

    def _tried(self) -> Iterator[KnownSelector]:
        tried = enumerate(self.dra.memory.selectors, 1)
        return (KnownSelector(_TRIED, "", "", "", number, text, None) for number, text in tried)

    def identity(self, row: KnownSelector) -> tuple[str, str, str, str, int, str]:
        """Where it stands; drivers may have the same models."""
        return row.kind, row.namespace, row.name, row.request, row.index, row.expression

    def text_of(self, row: KnownSelector) -> str:
        return f"{row.kind} {row.namespace}/{row.name} {row.expression}"

    def named_by(self, _row: KnownSelector) -> None:
        """Nothing that has a name in the cluster."""

    def opened(self, row: KnownSelector) -> None:
        self.dra.pop()
        self.lab.load(row)


def is_for_free(selector: KnownSelector) -> bool:
    """Whether only free devices are looked for: no selector can ask for that, so its list is filtered."""
    return selector.kind == _START and selector.name.startswith(f"all {FREE_NAME}")


def _origin(selector: KnownSelector) -> Safe:
    words = {"DeviceClass": "class", "ResourceClaimTemplate": "template", "ResourceClaim": "claim"}
    name = f"{selector.namespace}/{selector.name}" if selector.namespace else selector.name
    if selector.kind == _TRIED:
        return fmt("tried {}", selector.index)
    return fmt("{} {}", Safe(words.get(selector.kind, selector.kind)), name)


def _all_starts(state: ClusterState) -> tuple[KnownSelector, ...]:
    """The most frequent values first."""
    names = named_values(all_devices(state).catalog)
    found = (_starts(each, state) for each in names if each.name.lower() in _MODELS + _MEMORIES)
    return tuple(start for each in found for start in each)


#: Selectors to start from: every model that the devices have, and every amount of memory, as a least one.
STARTS: Final = Report(_all_starts)


def _starts(named: NamedValue, cluster: ClusterState) -> Iterator[KnownSelector]:
    path = f'device.{named.field}["{named.domain}"].{named.name}'
    known = value_index(cluster).distribution((named.field, named.domain, named.name), _VALUES)
    for text, _ in known.values:
        # A value with a quote in it would need another notation.
        if safe(text) != text or '"' in text or "\\" in text:
            continue
        if named.field == "attributes" and known.type == "string":
            # "all H100" is understood; "all quarter" says nothing without the name of the attribute.
            what = text if named.name.lower() in _SPEAKING else f"with {named.name} {text}"
            for free in ("", FREE_NAME):
                yield KnownSelector(_START, "", f"all {free}{what}", "", 0, f'{path} == "{text}"', None)
        elif named.field == "capacity":
            selector = f'{path}.compareTo(quantity("{text}")) >= 0'
            yield KnownSelector(_START, "", f"at least {text} {named.name}", "", 0, selector, None)
