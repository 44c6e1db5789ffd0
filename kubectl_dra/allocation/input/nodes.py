"""Node selectors of slices and devices: parsing with all errors, and matching a node.

Upstream: component-helpers/scheduling/corev1/nodeaffinity and apimachinery's label selectors. An unparsable selector is
an error even where another term would match; an empty term matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import SelectorFault, SelectorProblem
from kubectl_dra.model.core import Node
from kubectl_dra.model.gotext import parse_int
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.names import label_key, label_value

NAME_FIELD: Final = "metadata.name"
_LABEL_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_FIELD_OPERATORS: Final = frozenset({"In", "NotIn"})


class ParsedSelector(msgspec.Struct, frozen=True):
    """The terms that are not empty, and what could not be parsed."""

    terms: tuple[NodeSelectorTerm, ...]
    problems: tuple[SelectorProblem, ...]

    def matches(self, node: Node) -> bool:
        return any(_term_matches(term, node) for term in self.terms)


@lru_cache(maxsize=4096)
def parse(selector: NodeSelector) -> ParsedSelector:
    """Parse a selector; it may only be matched if there are no problems."""
    terms = [(i, t) for i, t in enumerate(selector.node_selector_terms) if t.match_expressions or t.match_fields]
    problems = tuple(problem for i, term in terms for problem in _term_problems(i, term))
    return ParsedSelector(tuple(term for _, term in terms), problems)


def matches(selector: NodeSelector, node: Node) -> bool:
    """Whether a selector that parses matches the node; one that does not parse never matches."""
    parsed = parse(selector)
    return not parsed.problems and parsed.matches(node)


# --- matching -------------------------------------------------------------------------------------------------------


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    labels, name = node.metadata.labels, node.metadata.name
    return all(_label_matches(r, labels) for r in term.match_expressions) and (
        # Upstream looks at fields only if the node has any, and a name is the only one.
        not name or all(_field_matches(r, name) for r in term.match_fields)
    )


def _label_matches(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    number, bound = parse_int(value), parse_int(requirement.values[0])
    if number is None or bound is None:
        return False
    return number > bound if requirement.operator == "Gt" else number < bound


def _field_matches(requirement: NodeSelectorRequirement, name: str) -> bool:
    value = name if requirement.key == NAME_FIELD else ""
    return (value == requirement.values[0]) == (requirement.operator == "In")


# --- parsing --------------------------------------------------------------------------------------------------------


def _term_problems(term_index: int, term: NodeSelectorTerm) -> Iterator[SelectorProblem]:
    for index, requirement in enumerate(term.match_expressions):
        for fault, value, value_index in _label_faults(requirement):
            key = requirement.key
            yield SelectorProblem(term_index, "matchExpressions", index, fault, value, value_index, key)
    for index, requirement in enumerate(term.match_fields):
        if requirement.operator not in _FIELD_OPERATORS:
            yield SelectorProblem(term_index, "matchFields", index, SelectorFault.OPERATOR, requirement.operator)
        elif len(requirement.values) != 1:
            yield SelectorProblem(term_index, "matchFields", index, SelectorFault.ONE_VALUE, requirement.values)


_Fault = tuple[SelectorFault, str | tuple[str, ...], int]


def _label_faults(requirement: NodeSelectorRequirement) -> Iterator[_Fault]:
    operator, values = requirement.operator, requirement.values
    if operator not in _LABEL_OPERATORS:
        yield SelectorFault.OPERATOR, operator, 0
        return
    if label_key(requirement.key):
        yield SelectorFault.KEY, requirement.key, 0
    if operator in ("In", "NotIn") and not values:
        yield SelectorFault.VALUES_MISSING, values, 0
    elif operator in ("Exists", "DoesNotExist") and values:
        yield SelectorFault.VALUES_UNWANTED, values, 0
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield SelectorFault.ONE_INTEGER, values, 0
        for i, value in enumerate(values):
            if parse_int(value) is None:
                yield SelectorFault.NOT_INTEGER, value, i
    for i, value in enumerate(values):
        if label_value(value):
            yield SelectorFault.LABEL_VALUE, value, i
