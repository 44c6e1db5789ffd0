"""Pods that have to leave their nodes and find no others: who and why, before all else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import why_not
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import first_of
from kubectl_dra.reports.simulation.displaced import WithoutPlace

_NAMED: Final = 4


def without_place_lines(found: Iterable[WithoutPlace]) -> Iterator[Safe]:
    """A sentence for each reason."""
    for each in found:
        names, reason = first_of([str(pod.key) for pod in each.pods], _NAMED), why_not(each.pending)
        yield from wrapped(styled(fmt("{} would find no other node{}.", names, reason or Safe("")), Style.BOLD))
