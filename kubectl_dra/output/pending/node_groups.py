"""Whether a fresh node of an autoscaler's group would take the pod, group by group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.autoscaling.records import Doubt, GroupVerdict
from kubectl_dra.diagnosis.records import Missing, NodeOutcome
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.unread import missing_kinds
from kubectl_dra.output.words import counted, listed

_NONE: Final = Safe(
    "No group is described and no node has a label of a known autoscaler or provider. Name a file with --node-groups."
)
_DOUBTS: Final = {
    Doubt.INCOMPLETE_POOL: Safe(
        "cluster-autoscaler without the fix of its issue 10199 describes this node with a slice count of 0: to it the "
        "pool is incomplete, so it never adds a node for a claim. Update it."
    ),
    Doubt.NO_DEVICES: Safe(
        "the group describes no devices: an autoscaler cannot see them before a node runs. Describe them (dra-driver "
        "and gpu-count annotations, DRAConfig, ResourceSlices), or keep one node of the group running."
    ),
    Doubt.NO_ATTRIBUTES: Safe(
        "its devices are described without the driver's attributes: the autoscaler rejects every selector on them, "
        "though a real node may have them."
    ),
    Doubt.AT_LIMIT: Safe("the pool's limits leave no room for another node: raise spec.limits of the NodePool."),
    Doubt.IGNORES_CLAIMS: Safe(
        "Karpenter looks at claims only where its setting ignoreDRARequests is false; as installed it is true."
    ),
    Doubt.AT_MAXIMUM: Safe("the group is at its maximum size: raise the maximum."),
    Doubt.CAPACITY_UNKNOWN: Safe("its cpu and memory are not described; they are taken to be enough."),
    Doubt.LABELS_OPEN: Safe("some of its labels are chosen only when a node is made."),
    Doubt.STARTUP_TAINTS: Safe("its startup taints are taken as removed."),
}
#: What makes a yes doubtful; a no stays one.
_OF_A_YES: Final = frozenset((Doubt.CAPACITY_UNKNOWN, Doubt.STARTUP_TAINTS))
#: A plain node whose slices are not all there is what it is: no autoscaler made it so.
_PLAIN_INCOMPLETE: Final = Safe("not all slices of its pools are described, so the scheduler would not use them.")


#: Kinds that only matter here; where they may not be read, groups are missing or their nodes taken as emptier.
_OF_GROUPS: Final = frozenset(
    ("MachineDeployment", "MachinePool", "MachineSet", "NodeClaim", "NodeOverlay", "NodePool", "DRAConfig", "DaemonSet")
)
#: Kinds without any of which there may be groups that nobody sees: what describes them, or has their labels.
MAKING_GROUPS: Final = frozenset(("MachineDeployment", "MachinePool", "MachineSet", "NodePool", "Node"))


def node_group_lines(found: Sequence[GroupVerdict], missing: Sequence[Missing], address: Address) -> Iterator[Safe]:
    """All lines. ``address``: the cluster where what is ``missing`` can be permitted."""
    unread = list(dict.fromkeys(each.kind for each in missing if each.kind in MAKING_GROUPS))
    yield from (styled(line, Style.BOLD) for line in wrapped(_headline(found, unread)))
    if not found and not unread:
        yield from wrapped(_NONE, indent=2)
    yield from missing_kinds([item for item in missing if item.kind in _OF_GROUPS], address)
    shared = [text for text in _doubts(found[0]) if all(text in _doubts(each) for each in found)] if found[1:] else []
    for group in found:
        yield from wrapped(_verdict(group), indent=6, first=2)
        no = not group.fits and group.outcome is not NodeOutcome.UNDECIDED
        but = Safe("and" if no else "but")
        if group.failed:
            yield from wrapped(fmt("{} its last node could not be launched: {}", but, group.failed), indent=6)
        yield from (
            line for text in _doubts(group) if text not in shared for line in wrapped(fmt("{} {}", but, text), indent=6)
        )
    for text in shared:
        yield from wrapped(fmt("For all of them: {}", text), indent=2)


def _doubts(group: GroupVerdict) -> Sequence[Safe]:
    """What else stands in the way of a node of the group."""
    no = not group.fits and group.outcome is not NodeOutcome.UNDECIDED
    told = (each for each in group.doubts if not (no and each in _OF_A_YES))
    plain = group.kind == "Node"
    return [_PLAIN_INCOMPLETE if plain and each is Doubt.INCOMPLETE_POOL else _DOUBTS[each] for each in told]


def _headline(found: Sequence[GroupVerdict], unread: Sequence[str]) -> Safe:
    if not found:
        text = "Which node groups there are is unknown: {} could not be read." if unread else "Node groups:"
        return fmt(text, listed(unread)) if unread else Safe(text)
    fitting = sum(group.fits for group in found)
    unknown = sum(group.outcome is NodeOutcome.UNDECIDED for group in found)
    groups = counted(len(found), "node group")
    if unread:
        groups = fmt("{} that could be read", groups)
    if unknown == len(found):
        return fmt("Whether a new node of {} would take the pod is unknown:", groups)
    open_ = fmt("; of {} it is unknown", unknown) if unknown else Safe("")
    if not fitting:
        return fmt("No new node would take the pod ({} tried{}):", groups, open_)
    return fmt("A new node of {} of {} would take the pod{}:", fitting, groups, open_)


def _verdict(group: GroupVerdict) -> Safe:
    sign = styled(Safe("yes"), Style.GOOD) if group.fits else styled(Safe("no "), Style.BAD)
    if group.outcome is NodeOutcome.UNDECIDED:
        sign = Safe("?  ")
    reason = fmt(": {}", reason_sentence(group.causes[0])) if group.causes and not group.fits else Safe("")
    return fmt("{} {} {}{}{}", sign, group.kind, group.name, _size(group), reason)


def _size(group: GroupVerdict) -> Safe:
    if group.size is None:
        return Safe("")
    limit = fmt(" of {}", group.maximum) if group.maximum is not None else Safe("")
    return fmt(" ({}{} running)", counted(group.size, "node"), limit)
