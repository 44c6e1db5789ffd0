"""Writes requirements/*.txt, what `make` installs by hash: ``python tools/lock.py`` (network needed).

``dev.txt`` is everything that development, building and the program itself need, on every supported Python and
platform; ``pip.txt`` is the pip that installs it; ``lowest.txt`` has the lowest versions of direct dependencies that
pyproject.toml allows, for `make lowest`. uv resolves, in a folder of its own, and is not needed otherwise. No file says
where packages come from: that is the business of whoever installs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
UV = "uv==0.13.9"
PIP = "pip==26.3"
OLDEST = "3.11"
PLAIN = ("--generate-hashes", "--no-header", "--no-emit-index-url", "--no-emit-find-links", "--quiet")
HEADER = "# Made by `make lock`. Every file of every release is named by its hash.\n"


def main() -> int:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", UV], check=True)
        wanted = Path(folder, "pip.in")
        wanted.write_text(PIP + "\n", encoding="utf-8")
        every = ("--universal", "--python-version", OLDEST)
        group = ("pyproject.toml", "--group", "dev")
        _compile(python, "pip.txt", (str(wanted), "--no-annotate", *every))
        _compile(python, "dev.txt", (*group, *every))
        _compile(python, "lowest.txt", (*group, "--resolution", "lowest-direct", *every))
    return 0


def _compile(python: Path, name: str, arguments: tuple[str, ...]) -> None:
    """One file. What it holds stays as it is where that is still allowed, so that a change is seen by itself."""
    file = FOLDER / name
    command = [python, "-m", "uv", "pip", "compile", *arguments, *PLAIN, "--output-file", file]
    subprocess.run(command, check=True, cwd=ROOT)
    file.write_text(HEADER + file.read_text(encoding="utf-8").removeprefix(HEADER), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
