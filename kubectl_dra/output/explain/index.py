"""The index of reasons: each code, its few words, and the message that leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.said.kubelet import told_by
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.layout import padded, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled

PARTS: Final = {
    "1": "The scheduler does not try the pod",
    "2": "No node has the devices",
    "3": "An error ends every attempt",
    "4": "The nodes do not suit the pod",
    "5": "The devices are reserved, the pod is not bound yet",
    "6": "The pod is on its node and does not start",
    "7": "Claims that no pending pod uses",
    "8": "The diagnosis lacks data",
    "9": "The pod would fit",
}
#: Reasons of one message that are ruled out first: what is in use, tainted or missing changes from hour to hour.
_FIRST: Final = (
    Code.DEVICES_IN_USE,
    Code.DEVICES_TAINTED,
    Code.NO_DEVICE_IN_CLASS,
    Code.TOO_FEW_DEVICES,
    Code.SELECTOR_MATCHES_NOTHING,
    Code.NO_SINGLE_NODE,
)
_ONE: Final = Safe("One of them in full: kubectl dra explain CODE")
_TABLE: Final = "| code | reason | what you see | `detail.type` in JSON |"
_WORD: Final = re.compile(r"[a-z]{3,}")
#: Names of drivers, devices and files in a message, in place of which the pages have placeholders.
_NAMED: Final = re.compile(r"\S*(?:\w[./=]\w|\d)\S*")
#: Capitals and dots in a message stand for what differs from case to case.
_PLACEHOLDER: Final = re.compile(r"\b[A-Z]{2,}\b|…")


def found_lines(codes: Sequence[Code]) -> Iterator[Safe]:
    """The codes that a message may mean, the part of the likeliest first, and what tells which of them it is.

    A message of several is printed once, above what each of them means.
    """
    yield from wrapped(fmt("{} reasons lead to a message like this one. Which of them it is for your pod:", len(codes)))
    yield Safe("  kubectl dra why-pending POD -n NAMESPACE")
    yield Safe("")
    by_part: dict[str, dict[str, list[Code]]] = {}
    for code in codes:
        by_part.setdefault(code[4], {}).setdefault(reason_page(code).message, []).append(code)
    for part, by_message in by_part.items():
        yield styled(Safe(PARTS[part]), Style.BOLD)
        for message, alike in by_message.items():
            yield from _alike_lines(message, alike) if len(alike) > 1 else _one(alike[0])
        yield Safe("")
    yield _ONE


def _alike_lines(message: str, codes: Sequence[Code]) -> Iterator[Safe]:
    """What differs between reasons with one message: first those that most pods have, in an order to check them in."""
    yield from wrapped(safe(message), indent=2)
    first = [code for code in _FIRST if code in codes]
    for title, group in (("Check these first:", first), ("Then these:", [each for each in codes if each not in first])):
        if first and group:
            yield Safe(f"  {title}")
        for code in group:
            yield from wrapped(fmt("{}: {}", code, Safe(code.meaning)), indent=11, first=2)


def index_lines(codes: Sequence[Code]) -> Iterator[Safe]:
    """The codes by their parts, each with the message on the next line."""
    part = ""
    for code in codes:
        if code[4] != part:
            if part:
                yield Safe("")
            part = code[4]
            yield styled(Safe(PARTS[part]), Style.BOLD)
        yield from _one(code)
    yield Safe("")
    yield _ONE


def _one(code: Code) -> Iterator[Safe]:
    yield padded(Safe(f"  {code}"), 11) + Safe(code.label)
    yield from wrapped(safe(reason_page(code).message), indent=11)


def markdown_index(codes: Sequence[Code]) -> Iterator[Safe]:
    """The same as Markdown, for docs/reasons/README.md."""
    part = ""
    for code in codes:
        if code[4] != part:
            part = code[4]
            yield from (Safe(""), fmt("## {}", Safe(PARTS[part])), Safe(""), Safe(_TABLE))
            yield Safe("|---|---|---|---|")
        message = reason_page(code).message.replace("|", "\\|")
        evidence = Safe(", ").join([fmt("`{}`", name) for name in code.evidence])
        row = "| [{}]({}.md) | {} | `{}` | {} |"
        yield fmt(row, code, code, Safe(code.meaning), message.replace("`", "'"), evidence)


def matching(message: str) -> tuple[Code, ...]:
    """The codes whose message shares all its fixed words with ``message``, or has all words of it; best first.

    Where the message alone tells the reason of a pod, as ``why-pending`` reads it, no other one is meant.
    """
    if (told := told_by(message)) is not None:
        return (told,)
    every, wanted = set(_words(message)), set(_words(_PLACEHOLDER.sub(" ", _NAMED.sub(" ", message))))
    found: dict[Code, float] = {}
    for code in Code:
        for fixed in map(set, _fixed_words(reason_page(code).messages)):
            if (wanted and wanted <= fixed) or (len(fixed) >= _ENOUGH and fixed <= every):
                found[code] = min(found.get(code, 0.0), -len(fixed & wanted) / len(fixed | wanted))
    return tuple(sorted(found, key=lambda code: (found[code], code)))


_ENOUGH: Final = 3
#: How kubectl describe lists an event, which other tools leave out, and what the kubelet puts before every such error.
_EVENT: Final = re.compile(r"^(?:Warning|Normal) \w+ \([\w-]+\): ")
_PREPARING: Final = re.compile(r"^(?:Failed to prepare dynamic resources: )?(?:… )?")


def _fixed_words(messages: Sequence[str]) -> Iterator[list[str]]:
    """What does not differ from case to case: of all lines, of each, of its text alone, and of the error alone."""
    texts = [" ".join(messages)]
    for line in messages:
        text = _EVENT.sub("", line)
        texts += [line, text, _PREPARING.sub("", text)]
    for each in dict.fromkeys(texts):
        yield _words(_PLACEHOLDER.sub(" ", each))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
