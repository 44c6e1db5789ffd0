"""NodeAffinity: nodeSelector, required terms, and what they preselect before any node is filtered; preferred terms.

Upstream: plugins/nodeaffinity, component-helpers/scheduling/corev1/nodeaffinity. Required terms that do not parse are
skipped, and the others still count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final

import msgspec

from kubectl_dra.allocation.errors import NodeSelectorUnparsable
from kubectl_dra.allocation.input import nodes
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.allocation_errors import selector_problems
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult, normalised
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, error, unresolvable

TEXT: Final = "node(s) didn't match Pod's node affinity/selector"
CONFLICT_TEXT: Final = "pod affinity terms conflict"


def required_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...] | None:
    """The terms of the required node affinity; None where the pod has none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return required.node_selector_terms if required is not None else None


def matches(node_selector: Mapping[str, str], terms: tuple[NodeSelectorTerm, ...] | None, node: Node) -> bool:
    """Whether a node has all labels of ``node_selector`` and matches one of the terms, if there are terms."""
    labels = node.metadata.labels
    for key, value in node_selector.items():
        if labels.get(key) != value:
            return False
    return terms is None or any(nodes.matches(_alone(term), node) for term in terms)


class RequiredNodeAffinity:
    """The node selector and the required terms of a pod (upstream: GetRequiredNodeAffinity).

    Nodes that are alike in the labels that matter are asked about once.
    """

    def __init__(self, node_selector: Mapping[str, str], terms: tuple[NodeSelectorTerm, ...] | None) -> None:
        self._selector, self._terms = node_selector, terms
        #: The labels that matter; None where the node's name does.
        self.keys = _keys(node_selector, terms or ())
        self._known: dict[tuple[str | None, ...], bool] = {}

    def admits(self, node: Node) -> bool:
        if self.keys is None:
            return matches(self._selector, self._terms, node)
        values = tuple(map(node.metadata.labels.get, self.keys))
        found = self._known.get(values)
        if found is None:
            found = self._known[values] = matches(self._selector, self._terms, node)
        return found


def _keys(node_selector: Mapping[str, str], terms: Iterable[NodeSelectorTerm]) -> tuple[str, ...] | None:
    """The labels that matter; None where the node's name does."""
    keys = dict.fromkeys(node_selector)
    for term in terms:
        if term.match_fields:
            return None
        keys |= dict.fromkeys(requirement.key for requirement in term.match_expressions)
    return tuple(keys)


@lru_cache(maxsize=1024)
def _alone(term: NodeSelectorTerm) -> NodeSelector:
    return NodeSelector((term,))


def names_in_terms(terms: tuple[NodeSelectorTerm, ...] | None) -> frozenset[str] | None:
    """The node names that the terms allow by ``metadata.name``; None where some term allows any.

    An empty set means that every term contradicts itself.
    """
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        named = [set(field.values) for field in term.match_fields if _is_name(field)]
        if not named:
            return None
        names |= set.intersection(*named)
    return frozenset(names)


def _is_name(field: NodeSelectorRequirement) -> bool:
    return field.key == nodes.NAME_FIELD and field.operator == "In"


def unmatched(
    node_selector: Mapping[str, str], terms: tuple[NodeSelectorTerm, ...] | None, node: Node
) -> Iterator[str]:
    """What keeps the pod off the node: labels of the nodeSelector, then the terms, in the words of the API."""
    labels = node.metadata.labels
    for key, value in sorted(node_selector.items()):
        if labels.get(key) != value:
            yield f"{key}={value}"
    if terms is not None and not matches({}, terms, node):
        for term in terms:
            yield (
                " and ".join(_requirement_text(r) for r in (*term.match_expressions, *term.match_fields))
                or "empty term"
            )


def _requirement_text(requirement: NodeSelectorRequirement) -> str:
    values = f" [{' '.join(requirement.values)}]" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


class _State(msgspec.Struct):
    """``refusals``: by what a node does not match, in the words of the API."""

    wanted: RequiredNodeAffinity
    refusals: dict[tuple[str, ...], Status] = msgspec.field(default_factory=dict)


class NodeAffinity(Plugin):
    """``spec.nodeSelector`` and ``spec.affinity.nodeAffinity``."""

    name: ClassVar[str] = "NodeAffinity"
    weight: ClassVar[int] = 2

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Terms that all name nodes preselect them, as a DaemonSet's do."""
        terms = required_terms(cycle.pod)
        if terms is None and not cycle.pod.spec.node_selector:
            return PreFilterResult(SKIP)
        cycle.write(_State(RequiredNodeAffinity(cycle.pod.spec.node_selector, terms)))
        names = names_in_terms(terms)
        if names is None:
            return PASS
        return PreFilterResult(nodes=names) if names else PreFilterResult(unresolvable(CONFLICT_TEXT))

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        """The node has the labels, or is the one that is named."""
        state, pod = cycle.read(_State), cycle.pod
        if state.wanted.admits(node.node):
            return SUCCESS
        missing = tuple(unmatched(pod.spec.node_selector, required_terms(pod), node.node))
        return state.refusals.setdefault(missing, unresolvable(TEXT, detail=missing))

    def reads(self, cycle: Cycle) -> kinds.Reading | None:
        """The labels that selector and terms name, unless they name nodes."""
        keys = cycle.read(_State).wanted.keys
        return kinds.labels(keys) if keys is not None else None

    def score(self, cycle: Cycle, nodes: Sequence[NodeInfo]) -> Sequence[int] | Status:
        """The weights of the preferred terms that match."""
        affinity = cycle.pod.spec.affinity.node_affinity if cycle.pod.spec.affinity is not None else None
        preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity is not None else ()
        terms = [
            (each.weight, _alone(each.preference))
            for each in preferred
            if each.weight and (each.preference.match_expressions or each.preference.match_fields)
        ]
        if not preferred:
            return SKIP
        if faults := unparsable([selector for _, selector in terms]):
            return error(faults)
        wishes = [(weight, RequiredNodeAffinity({}, selector.node_selector_terms)) for weight, selector in terms]
        return normalised([sum(weight for weight, wish in wishes if wish.admits(node.node)) for node in nodes])


def unparsable(selectors: Sequence[NodeSelector]) -> str:
    """What is wrong with the first selector that does not parse; empty if all do."""
    for selector in selectors:
        if problems := nodes.parse(selector).problems:
            return selector_problems(NodeSelectorUnparsable(selector, problems))
    return ""
