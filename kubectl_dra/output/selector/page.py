"""One SelectorReport on one page: the answer, the verdict, the evidence, and what to write instead."""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import paragraphs, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.selector import advice
from kubectl_dra.output.selector.devices import clause_lines, device_lines, failure_lines, pool_lines
from kubectl_dra.output.selector.explained import explanation_lines
from kubectl_dra.output.selector.published import published_lines, unit_lines
from kubectl_dra.output.selector.verdicts import styled_headline, verdict_lines
from kubectl_dra.output.unread import missing_lines
from kubectl_dra.reports.selector.records import SelectorReport, compiles

_WIDE: Final = Safe("-o wide shows them")


def selector_page(
    report: SelectorReport, wide: bool = False, address: Address | None = None, more: Safe = _WIDE
) -> list[Safe]:
    """All lines of the report; ``more`` says how the pools are shown that are left out."""
    unread = list(missing_lines(report.missing, address))
    question = list(unit_lines(report))
    leads = question and not compiles(report)
    head = [*_subject(report), *(question if leads else ()), *styled_headline(report), *verdict_lines(report)]
    if report.explanation is not None:
        return [
            *unread,
            *([Safe("")] if unread else []),
            *head,
            Safe(""),
            *explanation_lines(report.explanation, wide),
            *advice.local_zone_line(report),
        ]
    blocks: list[list[Safe]] = [
        unread,
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
    return paragraphs(blocks)


def _subject(report: SelectorReport) -> list[Safe]:
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
