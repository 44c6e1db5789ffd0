"""Reading recorded rows, and objects as the tests of this folder need them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.kinds import Kind
from kubectl_dra.model.base import Record

VECTORS = Path(__file__).parents[1] / "vectors"


def rows(name: str) -> list[dict[str, Any]]:
    """All rows of ``tests/vectors/NAME``."""
    return [json.loads(line) for line in gzip.decompress((VECTORS / name).read_bytes()).splitlines()]


def decoded(obj: dict[str, Any], api_version: str = "", kind: str = "") -> tuple[Kind, Record]:
    """Kind and record of an object that must be readable."""
    found = decode_any(json.dumps(obj).encode(), api_version, kind)
    assert isinstance(found, tuple), found
    return found
