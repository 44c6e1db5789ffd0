"""Smaller partitions of the same hardware where a larger one is wanted and its counters are used up (MIG profiles)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.model.resource import Device
from kubectl_dra.selectors.catalog import PublishedDevice

#: How many other sizes are tried, the largest first.
_SIZES: Final = 3

#: Counters that are numbered, one for each part of the hardware: a partition is no larger for which of them it takes.
_NUMBERED: Final = re.compile(r"[-_.]?\d+$")

#: What a partition takes, by the name of its counters without their numbers, in 10^-9.
_Size = Mapping[str, int]


def smaller_partitions(
    expression: str,
    start: int,
    end: int,
    seen: Collection[str],
    published: Sequence[PublishedDevice],
) -> Iterator[str]:
    """The expression with another text between ``start`` and ``end`` that partitions of less have, the largest first.

    ``seen`` are the texts that other devices have there.
    """
    sizes = _sizes(published)
    for token in tokenize(expression)[0]:
        wanted = token.text[1:-1]
        if token.kind != "STRING" or not start <= token.pos < end or wanted not in sizes or wanted in seen:
            continue
        less = [text for text in seen if text in sizes and _is_less(sizes[text], sizes[wanted])]
        names = sorted(sizes[wanted])
        for text in sorted(less, key=lambda each: ([-sizes[each].get(name, 0) for name in names], each))[:_SIZES]:
            yield expression[: token.pos] + string_source(text) + expression[token.pos + len(token.text) :]


def _sizes(published: Sequence[PublishedDevice]) -> dict[str, _Size]:
    """By each text that partitions publish, what one of them takes."""
    sizes: dict[str, _Size] = {}
    for each in published:
        if each.device.consumes_counters:
            for attribute in each.device.attributes.values():
                if attribute.string is not None and attribute.string not in sizes:
                    sizes[attribute.string] = _size(each.device)
    return sizes


def _size(device: Device) -> _Size:
    total: Counter[str] = Counter()
    for consumed in device.consumes_counters:
        for name, counter in consumed.counters.items():
            total[_NUMBERED.sub("", name)] += counter.value.at_scale(-9)[0]
    return total


def _is_less(size: _Size, wanted: _Size) -> bool:
    """Whether it takes no more of anything, and less of something."""
    return size != wanted and all(amount <= wanted.get(name, 0) for name, amount in size.items())
