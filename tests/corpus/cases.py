"""All cases."""

from __future__ import annotations

from tests.corpus import drivers, upstream, workloads
from tests.corpus.case import Case, Cases


def all_cases() -> tuple[Case, ...]:
    """All cases, in the order of the projects."""
    cases = Cases()
    for part in (drivers, workloads, upstream):
        part.add_all(cases)
    return tuple(cases)


CASES = all_cases()
