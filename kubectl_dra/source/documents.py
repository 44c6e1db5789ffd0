"""The documents of a file: JSON values one after the other, or else those of a YAML stream.

A long list comes in pieces, so that no more than one of them is in memory; where its objects stand is found out only
when somebody asks for a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from kubectl_dra.api.trees import json_words
from kubectl_dra.source.content import Content
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.json_parts import WHOLE_BYTES, JsonPart, Span, UnsplitError, parts
from kubectl_dra.source.yaml_quotes import NOT_YAML, nested_quotes

_SPACE: Final = b" \t\r\n"
_TEMPLATE: Final = b"{{"
_BEGINS: Final = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


class Piece:
    """JSON of a document or of some items of a long list, which starts in the line that ``line`` tells."""

    def __init__(self, data: bytes, line: Callable[[], int], leaf_lines: Sequence[int] | None = None) -> None:
        self.data = data
        self._line = line
        self._leaf_lines = leaf_lines
        self._from = 0

    def line_of(self, leaf: bytes, index: int) -> int:
        """The line of the leaf with this number; whoever asks for several asks in their order."""
        if self._leaf_lines is not None:
            return self._leaf_lines[index] if index < len(self._leaf_lines) else self._line()
        found = self.data.find(leaf, self._from)
        self._from = max(found + 1, self._from)
        return self._line() + self.data.count(b"\n", 0, max(found, 0))


class Document(msgspec.Struct, frozen=True):
    """One value of the file. ``head`` is all of it, but of a long list without items, which come in ``chunks``.

    ``whole`` reads all of it, for what has the items of a list and is none.
    """

    number: int
    head: Piece
    line: Callable[[], int]
    whole: Callable[[], bytes]
    chunks: Iterator[Piece] | None = None


def documents(content: Content, name: str, problems: list[ManifestError] | None = None) -> Iterator[Document]:
    """The documents in their order. Raises :class:`ManifestError` for what is neither JSON nor YAML.

    With ``problems``, broken documents of a YAML stream are noted there instead, and cost only themselves.
    """
    first = _first(content)
    # Two braces begin a template of Go, never JSON.
    if first[:1] in (b"{", b"[") and first != _TEMPLATE:
        yield from _json_documents(content, name)
    elif problems is None:
        yield from _yaml_documents(content, name)
    else:
        yield from _recovered(content, name, problems)


def _first(content: Content) -> bytes:
    """The first two bytes that are no space."""
    stripped = (chunk.lstrip(_SPACE) for chunk in content.chunks())
    return next((chunk[:2] for chunk in stripped if chunk), b"")


class _Lines:
    """Lines by offset; whoever asks for growing offsets has nothing counted twice."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._known = (0, 1)

    def at(self, offset: int) -> int:
        start, line = self._known if self._known[0] <= offset else (0, 1)
        line += sum(chunk.count(b"\n") for chunk in self._content.chunks(offset, start))
        self._known = offset, line
        return line


# --- JSON -----------------------------------------------------------------------------------------------------------


def _json_documents(content: Content, name: str) -> Iterator[Document]:
    content.passes = 2
    try:
        found = parts(content)
    except UnsplitError as error:
        if content.size > WHOLE_BYTES:
            hint = f"kubectl get -o json writes lists that can be read in pieces; jq . {name}"
            raise ManifestError(f"{name}: not JSON, or no list in a file of this size: {error}", hint) from error
        yield from _json_stream(content.read(0, content.size), content, name)
        return
    lines = _Lines(content)
    for number, part in enumerate(found, 1):
        yield _document(part, number, content, partial(lines.at, part.whole.start), lines)


def _document(part: JsonPart, number: int, content: Content, line: Callable[[], int], lines: _Lines) -> Document:
    whole = partial(content.read, *part.whole)
    if part.array is None:
        return Document(number, Piece(whole(), line), line, whole)
    before, after = Span(part.whole.start, part.array.start), Span(part.array.end, part.whole.end)
    head = content.read(*before) + b"[]" + content.read(*after)
    arrays = ((b"".join((b"[", content.read(*chunk), b"]")), chunk.start) for chunk in part.chunks)
    chunks = (Piece(array, partial(lines.at, start)) for array, start in arrays)
    return Document(number, Piece(head, line), line, whole, chunks)


def _json_stream(data: bytes, content: Content, name: str) -> Iterator[Document]:
    """JSON as loose as the standard library reads it; else YAML that only looks like JSON."""
    text = data.decode("utf-8", "replace")
    decoder, position = json.JSONDecoder(), 0
    found: list[Document] = []
    while match := re.compile(r"\S").search(text, position):
        start = match.start()
        try:
            _, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            yield from _yaml_instead(content, name, error)
            return
        found.append(_at_line(len(found) + 1, text[start:position].encode(), text.count("\n", 0, start) + 1))
    yield from found


def _at_line(number: int, data: bytes, line: int, leaf_lines: Sequence[int] | None = None) -> Document:
    return Document(number, Piece(data, lambda: line, leaf_lines), lambda: line, lambda: data)


# --- YAML -----------------------------------------------------------------------------------------------------------


def _yaml_instead(content: Content, name: str, error: Exception) -> Iterator[Document]:
    try:
        found = list(_yaml_documents(content, name))
    except ManifestError:
        if isinstance(error, json.JSONDecodeError):
            problem = f"not JSON: {json_words(error.msg)} (column {error.colno})"
            what, line = f"{name}, line {error.lineno}: {problem}", error.lineno
        else:
            what, line, problem = f"{name}: nested too deeply", 0, "nested too deeply"
        raise ManifestError(what, f"jq . {name}", file=name, line=line, problem=problem) from error
    yield from found


def _recovered(content: Content, name: str, problems: list[ManifestError]) -> Iterator[Document]:
    """The documents of a stream; after a broken one it goes on behind the next line that begins a document.

    One that only lacks a way to write quotes inside of quotes is read as it is meant, and is a problem all the same.
    """
    number = line = 0
    try:
        for document in _yaml_documents(content, name):
            number, line = document.number, document.line()
            yield document
    except ManifestError as error:
        broken = error.line
        problems.append(error)
        if (meant := _as_meant(content, error)) is not None:
            error.as_meant = True
            yield from (each for each in _recovered(meant, name, problems) if each.number > number)
            return
    else:
        return
    later = [start for start in _starts(content) if start[0] > line]
    # The first of them, or what stands before it, is the broken one.
    ends = [*(offset for _, offset in later[1:]), content.size]
    for index, ((start, offset), end) in enumerate(zip(later, ends, strict=True)):
        part = Content.of(content.read(offset, end), name)
        try:
            yield from _yaml_documents(part, name, Start(number + 1 + index, start))
        except ManifestError as error:
            if error.line != broken:
                problems.append(error)


def _starts(content: Content) -> list[tuple[int, int]]:
    """Line and offset of the beginning, and of every line that begins a document."""
    data = content.read(0, content.size)
    found, line, counted = [(1, 0)], 1, 0
    for match in _BEGINS.finditer(data):
        line += data.count(b"\n", counted, match.start())
        counted = match.start()
        found.append((line, match.start()))
    return found


class Start(NamedTuple):
    """The number of the first document of a part of a stream, and the line in which the part begins."""

    document: int = 1
    line: int = 1


def _yaml_documents(content: Content, name: str, start: Start = Start()) -> Iterator[Document]:  # noqa: B008
    from kubectl_dra.source.yaml_reader import YAMLError, read_documents  # JSON needs no PyYAML

    earlier = start.line - 1
    try:
        for number, document in enumerate(read_documents(content), start.document):
            encoded = msgspec.json.encode(document.value)
            lines = {node: line + earlier for node, line in document.lines.items()} if earlier else document.lines
            line = document.line + earlier
            leaf_lines = list(_leaf_lines(document.value, lines, line))
            yield _at_line(number, encoded, line, leaf_lines)
    except YAMLError as error:
        line = error.line + earlier
        place = f"{name}, document {error.document + start.document - 1}, line {line}"
        problem, hint = _told(content, line, error.line, error.problem)
        hint = error.hint or hint
        raise ManifestError(f"{place}: {problem}", hint, file=name, line=line, problem=problem) from error


def _told(content: Content, line: int, own: int, problem: str) -> tuple[str, str]:
    """What is wrong with a broken document, and what to do; templates of charts are the most frequent ones.

    ``line`` counts in the file, ``own`` in ``content``.
    """
    if any(_TEMPLATE in chunk for chunk in content.chunks()):
        render = "render the chart first: helm template CHART | kubectl dra … -f -"
        return f"a template that is not rendered yet, with {{{{ … }}}} in it ({problem})", render
    quotes = nested_quotes(_line_of(content, own)[1]) if problem.startswith(NOT_YAML) else None
    return (quotes.problem, quotes.hint) if quotes is not None else (problem, f"look at line {line}")


def _line_of(content: Content, line: int) -> tuple[list[bytes], str]:
    """All lines, and the text of one."""
    lines = content.read(0, content.size).split(b"\n")
    return lines, lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""


def _as_meant(content: Content, error: ManifestError) -> Content | None:
    """The stream with the quotes in the line of an error as they are meant; None where these are not what is wrong."""
    if not error.problem.startswith(NOT_YAML):
        return None
    lines, text = _line_of(content, error.line)
    quotes = nested_quotes(text)
    if quotes is None or not quotes.meant:
        return None
    lines[error.line - 1] = quotes.meant.encode()
    return Content.of(b"\n".join(lines), content.name)


def _leaf_lines(value: Any, lines: dict[int, int], line: int) -> Iterator[int]:  # noqa: ANN401 - any JSON value
    """The lines of the objects of a YAML document, in the order in which lists are taken apart."""
    items = value.get("items") if isinstance(value, dict) else value
    if isinstance(value, dict) and not isinstance(items, list):
        yield lines.get(id(value), line)
        return
    if not isinstance(items, list):
        yield line
        return
    for item in items:
        yield from _leaf_lines(item, lines, line)
