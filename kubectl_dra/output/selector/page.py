"""One SelectorReport on one page: the answer, the verdict, the evidence, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.parts import state_word
from kubectl_dra.output.layout import paragraphs, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.selector import advice
from kubectl_dra.output.selector.devices import clause_lines, device_lines, failure_lines, pool_lines
from kubectl_dra.output.selector.verdicts import styled_headline, verdict_lines
from kubectl_dra.output.unread import around
from kubectl_dra.reports.selector import records
from kubectl_dra.selectors.edits import BARE, compared_amounts
from kubectl_dra.selectors.evaluate import Outcome
from kubectl_dra.selectors.units import likely_unit

_WIDE: Final = Safe("-o wide shows them")


def selector_page(
    report: records.SelectorReport, wide: bool = False, address: Address | None = None, more: Safe = _WIDE
) -> list[Safe]:
    """All lines of the report; ``more`` says how the pools are shown that are left out."""
    question = list(unit_lines(report))
    leads = question and not records.compiles(report)
    head = [*_subject(report), *(question if leads else ()), *styled_headline(report), *verdict_lines(report)]
    if report.explanation is not None:
        told = [*explanation_lines(report.explanation, wide), *advice.local_zone_line(report)]
        return around([*head, Safe(""), *told], report.missing, address)
    blocks: list[list[Safe]] = [
        head,
        list(failure_lines(report)),
        clause_lines(report, wide),
        pool_lines(report, wide, more),
        list(device_lines(report)) if wide else [],
        list(advice.name_lines(report)),
        list(advice.outside_lines(report)),
        [*advice.not_ready_line(report), *advice.undecided_line(report)],
        list(advice.order_lines(report)),
        list(advice.rewrite_lines(report)),
        list(published_lines(report)),
        [] if leads else question,
        list(advice.refusal_lines(report)),
        list(advice.local_zone_line(report)),
        advice.cross_check_lines(report.cross_check) if report.cross_check is not None else [],
    ]
    # Of an expression that does not compile nothing depends on what there is.
    return around(paragraphs(blocks), report.missing if records.compiles(report) else (), address)


def _subject(report: records.SelectorReport) -> list[Safe]:
    """Which selectors these are, where they come from a manifest."""
    subject = report.subject
    if subject.kind == "Expression":
        return []
    name = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
    text = fmt("{} {}", subject.kind, styled(safe(name), Style.NAME))
    if subject.request:
        text += fmt(", request {}", subject.request)
    if report.device_class:
        text += fmt(" (class {})", report.device_class)
    return wrapped(text + Safe(":"))


# --- one device explained ---------------------------------------------------------------------------------------------

_WORDS: Final = {
    Outcome.MATCHES: "matches",
    Outcome.NO: "does not match",
    Outcome.ERROR: "fails",
    Outcome.UNDECIDED: "undecided",
}
_MAX_INDENT: Final = 24


def explanation_lines(explanation: records.Explanation, wide: bool) -> Iterator[Safe]:
    """The outcome on the device, then each selector with its parts."""
    yield from wrapped(
        fmt(
            "On {} ({}): {}",
            explanation.device,
            state_word(explanation.state, explanation.state_bound),
            Safe(_WORDS[explanation.outcome]),
        )
    )
    several = len(explanation.selectors) > 1
    for selector in explanation.selectors:
        if several:
            yield from wrapped(_title(selector))
        for part in selector.parts:
            yield from _part(part, wide)
        if not selector.parts and selector.error:
            yield from wrapped(styled(safe(selector.error), Style.BAD), indent=2)


def _title(selector: records.ExplainedSelector) -> Safe:
    owner = fmt("class {}", selector.device_class) if selector.device_class else Safe("request")
    reached = Safe("") if selector.evaluated else Safe(", not reached by the scheduler")
    return fmt("Selector #{} of {}{}: {}", selector.index, owner, reached, Safe(_WORDS[selector.outcome]))


def _part(part: records.ExplainedPart, wide: bool) -> Iterator[Safe]:
    indent = 2 + min(2 * part.depth, _MAX_INDENT)
    text, value = safe(" ".join(part.text.split())), _value(part)
    if not wide and width(text) > page_width() - indent:
        text = Safe(text[: page_width() - indent - 1]) + "…"
    line = Safe(" " * indent) + text
    if wide or width(line) + 2 + width(value) <= page_width():
        yield line + Safe("  ") + value
        return
    yield line
    yield from wrapped(value, indent=indent + 4)


def _value(part: records.ExplainedPart) -> Safe:
    if not part.times:
        return styled(Safe("→ not evaluated"), Style.DIM)
    texts = [safe(value) for value in part.values]
    if part.error:
        texts.append(styled(safe(part.error), Style.BAD))
    more = fmt(" … {} times", part.times) if part.times > len(texts) else Safe("")
    return Safe("→ ") + Safe(" | ").join(texts) + more


# --- what is published ------------------------------------------------------------------------------------------------

_DOMAINS: Final = 4
_NAMES: Final = 12
#: An amount with a unit that was added to it.
_AMOUNT: Final = re.compile(r"([0-9]{1,9})([kMGT]i?|Ki)")


def published_lines(report: records.SelectorReport) -> Iterator[Safe]:
    """Domains and names with a value each, where the selector reads what nothing has, or cannot be read itself."""
    if not report.published or not _helps(report):
        return
    yield Safe("What the devices publish:")
    for each in _nearest(report)[:_DOMAINS]:
        if each.attributes:
            yield from _names(fmt('device.attributes["{}"]', each.domain), each.attributes)
        if each.capacity:
            yield from _names(fmt('device.capacity["{}"]', each.domain), each.capacity)
    if len(report.published) > _DOMAINS:
        yield fmt("  and {} more domains", len(report.published) - _DOMAINS)


def _helps(report: records.SelectorReport) -> bool:
    totals = report.totals
    fails = bool(totals.devices.value) and totals.fails.value == totals.devices.value
    return not records.compiles(report) or fails or bool(report.unknown_domains)


def _nearest(report: records.SelectorReport) -> list[records.PublishedDomain]:
    """The domains that the selectors name first."""
    texts = " ".join(selector.expression for selector in report.selectors)
    return sorted(report.published, key=lambda each: f'"{each.domain}"' not in texts.replace("'", '"'))


def _names(path: Safe, values: Mapping[str, str]) -> Iterator[Safe]:
    shown = [fmt("{} {}", name, value) if value else fmt("{}", name) for name, value in list(values.items())[:_NAMES]]
    more = fmt(", and {} more", len(values) - _NAMES) if len(values) > _NAMES else Safe("")
    yield from wrapped(fmt("{}: {}{}", path, Safe(", ").join(shown), more), indent=4, first=2)


def unit_lines(report: records.SelectorReport) -> Iterator[Safe]:
    """An amount without a unit beside capacities that are thousands of times as large."""
    capacities = {(each.domain, name): value for each in report.published for name, value in each.capacity.items()}
    changed = (each.expression for each in report.rewrites if "amount" in each.changes)
    said = (each for text in changed for each in compared_amounts(text))
    added = [(each.domain, each.name, *found.groups()) for each in said if (found := _AMOUNT.fullmatch(each.text))]
    bare = [each for selector in report.selectors for each in compared_amounts(selector.expression)]
    added += [
        (each.domain, each.name, each.text, _unit(capacities.get((each.domain, each.name), ""), int(each.text)))
        for each in bare
        if BARE.fullmatch(each.text)
    ]
    written = " ".join(each.expression for each in report.selectors)
    for domain, name, digits, unit in dict.fromkeys(added):
        if unit and re.search(rf"\b{digits}\b", written) and (domain, name) in capacities:
            text = '{} has no unit, and the devices have {} of {}: did you mean quantity("{}{}")?'
            yield from wrapped(fmt(text, digits, capacities[domain, name], name, digits, unit))


def _unit(value: str, amount: int) -> str:
    try:
        return likely_unit(amount, Quantity.parse(value)) if value else ""
    except QuantityError:
        return ""
