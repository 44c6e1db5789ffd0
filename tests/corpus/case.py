"""One case: manifests on a cluster, what becomes of them, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tests.corpus.shapes import Object


class Confirmed(StrEnum):
    """Who confirms the verdict."""

    SCHEDULER = "the real scheduler, pod by pod"
    SERVER = "the real API server, in a dry run"
    HAND = "by hand"


@dataclass(frozen=True, slots=True)
class Case:
    """``fits`` and ``copies`` (of each kind of pod, in the order of the objects) are the verdict.

    ``refused`` names objects that the API server does not take, ``unread`` those that it never sees as they are
    meant. ``reason`` says why a verdict was judged by hand.
    """

    name: str
    project: str
    cluster: str
    objects: tuple[Object, ...]
    fits: str
    copies: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    confirmed: Confirmed = Confirmed.SCHEDULER
    reason: str = ""


class Cases:
    """Collects cases of one project after the other."""

    def __init__(self) -> None:
        self._cases: dict[str, Case] = {}

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def add(self, project: str, name: str, cluster: str, *objects: Object, fits: str, **fields: Any) -> None:
        """Add a case whose name must be its own."""
        case = Case(f"{project}: {name}", project, cluster, objects, fits, **fields)
        assert case.name not in self._cases, case.name
        if case.refused:
            assert case.confirmed is Confirmed.SERVER, case.name
        assert bool(case.reason) is (case.confirmed is Confirmed.HAND), case.name
        self._cases[case.name] = case
