"""From what the scheduler says of other pods, and of features of nodes, to causes with codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.pods_there import matching, spread_over
from kubectl_dra.diagnosis.records import Cause, Company, MissingFeatures, PodsThere, Spread
from kubectl_dra.model.core import Pod
from kubectl_dra.model.terms import AffinityTerm, selector_text
from kubectl_dra.scheduler.plugins.inter_pod_affinity import Unmet
from kubectl_dra.scheduler.plugins.node_declared_features import Required
from kubectl_dra.scheduler.plugins.pod_topology_spread import Skew
from kubectl_dra.scheduler.plugins.spread_constraints import SpreadConstraint

_NODES: Final = 3


def company_causes(world: ClusterState, pod: Pod, detail: object, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """One cause for each thing that is in the way; none where the detail is another plugin's."""
    match detail:
        case Skew():
            by = spread_over(world, pod, detail.constraint, nodes[0])
            yield Cause(Code.SPREAD, _spread(detail, by), nodes=nodes)
        case SpreadConstraint():
            yield Cause(Code.SPREAD, Spread(detail.topology_key, selector_text(detail.selector)), nodes=nodes)
        case Unmet():
            code = Code.UNWANTED_COMPANY if detail.anti else Code.NO_COMPANY
            for term in detail.terms:
                where = () if detail.anti else _where(world, term)
                by = matching(world, pod, term, nodes) if detail.anti else ()
                yield Cause(code, Company(term.topology_key, selector_text(term.selector), where, by), nodes=nodes)
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


def _spread(skew: Skew, by: tuple[PodsThere, ...]) -> Spread:
    constraint = skew.constraint
    selector = selector_text(constraint.selector)
    found = Spread(constraint.topology_key, selector, skew.value, skew.count, skew.fewest, constraint.max_skew, by=by)
    if skew.domains is None:
        return found
    return msgspec.structs.replace(found, min_domains=constraint.min_domains, domains=skew.domains)
