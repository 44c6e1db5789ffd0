"""Pods of which a simulation says the same, word for word but for names: one page tells of all of them."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import plural, shortened, without_names
from kubectl_dra.reports.simulation import PodSimulation

_NAMED: Final = 4
#: Where each object stands in the files, without white space.
_LINE: Final = re.compile(",line[0-9]+")
Blocks = list[list[Safe]]


@dataclass(slots=True)
class ToldPod:
    """A pod with what is said of it, and ``others`` of which the same is said."""

    pod: PodSimulation
    blocks: Blocks
    others: list[PodSimulation] = field(default_factory=list)


def told_together(pages: Iterable[tuple[PodSimulation, Blocks]]) -> Iterator[ToldPod]:
    """The pages in their order, each of them once; those of pods that fit are short and tell where."""
    pages = list(pages)
    everyone = dict.fromkeys(pod.subject.name for pod, _ in pages)
    known: dict[str, ToldPod] = {}
    told = []
    for pod, blocks in pages:
        key = _without_names(pod, blocks, everyone) if pod.lacks and pod.pending is not None else ""
        if key and key in known:
            known[key].others.append(pod)
            continue
        told.append(ToldPod(pod, blocks))
        if key:
            known[key] = told[-1]
    yield from told


def other_lines(others: Sequence[PodSimulation]) -> Iterator[Safe]:
    """Who else is meant."""
    if others:
        names = shortened([str(each.subject.key) for each in others], _NAMED)
        kind = safe(plural(others[0].subject.kind, len(others)))
        yield from wrapped(fmt("The same applies, with other names, to {} more {}: {}.", len(others), kind, names))


def _without_names(pod: PodSimulation, blocks: Blocks, everyone: dict[str, None]) -> str:
    """What is said, with one word in place of the names of the pods, of this one's claims and of their templates."""
    asks = pod.pending.asks if pod.pending is not None else ()
    own = dict.fromkeys(name for ask in asks for name in (ask.name, ask.template))
    said = without_names(ChainMap(own, everyone), chain.from_iterable(blocks))
    return f"{pod.subject.kind} {pod.role} {_LINE.sub('', said)}"
