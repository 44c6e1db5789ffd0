"""What the selector lab says beside the report of test-selector: counts, completions, values, how to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.devices.parts import spoken
from kubectl_dra.output.layout import Column as TextColumn
from kubectl_dra.output.layout import padded, table, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted, shortened
from kubectl_dra.reports.selector.records import SelectorReport, compiles
from kubectl_dra.selectors.completion import Completion, NamedValue
from kubectl_dra.selectors.values import Distribution
from kubectl_dra.tui.bars import amount_bar
from kubectl_dra.tui.text import clipped

_BAR: Final = 12
_SHOWN: Final = 10
_STARTS: Final = 4


def error_places(report: SelectorReport) -> Iterator[tuple[int, int]]:
    """Places in the selector that is being written: the last one of the report."""
    if not report.selectors:
        return
    last = report.selectors[-1]
    for verdict in (last.scheduler, last.admission):
        yield from ((p.offset, len(p.name)) for p in verdict.problems if p.offset is not None)
    for failure in report.failures:
        if failure.offset is not None and failure.index == last.index and failure.device_class == last.device_class:
            yield failure.offset, failure.length


def counts(report: SelectorReport) -> Safe:
    """``8 match   24 no``; what fails only where something does. What does not compile has no counts."""
    if not compiles(report):
        return styled(Safe("does not compile"), Style.BAD)
    totals = report.totals
    parts = [styled(fmt("{} match", spoken(totals.matches)), Style.GOOD), fmt("{} no", spoken(totals.no))]
    if totals.fails.value:
        parts.append(styled(fmt("{} fail", spoken(totals.fails)), Style.BAD))
    if totals.undecided.value:
        parts.append(styled(fmt("{} undecided", spoken(totals.undecided)), Style.WARN))
    return Safe("   ").join(parts)


def choice_line(choices: Sequence[Completion], chosen: int, room: int) -> Safe:
    """``tab  model string 32   uuid string 32``, beginning with the chosen one."""
    line = styled(Safe("tab"), Style.NAME)
    for index, each in enumerate([*choices[chosen:], *choices[:chosen]]):
        text = styled(safe(each.text), Style.BOLD) if index == 0 else safe(each.text)
        type_ = styled(fmt(" {}", each.type), Style.DIM) if each.type else Safe("")
        having = Safe("") if each.devices is None else styled(fmt(" {}", counted(each.devices, "device")), Style.DIM)
        part = Safe("  ") + text + type_ + having
        if width(line) + width(part) > room and index:
            break
        line += part
    return line


def completion_lines(choices: Sequence[Completion], chosen: int) -> Iterator[Safe]:
    """One under the other, with types and how many devices have it; the chosen one is marked."""
    chosen %= max(len(choices), 1)
    shown = choices[max(chosen - _SHOWN + 1, 0) :][:_SHOWN]
    longest = min(max((width(safe(each.text)) for each in shown), default=0), 40)
    for each in shown:
        mark = styled(Safe("▸ "), Style.NAME) if each is choices[chosen] else Safe("  ")
        having = counted(each.devices, "device") if each.devices is not None else Safe("")
        text = padded(clipped(safe(each.text), longest), longest)
        yield mark + text + styled(fmt("  {}  {}", padded(safe(each.type), 9), having), Style.DIM)
    hidden = len(choices) - len(shown)
    if hidden:
        yield styled(fmt("  and {} more: ctrl+n", hidden), Style.DIM)


def distribution_lines(values: Distribution) -> Iterator[Safe]:
    """The values of the attribute at the cursor, with bars."""
    yield styled(fmt("{}/{}", values.domain, values.name), Style.BOLD) + styled(fmt("  {}", values.type), Style.DIM)
    total = max((number for _, number in values.values), default=1)
    longest = min(max((width(safe(text)) for text, _ in values.values), default=0), 40)
    for text, devices in values.values:
        yield (
            Safe("  ")
            + padded(fmt("{}", devices), 6, right=True)
            + Safe("  ")
            + amount_bar(devices, total, _BAR)
            + Safe("  ")
            + padded(safe(text), longest)
        )
    hidden = values.distinct - len(values.values)
    if hidden > 0:
        yield styled(fmt("  and {} more values", hidden), Style.DIM)
    if values.lacking:
        yield styled(fmt("  {} without it", counted(values.lacking, "device")), Style.WARN)


def introduction(named: Sequence[NamedValue] | None, starts: Sequence[str]) -> Iterator[Safe]:
    """What can be named, before anything is written; ``starts``: the selectors to begin with."""
    yield Safe("Write a condition on one device, for example")
    yield styled(Safe('  device.attributes["gpu.example.com"].model == "H100"'), Style.GOOD)
    yield Safe("or only the name of an attribute, and tab.")
    if starts:
        yield from wrapped(fmt("Or begin with one of f2: {}.", shortened(starts, _STARTS)))
    if not named:
        return
    yield Safe("")
    columns = [TextColumn(title, right=title == "DEVICES", flexible=title != "DEVICES") for title in _TITLES]
    rows = [[safe(n.domain), safe(n.name), safe(n.type), safe(n.field), fmt("{}", n.devices)] for n in named]
    yield from table(columns, rows)


_TITLES: Final = ("DOMAIN", "NAME", "TYPE", "FIELD", "DEVICES")
