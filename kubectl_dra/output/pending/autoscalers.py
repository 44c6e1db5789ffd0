"""What autoscalers do about a pod, in words: why they add no node, and what becomes of the one that they added."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.driver_pods import written_toleration
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import ago, listed
from kubectl_dra.reports.invocations import kubectl, of, reading
from kubectl_dra.reports.pending.events import AutoscalerWords

NAMES: Final = {"cluster-autoscaler": "The cluster autoscaler", "karpenter": "Karpenter"}
#: What its event begins with (processors/status/eventing_scale_up_processor.go).
_NOT_TRIGGERED: Final = "pod didn't trigger scale-up: "
_FEW_WORDS: Final = 90
#: Upstream: karpenter, pkg/controllers/provisioning/scheduling: one clause per NodePool, and pkg/scheduling/taints.go.
_OF_POOL: Final = re.compile(r'incompatible with nodepool "(?P<pool>[^"]+)"')
_TAINT: Final = re.compile(r"did not tolerate (?:taint \(taint=)?(?P<taint>[^\s,;()]+:[A-Za-z]+)")
_LIMITS: Final = re.compile(
    r'all available instance types exceed limits for nodepool(?:: "(?P<old>[^"]+)"| \(NodePool=(?P<new>[^)]+)\))?'
)
#: Advice by the words of cluster-autoscaler (processors/status and core/scaleup/orchestrator/skippedreasons.go).
_SCALING: Final = {
    "max node group size reached": (
        "An administrator can raise the maximum size of a node group that has the hardware, or add a node by hand."
    ),
    "in backoff after failed scale-up": (
        "The last attempt to add a node failed, and the autoscaler pauses before the next: its log says why."
    ),
}


class _Refused(NamedTuple):
    """A NodePool whose nodes have a ``taint`` that the pod does not tolerate, or one at its limits."""

    pool: str
    taint: str = ""


def _refused(message: str) -> Iterator[_Refused]:
    """What Karpenter says of its NodePools, as far as it is one of these two."""
    for clause in message.split("; "):
        pool, taint, limits = (each.search(clause) for each in (_OF_POOL, _TAINT, _LIMITS))
        if taint is not None:
            yield _Refused(pool["pool"] if pool is not None else "", taint["taint"])
        elif limits is not None:
            yield _Refused(limits["old"] or limits["new"] or (pool["pool"] if pool is not None else ""))


def why_no_node(said: AutoscalerWords) -> Safe:
    """`` (1 max node group size reached)``: the reasons in an autoscaler's words, if they are few."""
    _, found, why = said.message.partition(_NOT_TRIGGERED)
    if found and why and len(why) <= _FEW_WORDS:
        return fmt(" ({})", why)
    clauses = [_clause(each) for each in _refused(said.message)]
    return fmt(" ({})", Safe("; ").join(clauses)) if clauses else Safe("")


def _clause(each: _Refused) -> Safe:
    pool = fmt("NodePool {}", each.pool) if each.pool else Safe("a NodePool")
    if each.taint:
        return fmt("the pod does not tolerate the taint {} of {}", each.taint, pool)
    return fmt("{} is at its limits", pool)


def says_what_to_change(said: AutoscalerWords | None) -> bool:
    """Whether :func:`no_node_advice` of its words names a field: then the advice about nodes that exist is no help."""
    return said is not None and not said.adds and not said.old and any(True for _ in _refused(said.message))


def no_node_advice(message: str) -> Iterator[Safe]:
    """What can be done where an autoscaler adds no node."""
    found = list(_refused(message))
    for each in found:
        pool = fmt("NodePool {}", each.pool) if each.pool else Safe("the NodePool")
        if each.taint:
            yield from wrapped(fmt("If {} has the hardware, add to the pod's tolerations:", pool), indent=2)
            yield fmt("    - {}", written_toleration(each.taint))  # YAML, which is not broken across lines
        else:
            yield from wrapped(fmt("An administrator can raise spec.limits of {}.", pool), indent=2)
    if not found:
        yield from wrapped(_other_advice(message), indent=2)


def _other_advice(message: str) -> Safe:
    for words, advice in _SCALING.items():
        if words in message:
            return Safe(advice)
    return Safe(
        "An administrator has to add nodes with the hardware another way, for example in a node group of fixed size."
    )


def scaling_sentence(said: AutoscalerWords) -> Safe:
    """What an autoscaler does about the pod; nodes that have come since are those that it was to add."""
    name = Safe(NAMES[said.autoscaler])
    if said.adds and said.joined:
        have = Safe("has" if len(said.joined) == 1 else "have")
        yet = fmt(" and {}", _not_yet(said)) if said.starting else Safe("")
        return fmt("{} added a node for it, and {} {} joined since{}", name, listed(said.joined), have, yet)
    return (
        fmt("{} is adding a node for it", name)
        if said.adds
        else fmt("{} adds no node for it{}", name, why_no_node(said))
    )


def _not_yet(said: AutoscalerWords) -> Safe:
    one = len(said.starting) == 1
    if any(not each.ready for each in said.starting):
        return Safe("is not ready yet" if one else "are not ready yet")
    return Safe("publishes no devices yet" if one else "publish no devices yet")


def starting_lines(said: AutoscalerWords | None, now: datetime, address: Address) -> list[Safe]:
    """That the node which was added for the pod is to be waited for; none where there is no such node."""
    if said is None or not said.starting:
        return []
    each = said.starting[0]
    text = (
        "Wait: {} joined {}, and a new node takes some minutes until it is ready and its drivers have published their "
        "devices. The scheduler then tries again by itself."
    )
    lines = wrapped(fmt(text, each.node, ago(each.joined, now)))
    node = reading(kubectl("describe", of("node", each.node)), address)
    slices = reading(kubectl("get", "resourceslices", "--field-selector", f"spec.nodeName={each.node}"), address)
    how, words = (
        ("If it still has no devices then: {}", slices) if each.ready else ("If it does not become ready: {}", node)
    )
    return [*lines, *command_line(how, words)]
