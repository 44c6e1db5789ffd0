"""How much is read of anything that somebody else wrote: bounds in bytes, and the error that names them.

A source is bounded as a whole by ``--max-bytes``, counted after decompression: a file, or all chunks of one list of a
live cluster. One answer of a server is bounded by :data:`BODY_BYTES` in any case, because lists come in chunks.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.source.errors import SourceError

MAX_BYTES: Final = 8 << 30
BODY_BYTES: Final = 256 << 20
# Manifests of equal objects pack about 100 to 1, what deflate can do at most is 1030 to 1.
MAX_RATIO: Final = 300
ANY_RATIO_BYTES: Final = 64 << 20
OPTION: Final = "--max-bytes"
_UNITS: Final = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
_SIZE: Final = re.compile(r"([0-9]{1,18})(Ki|Mi|Gi|Ti|)")


class TooLargeError(SourceError):
    """Raised for what is larger than ``--max-bytes``; the hint names the option."""


class Allowance:
    """Bytes that may still be read of one source, which ``name`` calls by its name. Not shared by threads."""

    def __init__(self, name: str, limit: int = MAX_BYTES, hint: str = "") -> None:
        self._name = name
        self._limit = limit
        self._hint = hint
        self.left = limit

    def take(self, count: int) -> None:
        """Count bytes that were read. Raises :class:`TooLargeError` when they are too many."""
        self.left -= count
        if self.left < 0:
            raise too_large(self._name, self._limit, self._hint)


def too_large(name: str, limit: int, hint: str = "", size: int = 0) -> TooLargeError:
    """The error of a source that has more bytes than ``limit``; ``hint`` is what else would help.

    ``size``: how many bytes it has, where that is known, so that the next try is large enough.
    """
    enough = 2 * limit
    while enough < size:
        enough *= 2
    doubled = f"{OPTION}={size_text(enough)} reads {'it' if size else 'more'}"
    return TooLargeError(f"{name}: has more than {size_text(limit)}B", f"{doubled}; {hint}" if hint else doubled)


def is_bomb(packed: int, unpacked: int) -> bool:
    """Whether so few bytes that unpack to so many can only be meant to fill the memory."""
    return unpacked > ANY_RATIO_BYTES and unpacked > MAX_RATIO * packed


def parse_size(text: str) -> int | None:
    """Bytes of ``512Mi``, ``8Gi`` or a plain number above 0, as quantities are written; None for anything else."""
    match = _SIZE.fullmatch(text.removesuffix("B") if text.endswith("iB") else text)
    return (int(match[1]) * _UNITS[match[2]] or None) if match else None


def size_text(size: int) -> str:
    """``size`` with the largest unit that leaves it whole: ``8Gi``."""
    unit = max((name for name, each in _UNITS.items() if size and size % each == 0), key=_UNITS.__getitem__, default="")
    return f"{size // _UNITS[unit]}{unit}"
