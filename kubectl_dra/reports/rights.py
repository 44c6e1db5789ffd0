"""Which kinds a view of pools, devices and claims misses, and the RBAC rules that would give them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import missing
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import Evidence


def missing_rights(evidence: Evidence, kinds: Iterable[str], namespace: str = "") -> tuple[Missing, ...]:
    """Those of ``kinds`` that are not completely known, in their order.

    With ``namespace`` kinds that live in namespaces are wanted in that one only, else everywhere.
    """
    wanted = (needs.BY_KIND[kind] for kind in kinds)
    here = (dataclasses.replace(need, cluster_wide=not (namespace and _namespaced(need.kind))) for need in wanted)
    return missing(evidence, here, namespace)


def _namespaced(kind: str) -> bool:
    return BY_NAME[kind].namespaced
