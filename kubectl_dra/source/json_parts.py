"""Where the values of a JSON file begin and end, and where the items of long lists do, without holding all of it.

msgspec finds the end of a value: it names the first character that does not belong to it. So nothing here knows JSON
beyond brackets, commas and colons, and what is not strictly JSON is left to the caller as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.source.content import Content

#: A list beyond this size is taken apart; what can't be taken apart may be as large as one answer of a server.
SMALL_BYTES: Final = 1 << 16
WHOLE_BYTES: Final = 256 << 20
_WINDOW: Final = 1 << 20
_CHUNK: Final = 1 << 18
_LINE: Final = 128
# After a full chunk the next item is looked for no further than this.
_LEEWAY: Final = 1 << 16
_SPACE: Final = b" \t\r\n"
_CLOSED: Final = b'{["'
_POSITION: Final = re.compile(r"\(byte ([0-9]+)\)")
_TRAILING: Final = "trailing characters"
# An error so near to the end of what was given may come from its end.
_NEAR: Final = 32
_raw: Final = msgspec.json.Decoder(msgspec.Raw)
_key: Final = msgspec.json.Decoder(str)


class Span(NamedTuple):
    start: int
    end: int


class JsonPart(NamedTuple):
    """One value of the file. A long list has its array's span, and its items in chunks, with commas between them."""

    whole: Span
    array: Span | None = None
    chunks: tuple[Span, ...] = ()


class UnsplitError(ValueError):
    """Raised for what is not one JSON value after the other, or nests too deeply, or has a value that is too large."""


def parts(content: Content) -> list[JsonPart]:
    """The values of a file, one after the other. Raises :class:`UnsplitError`."""
    return list(_Scanner(content).parts())


class _Scanner:
    """Goes through a content once, with one window of it in memory."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._window = memoryview(b"")
        self._base = 0

    def parts(self) -> Iterator[JsonPart]:
        at = self._skip(0)
        while at < self._content.size:
            part = self._part(at)
            yield part
            at = self._skip(part.whole.end)

    def _part(self, at: int) -> JsonPart:
        end = self._end(at, SMALL_BYTES)
        if end is not None:
            return JsonPart(Span(at, end))
        match self._byte(at):
            case 0x5B:  # [
                chunks, end = self._items(at)
                return JsonPart(Span(at, end), Span(at, end), chunks)
            case 0x7B:  # {
                return self._object(at)
            case _:
                return JsonPart(Span(at, self._whole_end(at)))

    def _object(self, start: int) -> JsonPart:
        """An object, member by member; of equal names the last counts, which only the whole can tell."""
        array: Span | None = None
        chunks: tuple[Span, ...] = ()
        at = self._skip(start + 1)
        while self._byte(at) != 0x7D:  # }
            colon = self._whole_end(at)
            self._expect(colon, b":")
            name = self._name(at, colon)
            at = self._skip(colon + 1)
            if name == "items" and array is not None:
                return JsonPart(Span(start, self._whole_end(start)))
            if name == "items" and self._byte(at) == 0x5B:
                chunks, end = self._items(at)
                array = Span(at, end)
            else:
                end = self._whole_end(at)
            at = self._next(end, b"}")
        return JsonPart(Span(start, at + 1), array, chunks)

    def _name(self, start: int, end: int) -> str:
        try:
            return _key.decode(self._view(start, end - start))
        except (ValueError, RecursionError) as error:
            raise UnsplitError("a name is not text") from error

    def _items(self, start: int) -> tuple[tuple[Span, ...], int]:
        """The chunks of an array, and where it ends."""
        chunks: list[Span] = []
        begin = at = self._skip(start + 1)
        between = b""
        while self._byte(at) != 0x5D:  # ]
            end = self._cut(at, between) if at == begin else None
            if end is None:
                end = self._whole_end(at)
            following = self._next(end, b"]")
            between = between or self._between(end, following)
            at = following
            if end - begin >= _CHUNK or self._byte(at) == 0x5D:
                chunks.append(Span(begin, end))
                begin = at
        return tuple(chunks), at + 1

    def _between(self, end: int, at: int) -> bytes:
        """What stands between two items that look alike: up to the first name in the second; empty if that is long."""
        start = bytes(self._view(end, at - end + _LINE))
        return start[: start.find(b":") + 1]

    def _cut(self, at: int, between: bytes) -> int | None:
        """Where an item ends that makes a chunk full with those from ``at`` on; None if it has to be searched for.

        Where it seems to be can be in a text or within an item. But then a bracket or quote is open, and what comes
        before is no list.
        """
        if not between:
            return None
        view = self._view(at, _CHUNK + _LEEWAY)
        behind = bytes(view[_CHUNK:]).find(between)
        if behind < 0:
            return None
        length = _CHUNK + behind
        try:
            _raw.decode(b"".join((b"[", view[:length], b"]")))
        except (ValueError, RecursionError):
            return None
        return at + length

    def _next(self, at: int, closing: bytes) -> int:
        """The place of the next member, or of the bracket that ends them."""
        at = self._skip(at)
        if self._byte(at) == closing[0]:
            return at
        self._expect(at, b",")
        at = self._skip(at + 1)
        if self._byte(at) == closing[0]:
            raise UnsplitError("nothing after a comma")
        return at

    def _expect(self, at: int, wanted: bytes) -> None:
        if self._byte(at) != wanted[0]:
            raise UnsplitError(f"no {wanted.decode()}")

    def _skip(self, at: int) -> int:
        """The first place from ``at`` that is no space. Only what the window lacks is read."""
        while at < self._content.size and self._byte(at) in _SPACE:
            offset = at - self._base
            # Spaces are few as a rule: a window is not copied for one of them.
            piece = bytes(self._window[offset : offset + _LINE])
            at += len(piece) - len(piece.lstrip(_SPACE))
        return at

    def _byte(self, at: int) -> int:
        offset = at - self._base
        if 0 <= offset < len(self._window):
            return self._window[offset]
        if at >= self._content.size:
            raise UnsplitError("cut off")
        return self._view(at, 1)[0]

    def _view(self, at: int, count: int) -> memoryview:
        """``count`` bytes from ``at``, fewer at the end."""
        offset = at - self._base
        count = min(count, self._content.size - at)
        if not 0 <= offset <= len(self._window) - count:
            self._base, offset = at, 0
            self._window = memoryview(self._content.read(at, at + max(count, _WINDOW)))
        return self._window[offset : offset + count]

    def _whole_end(self, at: int) -> int:
        """Where the value at ``at`` ends. Raises :class:`UnsplitError` for one that is too large."""
        for limit in (SMALL_BYTES, 16 * SMALL_BYTES, 256 * SMALL_BYTES, WHOLE_BYTES):
            end = self._end(at, limit)
            if end is not None:
                return end
        raise UnsplitError("too large")

    def _end(self, at: int, limit: int) -> int | None:
        """Where the value at ``at`` ends; None if that is not within ``limit`` bytes."""
        view = self._view(at, limit)
        last = at + len(view) == self._content.size
        try:
            _raw.decode(view)
        except msgspec.MsgspecError as error:
            return self._place(str(error), at, len(view), last)
        except (UnicodeDecodeError, RecursionError) as error:
            raise UnsplitError("nests too deeply") from error
        value = bytes(view).rstrip(_SPACE)
        # A number may go on where the view ends.
        return at + len(value) if last or len(value) < len(view) or view[0] in _CLOSED else None

    def _place(self, error: str, at: int, count: int, last: bool) -> int | None:
        position = _POSITION.search(error)
        if position is not None and _TRAILING in error:
            return at + int(position[1]) - 1
        if last or (position is not None and int(position[1]) < count - _NEAR):
            raise UnsplitError(error)
        return None
