"""Claims that an API server without Dynamic Resource Allocation has dropped from a pod, or from what makes it.

Upstream: pkg/api/pod/util.go, dropDisabledDynamicResourceAllocationFields: without the feature gate an object is stored
without ``resourceClaims``, and nothing is said. What ``kubectl apply`` was given stands in an annotation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.model.ids import Key
from kubectl_dra.model.workloads import WorkloadObject

_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_FIELD: Final = "resourceClaims"


def dropped_claims(key: Key, state: ClusterState, owners: Owners) -> tuple[str, ...]:
    """The names of the entries; nothing of a pod that has claims, and where the server has the API."""
    pod = state.inventory.pods.get(key)
    if pod is None or pod.spec.resource_claims or not state.evidence.lacks_api:
        return ()
    makers = (owner.object for owner in owners.of(pod) if isinstance(owner.object, WorkloadObject))
    applied = [each.annotations.get(_APPLIED, "") for each in (pod.metadata, *(maker.metadata for maker in makers))]
    return tuple(dict.fromkeys(name for text in applied for name in _entries(text)))


def _entries(text: str) -> Iterator[str]:
    try:
        yield from _within(json.loads(text) if text else None)
    except (ValueError, RecursionError):
        return


def _within(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Of a pod, or of the templates in what makes pods."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name == _FIELD and isinstance(each, list):
                entries = (entry.get("name") for entry in each if isinstance(entry, dict))
                yield from (entry for entry in entries if isinstance(entry, str) and entry)
            elif isinstance(each, dict | list):
                yield from _within(each)
    elif isinstance(value, list):
        for each in value:
            yield from _within(each)
