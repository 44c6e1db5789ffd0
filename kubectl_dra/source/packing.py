"""Packed files: gzip and Zstandard, told by their first bytes when read and by their names when written.

Both may consist of several members, one after the other. Zstandard is in Python's library from 3.14 on, and for older
ones in a package of its own; either is loaded only for such a file.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Protocol

from kubectl_dra.source.errors import FileError
from kubectl_dra.source.limits import MAX_RATIO, is_bomb

GZIP: Final = b"\x1f\x8b"
ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
#: What files that are packed begin with.
MARKS: Final = (GZIP, ZSTANDARD)
EXTENSIONS: Final = (".gz", ".zst")
_CHUNK: Final = 1 << 20
_AGAIN: Final = "copy or download it again"


class _Unpacker(Protocol):
    """One member. ``rest`` is what comes behind it."""

    def unpack(self, data: bytes) -> bytes:
        """The next piece, at most a chunk; to be asked with nothing until it wants more."""
        ...

    @property
    def wants(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def rest(self) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    def unpack(self, data: bytes) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, _CHUNK)

    @property
    def wants(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def ended(self) -> bool:
        return self._inner.eof

    @property
    def rest(self) -> bytes:
        return self._inner.unused_data


class _Zstandard:
    def __init__(self) -> None:
        self._inner = zstandard().ZstdDecompressor()

    def unpack(self, data: bytes) -> bytes:
        found: bytes = self._inner.decompress(data, _CHUNK)
        return found

    @property
    def wants(self) -> bool:
        return bool(self._inner.needs_input)

    @property
    def ended(self) -> bool:
        return bool(self._inner.eof)

    @property
    def rest(self) -> bytes:
        rest: bytes = self._inner.unused_data
        return rest


def zstandard() -> Any:  # noqa: ANN401 - a module
    """The library's module, or the one that stands in for it."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def unpacked(head: bytes, pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """What the pieces of a packed file, which begins with ``head``, unpack to. Raises :class:`FileError`."""
    if head.startswith(GZIP):
        return _members(_Gzip, zlib.error, pieces, name, "gzip", "gunzip")
    return _members(_Zstandard, zstandard().ZstdError, pieces, name, "zstd", "unzstd")


def _members(
    make: type[_Unpacker], broken: type[Exception], pieces: Iterator[bytes], name: str, kind: str, tool: str
) -> Iterator[bytes]:
    taken = given = 0
    unpacker: _Unpacker = make()
    try:
        for data in pieces:
            taken += len(data)
            while data or not (unpacker.wants or unpacker.ended):
                if unpacker.ended:
                    unpacker = make()
                piece = unpacker.unpack(data)
                data = unpacker.rest if unpacker.ended else b""
                given += len(piece)
                if is_bomb(taken - len(data), given):
                    raise _bomb(name, tool)
                if piece:
                    yield piece
    except broken as error:
        raise FileError(f"{name}: broken {kind} file: {error}", _AGAIN) from error
    if not unpacker.ended:
        raise FileError(f"{name}: the {kind} file is cut off", _AGAIN)


def _bomb(name: str, tool: str) -> FileError:
    what = f"{name}: unpacks to more than {MAX_RATIO} times its size, as only a decompression bomb does"
    return FileError(what, f"if it is none, unpack it with {tool} and read the result")


def packed(path: str, pieces: Iterable[bytes]) -> Iterable[bytes]:
    """The pieces of a file as its name says that they are packed."""
    if path.endswith(".gz"):
        return _compressed(zlib.compressobj(wbits=31), pieces)
    return _compressed(zstandard().ZstdCompressor(), pieces) if path.endswith(".zst") else pieces


def _compressed(packer: Any, pieces: Iterable[bytes]) -> Iterator[bytes]:  # noqa: ANN401 - one of two libraries
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()
