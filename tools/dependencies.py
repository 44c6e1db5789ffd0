"""Writes docs/development/dependencies.md: ``python tools/dependencies.py`` (``--check``: is it fresh?).

Direct dependencies with why they are there, from pyproject.toml; the version that requirements/dev.txt pins; licence
and size of what is installed. Sizes are those of one platform and are not compared elsewhere.
"""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from collections.abc import Iterator, Set
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "development" / "dependencies.md"
MEASURED = ("Linux", "x86_64", "3.11")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)
ENTRY = re.compile(r"""^\s*"([^"]+)",\s*# (.+)$""", re.MULTILINE)
# What comes before the licence: the same with any version that is installed.
DECLARED = re.compile(r"^((?:\| [^|]* ){3,4}?)\| [^|]* \| [0-9.]+ MB.*$", re.MULTILINE)
TOTAL = re.compile(r"\d+ packages, [0-9.]+ MB")
TEXT = """# Dependencies

Written by `tools/dependencies.py` from `pyproject.toml`, from what `make` installs, and from `requirements/dev.txt`,
which pins every file by its hash. Sizes are of unpacked files on Linux x86_64 with Python 3.11: the package alone, and
with everything that it brings.

## Of the program

| package | why | allowed | pinned | licence | alone | with what it brings |
|---|---|---|---|---|---|---|
{runtime}

All together, the program itself not counted: {packages} packages, {total}.

## Of development and building

| package | why | pinned | licence | alone |
|---|---|---|---|---|
{development}

None of these is needed to use the program. `requirements/dev.txt` also pins what they bring.
"""


def installed(name: str) -> Distribution | None:
    """A package that is installed here."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def brought(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """A package and all that it requires on this platform, by canonical name."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        current, wanted = waiting.pop()
        package = installed(current)
        if canonicalize_name(current) in found or package is None:
            continue
        found.add(canonicalize_name(current))
        needed = (each for each in map(Requirement, package.requires or ()) if applies(each, wanted or {""}))
        waiting += [(each.name, frozenset(each.extras)) for each in needed]
    return found


def applies(requirement: Requirement, extras: Set[str]) -> bool:
    """Whether it is required on this platform, with one of these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def size(names: set[str]) -> str:
    """The unpacked files of packages, as their wheels list them."""
    files = (file for name in names if (package := installed(name)) for file in package.files or ())
    return f"{sum(file.size or 0 for file in files) / 1e6:.1f} MB"


def licence(name: str) -> str:
    """What the package declares; where it declares nothing, its licence file is looked at."""
    package = installed(name)
    if package is None:
        return "not installed here"
    declared = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    classified = [
        line.rpartition(" :: ")[2] for line in package.metadata.get_all("Classifier") or () if "License" in line
    ]
    if declared or classified:
        return (declared or classified[0]).split("\n")[0].split(" (")[0].strip()
    texts = [file.read_text(encoding="utf-8") for file in package.files or () if file.name.startswith("LICENSE")]
    return "Apache-2.0" if any("Apache License" in text for text in texts) else "see its licence file"


def rows(direct: list[str], reasons: dict[str, str], pins: dict[str, str], runtime: bool) -> Iterator[str]:
    """Lines of a table."""
    for text in direct:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        cells = [requirement.name, reasons[text]]
        cells += [f"`{text.removeprefix(requirement.name)}`"] if runtime else []
        cells += [pins[name], licence(name), size({name})]
        cells += [size(brought(name, frozenset(requirement.extras)))] if runtime else []
        yield f"| {' | '.join(cells)} |"


def pinned() -> dict[str, str]:
    """Versions by canonical name."""
    lock = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    return {canonicalize_name(name): version for name, version in PINNED.findall(lock)}


def page() -> str:
    """The whole page."""
    source = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(source)
    reasons = dict(ENTRY.findall(source))
    pins = pinned()
    runtime, development = project["project"]["dependencies"], project["dependency-groups"]["dev"]
    everything = set().union(*(brought(Requirement(text).name) for text in runtime))
    return TEXT.format(
        runtime="\n".join(rows(runtime, reasons, pins, True)),
        development="\n".join(rows(development, reasons, pins, False)),
        packages=len(everything),
        total=size(everything),
    )


def measured() -> bool:
    """Whether this is the platform, and these the versions, whose licences and sizes the page shows."""
    here = (platform.system(), platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}")
    packages = ((installed(name), version) for name, version in pinned().items())
    return here == MEASURED and all(package is None or package.version == version for package, version in packages)


def main() -> int:
    """Write or check the page."""
    fresh, known = page(), PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if not measured():
        fresh, known = (TOTAL.sub("", DECLARED.sub(r"\1", text)) for text in (fresh, known))
    if "--check" in sys.argv:
        print("docs/development/dependencies.md" if fresh != known else "fresh")
        return 1 if fresh != known else 0
    if not measured():
        print(f"sizes are measured on {' '.join(MEASURED)} with the pinned versions only", file=sys.stderr)
        return 1
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
