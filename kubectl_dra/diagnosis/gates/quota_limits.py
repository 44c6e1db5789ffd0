"""How many more copies of a pod the quotas of its namespace admit, with the claims that its templates make.

Where nodes or devices could not be read this is sure all the same: quotas live in the pod's namespace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.records import QuotaLimit, QuotaShortage
from kubectl_dra.model.core import Pod, ResourceQuota
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.scheduler.claims import sources

_MOST: Final = 10**6
Templates = Mapping[Key, ResourceClaimTemplate]
_Charges = tuple[tuple[Pod | None, Mapping[str, int]], ...]


def quota_limit(
    state: ClusterState, pod: Pod, templates: Templates = MappingProxyType({}), wanted: int = 0
) -> QuotaLimit | None:
    """How many copies, and which limit keeps out one more; None where none of the quotas limits.

    ``templates`` are those that the cluster does not have. ``wanted``: how many the limit that is told lets in.
    """
    namespace, quotas = pod.metadata.namespace, state.inventory.quotas
    if all(each.metadata.namespace != namespace for each in quotas.values()):
        return None
    charges = _charges(state, pod, {**state.inventory.templates, **templates})

    def over(copies: int) -> QuotaShortage | None:
        return next(_exceeded(state, namespace, charges, copies), None)

    low, high = 0, _MOST
    if over(high) is None:
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if over(middle) is not None else (middle, high)
    kept_out = over(low + 1)
    assert kept_out is not None  # noqa: S101 - the search ends where one more is too many
    return _told(low, kept_out, quotas[Key(namespace, kept_out.quota)], charges, max(wanted, low + 1))


def _charges(state: ClusterState, pod: Pod, templates: Templates) -> _Charges:
    """What one copy is charged: the pod, and all of its claims."""
    of_claims = Counter[str]()
    for entry in pod.spec.resource_claims:
        template = templates.get(Key(pod.metadata.namespace, sources(entry)[1] or ""))
        if template is not None:
            extended = state.features.extended_resource
            of_claims.update(quota.usage(template.spec.spec, state.inventory.classes, extended))
    return ((pod, quota.pod_usage(pod)), (None, of_claims))


def _exceeded(state: ClusterState, namespace: str, charges: _Charges, copies: int) -> Iterator[QuotaShortage]:
    charged, settled = state.inventory.quotas, quota.is_settled(state, namespace)
    for pod, charge in charges:
        total = {name: amount * copies for name, amount in charge.items()}
        for each in quota.exceeded(charged.values(), namespace, total, pod, settled=settled):
            yield msgspec.structs.replace(each, kind="Pod") if pod is not None else each
        charged = quota.charged(charged, namespace, total, pod)


def _told(copies: int, over: QuotaShortage, limits: ResourceQuota, charges: _Charges, wanted: int) -> QuotaLimit:
    """With what is used now, what one copy requests, and the limit that lets in those that are wanted."""
    each = sum(charge.get(over.resource, 0) for _, charge in charges)
    used = limits.status.used.get(over.resource, quota.NOTHING)
    requested, needed = (quota.quantity(over.resource, each * number) for number in (1, wanted))
    shortage = msgspec.structs.replace(over, used=str(used), requested=str(requested))
    return QuotaLimit(copies, shortage, str(used.add(needed)))
