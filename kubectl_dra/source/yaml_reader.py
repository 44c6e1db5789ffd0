"""YAML documents as JSON values, read event by event so that no input can exhaust the stack or the memory.

Stricter than YAML: duplicate keys, unknown tags, numbers that JSON does not have, deep nesting and aliases that
multiply are errors. libyaml does the parsing where the wheel has it.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final

import msgspec
import yaml

from kubectl_dra.source.content import Content
from kubectl_dra.source.yaml_quotes import NOT_YAML
from kubectl_dra.source.yaml_scalars import Scalar, resolved

MAX_DEPTH: Final = 100
# Aliases may repeat as many nodes as the document has itself, and this many in any case.
_FREE_COPIES: Final = 100_000
_TAG: Final = "tag:yaml.org,2002:"
_SAVE: Final = "save it as UTF-8"
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YAMLError(ValueError):
    """Raised when a document can't be read; ``line`` counts from 1."""

    def __init__(self, problem: str, document: int, line: int, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.document = document
        self.line = line
        self.hint = hint


class TooDeepError(YAMLError):
    """Raised for a document that is nested deeper than :data:`MAX_DEPTH`."""


class YamlDocument(msgspec.Struct):
    """One document: its value, the line where it starts, and the line of every mapping by ``id``."""

    value: Any
    line: int
    lines: dict[int, int]


class _Frame(msgspec.Struct):
    """A container that is being read; ``nodes`` counts its nodes, copies by aliases included."""

    value: dict[str, Any] | list[Any]
    anchor: str | None
    key: str | None = None
    merges: list[Any] = msgspec.field(default_factory=list)
    merging: bool = False
    nodes: int = 1


def read_documents(source: str | Content, unique: bool = True) -> Iterator[YamlDocument]:
    """The documents of a stream that are not empty. Raises :class:`YAMLError`.

    Without ``unique``, of keys that occur twice the last counts, as where Kubernetes reads YAML and is not strict.
    """
    reader = _Reader(unique)
    try:
        for event in yaml.parse(source if isinstance(source, str) else source.text(), Loader=_LOADER):
            document = reader.handle(event)
            if document is not None and document.value is not None:
                yield document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YAMLError(_plain(error.problem or ""), reader.number, (mark.line if mark else 0) + 1) from error
    except yaml.reader.ReaderError as error:
        line = _line(source, error.position) if isinstance(error.position, int) else 1
        raise YAMLError("holds characters that YAML does not allow", reader.number, line) from error
    except UnicodeDecodeError as error:
        # kubectl refuses it as well; replaced, nobody would know what is lost.
        raise YAMLError("holds bytes that are not UTF-8", reader.number, _bad_line(source), _SAVE) from error


#: What parsers say, those of C and of Python, and what it means.
_WORDS: Final = (
    ("',' or ']'", "a list that begins with [ is not closed, or lacks a comma"),
    ("',' or '}'", "an object that begins with { is not closed, or lacks a comma"),
    ("expected key", "a line is not indented like its neighbours, or is not KEY: VALUE"),
    ("<block end>", "a line is not indented like its neighbours, or is not KEY: VALUE"),
    ("'-' indicator", "an item of a list is not indented like its neighbours, or lacks its -"),
    ("expected ':'", "a key has no colon"),
    ("mapping values", "a colon where no key can stand: put the text into quotes, or look at the indentation"),
    (
        "cannot start any token",
        "a tab, or a sign that no value begins with: indent by spaces, or put it into quotes",
    ),
    ("end of stream", "a text in quotes is not closed"),
    ("undefined alias", "a * refers to an anchor that does not exist"),
    ("document start", "something follows where the document ends, without --- in front of it"),
    ("unknown escape", "a text in double quotes has a backslash that begins no escape"),
)


def _plain(problem: str) -> str:
    """A parser's words in plain ones."""
    return next((f"{NOT_YAML}: {words}" for part, words in _WORDS if part in problem), NOT_YAML)


def _line(source: str | Content, position: int) -> int:
    if isinstance(source, str):
        return source.count("\n", 0, position) + 1
    return sum(chunk.count(b"\n") for chunk in source.chunks(position)) + 1


def _bad_line(source: str | Content) -> int:
    """The line of the first byte that is not UTF-8."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    for chunk in () if isinstance(source, str) else source.chunks():
        pending = decoder.getstate()[0]
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return line + (pending + chunk).count(b"\n", 0, error.start)
        line += chunk.count(b"\n")
    return line


class _Reader:
    def __init__(self, unique: bool) -> None:
        self.number = 1
        self._unique = unique
        self._documents = 0
        self._start(1)

    def _start(self, line: int) -> None:
        self._line = line
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._lines: dict[int, int] = {}
        self._root: Any = None
        self._seen = self._copied = 0

    def handle(self, event: yaml.Event) -> YamlDocument | None:
        """Take one event; returns a document at its end."""
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        # Most events first: a large document has a million of them.
        match event:
            case yaml.ScalarEvent():
                self._scalar(event, line)
            case yaml.DocumentStartEvent():
                self._documents += 1
                self.number = self._documents
                self._start(line)
            case yaml.DocumentEndEvent():
                return YamlDocument(self._root, self._line, self._lines)
            case yaml.AliasEvent():
                self._alias(event.anchor, line)
            case yaml.MappingStartEvent():
                self._open({}, event, line)
            case yaml.SequenceStartEvent():
                self._open([], event, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close(line)
        return None

    def _fail(self, problem: str, line: int, hint: str = "") -> YAMLError:
        return YAMLError(problem, self.number, line, hint)

    def _open(self, value: dict[str, Any] | list[Any], event: Any, line: int) -> None:  # noqa: ANN401 - untyped
        if len(self._stack) >= MAX_DEPTH:
            raise TooDeepError(f"nested deeper than {MAX_DEPTH} levels", self.number, line)
        if event.tag not in (None, "!", _TAG + "map", _TAG + "seq"):
            raise self._fail(f"has the tag {event.tag}, which no manifest has", line)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None and not frame.merging:
            raise self._fail("a key is not text", line)
        if isinstance(value, dict):
            self._lines[id(value)] = line
        self._seen += 1
        self._stack.append(_Frame(value, event.anchor))

    def _close(self, line: int) -> None:
        frame = self._stack.pop()
        for merged in frame.merges:
            for key, value in self._mappings(merged, line):
                frame.value.setdefault(key, value)  # type: ignore[union-attr]
        if frame.anchor is not None:
            self._anchors[frame.anchor] = frame.value, frame.nodes
        self._put(frame.value, line, frame.nodes)

    def _mappings(self, merged: Any, line: int) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - any value
        for mapping in merged if isinstance(merged, list) else [merged]:
            if not isinstance(mapping, dict):
                raise self._fail("<< needs a mapping", line)
            yield from mapping.items()

    def _alias(self, anchor: str | None, line: int) -> None:
        if anchor is None or anchor not in self._anchors:
            raise self._fail(f"the alias *{anchor} has no anchor before it", line)
        value, nodes = self._anchors[anchor]
        self._copied += nodes
        if self._copied > _FREE_COPIES and self._copied > self._seen:
            raise self._fail("aliases multiply the document beyond reason", line, "write the repeated parts out")
        self._put(value, line, nodes)

    def _scalar(self, event: Any, line: int) -> None:  # noqa: ANN401 - untyped
        frame = self._stack[-1] if self._stack else None
        plain_merge = event.value == "<<" and event.implicit[0]
        if plain_merge and frame is not None and isinstance(frame.value, dict) and frame.key is None:
            frame.merging = True
            return
        value = self._value(event, line)
        self._seen += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 1
        self._put(value, line, 1)

    def _value(self, event: Any, line: int) -> Scalar:  # noqa: ANN401 - untyped
        if event.tag in (None, "!"):
            value = resolved(event.value) if event.implicit[0] else event.value
        elif event.tag == _TAG + "str":
            value = event.value
        elif event.tag in (_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"):
            value = resolved(event.value)
        else:
            raise self._fail(f"has the tag {event.tag}, which no manifest has", line)
        if isinstance(value, float):
            if not isfinite(value):
                raise self._fail(f"{event.value} is not a number that JSON has", line, "quote it if it is a text")
            return int(value) if value.is_integer() and abs(value) < 1e21 else value
        return value

    def _put(self, value: Any, line: int, nodes: int) -> None:  # noqa: ANN401 - any value
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        frame.nodes += nodes
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.merging:
            frame.merges.append(value)
            frame.merging = False
        elif frame.key is None:
            frame.key = self._key(value, line)
            if self._unique and frame.key in frame.value:
                raise self._fail(f'the key "{frame.key}" occurs twice', line, "remove one of the two")
        else:
            frame.value[frame.key] = value
            frame.key = None

    def _key(self, value: Any, line: int) -> str:  # noqa: ANN401 - any value
        if isinstance(value, bool):
            return str(value).lower()
        if value is None or isinstance(value, dict | list):
            raise self._fail("a key is not text", line)
        return str(value)
