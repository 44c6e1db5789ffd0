"""Answers of the cluster kept for a few seconds, so that pressing TAB again costs nothing.

Files and their folder belong to the user alone. Nothing is read or written through a symbolic link, or in a folder
that others could write to.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubectl_dra.model.clock import SYSTEM, Clock

SECONDS: Final = 10.0
# Kept files are replaced, not collected: beyond this many the oldest go.
_FILES: Final = 64
_PRIVATE: Final = 0o700

Rows = list[list[str]]


class Cache:
    """Rows of text by key. Where no private folder can be had, it stays empty and says nothing."""

    def __init__(self, folder: Path | None = None, clock: Clock = SYSTEM) -> None:
        self.folder = folder or _default_folder()
        self._clock = clock

    def get(self, key: Sequence[str]) -> Rows | None:
        """What was put under ``key`` in the last seconds."""
        if not _is_private(self.folder):
            return None
        try:
            descriptor = os.open(self._path(key), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with open(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            age = self._clock.now().timestamp() - state.st_mtime
            if state.st_uid != os.getuid() or not stat.S_ISREG(state.st_mode) or not 0 <= age <= SECONDS:
                return None
            return _rows(file.read())

    def put(self, key: Sequence[str], rows: Rows) -> None:
        """Keep ``rows``; silently nothing where that can't be done safely."""
        with contextlib.suppress(OSError):
            self.folder.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            self.folder.mkdir(mode=_PRIVATE, exist_ok=True)
            if not _is_private(self.folder):
                return
            path = self._path(key)
            fresh = path.with_suffix(f".{os.getpid()}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as file:
                json.dump(rows, file)
            # The file system may have another clock.
            os.utime(fresh, (self._clock.now().timestamp(),) * 2)
            fresh.replace(path)
            self._sweep()

    def _path(self, key: Sequence[str]) -> Path:
        from hashlib import sha256

        return self.folder / f"{sha256(json.dumps(list(key)).encode()).hexdigest()[:32]}.json"

    def _sweep(self) -> None:
        files = sorted(self.folder.iterdir(), key=lambda path: path.lstat().st_mtime)
        for path in files[:-_FILES]:
            path.unlink()


def _default_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache")) / "kubectl-dra" / "completion"


def _is_private(folder: Path) -> bool:
    """A real folder of this user that nobody else can write to or look into."""
    try:
        state = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077


def _rows(text: bytes) -> Rows | None:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return rows if isinstance(rows, list) else None
