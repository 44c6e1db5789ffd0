"""What is said of requests with alternatives, where they fit: which of these the pods get."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.simulation.alternatives import TakenAlternative
from kubectl_dra.reports.simulation.records import PodSimulation


def alternative_lines(pod: PodSimulation) -> Iterator[Safe]:
    """One line for each request."""
    for name, group in groupby(pod.alternatives, lambda each: each.request):
        taken = list(group)
        whose = fmt("request {} gets", name)
        if len(taken) == 1:
            text = fmt("{} its alternative {}, number {} of {}", whose, _what(taken[0]), taken[0].rank, taken[0].of)
        else:
            several = [fmt("{} {}", _what(each), counted(each.claims, "time")) for each in taken]
            text = fmt("{} alternative {}", whose, listed(several))
        yield from wrapped(text, indent=2)


def _what(taken: TakenAlternative) -> Safe:
    return fmt("{} ({})", taken.alternative, counted(taken.devices, "device"))
