"""Files that we write: private, whole or not at all."""

from __future__ import annotations

import gzip
import os
import tempfile
from pathlib import Path
from typing import Final

_GZIP: Final = ".gz"


class WriteError(Exception):
    """Raised when a file can't be written; the message is one line, nothing is left behind."""


def write_private(path: str, data: bytes) -> None:
    """Write ``data`` to ``path`` so that only its owner can read it; ``.gz`` is packed. Raises :class:`WriteError`.

    The content goes to a temporary file beside the target, which then takes its name: a full disk or an interruption
    leaves the old file as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise WriteError(f"{path}: is not a regular file")
    content = gzip.compress(data, mtime=0) if path.endswith(_GZIP) else data
    try:
        _replace(target, content)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error


def _replace(target: Path, content: bytes) -> None:
    # mkstemp gives mode 0600.
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
