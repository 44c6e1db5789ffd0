"""What became of the devices: clauses that removed some, places where evaluation failed, pools with matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.devices.parts import UNKNOWN, number, ranges
from kubectl_dra.output.layout import PAGE, Column, table, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.selector.code import marked
from kubectl_dra.output.units import value_words
from kubectl_dra.output.words import counted, did_you_mean, listed, plural
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.selector.records import Clause, Failure, NameUse, PoolOutcome, Seen, SelectorReport
from kubectl_dra.selectors.comparisons import short_clause

_VALUES: Final = 3
_POOLS: Final = 12
_CLAUSES: Final = 12
_FAILURES: Final = 4
_CLAUSE: Final = 200


def clause_lines(report: SelectorReport, wide: bool) -> list[Safe]:
    """A line per condition that removed devices, with the values seen."""
    removing = [clause for clause in report.clauses if clause.removes]
    shown = removing if wide else removing[:_CLAUSES]
    digits = max((len(str(clause.removes)) for clause in shown), default=1)
    rows = [_clause_row(clause, digits, wide) for clause in shown]
    columns = [Column(flexible=True), Column(), Column(flexible=True)]
    lines = table(columns, rows, columns_wide=None if wide else PAGE, indent=2, header=False)
    rest = removing[len(shown) :]
    if rest:
        lines.append(fmt("  {} more remove {}", len(rest), sum(clause.removes for clause in rest)))
    return lines


def _clause_row(clause: Clause, digits: int, wide: bool) -> list[Safe]:
    removes = Safe(f"removes {clause.removes:{digits}}")
    text = short_clause(clause.text)
    if len(text) > _CLAUSE and not wide:
        text = f"{text[:_CLAUSE]}…"
    return [safe(text), removes, _seen(clause, wide)]


def _seen(clause: Clause, wide: bool) -> Safe:
    """``seen: L40 (16)``; many values that hardly repeat say less than their number."""
    if not clause.seen:
        return Safe("")
    shown = clause.seen if wide else clause.seen[:_VALUES]
    texts = [fmt("{} ({})", _values(seen), seen.devices) for seen in shown]
    rest = sum(seen.devices for seen in clause.seen[len(shown) :]) + clause.more
    if rest:
        texts.append(fmt("others ({})", rest))
    return Safe("seen: ") + Safe(", ").join(texts)


def _values(seen: Seen) -> Safe:
    if len(seen.values) == 1:
        return _value(next(iter(seen.values.values())))
    return Safe(" ").join([fmt("{}={}", name, _value(value)) for name, value in seen.values.items()])


def _value(value: str | None) -> Safe:
    return Safe("not set") if value is None else safe(value) if value else Safe('""')


# --- failures -------------------------------------------------------------------------------------------------------


def failure_lines(report: SelectorReport) -> Iterator[Safe]:
    """Every place at which evaluation failed, on how many devices, and who has what is missing there."""
    for failure in report.failures[:_FAILURES]:
        yield from _failure(failure, report)
    rest = report.failures[_FAILURES:]
    if rest:
        yield fmt("  {} fail otherwise", sum(failure.devices for failure in rest))


def _failure(failure: Failure, report: SelectorReport) -> Iterator[Safe]:
    expression = next(
        s.expression for s in report.selectors if (s.device_class, s.index) == (failure.device_class, failure.index)
    )
    note = did_you_mean(failure.near, "") or safe(failure.error)
    yield from marked(expression, failure.offset, failure.length, note)
    use = _use(failure, report.names)
    partial = use is not None and 0 < use.have < use.of
    everywhere = failure.devices == report.totals.devices.value
    if len(report.failures) > 1 or not (partial or everywhere) or (report.device_class and failure.skipped):
        skipped = _skipped(failure) if report.device_class else Safe("")
        yield from wrapped(fmt("  fails on {}{}", _on(failure), skipped), indent=2)
    if failure.reads:
        yield from wrapped(fmt("  {}", _types(failure)), indent=2)
    if use is not None and partial:
        yield from wrapped(
            fmt("  {} of {} devices have it; those of {} don't", use.have, use.of, _lacking(use)), indent=2
        )


def _types(failure: Failure) -> Safe:
    """``cores is the string "64" on n3/npu-0; on n0/npu-0 cores is the int 64``."""
    first = fmt("{} on {}", listed([value_words(each) for each in failure.reads]), failure.examples[0])
    if not failure.elsewhere:
        return first
    return fmt("{}; on {} {}", first, failure.other, listed([value_words(each) for each in failure.elsewhere]))


def _on(failure: Failure) -> Safe:
    if failure.devices == 1:
        return safe(failure.examples[0])
    return fmt("{}, {} first", counted(failure.devices, "device"), failure.examples[0])


def _skipped(failure: Failure) -> Safe:
    """The scheduler does not evaluate selectors on devices that are in use as a whole."""
    if not failure.skipped:
        return Safe("")
    number = "all" if failure.skipped == failure.devices else str(failure.skipped)
    return fmt("; {} of them in use or not offered, so not looked at now", number)


def _use(failure: Failure, names: Sequence[NameUse]) -> NameUse | None:
    return next((use for use in names if use.name == failure.key and not use.guarded), None)


def _lacking(use: NameUse) -> Safe:
    pools = use.lacking[:3]
    more = len(use.lacking) - len(pools) + use.more
    return fmt("{} +{}", Safe(", ").join(pools), more) if more else listed(pools)


# --- pools ----------------------------------------------------------------------------------------------------------


def pool_lines(report: SelectorReport, wide: bool, more: Safe) -> list[Safe]:
    """A line per pool with matches: how many, how many of them free, and which; ``more`` says what shows the others."""
    matching = [pool for pool in report.pools if pool.matches]
    if not matching:
        return []
    shown = matching if wide or len(matching) <= _POOLS + 1 else matching[:_POOLS]
    rows = [_pool_row(pool) for pool in shown]
    rest = matching[len(shown) :]
    if rest:
        matches, free = sum(len(pool.matches) for pool in rest), sum(len(pool.free) for pool in rest)
        numbers = [number(Count(matches, rest[0].bound)), number(Count(free, rest[0].free_bound))]
        rows.append([fmt("{} more", len(rest)), Safe(""), *numbers, more, Safe("")])
    columns = [
        Column("DRIVER", flexible=True),
        Column("POOL", flexible=True),
        Column("MATCH", right=True),
        Column("FREE", right=True),
        Column("DEVICES", flexible=True),
        Column("FREE OF THEM", flexible=True),
    ]
    return table(columns, rows, columns_wide=None if wide else PAGE, indent=2)


def _pool_row(pool: PoolOutcome) -> list[Safe]:
    numbers = [number(Count(len(pool.matches), pool.bound)), number(Count(len(pool.free), pool.free_bound))]
    return [safe(pool.driver), safe(pool.pool), *numbers, Safe(" ").join(ranges(pool.matches)), _free(pool)]


def _free(pool: PoolOutcome) -> Safe:
    """Which of those that match are free; where claims were not read, nobody knows which."""
    if pool.free_bound is not Bound.EXACT:
        return UNKNOWN if pool.free else Safe("-")
    return Safe("all") if pool.free == pool.matches else Safe(" ").join(ranges(pool.free)) or Safe("-")


def device_lines(report: SelectorReport) -> Iterator[Safe]:
    """For wide output: the devices that don't match and those on which it fails, by pool."""
    for title, field, style in (("does not match", "no", Style.DIM), ("fails", "fails", Style.BAD)):
        pools = [pool for pool in report.pools if getattr(pool, field)]
        rows = [[safe(f"{pool.driver}/{pool.pool}"), Safe(" ").join(ranges(getattr(pool, field)))] for pool in pools]
        if rows:
            count = sum(len(getattr(pool, field)) for pool in pools)
            yield styled(fmt("{} on {} {}:", Safe(title), count, plural("device", count)), style)
            yield from table([Column(), Column()], rows, columns_wide=None, indent=2, header=False)
