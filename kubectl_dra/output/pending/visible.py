"""How many devices match, and who is seen to hold them, where claims of other namespaces could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed, plural, shortened
from kubectl_dra.reports.pending.visible import VisibleDevices

_HOLDERS: Final = 3


def visible_lines(found: Sequence[VisibleDevices], namespace: str) -> Iterator[Safe]:
    """A sentence for each request; ``namespace``: that of the pod, which goes without saying."""
    for each in found:
        of = fmt(" of claim {}", each.claim) if len({other.claim for other in found}) > 1 else Safe("")
        whose = fmt(" request {}{}", each.request, of) if len(found) > 1 else Safe(" the request")
        match = Safe("matches" if each.matching == 1 else "match")
        yield from wrapped(fmt("{} {}{}; {}.", counted(each.matching, "device"), match, whose, _held(each, namespace)))


def _held(found: VisibleDevices, namespace: str) -> Safe:
    word = Safe(plural("namespace", len(found.namespaces)))
    where = fmt("{} {}", word, listed(found.namespaces))
    if not found.held:
        text = "nobody in {} holds any of them, and who holds them in other namespaces could not be read"
        return fmt(text, where)
    holders = shortened([name.removeprefix(f"{namespace}/") for name in found.holders], _HOLDERS)
    if found.held == found.matching:
        return fmt("{} in {} ({})", Safe("it is in use" if found.held == 1 else "all are in use"), where, holders)
    text = "{} in use in {} ({}), and who holds the others in other namespaces could not be read"
    return fmt(text, fmt("{} {}", found.held, Safe(plural("is", found.held))), where, holders)
