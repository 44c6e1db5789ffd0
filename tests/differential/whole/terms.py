"""Random selectors, affinity terms and spread constraints."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.whole.draw import Draw, Object
from tests.differential.whole.nodes import APPS, HOST, RACKS, ZONE, ZONES

NAMESPACES: Final = ("default", "default", "team-a", "team-b")
_TOPOLOGIES: Final = (ZONE, ZONE, HOST, "rack")
_NODE_LABELS: Final[dict[str, tuple[str, ...]]] = {
    ZONE: ZONES,
    "disk": ("ssd", "hdd"),
    "rack": RACKS,
    "kubernetes.io/arch": ("amd64", "arm64"),
    "missing": ("x",),
}
_POD_LABELS: Final[dict[str, tuple[str, ...]]] = {
    "app": APPS,
    "tier": ("front", "back"),
    "pod-template-hash": ("v1", "v2"),
}


def labels(draw: Draw) -> Object:
    """Labels of a pod."""
    found: Object = {"app": draw.one(APPS)}
    for key in ("tier", "pod-template-hash"):
        if draw.number(0, 1):
            found[key] = draw.one(_POD_LABELS[key])
    return {} if draw.rarely(25, "pod without labels") else found


# --- nodes ----------------------------------------------------------------------------------------------------------


def node_affinity(draw: Draw, nodes: list[str]) -> Object:
    """``nodeAffinity`` of a pod, required, preferred or both."""
    affinity: Object = {}
    if draw.rarely(2, "required node affinity"):
        terms = [_node_term(draw, nodes) for _ in range(draw.number(1, 2))]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if not affinity or draw.number(0, 1):
        draw.taken.add("preferred node affinity")
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.one((1, 10, 100)), "preference": {"matchExpressions": [_node_expression(draw)]}}
            for _ in range(draw.number(1, 2))
        ]
    return affinity


def _node_term(draw: Draw, nodes: list[str]) -> Object:
    if draw.rarely(20, "empty node selector term"):
        return {}
    term: Object = {}
    if draw.rarely(3, "node affinity by name"):
        operator = draw.one(("In", "In", "NotIn"))
        name = draw.one([*nodes, "elsewhere"])
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [name]}]
    if not term or draw.number(0, 1):
        term["matchExpressions"] = [_node_expression(draw) for _ in range(draw.number(1, 2))]
    return term


def _node_expression(draw: Draw) -> Object:
    operator = draw.one(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    draw.taken.add(f"node affinity {operator}")
    if operator in ("Gt", "Lt"):
        return {"key": "generation", "operator": operator, "values": [draw.one(("1", "2", "03"))]}
    return _expression(draw, operator, _NODE_LABELS)


def _expression(draw: Draw, operator: str, known: dict[str, tuple[str, ...]]) -> Object:
    key = draw.one(tuple(known))
    expression: Object = {"key": key, "operator": operator}
    return expression | ({"values": draw.some(known[key], 1, 2)} if operator in ("In", "NotIn") else {})


# --- pods -----------------------------------------------------------------------------------------------------------


def pod_affinity(draw: Draw) -> Object:
    """``podAffinity`` and ``podAntiAffinity``, each required or preferred."""
    affinity: Object = {}
    kinds = (
        *(("podAffinity", "required"), ("podAffinity", "preferred")),
        *(("podAntiAffinity", "required"), ("podAntiAffinity", "preferred")),
    )
    for kind, strength in draw.some(kinds, 1, 2):
        draw.taken.add(f"{strength} {kind}")
        terms: list[Any] = [_pod_term(draw) for _ in range(draw.one((1, 1, 2)))]
        if strength == "preferred":
            terms = [{"weight": draw.one((1, 50, 100)), "podAffinityTerm": term} for term in terms]
        affinity.setdefault(kind, {})[f"{strength}DuringSchedulingIgnoredDuringExecution"] = terms
    return affinity


def _pod_term(draw: Draw) -> Object:
    term: Object = {"topologyKey": draw.one(_TOPOLOGIES)}
    selector = _label_selector(draw, "affinity")
    if selector is not None:
        term["labelSelector"] = selector
        # The same key in the selector is refused.
        for field in ("matchLabelKeys", "mismatchLabelKeys"):
            if "matchLabels" in selector and len(term) == 2 and draw.rarely(8, field):
                term[field] = ["pod-template-hash"]
    if draw.rarely(4, "affinity to named namespaces"):
        term["namespaces"] = draw.some(("default", "team-a", "team-b", "absent"), 1, 2)
    if draw.rarely(4, "affinity by namespace selector"):
        term["namespaceSelector"] = draw.one(
            ({}, {"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "env", "operator": "Exists"}]})
        )
    return term


def _label_selector(draw: Draw, where: str) -> Object | None:
    if draw.rarely(20, f"{where} without selector"):
        return None
    if draw.rarely(20, f"{where} with empty selector"):
        return {}
    if draw.number(0, 2):
        return {"matchLabels": {"app": draw.one(APPS)}}
    operator = draw.one(("In", "NotIn", "Exists", "DoesNotExist"))
    draw.taken.add(f"{where} selector {operator}")
    return {"matchExpressions": [_expression(draw, operator, _POD_LABELS)]}


def spread(draw: Draw) -> list[Object]:
    """``topologySpreadConstraints``: no two with the same key and the same strictness."""
    pairs = [(key, how) for key in (ZONE, HOST, "rack") for how in ("DoNotSchedule", "ScheduleAnyway")]
    return [_spread_constraint(draw, key, how) for key, how in draw.some(pairs, 1, 2)]


def _spread_constraint(draw: Draw, key: str, how: str) -> Object:
    draw.taken.add(f"spread {how}")
    constraint: Object = {"topologyKey": key, "whenUnsatisfiable": how, "maxSkew": draw.one((1, 1, 2))}
    selector = _label_selector(draw, "spread")
    if selector is not None:
        constraint["labelSelector"] = selector
        if "matchLabels" in selector and draw.rarely(4, "spread matchLabelKeys"):
            constraint["matchLabelKeys"] = ["pod-template-hash"]
    if how == "DoNotSchedule" and draw.rarely(3, "minDomains"):
        constraint["minDomains"] = draw.one((1, 2, 3, 5))
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if draw.rarely(3, field):
            constraint[field] = draw.one(("Honor", "Ignore"))
    return constraint
