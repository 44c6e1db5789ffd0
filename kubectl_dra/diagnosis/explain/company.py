"""From what the scheduler says of other pods, and of features of nodes, to causes with codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Company, MissingFeatures, Spread
from kubectl_dra.model.meta import NodeSelectorRequirement
from kubectl_dra.model.terms import AffinityTerm, Requirements
from kubectl_dra.scheduler.plugins.inter_pod_affinity import Unmet
from kubectl_dra.scheduler.plugins.node_declared_features import Required
from kubectl_dra.scheduler.plugins.pod_topology_spread import Skew
from kubectl_dra.scheduler.plugins.spread_constraints import SpreadConstraint

_NODES: Final = 3
_OPERATORS: Final = {"In": "in", "NotIn": "notin"}


def company_causes(world: ClusterState, detail: object, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """One cause for each thing that is in the way; none where the detail is another plugin's."""
    match detail:
        case Skew():
            yield Cause(Code.SPREAD, _spread(detail), nodes=nodes)
        case SpreadConstraint():
            yield Cause(Code.SPREAD, Spread(detail.topology_key, _text(detail.selector)), nodes=nodes)
        case Unmet():
            code = Code.UNWANTED_COMPANY if detail.anti else Code.NO_COMPANY
            for term in detail.terms:
                where = () if detail.anti else _where(world, term)
                yield Cause(code, Company(term.topology_key, _text(term.selector), where), nodes=nodes)
        case Required():
            yield Cause(Code.NODE_FEATURES, MissingFeatures(detail.features), nodes=nodes)


@derived("pods")
def _found(_state: ClusterState) -> dict[AffinityTerm, tuple[str, ...]]:
    """By term, of those that were asked about: to look for its pods takes all of them."""
    return {}


def _where(world: ClusterState, term: AffinityTerm) -> tuple[str, ...]:
    """The nodes of the pods that a term is about, the first few by name; its selector of namespaces is resolved."""
    found = _found(world)
    if term not in found:
        names = {
            pod.spec.node_name
            for key, pod in world.inventory.pods.items()
            if pod.spec.node_name and term.matches(key.namespace, pod.metadata.labels, {})
        }
        found[term] = tuple(sorted(names)[:_NODES])
    return found[term]


def _spread(skew: Skew) -> Spread:
    constraint = skew.constraint
    selector = _text(constraint.selector)
    found = Spread(constraint.topology_key, selector, skew.value, skew.count, skew.fewest, constraint.max_skew)
    if skew.domains is None:
        return found
    return msgspec.structs.replace(found, min_domains=constraint.min_domains, domains=skew.domains)


def _text(selector: Requirements | None) -> str:
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
