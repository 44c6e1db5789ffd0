"""What keeps a pod from a node that has its devices, as a predicate: ``is cordoned``, ``has only 1 of the 2 CPUs``.

``reasons.nodes`` has the sentences of causes, which are about no node in particular; what both say alike stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import NodeOutcome, NodeShortage
from kubectl_dra.diagnosis.records.nodes import key_of_taint
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.taint_text import PRESSURES, remover_of, removes_node
from kubectl_dra.output.pending.amounts import shortage_text
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.pods_there import whose
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.reasons.nodes import has_company, keeps_away, lacks_features, ports_taken
from kubectl_dra.output.pending.shortage import lack_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, plural, shortened
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

_PODS: Final = 4
#: What the node lifecycle controller says with its taints (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
_NOT_READY: Final = {
    "node.kubernetes.io/unreachable": "unreachable: its kubelet has stopped reporting",
    "node.kubernetes.io/not-ready": "not ready",
    **{key: f"short of {what}" for key, what in PRESSURES.items()},
}
#: So many groups of nodes are told.
CLAUSES: Final = 3


def short_obstacle(cause: records.Cause, *, several: bool = False) -> Safe:
    """The same in brackets behind the name, where a taint needs no more than its name."""
    if isinstance(cause.detail, records.NodeTaint) and not _readiness(cause.detail):
        return fmt("taint {}", cause.detail.taint)
    if isinstance(cause.detail, records.NodeShortage) and cause.detail.taken:
        return fmt("taken by {}", shortened([each.name for each in cause.detail.taken], _PODS))
    return obstacle(cause, several=several)


def obstacle(cause: records.Cause, *, several: bool = False) -> Safe:
    """The predicate about the node, or ``several`` of them."""
    if isinstance(cause.detail, records.Company):
        return has_company(cause.detail, several, anti=cause.code is Code.UNWANTED_COMPANY)
    say = _OBSTACLES.get(type(cause.detail))
    if say is not None:
        return say(cause.detail, several)
    if cause.code is Code.NODE_AFFINITY:
        return fmt("{} not match the pod's node selector or affinity", Safe("do" if several else "does"))
    if cause.code is Code.NODE_UNSCHEDULABLE:
        return fmt("{} cordoned", Safe("are" if several else "is"))
    return fmt("{} rejected: {}", Safe("are" if several else "is"), reason_sentence(cause))


def _shortage(shortage: records.NodeShortage, several: bool) -> Safe:
    return fmt("{} {}", Safe("have" if several else "has"), shortage_text(shortage))


def _taint(taint: records.NodeTaint, several: bool) -> Safe:
    state = _readiness(taint)
    if state:
        return fmt("{} {} (taint {})", Safe("are" if several else "is"), Safe(state), taint.taint)
    return fmt("{} the taint {}, which the pod does not tolerate", Safe("have" if several else "has"), taint.taint)


def is_bare(group: NodeGroupRecord) -> bool:
    """Whether nodes publish nothing that could be asked for: of another kind than those that do."""
    return bool(group.requests) and all(each.funnel is not None and not each.funnel.total for each in group.requests)


def is_unready(cause: records.Cause) -> bool:
    """Whether what rejects a node is a state of it that passes, after which it may publish devices."""
    return isinstance(cause.detail, records.NodeTaint) and bool(_readiness(cause.detail))


def _readiness(taint: records.NodeTaint) -> str:
    """What a taint says of a node that is not ready; empty for another taint, and for the states that have names."""
    key = key_of_taint(taint.taint)
    remover, leaves = remover_of(key), removes_node(key)
    if leaves:
        return f"being removed by {leaves}"
    return _NOT_READY.get(key, "" if remover is None or remover.of_the_node else "not ready")


def _selection(selection: records.NodeSelection, several: bool) -> Safe:
    verb = Safe("do not match" if several else "does not match")
    if not selection.unmatched:
        return fmt("{} the pod's node selector or affinity", verb)
    return fmt("{} the pod's node selector or affinity ({})", verb, listed(selection.unmatched))


def _ports(ports: records.TakenPorts, several: bool) -> Safe:
    verb = Safe("have" if several else "has")
    return fmt("{} {}", verb, ports_taken(ports))


def _spread(spread: records.Spread, several: bool) -> Safe:
    if not spread.value:
        return fmt(
            "{} the label {} of its spread constraint", Safe("lack" if several else "lacks"), spread.topology_key
        )
    which = fmt(" with {}", spread.selector) if spread.selector else Safe("")
    counts = fmt("{} {}", spread.pods, Safe(plural("pod", spread.pods)))
    which += fmt(", {}", whose(spread.by)) if spread.by and not several else Safe("")
    beside = fmt("the emptiest has {}, maxSkew {}", spread.fewest, spread.max_skew)
    if spread.min_domains:
        text = "minDomains {} over {}, of which there are {}, so that the emptiest counts as 0; maxSkew {}"
        beside = fmt(text, spread.min_domains, spread.topology_key, spread.domains, spread.max_skew)
    if several and spread.topology_key == HOSTNAME:
        return fmt("already have {}{} ({})", counts, which, beside)
    text = "{} in {}={}, which already has {}{} ({})"
    return fmt(text, Safe("are" if several else "is"), spread.topology_key, spread.value, counts, which, beside)


_OBSTACLES: Final[dict[type, Callable[[Any, bool], Safe]]] = {
    records.NodeShortage: _shortage,
    records.NodeTaint: _taint,
    records.NodeSelection: _selection,
    records.TakenPorts: _ports,
    records.KeptAway: keeps_away,
    records.Spread: _spread,
    records.MissingFeatures: lacks_features,
}


def lacking_both(rejected: Sequence[NodeGroupRecord], wanted: Safe) -> Safe | None:
    """Nodes with devices of the class that lack free ones as well as what rejects them; None where none has any."""
    told: list[Safe] = []
    for group in rejected[:CLAUSES]:
        if group.requests:
            have = Safe(plural("has", group.count))
            told.append(fmt("{}, and {} {}", node_clause(group, None), have, lack_of(group, wanted)))
    return Safe("; ").join(told) if told else None


def node_clause(group: NodeGroupRecord, devices: Safe | None) -> Safe:
    """What keeps the pod from nodes that have its devices; None: it needs none, or they have none."""
    if devices is None or group.devices_fit is not Fits.UNKNOWN:
        return _kept_off(group, devices)
    be = Safe("are" if devices.endswith("s") else "is")
    return fmt("{} (whether {} {} free there is not known)", _kept_off(group, None), devices, be)


def _kept_off(group: NodeGroupRecord, devices: Safe | None) -> Safe:
    details = [cause.detail for cause in group.causes]
    names, has = names_of([group]), Safe(plural("has", group.count))
    lead = fmt("{} {} {} but", names, has, devices) if devices is not None else names
    if len(details) == 1 and isinstance(details[0], NodeShortage):
        lead = lead if devices is not None else fmt("{} {}", names, has)
        return fmt("{} {}", lead, shortage_text(details[0]))
    obstacles = [obstacle(cause, several=group.count > 1) for cause in group.causes]
    told = Safe(", and ").join(dict.fromkeys(obstacles)) if obstacles else fmt("is rejected: {}", group.message)
    return fmt("{} {}", lead, told)


def without_devices(
    groups: Sequence[NodeGroupRecord], room: int, wanted: Safe, *, some: bool = False
) -> Iterator[Safe]:
    """The nodes that were tried and have no devices for the pod; ``some``: those that have any that is requested."""
    tried = [group for group in groups if group.outcome == NodeOutcome.CANNOT_ALLOCATE]
    tried = [group for group in tried if not (some and is_bare(group))]
    told: dict[Safe, list[NodeGroupRecord]] = {}
    for group in tried:
        told.setdefault(lack_of(group, wanted), []).append(group)
    for lack, alike in list(told.items())[:room]:
        yield fmt("{} {} {}", names_of(alike), Safe(plural("has", sum(group.count for group in alike))), lack)
