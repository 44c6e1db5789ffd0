"""How many devices match, and who is seen to hold them, where claims of other namespaces could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import AllocatedOnNode, Cause, MissingEvidence
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, plural, shortened
from kubectl_dra.reports.pending.visible import VisibleDevices
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES

_HOLDERS: Final = 3


def visible_lines(found: Sequence[VisibleDevices], namespace: str) -> Iterator[Safe]:
    """A sentence for each request; ``namespace``: that of the pod, which goes without saying."""
    for each in found:
        of = fmt(" of claim {}", each.claim) if len({other.claim for other in found}) > 1 else Safe("")
        whose = fmt(" request {}{}", each.request, of) if len(found) > 1 else Safe(" the request")
        match = Safe("matches" if each.matching == 1 else "match")
        yield from wrapped(fmt("{} {}{}; {}.", counted(each.matching, "device"), match, whose, _held(each, namespace)))


def allocated_lines(causes: Sequence[Cause], namespace: str) -> Iterator[Safe]:
    """Where slices could not be read: what is in use for sure, node by node."""
    said = next((each.detail for each in causes if isinstance(each.detail, MissingEvidence)), None)
    of_devices = said is not None and any(each.plugin == DYNAMIC_RESOURCES for each in said.heard)
    # Where the scheduler met no lack of devices, who holds them is beside the point.
    if said is None or not said.allocated or (said.heard and not of_devices):
        return
    named = [each.device_class for each in said.allocated if each.node]
    parts = [
        _on_node(each, namespace, first=not index, of_class=not index or len(set(named)) > 1)
        for index, each in enumerate(said.allocated)
        if each.node
    ]
    parts += [
        fmt("{} on {}", each.devices, counted(each.nodes, "more node")) for each in said.allocated if not each.node
    ]
    lead = Safe("The devices are probably in use: " if of_devices else "")
    nodes = Safe("this node has" if len(said.allocated) == 1 else "these nodes have")
    yield from wrapped(fmt("{}{}. How many {} could not be read.", lead, listed(parts), nodes))


def _on_node(found: AllocatedOnNode, namespace: str, *, first: bool, of_class: bool) -> Safe:
    names = [safe(each.name.removeprefix(f"{namespace}/")) for each in found.users]
    if len(names) > 1:
        names = [fmt("{} {}", name, each.devices) for name, each in zip(names, found.users, strict=True)]
    more = [fmt("{} more", len(names) - _HOLDERS)] if len(names) > _HOLDERS else []
    number = fmt("{}", counted(found.devices, "device") if first else found.devices)
    number = fmt("{} of class {}", number, found.device_class) if of_class else number
    are = Safe(" is allocated" if found.devices == 1 else " are allocated") if first else Safe("")
    return fmt("{}{} on {} ({})", number, are, found.node, Safe(", ").join([*names[:_HOLDERS], *more]))


def _held(found: VisibleDevices, namespace: str) -> Safe:
    if not found.namespaces:
        holders = shortened([name.removeprefix(f"{namespace}/") for name in found.holders], _HOLDERS)
        return fmt("{} in use ({})", Safe("it is" if found.held == 1 else "all are"), holders)
    word = Safe(plural("namespace", len(found.namespaces)))
    where = fmt("{} {}", word, listed(found.namespaces))
    if not found.held:
        text = "nobody in {} holds any of them, and who holds them in other namespaces could not be read"
        return fmt(text, where)
    holders = shortened([name.removeprefix(f"{namespace}/") for name in found.holders], _HOLDERS)
    if any(name.partition("/")[0] not in found.namespaces for name in found.holders):
        # Of a list that broke off some claims of other namespaces are known, too.
        text = "{} in use ({}), and who holds the others could not be read"
        return fmt(text, fmt("{} {}", found.held, Safe(plural("is", found.held))), holders)
    if found.held == found.matching:
        return fmt("{} in {} ({})", Safe("it is in use" if found.held == 1 else "all are in use"), where, holders)
    text = "{} in use in {} ({}), and who holds the others in other namespaces could not be read"
    return fmt(text, fmt("{} {}", found.held, Safe(plural("is", found.held))), where, holders)
