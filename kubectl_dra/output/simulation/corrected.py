"""The words about selectors of the files that do not compile: what they probably mean, and what comes of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.selector.code import code
from kubectl_dra.output.simulation.names import object_name
from kubectl_dra.output.words import counted
from kubectl_dra.reports.simulation.uncompiled import CorrectedSelector


def corrected_lines(found: Iterable[CorrectedSelector]) -> Iterator[Safe]:
    """What to write instead."""
    for each in found:
        verb = Safe("matches" if each.matching == 1 else "match")
        text = "Write instead in {} (tried: {} of {} {}):"
        yield from wrapped(fmt(text, object_name(each.object), each.matching, counted(each.devices, "device"), verb))
        yield from (styled(line, Style.GOOD) for line in code(each.expression))


def as_if_lines(found: Iterable[CorrectedSelector], accepted: Iterable[ObjectRef] = ()) -> Iterator[Safe]:
    """How what follows is meant."""
    if any(found):
        yield Safe("As if it were written so:")
    elif any(accepted):
        yield Safe("As if that were fixed:")
