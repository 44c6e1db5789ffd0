"""Partitions of one piece of hardware, as describe-pool shows them: counters, types, what excludes what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.devices.capacity import bounded
from kubectl_dra.output.devices.parts import number, ranges
from kubectl_dra.output.layout import Column, table, wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.devices.partitions import CounterRecord
from kubectl_dra.reports.devices.pool import PoolReport

_EXCLUSIONS: Final = 4


def partition_lines(report: PoolReport) -> Iterator[Safe]:
    if not report.counters:
        return
    titles = ("COUNTER SET", "COUNTER", "USED", "LEFT")
    rows = list(_counter_rows(report.counters))
    yield from table([Column(title, flexible=title.startswith("COUNTER")) for title in titles], rows, indent=2)
    yield Safe("")
    named = any(each.name != each.takes for each in report.partitions)
    columns = [Column("PARTITION TYPE", flexible=True), *([Column("TAKES", flexible=True)] if named else [])]
    columns += [Column(title, right=True) for title in ("DEVICES", "FREE", "FREE TOGETHER")]
    rows = []
    for each in report.partitions:
        name = Safe("-") if named and each.name == each.takes else safe(each.name)
        cells = [name, *([safe(each.takes)] if named else [])]
        rows.append([*cells, fmt("{}", each.devices), number(each.free), number(each.together)])
    yield from table(columns, rows, indent=2)


def counter_sets(counters: Sequence[CounterRecord]) -> list[tuple[Safe, Safe]]:
    """Sets of counters by name, those alike together, each with what is used of its counters in one line."""
    found: list[tuple[Safe, list[Safe]]] = []
    for head, names, used, _ in _counter_rows(counters):
        if head:
            found.append((head, []))
        found[-1][1].append(fmt("{} {}", names, used))
    return [(head, fmt("{} used", Safe(", ").join(amounts))) for head, amounts in found]


def _counter_rows(counters: Sequence[CounterRecord]) -> Iterator[list[Safe]]:
    """Counters with the same numbers and sets with the same counters on one line."""
    known = all(each.used_bound is Bound.EXACT for each in counters)
    by_set: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for each in counters:
        numbers = (each.used, each.total, each.available)
        by_set.setdefault(each.counter_set, {}).setdefault(numbers, []).append(each.counter)
    alike: dict[tuple[tuple[tuple[str, str, str], tuple[str, ...]], ...], list[str]] = {}
    for name, groups in by_set.items():
        alike.setdefault(tuple((numbers, tuple(names)) for numbers, names in groups.items()), []).append(name)
    for content, sets in alike.items():
        head = Safe(", ").join(ranges(sets))
        for (used, total, left), names in content:
            taken, rest = bounded(used, Bound.AT_LEAST), bounded(left, Bound.AT_MOST)
            taken, rest = (safe(used), safe(left)) if known else (taken, rest)
            yield [head, Safe(", ").join(ranges(names)), fmt("{} of {}", taken, total), rest]
            head = Safe("")


def exclusion_lines(report: PoolReport, wide: bool) -> Iterator[Safe]:
    """Devices that exclude the same others on one line, every pair once; all of them only with ``-o wide``."""
    groups: dict[tuple[str, ...], list[str]] = {}
    said: set[str] = set()
    for device in report.devices:
        if device.excludes:
            groups.setdefault(device.excludes, []).append(device.name)
    if groups:
        yield Safe("  Can't be allocated side by side, because their counters exceed the set:")
    shown = 0
    for excludes, names in groups.items():
        others = [name for name in excludes if name not in said or name in names]
        said.update(names)
        if not others:
            continue
        if shown == _EXCLUSIONS and not wide:
            yield Safe("    … (-o wide shows all)")
            return
        shown += 1
        text = fmt("{}: not with {}", Safe(", ").join(ranges(names)), Safe(", ").join(ranges(others)))
        yield from wrapped(text, indent=6, first=4)
