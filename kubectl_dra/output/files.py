"""Files that we write: private, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kubectl_dra.source.packing import packed


class WriteError(Exception):
    """Raised when a file can't be written; the message is one line, nothing is left behind."""


def write_private(path: str, pieces: Iterable[bytes]) -> None:
    """Write ``pieces`` to ``path``, which only its owner can read; ``.gz``, ``.zst`` pack. Raises :class:`WriteError`.

    The content goes to a temporary file beside the target, which then takes its name: a full disk or an interruption
    leaves the old file as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise WriteError(f"{path}: is not a regular file")
    try:
        _replace(target, packed(path, pieces))
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    # mkstemp gives mode 0600.
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
