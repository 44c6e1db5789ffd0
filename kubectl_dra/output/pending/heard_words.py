"""What nodes do that the scheduler rejects, by the reasons of its message, and the page that helps against each."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import HeardReason
from kubectl_dra.output.pending.amounts import free_amount
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.claims.ask import RequestAsk
from kubectl_dra.scheduler.allocation_errors import CANNOT_ALLOCATE
from kubectl_dra.scheduler.plugins import (
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    pod_topology_spread,
    taint_toleration,
    volume_restrictions,
)

_OF_NODES: Final = "node(s) "
#: Upstream: plugins/dynamicresources/dynamicresources.go, PreFilter.
_NO_CLASS: Final = re.compile(r"\bdevice class \S+ does not exist\b")
#: Upstream: taint_toleration.go of releases before 1.35.
_TAINT: Final = "node(s) had untolerated taint {"

#: The first word of what a node does, of several.
_OF_SEVERAL: Final = {"is": "are", "has": "have", "does": "do", "lacks": "lack"}
_ELSEWHERE: Final = ("does not reach its volumes", Code.VOLUME_ELSEWHERE)
_TAINTS: Final = ("has taints that it does not tolerate", Code.NODE_TAINTS)
#: What a node does that is rejected for a reason, and the code whose page helps.
_WORDS: Final[dict[str, tuple[str, Code]]] = {
    node_name.TEXT: ("is not the one it names", Code.NODE_NAME),
    node_unschedulable.TEXT: ("is cordoned", Code.NODE_UNSCHEDULABLE),
    taint_toleration.TEXT: _TAINTS,
    node_affinity.TEXT: ("does not match its node selector or affinity", Code.NODE_AFFINITY),
    node_ports.TEXT: ("has its host port taken", Code.NODE_PORTS),
    node_resources_fit.TOO_MANY_PODS: ("has no pod slots left", Code.NODE_RESOURCES),
    volume_restrictions.CLAIM_IN_USE: (
        "cannot have its volume, which another pod uses alone (ReadWriteOncePod)",
        Code.VOLUME_IN_USE,
    ),
    volume_restrictions.DISK_CONFLICT: ("cannot have its volume, which another pod there uses", Code.VOLUME_IN_USE),
    "node(s) exceed max volume count": ("has no room for another volume", Code.VOLUME_LIMIT),
    "node(s) didn't find available persistent volumes to bind": (
        "has no PersistentVolume for its claims",
        Code.NO_VOLUME,
    ),
    "node(s) didn't match PersistentVolume's node affinity": _ELSEWHERE,
    "node(s) had volume node affinity conflict": _ELSEWHERE,
    "node(s) had no available volume zone": _ELSEWHERE,
    "node(s) did not have enough free storage": ("has too little storage for its volumes", Code.NO_VOLUME),
    pod_topology_spread.UNEVEN: ("would break its topology spread constraint", Code.SPREAD),
    pod_topology_spread.MISSING_LABEL: ("lacks the label of its topology spread constraint", Code.SPREAD),
    inter_pod_affinity.EXISTING_TEXT: ("has pods that keep it away (their anti-affinity)", Code.KEPT_AWAY),
    inter_pod_affinity.AFFINITY_TEXT: ("does not match its pod affinity", Code.NO_COMPANY),
    inter_pod_affinity.ANTI_AFFINITY_TEXT: ("has pods that its anti-affinity avoids", Code.UNWANTED_COMPANY),
    node_declared_features.TEXT: ("lacks a feature that it needs", Code.NODE_FEATURES),
    CANNOT_ALLOCATE: ("has no free devices that satisfy its claims", Code.DEVICES_IN_USE),
    "resourceclaim not available on the node": (
        "cannot use the devices that its claim has already",
        Code.CLAIM_ELSEWHERE,
    ),
}
#: The same with what the pod wishes, and who of its namespace has that.
_WISHES: Final = {
    **dict.fromkeys(
        (text for text, told in _WORDS.items() if told == _ELSEWHERE), "does not reach its volume claim {}{}"
    ),
    node_affinity.TEXT: "does not match its node selector {}{}",
    node_ports.TEXT: "has its host port {} taken{}",
    pod_topology_spread.UNEVEN: "would break its topology spread constraint ({}{})",
    inter_pod_affinity.AFFINITY_TEXT: "does not match its pod affinity ({}){}",
    inter_pod_affinity.ANTI_AFFINITY_TEXT: "has pods that its anti-affinity avoids ({}){}",
    inter_pod_affinity.EXISTING_TEXT: "has pods whose anti-affinity excludes pods with {}{}",
    volume_restrictions.CLAIM_IN_USE: (
        "cannot have its volume claim {}, which one pod at a time may use and which is in use{}"
    ),
}

#: What such pods do, where they do not take anything.
_OF_USERS: Final = {
    pod_topology_spread.UNEVEN: "; counted: {}",
    inter_pod_affinity.ANTI_AFFINITY_TEXT: ", such as {}",
    inter_pod_affinity.EXISTING_TEXT: ", such as {}",
}


def page_of(reason: HeardReason) -> Code | None:
    """The code whose page helps against it; None where only the words are known."""
    told = _told(reason)
    if told is None and _NO_CLASS.search(reason.text):
        return Code.CLASS_MISSING
    return told[1] if told is not None else None


def predicate(reason: HeardReason, only: RequestAsk | None = None) -> Safe:
    """What the nodes do that are rejected for it: ``have taints that it does not tolerate``.

    ``only``: what the pod requests, where that is one request.
    """
    told, several = _told(reason), reason.nodes != 1
    if only is not None and only.count is not None and reason.text == CANNOT_ALLOCATE:
        said = _lacks(only.count, only.device_class)
    elif reason.resource:
        said = fmt("does not have {}", free_amount(reason.resource, reason.requested))
    elif reason.text.startswith(_TAINT):
        said = fmt("has the taint {}, which it does not tolerate", _taint(reason))
    elif reason.wish and reason.text in _WISHES:
        said = fmt(_WISHES[reason.text], reason.wish, _users(reason))
    elif told is not None:
        said = Safe(told[0])
    else:
        said = fmt('is rejected: "{}"', reason.text.removeprefix(_OF_NODES))
    verb, space, rest = said.partition(" ")
    return Safe(f"{_OF_SEVERAL.get(verb, verb)}{space}{rest}") if several else said


def _lacks(count: int, device_class: str) -> Safe:
    if count == 1:
        return fmt("has no free {} device that satisfies its claim", device_class)
    return fmt("does not have {} free {} devices that satisfy its claim", count, device_class)


def _users(reason: HeardReason) -> Safe:
    text = _OF_USERS.get(reason.text, " (by {})")
    return fmt(text, listed(reason.users)) if reason.users else Safe("")


def _told(reason: HeardReason) -> tuple[str, Code] | None:
    return _TAINTS if reason.text.startswith(_TAINT) else _WORDS.get(reason.text)


def _taint(reason: HeardReason) -> str:
    """``KEY: VALUE`` as older releases write it."""
    return reason.text.removeprefix(_TAINT).removesuffix("}").removesuffix(": ")
