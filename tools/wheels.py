"""Writes the table of docs/platforms.md: which Pythons and platforms have wheels of all that the program needs.

``python tools/wheels.py`` (network needed, some minutes). Asks pip about the versions that requirements/dev.txt pins,
but for packages whose wheel here is for any platform. Not asked in CI: the answer changes when others publish wheels.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from dependencies import brought
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "platforms.md"
BLOCK = re.compile(r"(?<=<!-- wheels -->\n).*?(?=<!-- end of wheels -->)", re.DOTALL)
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
# What is shown -> (the tags of wheels that such a machine takes, sys_platform).
PLATFORMS = {
    "Linux x86_64, glibc 2.28": ([f"manylinux_2_{n}_x86_64" for n in (28, 27, 24, 17, 12, 5)], "linux"),
    "Linux aarch64, glibc 2.28": ([f"manylinux_2_{n}_aarch64" for n in (28, 27, 24, 17)], "linux"),
    "macOS 14 arm64": ([f"macosx_{n}_0_{a}" for n in (14, 13, 12, 11) for a in ("arm64", "universal2")], "darwin"),
    "Windows x86_64": (["win_amd64"], "win32"),
    "Alpine x86_64, musl 1.2": (["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"], "linux"),
}
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\\n]+?))? \\$", re.MULTILINE)


def pins(python: str, system: str) -> dict[str, str]:
    """Versions by package of all that the program needs there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = set().union(*(brought(Requirement(text).name) for text in project["dependencies"]))
    needed = {name for name in needed if "none-any" not in (distribution(name).read_text("WHEEL") or "")}
    environment = {**default_environment(), "python_version": python, "python_full_version": f"{python}.0"}
    found = {}
    for match in PIN.finditer((ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")):
        name = canonicalize_name(match["name"])
        marker = Requirement(f"x; {match['marker']}").marker if match["marker"] else None
        if name in needed and (marker is None or marker.evaluate({**environment, "sys_platform": system})):
            found[name] = match["version"]
    return found


def missing(python: str, tags: list[str], system: str) -> list[str]:
    """Packages without a wheel there."""
    wanted = [f"{name}=={version}" for name, version in pins(python, system).items()]
    absent: list[str] = []
    while wanted:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--target", folder]
            command += ["--only-binary=:all:", "--python-version", python, *(f"--platform={tag}" for tag in tags)]
            done = subprocess.run([*command, *wanted], capture_output=True, encoding="utf-8", check=False)
        if done.returncode == 0:
            return absent
        found = re.search(r"No matching distribution found for (\S+)", done.stderr)
        if found is None:
            raise SystemExit(done.stderr)
        absent.append(found[1].partition("==")[0])
        wanted.remove(found[1])
    return absent


def main() -> int:
    """Write the table."""
    lines = [f"| | {' | '.join(PYTHONS)} |", f"|---|{'---|' * len(PYTHONS)}"]
    for shown, (tags, system) in PLATFORMS.items():
        cells = []
        for python in PYTHONS:
            absent = missing(python, tags, system)
            cells.append(f"no: {', '.join(absent)}" if absent else "yes")
            print(shown, python, cells[-1], file=sys.stderr, flush=True)
        lines.append(f"| {shown} | {' | '.join(cells)} |")
    PAGE.write_text(BLOCK.sub(lambda _: "\n".join(lines) + "\n", PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
