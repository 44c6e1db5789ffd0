"""Building the Go programs that tests and benchmarks run against, once per content, into a folder of the user's cache.

No program is named here: `tests/controlplane/build.py` and `tests/oracle/build.py` say what they need.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


class BuildError(Exception):
    """Raised when there is no usable Go toolchain, or when ``go build`` fails."""


@dataclass(frozen=True)
class GoModule:
    """A Go module of this repository and the programs to build from it: ``programs`` maps file name to package."""

    name: str
    folder: Path
    programs: Mapping[str, str]
    ldflags: str = "-s -w"
    environment: Mapping[str, str] = field(default_factory=lambda: {"CGO_ENABLED": "0"})

    def digest(self) -> str:
        """Changes with everything that decides what is built, apart from the Go release."""
        state = hashlib.sha256(repr((self.ldflags, sorted(self.programs.items()), os.uname().machine)).encode())
        for file in sorted([*self.folder.glob("go.*"), *self.folder.rglob("*.go")]):
            state.update(file.relative_to(self.folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
        return state.hexdigest()[:16]

    def built(self) -> Path:
        """The folder that holds, or will hold, the programs."""
        return cache_folder() / f"{self.name}-{self.digest()}"

    def missing(self) -> list[str]:
        """The programs that have not been built yet."""
        return [program for program in self.programs if not (self.built() / program).exists()]


def cache_folder() -> Path:
    """``$KUBECTL_DRA_BUILD_CACHE``, or ``kubectl-dra`` in the user's cache folder."""
    if configured := os.environ.get("KUBECTL_DRA_BUILD_CACHE"):
        return Path(configured)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kubectl-dra"


def build(module: GoModule) -> Path:
    """Build what is missing and return the folder; at the same time only one process builds, the others wait."""
    if not module.missing():
        return module.built()
    module.built().mkdir(parents=True, exist_ok=True)
    with _locked(module.built() / ".lock"):
        missing = module.missing()
        for number, program in enumerate(missing, 1):
            _say(f"{module.name}: building {program} ({number} of {len(missing)})")
            began = time.monotonic()
            _build_one(module, program)
            _say(f"{module.name}: {program} took {time.monotonic() - began:.0f} s")
    return module.built()


def go_command() -> str:
    """The ``go`` command. Any release from 1.21 on fetches by itself the toolchain that a go.mod asks for."""
    for candidate in (os.environ.get("GO", ""), shutil.which("go") or "", "/usr/local/go/bin/go"):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise BuildError("no Go toolchain found: install Go 1.21 or later, or run `. .ci/provide-go.sh`")


def _build_one(module: GoModule, program: str) -> None:
    target = module.built() / program
    partial = module.built() / f".{program}.{os.getpid()}"
    command = [go_command(), "build", "-trimpath", "-buildvcs=false", "-ldflags", module.ldflags, "-o", str(partial)]
    environment = {**os.environ, "GOWORK": "off", **module.environment}
    try:
        done = subprocess.run([*command, module.programs[program]], cwd=module.folder, env=environment, check=False)
        if done.returncode != 0:
            raise BuildError(f"go build of {program} ended with exit code {done.returncode} in {module.folder}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"waiting for another build in {path.parent}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
