"""The last line of a page: the code of the reason, and the command that explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records import Cause
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import GAP, closed, width
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled

#: What is the matter with nodes that do not have the device.
_OF_OTHER_NODES: Final = (Code.SELECTOR_MATCHES_NOTHING, Code.DEVICES_FOR_OTHER_NODES)


def _is_aside(code: Code, main: Code) -> bool:
    """Whether a further code is of nodes that play no part: without the device, or ruled out before it was tried."""
    of_others = code in _OF_OTHER_NODES or code.family is Family.NODES
    return code is Code.EVIDENCE_MISSING or (main.family is not Family.NODES and of_others)


def codes_lines(causes: Sequence[Cause]) -> Iterator[Safe]:
    """The code of the first cause, its meaning, and the command that explains it."""
    if not causes:
        return
    codes = list(dict.fromkeys(cause.code for cause in causes))
    others = [code for code in codes[1:] if not _is_aside(code, codes[0])][:2]
    also = fmt(" (also {})", Safe(", ").join(others)) if others else Safe("")
    first = fmt("{} {}", styled(safe(codes[0]), Style.DIM), Safe(codes[0].label))
    right = fmt("kubectl dra explain {}", codes[0])
    # Further codes are left out where they would take another line.
    fits = width(first) + width(also) + GAP + width(right) <= page_width()
    yield from closed(first + also if fits else first, right)
