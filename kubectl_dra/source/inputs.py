"""What ``-f``, ``-R``, ``-k`` and ``--from`` name, as kubectl reads them: files, folders, patterns, addresses, stdin.

Upstream: cli-runtime, pkg/resource/builder.go and visitor.go (ExpandPathsToFileVisitors). Stricter than there: of a
folder only regular files are opened, so that a socket or a pipe in it never blocks; a web address is fetched over https
only, without anybody's credentials; folders that are links are entered only if they were named themselves.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from kubectl_dra.source import packing
from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.limits import MAX_BYTES, Allowance
from kubectl_dra.source.not_objects import BUILT
from kubectl_dra.source.spec import STDIN

EXTENSIONS: Final = (".json", ".yaml", ".yml")
#: Snapshots, in a folder that is given to ``--from``, may be packed.
SNAPSHOT_EXTENSIONS: Final = (
    *EXTENSIONS,
    *(f"{extension}{packed}" for extension in (".json", ".yaml") for packed in packing.EXTENSIONS),
)
#: More files than these are no manifests that somebody wrote.
MAX_FILES: Final = 20_000
_SCHEMES: Final = ("http://", "https://")
_HINT: Final = "name a file, a folder, an https address, or - for stdin"
_LESS: Final = "name fewer files, or a smaller folder"


class Inputs(msgspec.Struct, frozen=True):
    """Words of ``-f`` (or ``--from``) in their order, ``-R``, and ``-k``. ``max_bytes`` bounds all of them together."""

    words: tuple[str, ...] = ()
    recursive: bool = False
    kustomize: str = ""
    max_bytes: int = MAX_BYTES
    extensions: tuple[str, ...] = EXTENSIONS

    def __bool__(self) -> bool:
        return bool(self.words or self.kustomize)

    @property
    def name(self) -> str:
        """What the whole is called in a sentence."""
        words = list(dict.fromkeys(self.words))
        if self.kustomize:
            return f"{BUILT}{self.kustomize}"
        if len(words) == 1:
            return "stdin" if words[0] == STDIN else words[0]
        return f"{words[0]} and {len(words) - 1} more" if words else "nothing"


class Skipped(msgspec.Struct, frozen=True):
    """Something in a folder that is not read, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} is left out: {self.reason}"


Opened = Content | SourceError | Skipped


def opened(inputs: Inputs) -> Iterator[Opened]:
    """The contents, one after the other, each to be closed by who takes it.

    An error of one of several files comes in its place, so that the others can still be read; of a single one it is
    raised. Raises :class:`SourceError` for a path that does not exist.
    """
    if inputs.kustomize:
        from kubectl_dra.source.kustomize import kustomized

        yield kustomized(inputs.kustomize, inputs.max_bytes)
        return
    places = list(_places(inputs))
    files = [place for place in places if not isinstance(place, Skipped)]
    yield from (place for place in places if isinstance(place, Skipped))
    if len(files) > MAX_FILES:
        raise FileError(f"{inputs.name}: holds more than {MAX_FILES} files", _LESS)
    allowance = Allowance(inputs.name, inputs.max_bytes, _LESS)
    for path in files:
        try:
            content = _content(path, inputs.max_bytes)
        except SourceError as error:
            if len(files) == 1:
                raise
            yield error
            continue
        try:
            allowance.take(content.size)
        except SourceError:
            content.close()
            raise
        yield content


def _content(path: str, max_bytes: int) -> Content:
    if path.startswith(_SCHEMES):
        from kubectl_dra.source.web import fetched  # most calls fetch nothing

        return fetched(path, max_bytes)
    return open_content(path, max_bytes, _HINT)


def _places(inputs: Inputs) -> Iterator[str | Skipped]:
    """Paths, addresses and ``-``, each once."""
    seen: set[str] = set()
    for word in inputs.words:
        for place in _expanded(word, inputs):
            name = place if isinstance(place, str) else place.name
            if name not in seen:
                seen.add(name)
                yield place


def _expanded(word: str, inputs: Inputs) -> Iterator[str | Skipped]:
    if word == STDIN or word.startswith(_SCHEMES):
        yield word
        return
    path = Path(word)
    if not _exists(path):
        yield from _several(word, inputs)
    elif path.is_dir():
        yield from _folder(word, inputs)
    else:
        yield word


def _exists(path: Path) -> bool:
    """Whether there is such a path; one that may not be looked at is left to who opens it."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


def _several(word: str, inputs: Inputs) -> Iterator[str | Skipped]:
    """What is no path itself: a pattern, or several words with commas in between, as kubectl takes them."""
    parts = [part for part in word.split(",") if part]
    if len(parts) > 1:
        for part in parts:
            yield from _expanded(part, inputs)
        return
    found = sorted(glob.glob(word)) if glob.has_magic(word) else []
    if not found:
        raise FileError(f"{word}: No such file or directory", _HINT)
    for path in found:
        yield from _expanded(path, inputs)


def _folder(folder: str, inputs: Inputs) -> Iterator[str | Skipped]:
    """The files of a folder in the order of their names. Raises :class:`FileError` if there are none."""
    problems: list[Skipped] = []

    def note(error: OSError) -> None:
        problems.append(Skipped(str(error.filename or folder), error.strerror or str(error)))

    found = 0
    for place in _walked(folder, inputs, note):
        found += 1
        yield place
    yield from problems
    if not found:
        deeper = "" if inputs.recursive else "; -R looks into its folders"
        listed = ", ".join(inputs.extensions)
        raise FileError(f"{folder}: holds no files that end in {listed}", f"name a file{deeper}")


def _walked(folder: str, inputs: Inputs, onerror: Callable[[OSError], None]) -> Iterator[str | Skipped]:
    # Links to folders are not followed, so that a loop of them ends.
    for here, folders, files in os.walk(folder, onerror=onerror):
        folders.sort()
        for name in sorted(files):
            if name.endswith(inputs.extensions):
                yield _file(os.path.join(here, name))
        if not inputs.recursive:
            return


def _file(path: str) -> str | Skipped:
    """A file of a folder, if it is one: whoever opens a socket or a pipe waits for somebody at its other end."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return Skipped(path, error.strerror or str(error))
    if stat.S_ISREG(mode):
        return path
    return Skipped(path, "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file")
