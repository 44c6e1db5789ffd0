"""Reading recorded rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors"


def rows(name: str) -> list[dict[str, Any]]:
    """All rows of ``tests/vectors/NAME``."""
    return [json.loads(line) for line in gzip.decompress((VECTORS / name).read_bytes()).splitlines()]
