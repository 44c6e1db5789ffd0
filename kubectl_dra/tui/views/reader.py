"""Views to read: a report as its command prints it, or YAML."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.tui.documents import yaml_lines
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.view import Subject, View


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

    @abstractmethod
    def lines(self) -> Sequence[Safe] | None:
        """The text; None while it is not known."""

    def show(self) -> None:
        """The newest text."""
        lines = self.lines()
        self.page.show(wrapped(self.dra.reading_words) if lines is None else lines)

    def do_filter(self) -> None:
        """Type what to find."""
        self.dra.ask_filter(self._mark)

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
