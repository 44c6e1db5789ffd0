"""The recorded scenarios of a real control plane, for parametrized tests."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "scenarios"
NAMES = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


def snapshot_path(name: str) -> Path:
    """All objects of a scenario after the scheduler had its say, as a ``List``."""
    return FOLDER / name / "snapshot.json"


@cache
def snapshot_items(name: str) -> tuple[dict[str, Any], ...]:
    """The objects of a scenario; treat them as read-only."""
    return tuple(json.loads(snapshot_path(name).read_bytes())["items"])
