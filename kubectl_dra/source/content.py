"""The bytes of a file or of stdin, to be read piece by piece and in any order.

A regular file stays where it is. What comes through a pipe, is packed or written in UTF-16 is brought into
plain UTF-8 once, and kept in memory only while it is small, else in a nameless file that ends with the process.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self, TextIO

from kubectl_dra.source.errors import FileError
from kubectl_dra.source.limits import MAX_BYTES, Allowance, too_large
from kubectl_dra.source.packing import MARKS, unpacked
from kubectl_dra.source.spec import STDIN, Told

HINT: Final = "name a file, or - for stdin"
_CHUNK: Final = 1 << 20
_IN_MEMORY: Final = 32 << 20
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_BOM: Final = b"\xef\xbb\xbf"
# So many bytes tell what a file is.
_HEAD: Final = 4
_LESS: Final = "leave out kinds that don't matter, or namespaces"


class Content:
    """Bytes with a size; offsets count from the first byte that is not a byte order mark.

    Who sets ``told`` is called with the share that was given out; JSON is gone through twice, as ``passes`` says.
    """

    def __init__(self, stream: BinaryIO, name: str = "", start: int = 0) -> None:
        self.name = name
        self.told: Told | None = None
        self.passes = 1
        self._given = 0
        self._stream = stream
        self._start = start
        self.size = max(stream.seek(0, os.SEEK_END) - start, 0)

    @classmethod
    def of(cls, data: bytes, name: str = "") -> Content:
        """Bytes that are in memory already, in UTF-8 or UTF-16."""
        head, pieces = _in_utf8(iter([data]))
        return cls(io.BytesIO(b"".join(pieces)), name, _mark(head))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._stream.close()

    def read(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to ``end``, fewer only where it ends. Raises :class:`FileError`."""
        end = min(end, self.size)
        try:
            self._stream.seek(self._start + start)
            pieces = list(_pieces(self._stream, end - start))
        except OSError as error:
            raise FileError(
                f"{self.name}: {error.strerror or error}", "copy it to this machine and try again"
            ) from error
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if len(data) < end - start:
            raise FileError(f"{self.name}: became shorter while it was read", "try again when nothing writes to it")
        if self.told is not None and self.size:
            self._given += len(data)
            self.told(min(self._given / (self.size * self.passes), 1.0))
        return data

    def chunks(self, end: int | None = None, start: int = 0) -> Iterator[bytes]:
        """The bytes in pieces of a megabyte, from ``start`` to ``end``."""
        stop = self.size if end is None else min(end, self.size)
        return (self.read(at, min(at + _CHUNK, stop)) for at in range(start, stop, _CHUNK))

    def text(self) -> TextIO:
        """The whole as text, from the beginning; reading it raises :class:`UnicodeDecodeError` for what is no UTF-8."""
        return io.TextIOWrapper(io.BufferedReader(_Raw(self)), encoding="utf-8", newline="")


class _Raw(io.RawIOBase):
    """A content as a stream that leaves the content open."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - any buffer that can be written
        """The next bytes, as many as fit."""
        data = self._content.read(self._at, self._at + len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def open_content(path: str, max_bytes: int = MAX_BYTES, hint: str = HINT) -> Content:
    """The content of a file or of stdin (``-``), unpacked if it is packed.

    Raises :class:`FileError` with ``hint``, or :class:`~kubectl_dra.source.limits.TooLargeError`.
    """
    name = "stdin" if path == STDIN else path
    try:
        stream = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115 - the content closes it
        return _content(stream, name, max_bytes)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FileError(f"{name}: {reason}", hint) from error


def _content(stream: BinaryIO, name: str, max_bytes: int) -> Content:
    start = _start(stream)
    if start is None:
        return stored_content(_pieces(stream), name, max_bytes)
    head = stream.read(_HEAD)
    if head.startswith((*MARKS, *_UTF16)):
        stream.seek(start)
        return stored_content(_pieces(stream), name, max_bytes)
    content = Content(stream, name, start + _mark(head))
    if content.size > max_bytes:
        raise too_large(name, max_bytes, _LESS, content.size)
    return content


def _start(stream: BinaryIO) -> int | None:
    """Where a regular file is read from; None for what can only be read once, such as a pipe."""
    try:
        status = os.fstat(stream.fileno())
        # Files of the kernel say that they are empty.
        return stream.tell() if stat.S_ISREG(status.st_mode) and status.st_size else None
    except (OSError, ValueError):
        return None


def _pieces(stream: BinaryIO, count: int | None = None) -> Iterator[bytes]:
    """What a stream gives, up to ``count`` bytes."""
    while count is None or count > 0:
        piece = stream.read(_CHUNK if count is None else count)
        if not piece:
            return
        if count is not None:
            count -= len(piece)
        yield piece


def stored_content(pieces: Iterator[bytes], name: str, max_bytes: int) -> Content:
    """Pieces unpacked, in UTF-8, without a byte order mark, put where they can be read again.

    Raises :class:`FileError` and ``TooLargeError``.
    """
    head, pieces = _peeked(pieces)
    if head.startswith(MARKS):
        pieces = unpacked(head, pieces, name)
    head, pieces = _in_utf8(pieces)
    return _stored(pieces, name, max_bytes, _mark(head))


def _in_utf8(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, and all pieces; from UTF-16, as some Windows shells redirect it, in UTF-8."""
    head, pieces = _peeked(pieces)
    return (b"", _recoded(pieces)) if head.startswith(_UTF16) else (head, pieces)


def _mark(head: bytes) -> int:
    """The length of the byte order mark."""
    return len(_BOM) if head.startswith(_BOM) else 0


def _peeked(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, enough to tell what they are, and all pieces."""
    taken: list[bytes] = []
    while sum(map(len, taken)) < _HEAD and (piece := next(pieces, b"")):
        taken.append(piece)
    head = b"".join(taken)
    return head, chain([head] if head else [], pieces)


def _recoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode()


def _stored(pieces: Iterator[bytes], name: str, max_bytes: int, start: int) -> Content:
    import tempfile  # a file that can be read in place needs none

    allowance = Allowance(name, max_bytes, _LESS)
    # The content closes it.
    store = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
    for piece in pieces:
        allowance.take(len(piece))
        try:
            store.write(piece)
        except OSError as error:
            place = f"{name}: can't be kept in {tempfile.gettempdir()} while it is read: {error.strerror or error}"
            raise FileError(place, "set TMPDIR to a folder with more space") from error
    return Content(store, name, start)  # type: ignore[arg-type]
