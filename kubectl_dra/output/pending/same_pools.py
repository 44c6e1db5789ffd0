"""Lines about pools of one name that several nodes publish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import first_of
from kubectl_dra.reports.pending.same_pools import SamePool

_NAMES: Final = 3


def same_pool_lines(pools: Iterable[SamePool]) -> Iterator[Safe]:
    """Who publishes the pool, what follows from that, and who can fix it."""
    for found in pools:
        text = (
            "{} publish a pool of the same name, {}, with devices of the same names ({}): what is in use on one of "
            "these nodes counts as in use on all of them. The driver has to give each node's pool a name of its own."
        )
        yield from wrapped(fmt(text, first_of(found.nodes, _NAMES), found.pool, first_of(found.devices, _NAMES)))
