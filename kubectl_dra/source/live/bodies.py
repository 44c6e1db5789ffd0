"""The bodies of answers: whole, or line by line as a watch sends them; bounded in size, in time, and when unpacked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kubectl_dra.source.limits import BODY_BYTES, is_bomb, size_text
from kubectl_dra.source.live.errors import BadAnswerError, capped
from kubectl_dra.source.live.transport import too_slow

if TYPE_CHECKING:
    import urllib3

_PIECE: Final = 1 << 16
_PATIENCE_BYTES: Final = 1 << 20
# What we ask for, or nothing; encodings within encodings unpack to anything.
_ENCODINGS: Final = ("", "identity", "gzip", "x-gzip")


def whole(
    answer: urllib3.BaseHTTPResponse, server: str, what: str, began: float, seconds: float, steady: bool
) -> bytes:
    """The body of the answer to a request that ``began`` then.

    It must end within ``seconds``; with ``steady`` every piece of a MiB must. Time-outs of sockets begin anew with
    every byte, so that they end no answer that trickles. Raises ``BadAnswerError`` and ``TimedOutError``.
    """
    parts: list[bytes] = []
    due, size, recent = began + seconds, 0, 0
    for part in pieces(answer, server, what):
        parts.append(part)
        size, recent = size + len(part), recent + len(part)
        if size > BODY_BYTES:
            raise too_much(server, what)
        if recent >= _PATIENCE_BYTES and steady:
            due, recent = time.monotonic() + seconds, 0
        if time.monotonic() > due:
            raise too_slow(server, what)
    return b"".join(parts)


def lines(answer: urllib3.BaseHTTPResponse, server: str, what: str, seconds: float) -> Iterator[bytes]:
    """Whole lines that are not empty, as they come in: an answer that breaks off within a line loses that line.

    A line that has begun must end within ``seconds``. Raises ``BadAnswerError`` and ``TimedOutError``.
    """
    begun: list[bytes] = []
    size, due = 0, 0.0
    for piece in pieces(answer, server, what):
        first, *others = piece.split(b"\n")
        if not begun:
            due = time.monotonic() + seconds
        begun.append(first)
        size += len(first)
        if others:
            yield from filter(None, (b"".join(begun), *others[:-1]))
            begun, size = [others[-1]] if others[-1] else [], len(others[-1])
            due = time.monotonic() + seconds
        if size > BODY_BYTES:
            raise too_much(server, what)
        if begun and time.monotonic() > due:
            raise too_slow(server, what)


def pieces(answer: urllib3.BaseHTTPResponse, server: str, what: str) -> Iterator[bytes]:
    """The body as it comes in, however it is framed, and unpacked. Raises ``BadAnswerError`` for a bomb."""
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        text = f"{server} packs its answer as {capped(encoding)}, which nobody asked for ({what})"
        raise BadAnswerError(text, "is this an API server?")
    unpacked = 0
    for piece in _pieces(answer):
        unpacked += len(piece)
        if encoding and is_bomb(answer.tell(), unpacked):
            text = f"{server} sends a few bytes that unpack to more than {size_text(unpacked >> 20 << 20)}B ({what})"
            raise BadAnswerError(text, "is this an API server? only a decompression bomb does that")
        yield piece


def too_much(server: str, what: str) -> BadAnswerError:
    """The error of an answer, or of a line in it, that is larger than anything an API server sends at once."""
    text = f"{server} answers with more than {size_text(BODY_BYTES)}B at once ({what})"
    return BadAnswerError(text, "is this an API server? lists come in chunks, which are smaller")


def _pieces(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    # Older versions of the library wait for whole parts, which is only slower.
    if not hasattr(answer, "read1"):
        yield from answer.stream(_PIECE)
        return
    while piece := answer.read1(_PIECE):
        yield piece
