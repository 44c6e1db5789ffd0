"""One form for JSON that Go and Kubernetes mean the same by: without what is empty, keys in order."""

from __future__ import annotations

import hashlib
import json
from typing import Any

# Numbers that Go writes even when they are zero; a zero elsewhere (an attribute's value) says something.
_ZERO_IS_UNSET = {("generation", 0), ("resourceSliceCount", 0), ("count", 0), ("value", "0")}


def canonical(value: Any) -> Any:
    """``value`` without nulls, empty texts, lists and objects, and without numbers that mean unset."""
    if isinstance(value, dict):
        items = ((key, canonical(item)) for key, item in value.items())
        return {key: item for key, item in items if not _empty(item) and not _unset(key, item)}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return value


def digest(value: Any) -> str:
    """A short hash of the canonical form."""
    text = json.dumps(canonical(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _unset(key: str, value: Any) -> bool:
    return isinstance(value, int | str) and (key, value) in _ZERO_IS_UNSET


def _empty(value: Any) -> bool:
    return value is None or value == "" or value == [] or value == {}
