"""What keeps a pod from a node that has its devices, as a predicate: ``is cordoned``, ``has only 1 of the 2 CPUs``.

``reasons.nodes`` has the sentences of causes, which are about no node in particular; what both say alike stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records.nodes import key_of_taint
from kubectl_dra.model.readiness_taints import remover_of
from kubectl_dra.output.pending.amounts import shortage_text
from kubectl_dra.output.pending.pods_there import whose
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.reasons.nodes import has_company, keeps_away, lacks_features, ports_taken
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, plural, shortened
from kubectl_dra.scheduler.plugins.spread_constraints import HOSTNAME

_PODS: Final = 4
#: What the node lifecycle controller says with its taints (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
_NOT_READY: Final = {
    "node.kubernetes.io/unreachable": "unreachable: its kubelet has stopped reporting",
    "node.kubernetes.io/not-ready": "not ready",
}


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


def _readiness(taint: records.NodeTaint) -> str:
    """What a taint says of a node that is not ready; empty for another taint, and for the states that have names."""
    key = key_of_taint(taint.taint)
    remover = remover_of(key)
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
