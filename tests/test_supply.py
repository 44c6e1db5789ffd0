"""What is installed for development, building and tests is pinned by hash, and the pins are those of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ("dev", "lowest", "pip")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUNTIME = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
DEVELOPMENT = [Requirement(text) for text in PROJECT["dependency-groups"]["dev"]]
PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))? \\"
    r"(?P<hashes>(?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?)+)"
)


def pins(lock: str) -> list[re.Match[str]]:
    """Every package of a lock; fails if a line of it is anything else than a pin with its hashes or a comment."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    plain = re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE)
    found = []
    while plain:
        match = PIN.match(plain)
        assert match is not None, plain[:200]
        found.append(match)
        plain = plain[match.end() :].lstrip("\n")
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_everything_has_hashes_and_nothing_says_where_it_comes_from(lock: str) -> None:
    assert pins(lock)
    assert "://" not in (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", ["dev", "lowest"])
@pytest.mark.parametrize("requirement", [*RUNTIME, *DEVELOPMENT], ids=lambda requirement: requirement.name)
def test_direct_dependencies_are_pinned_in_range(lock: str, requirement: Requirement) -> None:
    name = canonicalize_name(requirement.name)
    versions = [match["version"] for match in pins(lock) if canonicalize_name(match["name"]) == name]
    assert versions, f"{name} is not in requirements/{lock}.txt: make lock"
    assert all(requirement.specifier.contains(version) for version in versions), versions


@pytest.mark.parametrize("requirement", RUNTIME, ids=lambda requirement: requirement.name)
def test_the_lowest_are_the_lowest(requirement: Requirement) -> None:
    """On the oldest Python; what another dependency asks for is part of our lower bound as well."""
    (lowest,) = (each.version for each in requirement.specifier if each.operator == ">=")
    found = [
        match for match in pins("lowest") if canonicalize_name(match["name"]) == canonicalize_name(requirement.name)
    ]
    assert any(match["version"].startswith(lowest) for match in found)
