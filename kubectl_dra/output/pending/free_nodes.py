"""Where nodes may not be read: which of them have the devices free, and what of the scheduler's words is about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import HeardReason, MissingEvidence
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.heard_words import page_of, predicate
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.invocations import kubectl, reading
from kubectl_dra.reports.pending.free_nodes import FreeNodes
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES

_NAMES: Final = 2


def free_sentence(found: FreeNodes | None, said: MissingEvidence | None) -> Safe:
    """Behind what the scheduler says of all nodes: which have devices free, and that something else is against them."""
    if found is None or not found.count or said is None or not said.heard:
        return Safe("")
    has, others = Safe("has" if found.count == 1 else "have"), _others(found, said)
    such = any(each.plugin == DYNAMIC_RESOURCES for each in said.heard)
    free = fmt(" {} {} {}", names(found), has, Safe("such devices free" if such else "devices free for all its claims"))
    if not others:
        return fmt("{}.", free)
    if len(others) == 1:
        return fmt("{}, but {}.", free, predicate(msgspec.structs.replace(others[0], nodes=found.count)))
    return fmt("{}, but {} rejected for another reason.", free, Safe("is" if found.count == 1 else "are"))


def free_advice(found: FreeNodes | None, said: MissingEvidence | None, address: Address) -> Iterator[Safe]:
    """What keeps the pod off the nodes with free devices; nothing where nobody knows that there are such nodes."""
    if found is None or said is None or not _others(found, said):
        return
    text = fmt("What usually helps: Let the pod run on {}, where such devices are free", names(found))
    others = _others(found, said)
    if len(others) == 1:
        code = page_of(others[0])
        how = safe(reason_page(code).advice.replace("`", "")) if code is not None else Safe("")
        yield from wrapped(fmt("{}. {}", text, how))
        return
    why = listed([predicate(msgspec.structs.replace(each, nodes=1)) for each in others], "or")
    which = Safe("this node" if found.count == 1 else "each of these nodes")
    yield from wrapped(fmt("{}: {} {}. Which of these it is, whoever may read nodes sees in:", text, which, why))
    yield from command_line("  {}", reading(kubectl("describe", "node", *found.names[:_NAMES]), address))


def names(found: FreeNodes) -> Safe:
    """``node-a``, ``node-a and node-b``, ``node-a, node-b and 4 more nodes``."""
    shown, more = found.names[:_NAMES], found.count - min(len(found.names), _NAMES)
    if more <= 0:
        return listed(shown)
    return fmt("{} and {} more {}", Safe(", ").join(map(safe, shown)), more, Safe(plural("node", more)))


def _others(found: FreeNodes, said: MissingEvidence) -> Sequence[HeardReason]:
    """Why nodes are rejected on which devices were not tried: what is against those where they are free."""
    others = [each for each in said.heard if each.plugin != DYNAMIC_RESOURCES]
    lacking = sum(each.nodes for each in said.heard if each.plugin == DYNAMIC_RESOURCES)
    enough = 0 < found.count <= said.heard_nodes - lacking
    return others if enough and not any(each.of_all for each in others) else ()
