"""Claims in pod specs as written, wherever a pod spec stands: in pods, and in the templates of workloads.

Servers before 1.31 nested the two names under ``source``; newer ones drop it as an unknown field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubectl_dra.api.trees import at, list_at, move_up, read_tree

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
