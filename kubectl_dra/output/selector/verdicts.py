"""The first lines of a SelectorReport: the answer in one sentence, and what admission and the scheduler say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.output.devices.parts import spoken
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.refusals import parser_words
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.selector.code import code, marked
from kubectl_dra.output.units import amounts_text
from kubectl_dra.output.words import counted, did_you_mean, plural
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.selector.records import SelectorRecord, SelectorReport
from kubectl_dra.selectors.compiling import Problem, Verdict

_MAX_PROBLEMS: Final = 5
# Admission looks at the length before it compiles anything.
_TOO_LONG: Final = "FieldValueTooLong"
#: Of an expression that is of another type than bool; upstream: cel/compile.go of dynamic-resource-allocation.
_NOT_BOOL: Final = re.compile(r"CEL result of type (\S+) could not be converted to bool")
_END: Final = "unexpected end of the expression"
#: An end that more must follow.
_UNFINISHED: Final = re.compile(r"(?:[.\[(,=<>!&|+*/-]|[\"']\s*\]?\s*\.)\s*$")
_ISSUES: Final = "compilation failed: "


def headline(report: SelectorReport) -> Safe:
    if not report.class_found:
        near = did_you_mean(report.class_near, ", ") or Safe(".")
        return fmt("DeviceClass {} does not exist{}", report.device_class or "", near)
    long = next((s for s in report.selectors if s.admission.reason == _TOO_LONG), None)
    if long is not None:
        return fmt("The API server refuses {}: {}.", _which(long), _first(long.admission))
    refused = next((s for s in report.selectors if not s.scheduler.accepted), None)
    if refused is not None:
        text = _first(refused.scheduler)
        unfinished = (
            Safe(" (it is not finished)") if _UNFINISHED.search(refused.expression) or _END in text else Safe("")
        )
        return fmt("Does not compile{}: {}{}.", _owner(refused), text, unfinished)
    if not report.selectors:
        return fmt("No selectors. {}.", _outcomes(report))
    refused = next((s for s in report.selectors if not s.admission.accepted), None)
    if refused is not None:
        return fmt("The API server refuses {}: {}.", _which(refused), _first(refused.admission))
    return _sentence(report)


def _sentence(report: SelectorReport) -> Safe:
    totals = report.totals
    if totals.devices.value and totals.fails.value == totals.devices.value:
        every = (
            fmt("all {}", counted(totals.devices.value, "device"))
            if totals.devices.value > 1
            else Safe("the only device")
        )
        error = report.failures[0].error
        kind = _NOT_BOOL.match(error)
        if kind is not None:
            text = "Fails on {}{}: a selector must be true or false, and this one is of type {}"
            return fmt(text, every, _of_class(report), kind[1])
        first = report.failures[0]
        failing = (s for s in report.selectors if (s.device_class, s.index) == (first.device_class, first.index))
        amounts = next((text for each in failing if (text := amounts_text(each.expression))), None)
        return fmt("Fails on {}{}: {}", every, _of_class(report), amounts or error)
    return _outcomes(report) + Safe(".")


def _outcomes(report: SelectorReport) -> Safe:
    """``8 of 32 devices match (4 of them free), 24 don't, none fails``."""
    totals = report.totals
    if not totals.devices.value:
        return _no_devices(report)
    matches, devices = totals.matches.value, totals.devices.value
    of = fmt("{} of {} {}", spoken(totals.matches), spoken(totals.devices), plural("device", devices))
    if devices > 1 and matches in (0, devices):
        quantity = fmt("All {}", spoken(totals.devices)) if matches else fmt("None of {}", spoken(totals.devices))
        of = fmt("{} devices", quantity)
    text = fmt("{}{} {}", of, _of_class(report), Safe("match" if matches > 1 else "matches"))
    if matches:
        partly = fmt(", {} in part", spoken(totals.partly)) if totals.partly.value else Safe("")
        text += fmt(" ({} of them free{})", _free(totals.free), partly)
    if totals.no.value and matches:
        text += fmt(", {} {}", spoken(totals.no), "doesn't" if totals.no.value == 1 else "don't")
    if totals.fails.value or not totals.undecided.value:
        text += fmt(", {}", _failing(totals.fails))
    if totals.undecided.value:
        text += fmt(", {} undecided", spoken(totals.undecided))
    return text


def _free(count: Count) -> Safe:
    return spoken(count) if count.value else Safe("none")


def _failing(count: Count) -> Safe:
    if not count.value:
        return Safe("none fails")
    return fmt("{} {}", spoken(count), "fails" if count.value == 1 else "fail")


def _no_devices(report: SelectorReport) -> Safe:
    if report.device_class and report.outside.devices:
        return fmt("No device{} is in class {}", _place(report), report.device_class)
    if report.missing:
        return fmt("No device{} could be read to try it on", _place(report))
    return fmt("There are no devices{} to try it on", _place(report))


def _place(report: SelectorReport) -> Safe:
    pool = "/".join(filter(None, (report.driver, report.pool)))
    parts = [fmt("in pool {}", pool)] if report.pool else []
    parts += [fmt("of driver {}", report.driver)] if report.driver and not report.pool else []
    parts += [fmt("on node {}", report.node)] if report.node else []
    return Safe("").join([Safe(" ") + part for part in parts])


def _of_class(report: SelectorReport) -> Safe:
    of_class = fmt(" of class {}", report.device_class) if report.device_class else Safe("")
    return of_class + _place(report)


def _owner(selector: SelectorRecord) -> Safe:
    if selector.device_class:
        return fmt(" (selector #{} of class {})", selector.index, selector.device_class)
    return fmt(" (selector #{})", selector.index) if selector.index else Safe("")


def _which(selector: SelectorRecord) -> Safe:
    return fmt("selector #{}", selector.index) if selector.index else Safe("it")


def _first(verdict: Verdict) -> Safe:
    if verdict.problems:
        return safe(_message(verdict.problems[0]))
    return safe(" ".join(verdict.text.removeprefix(_ISSUES).split()))


def _message(problem: Problem) -> str:
    return parser_words(" ".join(problem.message.removesuffix(" (in container '')").split()))


# --- below ----------------------------------------------------------------------------------------------------------


def verdict_lines(report: SelectorReport) -> Iterator[Safe]:
    """Whether it compiles, with every problem at its place, and the estimated cost."""
    for selector in report.selectors:
        yield from _verdict(selector)
    good = [s for s in report.selectors if s.scheduler.accepted and s.admission.accepted]
    if good and len(good) == len(report.selectors):
        yield from wrapped(_costs(report))


def _costs(report: SelectorReport) -> Safe:
    own = [s for s in report.selectors if not s.device_class or not report.device_class]
    texts = [fmt("{:,}", selector.estimated_cost or 0) for selector in own or report.selectors]
    limit = report.selectors[0].cost_limit
    each = Safe(" each") if len(texts) > 1 else Safe("")
    verb = Safe("Compiles.") if len(texts) == 1 else Safe("All compile.")
    return fmt("{} Estimated cost {} of {:,}{}.", verb, Safe(", ").join(texts), limit, each)


def _verdict(selector: SelectorRecord) -> Iterator[Safe]:
    if selector.admission.reason == _TOO_LONG and not selector.scheduler.accepted:
        yield from wrapped(fmt("It does not compile either: {}.", _first(selector.scheduler)))
    elif not selector.scheduler.accepted:
        yield from _problems(selector, selector.scheduler)
        if selector.admission.accepted:
            yield Safe("The API server would accept it, but the scheduler can't use it.")
    elif not selector.admission.accepted:
        yield from _problems(selector, selector.admission)
        yield from wrapped(_too_costly(selector))


def _too_costly(selector: SelectorRecord) -> Safe:
    cost = selector.estimated_cost
    if cost is not None and cost > selector.cost_limit:
        spent = fmt(" The highest real cost on a device is {:,}.", selector.spent) if selector.spent else Safe("")
        return fmt("Its estimated cost is {:,} of {:,}.{}", cost, selector.cost_limit, spent)
    return Safe("The scheduler could evaluate it, had it been stored before; see below.")


def _problems(selector: SelectorRecord, verdict: Verdict) -> Iterator[Safe]:
    if not verdict.problems:
        yield from code(selector.expression, max_lines=3)
        return
    shown = verdict.problems[:_MAX_PROBLEMS]
    for index, problem in enumerate(shown):
        # The headline says the first one already.
        note = did_you_mean(problem.near, "")
        if index:
            note = safe(_message(problem)) + (Safe(": ") + note if note else note)
        offset, length = _extent(selector.expression, problem)
        yield from marked(selector.expression, offset, length, note)
    if len(verdict.problems) > len(shown):
        yield fmt("  and {}", counted(len(verdict.problems) - len(shown), "more error"))


def _extent(expression: str, problem: Problem) -> tuple[int | None, int]:
    """The name that is meant where the error stands at the dot or parenthesis beside it."""
    name, offset = problem.name, problem.offset
    if name and offset is not None:
        if expression.startswith(name, offset + 1) and expression[offset] == ".":
            return offset + 1, len(name)
        if expression.startswith(name, offset):
            return offset, len(name)
        if expression.endswith(name, 0, offset):
            return offset - len(name), len(name)
    return offset, 1


def styled_headline(report: SelectorReport) -> list[Safe]:
    return wrapped(styled(headline(report), Style.BOLD))
