"""``--explain``: every part of the selectors on one device with its value, indented as it is nested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.parts import state_word
from kubectl_dra.output.layout import width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.selector.records import ExplainedPart, ExplainedSelector, Explanation
from kubectl_dra.selectors.evaluate import Outcome

_WORDS: Final = {
    Outcome.MATCHES: "matches",
    Outcome.NO: "does not match",
    Outcome.ERROR: "fails",
    Outcome.UNDECIDED: "undecided",
}
_MAX_INDENT: Final = 24


def explanation_lines(explanation: Explanation, wide: bool) -> Iterator[Safe]:
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


def _title(selector: ExplainedSelector) -> Safe:
    owner = fmt("class {}", selector.device_class) if selector.device_class else Safe("request")
    reached = Safe("") if selector.evaluated else Safe(", not reached by the scheduler")
    return fmt("Selector #{} of {}{}: {}", selector.index, owner, reached, Safe(_WORDS[selector.outcome]))


def _part(part: ExplainedPart, wide: bool) -> Iterator[Safe]:
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


def _value(part: ExplainedPart) -> Safe:
    if not part.times:
        return styled(Safe("→ not evaluated"), Style.DIM)
    texts = [safe(value) for value in part.values]
    if part.error:
        texts.append(styled(safe(part.error), Style.BAD))
    more = fmt(" … {} times", part.times) if part.times > len(texts) else Safe("")
    return Safe("→ ") + Safe(" | ").join(texts) + more
