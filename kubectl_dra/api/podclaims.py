"""Claims in pod specs as written, wherever a pod spec stands: in pods, and in the templates of workloads.

Servers before 1.31 nested the two names under ``source``; newer ones drop it as an unknown field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubectl_dra.api.trees import at, list_at, move_up, read_tree
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod, PodResourceClaim

_SPECS: Final = ("spec", "spec.template.spec", "spec.jobTemplate.spec.template.spec", "template.spec")


def flattened_sources(data: bytes) -> bytes:
    """The object with ``resourceClaims[].source`` moved up; the very same bytes if there is none."""
    if b'"source"' not in data or b'"resourceClaims"' not in data:
        return data
    tree = read_tree(data)
    entries = [entry for _, entry in nested_sources(tree)]
    for entry in entries:
        move_up(entry, "source")
    return msgspec.json.encode(tree) if entries else data


def nested_sources(tree: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """Path and content of each entry of ``resourceClaims`` that has a nested source."""
    for path in _SPECS:
        for index, entry in enumerate(list_at(at(tree, path), "resourceClaims")):
            if isinstance(entry, dict) and isinstance(entry.get("source"), dict):
                yield f"{path}.resourceClaims[{index}]", entry


def normalised(pod: Pod) -> Pod:
    """The pod with ``resourceClaims[].source`` of servers before 1.31 moved to the fields of today."""
    if not any(entry.source is not None for entry in pod.spec.resource_claims):
        return pod
    entries = tuple(_flat(entry) for entry in pod.spec.resource_claims)
    return with_spec(pod, resource_claims=entries)


def _flat(entry: PodResourceClaim) -> PodResourceClaim:
    if entry.source is None:
        return entry
    return PodResourceClaim(
        name=entry.name,
        resource_claim_name=entry.resource_claim_name or entry.source.resource_claim_name,
        resource_claim_template_name=entry.resource_claim_template_name or entry.source.resource_claim_template_name,
    )
