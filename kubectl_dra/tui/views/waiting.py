"""The page of something that waits: why, and then, once they have been tried, the ways out.

In two panes where there is room: the checks on the left, the ways out with a cursor on the right. Elsewhere the page
has it all, and ``x`` opens the ways out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.tui.layouts import Room, page_columns
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.text import content
from kubectl_dra.tui.view import View
from kubectl_dra.tui.views.reader import ReportView, TextView
from kubectl_dra.tui.ways import WaysPane

R = TypeVar("R")
Ways = tuple[Sequence[RemedyReport] | None, Sequence[Code], Address]
_ONLY_NAME: Final = Safe("copied the name; for the commands of a way out press x first, then c")
_STILL_CHECKED: Final = Safe("the ways out are still being checked")
_OF_COMMANDS: Final = frozenset({"copy", "edit_way"})
_CHECKED: Final = Safe("Ways out are being checked …")


class WaysView(View):
    """What has ways out under a cursor, and what can be done with the one there."""

    def __init__(self) -> None:
        super().__init__()
        self.ways = WaysPane(self._explain, self._open_way)

    @property
    def on_ways(self) -> bool:
        # Not has_focus, which is true only later: the next key may be here already.
        return self.app.focused is self.ways.grid

    @property
    def foremost(self) -> frozenset[str]:  # type: ignore[override]
        """What the commands are there for."""
        return _OF_COMMANDS if self.on_ways else frozenset()

    def can(self, action: str) -> bool:
        """Only what has commands can be copied."""
        if action == "copy" and self.on_ways:
            return self.ways.has_commands or self.ways.is_checking
        if action == "copy_all":
            return self.ways.has_any or self.ways.is_checking
        if action == "edit_way":
            return self.on_ways and self.ways.has_commands and self.dra.can_leave_terminal
        if action == "explain":
            return bool(self.codes_now)
        return super().can(action)

    @property
    def codes_now(self) -> Sequence[Code]:
        return ()

    def do_explain(self) -> None:
        row = self.ways.selected if self.on_ways else None
        code = row.code if row is not None else None
        if code is not None or self.codes_now:
            self.dra.open_explanation(code if code is not None else self.codes_now[0])

    def digit(self, number: int) -> bool:
        return self.ways.go_to_number(number)

    def do_copy(self) -> None:
        """The commands of the one under the cursor, else the name of what waits."""
        row = self.ways.selected
        if self.on_ways and row is not None and self.ways.has_commands:
            self.dra.copy_commands(self.ways.commands(row))
        elif self.on_ways:
            self.dra.say(_STILL_CHECKED)
        elif self.subject is not None:
            self.dra.copy_lines([safe(self.subject.name)])
            if self.ways.has_any:
                self.dra.say(_ONLY_NAME)

    def do_edit_way(self) -> None:
        """The commands of the one under the cursor in ``$EDITOR``; what is left there is copied, nothing is run."""
        row = self.ways.selected
        text = self.dra.edited("\n".join(map(plain, self.ways.commands(row))), ".sh") if row is not None else None
        if text:
            lines = [safe(line) for line in text.splitlines()]
            self.dra.copy_lines(lines)
            self.dra.note_commands("edited and copied", lines)

    def do_copy_all(self) -> None:
        if self.ways.has_any:
            self.dra.copy_lines(self.ways.all_commented())
        else:
            self.dra.say(_STILL_CHECKED)

    def _explain(self, code: Code) -> None:
        self.dra.open_explanation(code)

    def _open_way(self, lines: Callable[[], Sequence[Safe]], commands: Sequence[Safe], crumb: Safe) -> None:
        self.dra.push(TextView(lines, crumb, commands))


class WaitingPage(WaysView, ReportView, Generic[R]):
    """``quick`` finds why something waits, ``full`` tries ways out as well: that takes longer, and nobody waits for it.

    A record of None says that what waited is gone.
    """

    # Rules begin with the class of the layout, which is the screen's.
    SCOPED_CSS = False
    DEFAULT_CSS = """
    WaitingPage #waiting-head { height: auto; padding: 0 1; display: none; }
    WaitingPage #waiting-panes { height: 1fr; }
    WaitingPage #waiting-panes > Page { width: 3fr; }
    WaitingPage #waiting-panes > WaysPane { width: 2fr; display: none; }
    .-split WaitingPage #waiting-head { display: block; }
    .-split WaitingPage #waiting-panes > WaysPane { display: block; }
    .-split WaitingPage.-nothing #waiting-panes > WaysPane { display: none; }
    .-split WaitingPage #waiting-panes > Page { border: round $border; border-title-color: $primary; }
    .-split WaitingPage #waiting-panes > Page:focus { border: round $primary; border-title-style: bold reverse; }
    """

    def __init__(self, quick: Query[R | None], full: Query[R | None]) -> None:
        super().__init__()
        self._quick, self._full = quick, full
        self._head = Static(id="waiting-head")

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        self.page.border_title = "Checks"
        yield self._head
        with Horizontal(id="waiting-panes"):
            yield self.page
            yield self.ways

    def queries(self) -> Sequence[Query[object]]:
        return (self._quick, self._full)

    # --- for subclasses ---------------------------------------------------------------------------------------------

    @abstractmethod
    def headline(self, report: R) -> Safe:
        """The first sentence."""

    @abstractmethod
    def report_lines(self, report: R, *, apart: bool) -> list[Safe]:
        """The page of a report; ``apart``: without the first sentence and the ways out."""

    def gone_lines(self) -> Sequence[Safe]:
        """The page of what is not there any more."""
        return [self.gone]

    @abstractmethod
    def codes(self, report: R) -> Sequence[Code]:
        """The reasons, the main one first."""

    @abstractmethod
    def remedies(self, report: R) -> Sequence[RemedyReport]:
        """The ways out of a full report."""

    # --- what is shown ----------------------------------------------------------------------------------------------

    @property
    def apart(self) -> bool:
        return self.dra.room >= Room.SPLIT

    @property
    def report(self) -> R | None:
        """The one with ways out, unless a newer one says that what waited is gone; None if it is, or not known yet."""
        full, quick = self.worker.answer(self._full), self.worker.answer(self._quick)
        found = quick if full is None or (quick is not None and quick.record is None) else full
        return found.record if found is not None else None

    @property
    def is_gone(self) -> bool:
        """Whether it is known that what waited is not there any more."""
        known = self.worker.answer(self._quick) is not None or self.worker.answer(self._full) is not None
        return known and self.report is None

    @property
    def _is_checking(self) -> bool:
        """Whether there may be ways out that are not known yet."""
        return self.dra.cluster is not None and self.worker.answer(self._full) is None and not self.is_gone

    def lines(self) -> Sequence[Safe] | None:
        """The newest page; while ways out are tried, that is said."""
        report = self.report
        if report is None:
            return self.gone_lines() if self.is_gone else None
        lines = self.report_lines(report, apart=self.apart)
        if self._is_checking and not self.apart:
            lines += [Safe(""), styled(_CHECKED, Style.DIM)]
        return lines

    def ways_now(self) -> Ways:
        report, address = self.report, self.dra.state_now.evidence.address
        if report is None:
            return None if self._is_checking else (), (), address
        found = None if self._is_checking else self.remedies(report)
        return found, self.codes(report), address

    def show(self) -> None:
        super().show()
        self._show_head()
        if self.dra.cluster is not None:
            found = self.ways_now()
            # Of what waits for nothing, or is gone, the page has all the room.
            self.set_class(found[0] is not None and not found[0] and not found[1], "-nothing")
            self.ways.show(*found)

    def _show_head(self) -> None:
        report = self.report
        if report is not None:
            # As wide as the terminal: this is known before anything is laid out.
            lines = wrapped(styled(self.headline(report), Style.BOLD), page_columns(self.app.size.width - 2))
            self._head.update(content(Safe("\n".join(lines))))
        self._head.set_class(report is None, "-empty")

    def on_resize(self) -> None:
        self._show_head()

    @property
    def info(self) -> Safe:
        report = self.report
        if report is None or not self.apart or self.is_filtered:
            return super().info
        code = next(iter(self.codes(report)), None)
        return fmt("{} {}", styled(Safe(code.value), Style.DIM), Safe(code.label)) if code is not None else Safe("")

    @property
    def focus_target(self) -> Widget:
        return self.page

    # --- actions ----------------------------------------------------------------------------------------------------

    def can(self, action: str) -> bool:
        """There must be ways out, or there may be some as far as is known; or a reason."""
        report = self.report
        if action == "steps":
            some = self._is_checking or (report is not None and bool(self.remedies(report)))
            return some and not self.on_ways
        return super().can(action)

    def do_copy(self) -> None:
        """Where no way out has a command, one that the page prints, else the name."""
        if self.on_ways or self.ways.has_any:
            super().do_copy()
        else:
            ReportView.do_copy(self)

    def do_steps(self) -> None:
        """To the ways out: beside the checks, or in a list of their own."""
        if self.apart:
            # Not focus(), which comes later: the next key may be here already.
            self.screen.set_focus(self.ways.grid)
        else:
            view = WaysOutView(self)
            # Before it is mounted: the next key may be here already.
            view.show()
            self.dra.push(view)

    @property
    def codes_now(self) -> Sequence[Code]:
        return self.codes(self.report) if self.report is not None else ()


class WaysOutView(WaysView):
    """The ways out where there is no room for them beside the page."""

    crumb = Safe("ways out")

    def __init__(self, page: WaitingPage[Any]) -> None:
        super().__init__()
        self._page = page
        self._now: Callable[[], Ways] = page.ways_now

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self.ways

    def queries(self) -> Sequence[Query[object]]:
        return self._page.queries()

    @property
    def on_ways(self) -> bool:
        return True

    @property
    def codes_now(self) -> Sequence[Code]:
        return self._now()[1]

    def show(self) -> None:
        self.ways.show(*self._now())

    def on_mount(self) -> None:
        self.show()
        super().on_mount()

    @property
    def info(self) -> Safe:
        return fmt("{}", sum(bool(row.number) for row in self.ways.grid.rows))

    @property
    def focus_target(self) -> Widget:
        return self.ways.grid

    def do_open(self) -> None:
        self.ways.grid.open_selected()
