"""Views to read: a report as its command prints it, or YAML."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.console import page_width
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.explain.text import page_lines
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.tui.documents import yaml_lines
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.view import Subject, View

_WIDE_TABLES: Final = 100


class ReportView(View):
    """A page of lines that are made anew from the newest record. ``/`` finds instead of filtering."""

    gone = Safe("It does not exist any more.")

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._mark = ""
        self._found = 0

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        """The page."""
        yield self.page

    def on_mount(self) -> None:
        """What there is at first."""
        self.show()

    @property
    def is_wide(self) -> bool:
        """Whether there is room for tables with every column, while lines are made."""
        return page_width() >= _WIDE_TABLES

    @abstractmethod
    def lines(self) -> Sequence[Safe] | None:
        """The text; None while it is not known."""

    def show(self) -> None:
        """The newest text, as wide as the page."""
        self.page.make(self._lines_or_reading)

    def _lines_or_reading(self) -> Sequence[Safe]:
        lines = self.lines()
        return wrapped(self.dra.reading_words) if lines is None else lines

    def do_filter(self) -> None:
        """Type what to find."""
        self.dra.ask_filter(self._mark)

    def can(self, action: str) -> bool:
        """Hits there are only while something is searched for."""
        return bool(self._found) if action in ("next_hit", "previous_hit") else super().can(action)

    def do_next_hit(self) -> None:
        """The next line that was found."""
        self.page.go_to_hit(1)

    def do_previous_hit(self) -> None:
        """The one before."""
        self.page.go_to_hit(-1)

    @property
    def is_filtered(self) -> bool:
        """Whether something is marked."""
        return bool(self._mark)

    def set_filter(self, text: str) -> None:
        """Find as it is typed."""
        self._mark = text
        self._found = self.page.set_mark(text)

    @property
    def info(self) -> Safe:
        """How many lines were found, or how far down we are."""
        if self._mark:
            return fmt("{} with “{}”", counted(self._found, "line"), self._mark)
        last, lines = self.page.place
        return fmt("line {} of {}", last, lines) if lines > self.page.size.height > 0 else Safe("")

    def on_page_scrolled(self, event: Page.Scrolled) -> None:
        """Say the new place."""
        event.stop()
        self.dra.refresh_frame()


class YamlView(ReportView):
    """An object as YAML, refreshed with the cluster."""

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self._subject = subject

    crumb = Safe("yaml")

    def lines(self) -> Sequence[Safe]:
        """The document, or that it is gone."""
        document = self._subject.document()
        return [self.gone] if document is None else yaml_lines(document)

    @property
    def subject(self) -> Subject:
        """The same object; copying takes the whole text here."""
        return self._subject

    def do_copy(self) -> None:
        """The YAML to the clipboard."""
        self.dra.copy_lines(self.lines())


class TextView(ReportView):
    """Lines that do not change."""

    def __init__(self, text: Sequence[Safe], crumb: Safe) -> None:
        super().__init__()
        self._text = text
        self.crumb = crumb

    def lines(self) -> Sequence[Safe]:
        """The same at any time."""
        return self._text

    def can(self, action: str) -> bool:
        """The text can be copied."""
        return action == "copy" or super().can(action)

    def do_copy(self) -> None:
        """All of it."""
        self.dra.copy_lines(self._text)


class ExplanationView(ReportView):
    """What a code means, as ``explain CODE`` prints it."""

    def __init__(self, code: Code) -> None:
        super().__init__()
        self._code = code
        self.crumb = Safe(code.value)

    def lines(self) -> Sequence[Safe]:
        """The page of the reason."""
        return page_lines(reason_page(self._code))
