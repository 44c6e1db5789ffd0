"""Strategic merge patches of a pod's spec, as objects of other projects carry them in a text.

Upstream: k8s.io/apimachinery, pkg/util/strategicpatch (StrategicMergePatch) with the merge keys of PodSpec
(k8s.io/api/core/v1/types.go). Directives (``$patch`` and the like) are left to the real one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

#: Lists that are merged, by the field that tells their items apart; all others are replaced as a whole.
_KEYS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "resourceClaims": "name",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "env": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
}
#: What can't be applied here: parameters that are filled in later, directives, and YAML that refers to itself.
_LEFT: Final = re.compile(r"\{\{|[\"']?\$[a-zA-Z]+[/\"':]|(?:^|[\s,\[{:-])[&*]\w", re.MULTILINE)
_MAX: Final = 1 << 16
_DEPTH: Final = 32


def read_patch(text: object) -> dict[str, Any] | None:
    """The patch that a text holds, as YAML or JSON; None where it can't be applied here."""
    if not isinstance(text, str) or len(text) > _MAX or _LEFT.search(text):
        return None
    import yaml  # few objects carry a patch

    try:
        patch = yaml.safe_load(text)
        json.dumps(patch)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError):
        return None
    return patch if isinstance(patch, dict) and all(isinstance(key, str) for key in patch) else None


def patched(value: Mapping[str, Any], patch: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """The value with the patch: mappings are merged, null removes a field."""
    merged = dict(value)
    for key, new in patch.items():
        old = merged.get(key)
        if new is None:
            merged.pop(key, None)
        elif isinstance(new, dict) and depth < _DEPTH:
            merged[key] = patched(old if isinstance(old, dict) else {}, new, depth + 1)
        elif isinstance(new, list) and isinstance(old, list) and key in _KEYS:
            merged[key] = _merged(old, new, _KEYS[key], depth)
        else:
            merged[key] = new
    return merged


def _merged(old: list[Any], new: list[Any], key: str, depth: int) -> list[Any]:
    """The items with those of the patch: one with the same key is merged, any other comes after them."""
    items = list(old)
    for item in new:
        name = item.get(key) if isinstance(item, dict) else None
        there = next((n for n, each in enumerate(items) if isinstance(each, dict) and each.get(key) == name), None)
        if name is None or there is None:
            items.append(item)
        else:
            items[there] = patched(items[there], item, depth + 1)
    return items
