"""Kustomizations, built by kubectl itself: what it prints is read as a manifest."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.limits import too_large
from kubectl_dra.source.not_objects import BUILT

_SECONDS: Final = 120.0
_PAUSE: Final = 0.02
_STDERR: Final = 400


def kustomized(folder: str, max_bytes: int) -> Content:
    """What ``kubectl kustomize FOLDER`` prints. Raises :class:`FileError`, or ``TooLargeError``."""
    name = f"{BUILT}{folder}"
    program = _program(name)
    with tempfile.TemporaryDirectory(prefix="kubectl-dra-") as place:
        out, err = Path(place, "out.yaml"), Path(place, "err")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen([*program, folder], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
            problem = _waited(child, out, name, max_bytes)
        if problem is not None:
            raise problem
        if child.returncode:
            said = " ".join(err.read_text(encoding="utf-8", errors="replace").split())
            raise FileError(f"{name}: {said[-_STDERR:] or 'kubectl kustomize failed'}", f"{' '.join(program)} {folder}")
        content = open_content(str(out), max_bytes)
        # The open file outlives its name.
        content.name = name
        return content


def _program(name: str) -> list[str]:
    if found := shutil.which("kubectl"):
        return [found, "kustomize"]
    if found := shutil.which("kustomize"):
        return [found, "build"]
    raise FileError(f"{name}: needs kubectl, which is not on the PATH", "kustomize build DIR | kubectl dra … -f -")


def _waited(child: subprocess.Popen[bytes], out: Path, name: str, max_bytes: int) -> SourceError | None:
    """Wait for the end; what prints too much or takes too long is ended."""
    end = time.monotonic() + _SECONDS
    while True:
        try:
            child.wait(_PAUSE)
        except subprocess.TimeoutExpired:
            pass
        else:
            return None
        if os.path.getsize(out) > max_bytes:
            problem: SourceError = too_large(name, max_bytes)
        elif time.monotonic() > end:
            problem = FileError(f"{name}: takes longer than {_SECONDS:.0f} s", "kubectl kustomize DIR > all.yaml")
        else:
            continue
        child.kill()
        child.wait()
        return problem
