"""Which evidence a report misses, in RBAC's words: verbs, resource, group, namespace."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.model.evidence import ALL_NAMESPACES, Coverage, Evidence
from kubectl_dra.reports.base import MissingRight

_LACKING = frozenset({Coverage.FORBIDDEN, Coverage.NOT_READ, Coverage.PARTIAL})


def missing_rights(
    evidence: Evidence, kinds: Iterable[str], namespace: str = ALL_NAMESPACES
) -> tuple[MissingRight, ...]:
    """Those of ``kinds`` that are not completely known, in their order.

    Namespaced kinds are looked up in ``namespace`` (empty: in the whole cluster), the others in the cluster.
    """
    wanted = ((kind, namespace if BY_NAME[kind].namespaced else ALL_NAMESPACES) for kind in kinds)
    return tuple(
        MissingRight(kind, scope, coverage, rule_text(kind, scope) if coverage is not Coverage.PARTIAL else "")
        for kind, scope in wanted
        if (coverage := evidence.coverage(kind, scope)) in _LACKING
    )


def rule_text(kind: str, namespace: str = ALL_NAMESPACES) -> str:
    """The right that would let us read ``kind``: ``list resourceclaims.resource.k8s.io in all namespaces``."""
    known = BY_NAME[kind]
    if not known.namespaced:
        return f"list {known.resource}"
    return f"list {known.resource} in {f'namespace {namespace}' if namespace else 'all namespaces'}"
