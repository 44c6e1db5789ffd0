"""Groups of nodes by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

#: So many names stand in a sentence.
NAMES: Final = 3


def names_of(groups: Sequence[NodeGroupRecord]) -> Safe:
    """``node-a``, ``node-a and node-b``, ``node-a, node-b and 4 more nodes``."""
    names = [name for group in groups for name in group.names]
    more = sum(group.count for group in groups) - min(len(names), NAMES)
    if more <= 0:
        return listed(names[:NAMES])
    return fmt("{} and {} more {}", Safe(", ").join(names[:NAMES]), more, Safe(plural("node", more)))
