"""Terms of pod affinity and anti-affinity in comparable form, and which pods they match.

Upstream: the scheduler framework's AffinityTerm (k8s.io/kube-scheduler/framework types.go) and label selectors of
apimachinery. What follows for nodes is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec

from kubectl_dra.model.affinity import PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from kubectl_dra.model.core import Pod
from kubectl_dra.model.gotext import quote
from kubectl_dra.model.meta import LabelSelector, NodeSelectorRequirement

Requirements = tuple[NodeSelectorRequirement, ...]


class AffinityTerm(msgspec.Struct, frozen=True):
    """One term: pods of ``namespaces``, or of those that ``namespace_selector`` takes, with labels of ``selector``.

    A selector that is None takes nothing, an empty one everything.
    """

    topology_key: str
    namespaces: frozenset[str]
    selector: Requirements | None
    namespace_selector: Requirements | None = None

    def needs_labels_of(self, namespace: str) -> bool:
        """Whether it depends on the labels of a namespace if it matches pods there."""
        return namespace not in self.namespaces and bool(self.namespace_selector)

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]) -> bool:
        """Whether it is about a pod of ``namespace`` with ``labels``."""
        inside = namespace in self.namespaces or selects(self.namespace_selector, namespace_labels)
        return inside and selects(self.selector, labels)


class PodTerms(msgspec.Struct, frozen=True):
    """All terms of a pod; the preferred ones with their weights.

    ``problems``: what is wrong with those of a kind that can't be parsed, of which there are then none.
    """

    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[tuple[int, AffinityTerm], ...] = ()
    preferred_anti_affinity: tuple[tuple[int, AffinityTerm], ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[AffinityTerm, ...]:
        """All of them without weights."""
        preferred = (*self.preferred_affinity, *self.preferred_anti_affinity)
        return (*self.required_affinity, *self.required_anti_affinity, *(term for _, term in preferred))


NO_TERMS = PodTerms()
T = TypeVar("T")
#: Whether an operator of a label selector wants values; others than these can't be parsed.
_WANTS_VALUES: Final = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
_NONE = PodAffinity()
_OPERATORS: Final = {"In": "in", "NotIn": "notin"}


def terms_of(pod: Pod) -> PodTerms:
    """The terms of a pod's ``spec.affinity`` about other pods."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    own = pod.metadata.namespace
    near, away = affinity.pod_affinity or _NONE, affinity.pod_anti_affinity or _NONE
    problems: list[str] = []

    def kept(what: str, terms: tuple[T, ...], term: Callable[[T], AffinityTerm]) -> tuple[T, ...]:
        """Of a pod one of whose terms can't be parsed upstream knows none of that kind (NewPodInfo)."""
        problem = next(filter(None, (_problem(term(each)) for each in terms)), "")
        if problem:
            problems.append(f"{what}: {problem}")
        return () if problem else terms

    required = [
        tuple(term_of(term, own) for term in each.required_during_scheduling_ignored_during_execution)
        for each in (near, away)
    ]
    preferred = [
        tuple(_weighted(term, own) for term in each.preferred_during_scheduling_ignored_during_execution)
        for each in (near, away)
    ]
    return PodTerms(
        kept("requiredAffinityTerms", required[0], _itself),
        kept("requiredAntiAffinityTerms", required[1], _itself),
        kept("preferredAffinityTerms", preferred[0], _unweighted),
        kept("preferredAntiAffinityTerms", preferred[1], _unweighted),
        tuple(problems),
    )


def _itself(term: AffinityTerm) -> AffinityTerm:
    return term


def _unweighted(weighted: tuple[int, AffinityTerm]) -> AffinityTerm:
    return weighted[1]


def _problem(term: AffinityTerm) -> str:
    """Why a selector of the term can't be parsed, in the words of apimachinery (labels.NewRequirement)."""
    for each in (*(term.selector or ()), *(term.namespace_selector or ())):
        wants = _WANTS_VALUES.get(each.operator)
        if wants is None:
            return f"{quote(each.operator)} is not a valid label selector operator"
        if wants and not each.values:
            return "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
        if each.values and not wants:
            values = ",".join(map(quote, each.values))
            return f"values: Invalid value: [{values}]: values set must be empty for exists and does not exist"
    return ""


def _weighted(term: WeightedPodAffinityTerm, own: str) -> tuple[int, AffinityTerm]:
    return term.weight, term_of(term.pod_affinity_term, own)


def term_of(term: PodAffinityTerm, own: str) -> AffinityTerm:
    """Without namespaces and their selector a term is about the namespace of the pod itself."""
    about = term.namespaces or (() if term.namespace_selector is not None else (own,))
    return AffinityTerm(
        term.topology_key,
        frozenset(about),
        requirements_of(term.label_selector),
        requirements_of(term.namespace_selector),
    )


# --- label selectors ------------------------------------------------------------------------------------------------


def requirements_of(selector: LabelSelector | None) -> Requirements | None:
    """The requirements: ``matchLabels`` sorted by key, then ``matchExpressions``; None for no selector."""
    if selector is None:
        return None
    equal = (NodeSelectorRequirement(key, "In", (value,)) for key, value in sorted(selector.match_labels.items()))
    return (*equal, *selector.match_expressions)


def selects(requirements: Requirements | None, labels: Mapping[str, str]) -> bool:
    """Whether labels meet all requirements; None selects nothing."""
    return requirements is not None and all(_holds(requirement, labels) for requirement in requirements)


def _holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False


def selector_text(selector: Requirements | None) -> str:
    """As kubectl's ``-l`` takes it; an empty one selects everything, none nothing."""
    return ",".join(map(_requirement, selector or ()))


def _requirement(requirement: NodeSelectorRequirement) -> str:
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "Exists":
            return key
        case "DoesNotExist":
            return f"!{key}"
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "NotIn" if len(values) == 1:
            return f"{key}!={values[0]}"
    return f"{key} {_OPERATORS.get(requirement.operator, requirement.operator)} ({','.join(values)})"
