"""Paths into objects as people and the API server write them."""

from __future__ import annotations

import json
import re
from typing import Final

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def below(path: str, key: str) -> str:
    """The path of a field or of a map's value: ``spec.devices[0].capacity["memory.x"]``."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key
