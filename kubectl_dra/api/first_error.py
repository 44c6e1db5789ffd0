"""Objects that can't be read for one value: as if it were left out, so that the rest of the object can be.

The API server reads no further than the first one.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, Final

_KEY: Final = r'\["(?:[^"\\]|\\.)*"\]'
_PLACED: Final = re.compile(rf"(?P<path>[\w-]+(?:\.[\w-]+|\[\d+\]|{_KEY})*): ", re.DOTALL)
_STEP: Final = re.compile(rf"\.?(?P<field>[\w-]+)|\[(?P<index>\d+)\]|(?P<key>{_KEY})")


def place_of(error: str) -> str:
    """Where the value stands that an error of decoding is about; empty where none is named."""
    found = _PLACED.match(error)
    return found["path"] if found is not None else ""


def without(tree: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    """The object without the value at that place; None where none stands there."""
    steps = [_step(found) for found in _STEP.finditer(path)]
    whole: Any = copy.deepcopy(dict(tree))
    value = whole
    try:
        for step in steps[:-1]:
            value = value[step]
        before, value[steps[-1]] = value[steps[-1]], None
    except (KeyError, IndexError, TypeError):
        return None
    return whole if before is not None else None


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    return str(json.loads(found["key"][1:-1])) if found["key"] is not None else found["field"]
