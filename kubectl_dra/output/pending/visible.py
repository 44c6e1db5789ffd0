"""How many devices match, and who is seen to hold them, where claims of other namespaces could not be read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import AllocatedOnNode, Cause, MissingEvidence
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
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
    nodes: dict[str, list[AllocatedOnNode]] = {}
    for each in said.allocated:
        nodes.setdefault(each.node, []).append(each)
    rest = nodes.pop("", [])
    several = len({each.device_class for each in said.allocated if each.node}) > 1
    parts = [
        _on_node(found, namespace, first=not index, of_class=not index or several)
        for index, found in enumerate(nodes.values())
    ]
    parts += [fmt("{} on {}", each.devices, counted(each.nodes, "more node")) for each in rest]
    lead = Safe("The devices are probably in use: " if of_devices else "")
    have = Safe("this node has" if len(nodes) == 1 and not rest else "these nodes have")
    same = _same(said, nodes, rest)
    yield from wrapped(fmt("{}{}.{} How many {} could not be read.", lead, listed(parts), same, have))


def _same(said: MissingEvidence, nodes: Collection[str], rest: Collection[AllocatedOnNode]) -> Safe:
    """That these are the nodes of which the scheduler says that devices are what they lack, where the numbers agree."""
    lacking = sum(each.nodes for each in said.heard if each.plugin == DYNAMIC_RESOURCES)
    if rest or lacking != len(nodes) or lacking == said.heard_nodes:
        return Safe("")
    if lacking == 1:
        return Safe(" This is probably the node that only lacks devices.")
    return fmt(" These are probably the {} nodes that only lack devices.", lacking)


def _on_node(found: Sequence[AllocatedOnNode], namespace: str, *, first: bool, of_class: bool) -> Safe:
    amounts = [
        counted(each.devices, "device") if first and each is found[0] else fmt("{}", each.devices) for each in found
    ]
    number = [fmt("{}{}", amount, _of(each, of_class)) for amount, each in zip(amounts, found, strict=True)]
    total = sum(each.devices for each in found)
    are = Safe(" is allocated" if total == 1 else " are allocated") if first else Safe("")
    return fmt("{}{} on {} ({})", listed(number), are, found[0].node, _users(found, namespace))


def _of(found: AllocatedOnNode, of_class: bool) -> Safe:
    return fmt(" of class {}", found.device_class) if of_class else Safe("")


def _users(found: Sequence[AllocatedOnNode], namespace: str) -> Safe:
    """Who has them, the first few; of several how many each."""
    users: dict[str, tuple[int, bool]] = {}
    for each in (user for one in found for user in one.users):
        users[each.name] = users.get(each.name, (0, False))[0] + each.devices, each.own
    names = [
        fmt("{}{}", Safe("its own replica " if own else ""), name.removeprefix(f"{namespace}/"))
        for name, (_, own) in users.items()
    ]
    if len(names) > 1:
        names = [fmt("{} {}", name, devices) for name, (devices, _) in zip(names, users.values(), strict=True)]
    more = [fmt("{} more", len(names) - _HOLDERS)] if len(names) > _HOLDERS else []
    return Safe(", ").join([*names[:_HOLDERS], *more])


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
