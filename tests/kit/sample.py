"""A share of long products of cases, and of long tests, for ``make test``, another one with each commit.

``-m rows`` runs all the others: so each case runs before every push of CI, and none of them twice.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

CaseT = TypeVar("CaseT")
_ROOT = Path(__file__).parents[2]
#: Set where pytest begins: whether this run leaves out ``-m rows`` anyhow, so that its cases need not become tests.
leaves_out_rows = False


@cache
def seed() -> str:
    """The commit's id, so that whoever has the commit has the same share; ``SAMPLE_SEED`` asks for that of another."""
    given = os.environ.get("SAMPLE_SEED")
    if given is None:
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=_ROOT, capture_output=True, encoding="utf-8", check=False
        )
        given = asked.stdout.strip()
    return given


def share_of(items: Iterable[pytest.Item]) -> None:
    """Mark as rows what is not this commit's share of the tests with the mark ``one_in``."""
    met: dict[tuple[Path, int], int] = {}
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is None or item.get_closest_marker("rows") is not None:
            continue
        module = (item.path, *mark.args)
        place = met[module] = met.get(module, -1) + 1
        first = random.Random(f"{seed()} {item.path.name}").randrange(*mark.args)
        if place % mark.args[0] != first:
            item.add_marker(pytest.mark.rows)


def sampled(
    cases: Iterable[CaseT], every: int, group: Callable[[CaseT], Hashable] = lambda _case: None
) -> Iterator[Any]:
    """The cases as parameters: one in ``every`` of each ``group`` and at least one of it; the others are for rows."""
    kept = list(cases)
    groups: dict[Hashable, list[CaseT]] = {}
    for case in kept:
        groups.setdefault(group(case), []).append(case)
    drawn = random.Random(seed())
    chosen = [case for each in groups.values() for case in drawn.sample(each, -(-len(each) // every))]
    taken = [case for case in kept if case in chosen]
    for case in taken if leaves_out_rows else kept:
        marks = () if case in taken else (pytest.mark.rows,)
        yield pytest.param(*case, marks=marks) if isinstance(case, tuple) else pytest.param(case, marks=marks)
