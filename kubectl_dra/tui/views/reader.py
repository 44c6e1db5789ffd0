"""Views to read: a report as its command prints it, or YAML.

The commands of this session: what was copied, planned and carried out, with the time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.tui.documents import yaml_lines
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.report_worker import Query, RecordT
from kubectl_dra.tui.view import CursorObject, View
from kubectl_dra.tui.views.commands import CommandsView

_WIDE_TABLES: Final = 100


def is_wide() -> bool:
    """Whether there is room for tables with every column, while lines are made."""
    return page_width() >= _WIDE_TABLES


class ReportView(View):
    """A page of lines that are made anew from the newest record. ``/`` finds instead of filtering."""

    gone = Safe("It does not exist any more.")

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._mark = ""

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self.page

    def on_mount(self) -> None:
        self.show()

    @abstractmethod
    def lines(self) -> Sequence[Safe] | None:
        """The text; None while it is not known."""

    def show(self) -> None:
        self.page.make(self._lines_or_reading)

    def _lines_or_reading(self) -> Sequence[Safe]:
        lines = self.lines()
        return wrapped(self.dra.reading_words) if lines is None else lines

    def do_filter(self) -> None:
        self.dra.ask_filter(self._mark)

    def can(self, action: str) -> bool:
        """Hits there are only while something is searched for, and not every page names reasons."""
        if action in ("next_hit", "previous_hit"):
            return bool(self.page.hits)
        if action == "copy" and type(self).do_copy is ReportView.do_copy:
            return bool(self.page.commands) or self.subject is not None
        if action == "explain" or (action == "open" and type(self).do_open is ReportView.do_open):
            return bool(self.named_codes)
        return super().can(action)

    @property
    def named_codes(self) -> Sequence[Code]:
        return self.page.codes

    def do_open(self) -> None:
        """Enter, where nothing else is to be opened: the page of a reason that is named here."""
        self.do_explain()

    def do_copy(self) -> None:
        """The command that is printed here, of several one that is chosen; the name where there is none."""
        found = self.page.commands
        if len(found) > 1:
            self.dra.push(CommandsView(found))
        elif found:
            self.dra.copy_commands(found[0].lines)
        elif self.subject is not None:
            self.dra.copy_lines([safe(self.subject.name)])

    def do_explain(self) -> None:
        """The page of the reason that is named here; of several one is chosen."""
        self.dra.open_explanations(self.named_codes)

    def on_page_code_chosen(self, event: Page.CodeChosen) -> None:
        event.stop()
        self.dra.open_explanations([event.code])

    def do_next_hit(self) -> None:
        self._go_to_hit(1)

    def do_previous_hit(self) -> None:
        self._go_to_hit(-1)

    def _go_to_hit(self, step: int) -> None:
        self.page.go_to_hit(step)
        if len(self.page.hits) == 1:
            self.dra.say(Safe("this is the only hit"))

    @property
    def is_filtered(self) -> bool:
        return bool(self._mark)

    def set_filter(self, text: str) -> None:
        self._mark = text
        self.page.set_mark(text)

    @property
    def info(self) -> Safe:
        """How many lines were found, or how far down we are."""
        if self._mark:
            return fmt("{} with “{}”", counted(len(self.page.hits), "line"), self._mark)
        last, lines = self.page.place
        return fmt("line {} of {}", last, lines) if lines > self.page.size.height > 0 else Safe("")

    def on_page_scrolled(self, event: Page.Scrolled) -> None:
        event.stop()
        self.dra.refresh_frame()


class RecordPage(ReportView, Generic[RecordT]):
    """The page of the one record that is asked for."""

    question: Query[RecordT | None]

    def __init__(self, question: Query[RecordT | None]) -> None:
        super().__init__()
        self.question = question

    @abstractmethod
    def page_of(self, record: RecordT) -> Sequence[Safe]:
        """The page of its command."""

    def lines(self) -> Sequence[Safe] | None:
        """The page, or that there is nothing any more that it could be of."""
        found = self.worker.answer(self.question)
        if found is None:
            return None
        return [self.gone] if found.record is None else self.page_of(found.record)


class PrintedPage(RecordPage[RecordT]):
    """What a command prints of the record, with nothing to do there but to read it."""

    crumb = Safe("describe")

    def __init__(
        self,
        question: Query[RecordT | None],
        page: Callable[[RecordT], Sequence[Safe]],
        gone: Safe = RecordPage.gone,
        crumb: Safe = crumb,
    ) -> None:
        super().__init__(question)
        self._page, self.gone, self.crumb = page, gone, crumb

    def page_of(self, record: RecordT) -> Sequence[Safe]:
        return self._page(record)


class YamlView(ReportView):
    """An object as YAML, refreshed with the cluster."""

    def __init__(self, subject: CursorObject) -> None:
        super().__init__()
        self._subject = subject

    crumb = Safe("yaml")

    def lines(self) -> Sequence[Safe]:
        document = self._subject.document()
        return [self.gone] if document is None else yaml_lines(document)

    @property
    def subject(self) -> CursorObject:
        return self._subject

    def do_copy(self) -> None:
        self.dra.copy_lines(self.lines())


class TextView(ReportView):
    """Lines that change with the width only, and the commands among them: they are what is copied."""

    def __init__(self, text: Callable[[], Sequence[Safe]], crumb: Safe, commands: Sequence[Safe]) -> None:
        super().__init__()
        self._text, self._commands = text, commands
        self.crumb = crumb

    def lines(self) -> Sequence[Safe]:
        return self._text()

    def can(self, action: str) -> bool:
        return bool(self._commands) if action == "copy" else super().can(action)

    def do_copy(self) -> None:
        """The commands: sentences beside them would be run too where they are pasted."""
        self.dra.copy_commands(self._commands)


class LogView(ReportView):
    """The newest first."""

    crumb = Safe("log")

    def lines(self) -> Sequence[Safe]:
        lines: list[Safe] = []
        for when, what, commands in reversed(self.dra.commands):
            lines += [styled(fmt("{}  {}", f"{when:%H:%M:%S}", Safe(what)), Style.BOLD)]
            lines += [Safe("  ") + plain(line) for line in commands]
            lines.append(Safe(""))
        return lines or [Safe("No command was copied, planned or carried out yet.")]

    def can(self, action: str) -> bool:
        return action == "copy" or super().can(action)

    def do_copy(self) -> None:
        self.dra.copy_lines(self.lines())
