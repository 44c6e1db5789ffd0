"""The selector lab: write a selector, and see at once what it matches, where it fails, what decides.

An edited selector is kept: loading another one can be undone, and leaving the program prints it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from textual.containers import Horizontal
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from kubectl_dra.output.documents import to_yaml
from kubectl_dra.output.safe import Safe, Style, command, fmt, plain, safe, styled
from kubectl_dra.output.selector.page import selector_page
from kubectl_dra.reports.invocations import dra, plain_word, reading
from kubectl_dra.reports.selector.known import KnownSelector
from kubectl_dra.reports.selector.records import SelectorReport, compiles
from kubectl_dra.selectors.completion import Completion
from kubectl_dra.selectors.values import Distribution
from kubectl_dra.tui.editor import Editor
from kubectl_dra.tui.layouts import Room
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.queries import ALL_CLASSES, NAMED_VALUES, Completions, Tried
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.text import content, spread
from kubectl_dra.tui.view import READING, View
from kubectl_dra.tui.views import lab_texts
from kubectl_dra.tui.views.lab_devices import LabDevicesView, WouldGet, WouldGetPage
from kubectl_dra.tui.views.lab_known import FREE, STARTS, KnownView, is_for_free

_DELAY: Final = 0.12
_MORE: Final = Safe("f7 lists them")
_FORMER: Final = Safe("The last selector that compiled:")


class LabView(View):
    """Editor, completions, and the report of test-selector, live."""

    DEFAULT_CSS = """
    LabView #lab-title { height: 1; padding: 0 1; color: $dim; }
    LabView Editor { height: auto; min-height: 3; max-height: 9; border: none; padding: 0 1; }
    LabView #lab-completions { height: 1; padding: 0 1; background: $surface; color: $dim; margin-bottom: 1; }
    LabView #lab-results { height: 1fr; }
    LabView #lab-report { width: 2fr; max-width: 122; }
    LabView #lab-values { width: 1fr; min-width: 40; display: none; border-left: vkey $border; }
    LabView.wide #lab-values { display: block; }
    LabView.narrow #lab-report { width: 1fr; }
    """
    crumb = Safe("selector lab")

    def __init__(self) -> None:
        super().__init__()
        self.title_ = Static(id="lab-title")
        self.editor = Editor("")
        self.choice = Static(id="lab-completions")
        self.page = Page(id="lab-report")
        self.values_page = Page(id="lab-values")
        self.values_page.can_focus = False
        self._turned = 0
        self._tried = Tried("", None)
        self._completing = Completions("", 0)
        self._timer: Timer | None = None
        self._good: SelectorReport | None = None
        self._earlier: list[tuple[str, str | None]] = []

    def compose(self) -> Any:  # noqa: ANN401 - Textual's ComposeResult
        yield self.title_
        yield self.editor
        yield self.choice
        with Horizontal(id="lab-results"):
            yield self.page
            yield self.values_page

    def on_mount(self) -> None:
        """What was written before, on another visit or for another cluster."""
        self.editor.text = self.dra.draft.expression
        self.editor.move_cursor(self.editor.document.end)
        self._tried = Tried(self.dra.draft.expression, self.dra.draft.device_class)
        self.show()

    def on_resize(self) -> None:
        self.set_class(self.dra.room >= Room.WIDE, "wide")
        self.set_class(self.dra.room < Room.WIDE, "narrow")
        self.show()

    @property
    def focus_target(self) -> Widget:
        return self.editor

    def queries(self) -> Sequence[Query[object]]:
        """Completions come first: they are quick."""
        if not self._tried.expression.strip():
            return (self._completing, NAMED_VALUES, STARTS, ALL_CLASSES)
        return (self._completing, self._tried, ALL_CLASSES)

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show(self) -> None:
        """The newest report; the one before stays until there is another."""
        self._show_title()
        self._show_completions()
        if not self._tried.expression.strip():
            self.editor.show_errors(())
            starts = [start.name for start in self.worker.record(STARTS) or ()]
            self.page.show(list(lab_texts.introduction(self.worker.record(NAMED_VALUES), starts)))
            return
        report = self.worker.record(self._tried)
        if report is not None:
            self.editor.show_errors(tuple(lab_texts.error_places(report)))
            if compiles(report):
                self._good = report
            self.page.make(lambda: self._report_lines(report))

    def _report_lines(self, report: SelectorReport) -> list[Safe]:
        address = self.dra.address
        lines = selector_page(report, address=address, more=_MORE)
        if self._good is not None and self._good is not report:
            # What was found before is not taken away by every key.
            former = [styled(plain(line), Style.DIM) for line in selector_page(self._good, address=address, more=_MORE)]
            lines = [*lines, Safe(""), styled(_FORMER, Style.WARN), *former]
        values = self._distribution
        if values is not None and not self.has_class("wide"):
            lines = [*lines, Safe(""), *lab_texts.distribution_lines(values)]
        return lines

    def _show_title(self) -> None:
        behind = self._tried.device_class
        where = fmt("behind class {}", behind) if behind is not None else Safe("alone, on all devices")
        report = self.worker.record(self._tried)
        right = lab_texts.counts(report) if report is not None else Safe("")
        if report is None and self._tried.expression.strip():
            right = styled(READING, Style.DIM)
        self.title_.update(content(spread(where, right, max(self.size.width - 2, 20))))

    @property
    def _distribution(self) -> Distribution | None:
        found = self.worker.record(self._completing)
        return found[1] if found is not None else None

    @property
    def _choices(self) -> Sequence[Completion]:
        found = self.worker.record(self._completing)
        return [each for each in found[0] if safe(each.text) == each.text] if found is not None else ()

    def _show_completions(self) -> None:
        choices = self._choices
        values = self._distribution
        beside = list(lab_texts.completion_lines(choices, self._turned)) if self._is_current else []
        if values is not None:
            beside += [Safe("")] * bool(beside) + list(lab_texts.distribution_lines(values))
        self.values_page.show(beside)
        if not choices or not self._is_current:
            self.editor.suggestion = ""
            self.choice.update(content(Safe("")))
            return
        self._turned %= len(choices)
        chosen = choices[self._turned]
        typed = self.editor.text[chosen.start : self.editor.offset_of_cursor]
        follows = self.editor.text[self.editor.offset_of_cursor :][:1]
        ends_here = bool(typed) and chosen.text.startswith(typed) and (not follows or follows.isspace())
        self.editor.suggestion = chosen.text[len(typed) :] if ends_here else ""
        self.choice.update(content(lab_texts.choice_line(choices, self._turned, max(self.size.width - 2, 20))))

    @property
    def _is_current(self) -> bool:
        written = Completions(self.editor.text, self.editor.offset_of_cursor)
        return self._completing == written and not self.editor.is_behind

    # --- writing ----------------------------------------------------------------------------------------------------

    def on_text_area_changed(self, event: Editor.Changed) -> None:
        """Completions at once; the report when typing pauses for a moment."""
        event.stop()
        self.dra.draft.keep(self.editor.text, self._tried.device_class)
        self._moved()
        self._wait()

    def on_text_area_selection_changed(self, event: Editor.SelectionChanged) -> None:
        event.stop()
        self._moved()

    def _moved(self) -> None:
        self._turned = 0
        self._completing = Completions(self.editor.text, self.editor.offset_of_cursor)
        self.dra.queries_changed()
        self._show_completions()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_DELAY, self._settle)

    @property
    def is_waiting(self) -> bool:
        return self._timer is not None

    def _settle(self) -> None:
        self._timer = None
        self._try(self.editor.text, self._tried.device_class)

    def _try(self, expression: str, device_class: str | None) -> None:
        self._tried = Tried(expression, device_class)
        self.dra.draft.keep(expression, device_class)
        self.dra.queries_changed()
        self.show()

    def load(self, selector: KnownSelector) -> None:
        """Another selector in the editor; the one before can be had again."""
        if self.editor.text.strip():
            self.dra.memory.tried(self.editor.text)
            self._earlier.append((self.editor.text, self._tried.device_class))
        self._put(selector.expression, selector.device_class)
        self.dra.draft.edited = False
        if is_for_free(selector):
            self.dra.push(LabDevicesView(self, selector.expression, selector.device_class, FREE))

    def _put(self, expression: str, device_class: str | None) -> None:
        last = self.editor.document.end
        self.editor.replace(expression, (0, 0), last)
        self._try(expression, device_class)
        self.screen.set_focus(self.editor)

    # --- actions ----------------------------------------------------------------------------------------------------

    def can(self, action: str) -> bool:
        """Letters edit while the editor has the focus; the other actions need something to work on."""
        if action == "accept":
            return self.app.focused is self.editor and bool(self._choices) and self._is_current
        if action == "turn":
            return self.app.focused is self.editor and len(self._choices) > 1 and self._is_current
        if action == "edit":
            return self.app.focused is not self.editor
        if action == "earlier":
            return bool(self._earlier)
        if action in ("copy_yaml", "copy_command", "outcomes", "would_get", "keep"):
            return bool(self.editor.text.strip())
        if action == "copy":
            return bool(self.editor.text.strip()) and self.app.focused is not self.editor
        if action == "editor":
            return self.dra.can_leave_terminal
        return super().can(action)

    def is_key(self, action: str) -> bool:
        """Until something is written, those that leave the lab."""
        return self.editor.is_empty and (action == "command" or action in SCREEN_BY_ID)

    def do_accept(self) -> None:
        chosen = self._choices[self._turned]
        end = self.editor.offset_of_cursor
        behind = self.editor.text[end:]
        # Quotes and brackets that are already there are typed over.
        for closing in ('"]', "]", '"'):
            if chosen.text.endswith(closing) and behind.startswith(closing):
                end += len(closing)
                break
        self.editor.replace(chosen.text, self.editor.location_at(chosen.start), self.editor.location_at(end))

    def do_next_part(self) -> None:
        """Not out of the editor by the key that completes: what is typed next would be keys."""
        if self.app.focused is self.editor:
            self.dra.say(Safe("nothing to complete here; esc leaves the editor"))
        else:
            self.screen.set_focus(self.editor)

    def do_turn(self) -> None:
        self._turned += 1
        self._show_completions()

    def do_edit(self) -> None:
        self.screen.set_focus(self.editor)

    def do_scope(self) -> None:
        """Behind the next class, or alone after the last one."""
        names = [row.name for row in self.worker.record(ALL_CLASSES) or ()]
        place = names.index(self._tried.device_class) + 1 if self._tried.device_class in names else 0
        self._try(self.editor.text, names[place] if place < len(names) else None)

    def do_load(self) -> None:
        self.dra.push(KnownView(self))

    def do_earlier(self) -> None:
        """Back to the selector before; the present one is kept as well."""
        present = (self.editor.text, self._tried.device_class)
        expression, device_class = self._earlier.pop()
        if present[0].strip():
            self._earlier.insert(0, present)
        self._put(expression, device_class)

    # --- take it with you ---------------------------------------------------------------------------------------------

    @property
    def _expression(self) -> str:
        return self.editor.text.strip()

    def _copied(self, what: str, lines: Sequence[Safe]) -> None:
        """Copy, remember the selector, and say where it does not compile."""
        self.dra.copy_lines(lines)
        self.dra.note_commands(f"copied as {what}", lines)
        self.dra.memory.tried(self._expression)
        report = self.worker.record(self._tried)
        if report is None or self._tried.expression.strip() != self._expression:
            self.dra.say(fmt("copied as {}, before it was tried", Safe(what)))
        elif not compiles(report):
            self.dra.say(fmt("copied as {}, but it does not compile", Safe(what)))

    def do_copy(self) -> None:
        self._copied("CEL", [safe(line) for line in self.editor.text.strip().splitlines()])

    def do_copy_yaml(self) -> None:
        """A request of a claim or template with it."""
        exactly = {
            "deviceClassName": self._tried.device_class or "CLASS",
            "selectors": [{"cel": {"expression": self._expression}}],
        }
        document = {"requests": [{"name": "device", "exactly": exactly}]}
        self._copied("a YAML request", [safe(line) for line in to_yaml(json.dumps(document).encode()).splitlines()])

    def do_copy_command(self) -> None:
        behind = ("--class", self._tried.device_class) if self._tried.device_class is not None else ()
        words = dra("test-selector", plain_word(" ".join(self._expression.split())), *map(plain_word, behind))
        line = command(reading(words, self.dra.state_now.evidence.address)) if words is not None else None
        if line is None:
            self.dra.say(Safe("this selector can't stand in a shell command"))
        else:
            self._copied("a command", [line])

    def do_outcomes(self) -> None:
        self.dra.memory.tried(self._expression)
        self.dra.push(LabDevicesView(self, self.editor.text, self._tried.device_class))

    def do_would_get(self) -> None:
        self.dra.memory.tried(self._expression)
        query = WouldGet(self._tried.device_class, self._expression, self.dra.namespace or "default")
        self.dra.push(WouldGetPage(query))

    def do_keep(self, name: str) -> None:
        self.dra.memory.saved[name.strip()] = self._expression
        problem = self.dra.memory.save()
        if problem:
            self.dra.say(safe(problem))
        else:
            self.dra.done(fmt("kept as {}: f2 lists it", name.strip()))

    def do_editor(self) -> None:
        text = self.dra.edited(self.editor.text, ".cel")
        if text is not None:
            self._put(text, self._tried.device_class)

    def leave_editor(self) -> bool:
        """Out of the editor, so that letters are keys again; True if that was all there was to do."""
        if self.app.focused is self.editor:
            report = self.worker.record(self._tried)
            if report is not None and compiles(report):
                self.dra.memory.tried(self._tried.expression)
            # Not focus(), which comes later: the next letter would be typed.
            self.screen.set_focus(self.page)
            return True
        return False

    @property
    def info(self) -> Safe:
        return Safe("esc leaves the editor") if self.app.focused is self.editor else Safe("e edits")
