"""The editor of the selector lab: CEL in colours, errors marked where they are, completion as ghost text.

What is invisible or active on a terminal is drawn as a placeholder; the text itself stays as it is.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar, Final

from rich.style import Style as RichStyle
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Location

from kubectl_dra.cel.syntax.lexer import KEYWORDS, tokenize
from kubectl_dra.output.safe import safe
from kubectl_dra.tui import lines

_HIDDEN: Final = "\N{REPLACEMENT CHARACTER}"
_COMMENT: Final = re.compile(r"//[^\n]*")
_STYLES: Final = {
    "STRING": "good",
    "BYTES": "good",
    "NUM_INT": "warn",
    "NUM_UINT": "warn",
    "NUM_FLOAT": "warn",
    "name": "name",
    "keyword": "accent",
}


class Editor(TextArea):
    """A text area for one expression."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "editor--good",
        "editor--warn",
        "editor--name",
        "editor--accent",
        "editor--dim",
        "editor--error",
    }
    DEFAULT_CSS = """
    Editor {
        background: $surface;
        & > .editor--good { color: $success; }
        & > .editor--warn { color: $warning; }
        & > .editor--name { color: $primary; }
        & > .editor--accent { color: $accent; text-style: bold; }
        & > .editor--dim { color: $dim; }
        & > .editor--error { color: $error; text-style: bold underline; }
        & .text-area--cursor-line { background: $surface; }
        & .text-area--suggestion { color: $dim; }
    }
    """

    #: Keys that were sent here and are not in the text yet.
    _arriving = 0

    def __init__(self, text: str) -> None:
        super().__init__(
            text,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
        )
        self._errors: tuple[tuple[int, int], ...] = ()
        self._painted: tuple[str, list[tuple[int, int, str]]] = ("", [])

    def post_message(self, message: Message) -> bool:
        self._arriving += isinstance(message, events.Key)
        return super().post_message(message)

    async def _on_key(self, event: events.Key) -> None:
        """Before TextArea's own, which Textual calls after this."""
        self._arriving -= 1

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Whether a key is text; no condition on a device begins with a colon, and hardly one with a digit."""
        begins = self.is_empty and character is not None and (character == ":" or character.isdecimal())
        return not begins and super().check_consume_key(key, character)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written, nor is about to be."""
        return not self.text and not self.is_behind

    @property
    def is_behind(self) -> bool:
        """Whether keys are on their way, of which what is written here knows nothing yet."""
        return self._arriving > 0

    def render_lines(self, crop: Region) -> list[Strip]:
        """Nothing once it is removed."""
        return super().render_lines(crop) if self.is_attached else lines.nothing(crop)

    def show_errors(self, errors: tuple[tuple[int, int], ...]) -> None:
        """Mark these places: offset and length in code points."""
        if errors != self._errors:
            self._errors = errors
            self._line_cache.clear()
            self.refresh()

    @property
    def offset_of_cursor(self) -> int:
        """Where the cursor is, in code points from the start."""
        return self.offset_at(self.cursor_location)

    def offset_at(self, location: Location) -> int:
        """A place in code points from the start."""
        row, column = location
        document = self.document
        return sum(len(document.get_line(each)) + len(document.newline) for each in range(row)) + column

    def location_at(self, offset: int) -> Location:
        """The row and column of a place in code points from the start."""
        document = self.document
        for row in range(document.line_count):
            length = len(document.get_line(row))
            if offset <= length:
                return row, offset
            offset -= length + len(document.newline)
        return document.end

    def get_line(self, line_index: int) -> Text:
        source = self.document.get_line(line_index)
        start = self.offset_at((line_index, 0))
        line = Text("".join(map(_visible, source)), end="", no_wrap=True)
        for begin, end, name in self._spans():
            if begin < start + len(source) and end > start:
                line.stylize(self._style(name), max(begin - start, 0), min(end - start, len(source)))
        for offset, length in self._errors:
            if start <= offset <= start + len(source):
                line.stylize(self._style("error"), offset - start, offset - start + max(length, 1))
        return line

    def _style(self, name: str) -> RichStyle:
        return self.get_component_rich_style(f"editor--{name}", partial=True)

    def _spans(self) -> list[tuple[int, int, str]]:
        text = self.text
        if self._painted[0] != text:
            self._painted = text, _spans(text)
        return self._painted[1]


def _spans(source: str) -> list[tuple[int, int, str]]:
    spans: list[tuple[int, int, str]] = []
    tokens, skipped = tokenize(source)
    for token, following in pairwise(tokens):
        called = token.kind == "IDENTIFIER" and following.text == "("
        kind = "keyword" if token.text in KEYWORDS else "name" if called or token.text == "device" else token.kind
        if kind in _STYLES:
            spans.append((token.pos, token.pos + len(token.text), _STYLES[kind]))
    spans += [(each.pos, each.pos + len(each.text), "good") for each in skipped if each.text[:1] in ("'", '"')]
    strings = [(begin, end) for begin, end, name in spans if name == "good"]
    for match in _COMMENT.finditer(source):
        if not any(begin <= match.start() < end for begin, end in strings):
            spans.append((*match.span(), "dim"))
    return spans


def _visible(character: str) -> str:
    return character if character == "\t" or safe(character) == character else _HIDDEN
