"""What has changed since the table that was committed last: by the ratio to the peer, else by processor time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench.frame import HEAD, ROOT, Row, by_cpu, cells

#: What was measured, its size, and the peer beside it: the same command is measured beside several.
Key = tuple[str, str, str]
_FIGURE: Final = HEAD.index("cpu")
_OURS: Final = HEAD.index("ours")
_PEER: Final = HEAD.index("peer")
_UNITS: Final = {"ms": 1.0, "s": 1000.0, "x": 1.0}


def committed(document: Path) -> dict[Key, float]:
    """By what, size and peer, the figure of each row of the document as it was committed last; none without git."""
    path = document.relative_to(ROOT).as_posix()
    shown = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=ROOT, capture_output=True, check=False)
    return figures(shown.stdout.decode("utf-8", "replace"))


def figures(text: str) -> dict[Key, float]:
    """The same of the text of a document."""
    found: dict[Key, float] = {}
    for line in text.splitlines():
        texts = [each.strip() for each in line.strip().strip("|").split("|")]
        if len(texts) == len(HEAD):
            value = _value(texts[_FIGURE] or texts[_OURS])
            if value is not None:
                found[texts[0], texts[1], texts[_PEER]] = value
    return found


def told(row: Row, before: Mapping[Key, float]) -> str:
    """How the row's figure has changed, as a share of what it was; empty for a row that is new or has no figure."""
    texts = cells(row)
    known, now = before.get((row.what, row.size, texts[_PEER])), _value(texts[_FIGURE] or texts[_OURS])
    if row.figure(by_cpu) is None and row.ours is None:
        return ""
    return f"  {now / known - 1:+.0%}" if known and now is not None else "  new"


def _value(text: str) -> float | None:
    number, _, unit = text.partition(" ")
    try:
        return float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        return None
