"""NodeUnschedulable and TaintToleration.

Upstream: plugins/nodeunschedulable, plugins/tainttoleration and Toleration.ToleratesTaint. The numeric operators of
tolerations (Gt, Lt) belong to an alpha feature that is off: they tolerate nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.model.core import Node, Taint, Toleration

UNSCHEDULABLE_TEXT: Final = "node(s) were unschedulable"
UNTOLERATED_TEXT: Final = "node(s) had untolerated taint(s)"
UNTOLERATED_ONE: Final = "node(s) had untolerated taint {{{0.key}: {0.value}}}"
_CORDON: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_PREVENTING: Final = frozenset({"NoSchedule", "NoExecute"})


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> Iterator[Taint]:
    """The taints that keep a pod away, in the node's order."""
    for taint in taints:
        if taint.effect in _PREVENTING and not any(tolerates(toleration, taint) for toleration in tolerations):
            yield taint


def is_cordoned(node: Node, tolerations: Sequence[Toleration]) -> bool:
    """Whether ``spec.unschedulable`` keeps the pod away."""
    return node.spec.unschedulable and not any(tolerates(toleration, _CORDON) for toleration in tolerations)


def taint_text(taint: Taint) -> str:
    """``KEY[=VALUE]:EFFECT`` as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
