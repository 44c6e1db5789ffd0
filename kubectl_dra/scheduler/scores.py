"""Scores: how plugins' figures are brought to 0 to 100.

Upstream: plugins/helper/normalize_score.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_SCORE: Final = 100


def normalised(raw: Sequence[int], *, reverse: bool = False) -> list[int]:
    """``raw`` as shares of the largest, 0 to 100; ``reverse``: small figures are good."""
    largest = max(raw, default=0)
    if largest == 0:
        return [MAX_SCORE if reverse else 0] * len(raw)
    shares = [MAX_SCORE * each // largest for each in raw]
    return [MAX_SCORE - share for share in shares] if reverse else shares
