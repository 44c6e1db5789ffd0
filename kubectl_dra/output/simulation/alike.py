"""Pods that differ from one that was tried in their names only: told with it, by their number and their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.api.kinds import POD
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import shortened
from kubectl_dra.reports.simulation.records import PodSimulation

#: One alone has a line of its own.
_SEVERAL: Final = 2
_NAMED: Final = 5


def with_alike(pods: Iterable[PodSimulation]) -> Iterator[tuple[PodSimulation, Sequence[PodSimulation]]]:
    """Every answer with the others that are alike, if there are several of them."""
    known = list(pods)
    alike: dict[object, list[PodSimulation]] = {}
    for pod in known:
        # Of each entry of a catalogue its own answer is asked for.
        if pod.like is not None and pod.subject.kind == POD.name:
            alike.setdefault(pod.like, []).append(pod)
    several = {like: found for like, found in alike.items() if len(found) >= _SEVERAL}
    for pod in known:
        if pod.like not in several:
            yield pod, several.get(pod.subject, ()) if pod.like is None else ()


def alike_lines(alike: Sequence[PodSimulation]) -> Iterator[Safe]:
    """Who else gets this answer."""
    if alike:
        text = "The same holds for {} more pods that differ from it in their names only: {}."
        names = shortened([str(each.subject.key) for each in alike], _NAMED)
        yield from wrapped(fmt(text, len(alike), names))
