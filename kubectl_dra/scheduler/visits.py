"""In which order an attempt looks at nodes, and how far it comes: the next attempt starts there.

Upstream: findNodesThatFitPod, findNodesThatPassFilters.
"""

from __future__ import annotations

import itertools

from kubectl_dra.scheduler.attempt import Attempt, visiting_order
from kubectl_dra.scheduler.status import Status


def visited(found: Attempt, start: int) -> list[str]:
    """The nodes that were looked at, in their order from ``start``."""
    chosen, nodes = found.selection.nodes, found.cycle.snapshot.nodes
    looked_at = {node.name for node in found.filtered.nodes if chosen is None or node.name in chosen}
    return visiting_order([node for name, node in nodes.items() if name in looked_at], start)


def first_error(found: Attempt, start: int) -> Status:
    """The error that is met first. Raises ``StopIteration`` where there is none."""
    return next(found.errors[name] for name in visited(found, start) if name in found.errors)


def processed(found: Attempt, start: int) -> int:
    """The nodes that have a status or fit when the attempt ends.

    An error ends it, and a nominated node that fits before any other is looked at.
    """
    nominated = found.cycle.pod.status.nominated_node_name
    if nominated in found.feasible:
        return 0
    looked_at = found.filtered.nodes
    if not found.errors:
        return len(looked_at)
    before = set(itertools.takewhile(lambda name: name not in found.errors, visited(found, start)))
    return len(before | ({nominated} & ({node.name for node in looked_at} - found.errors.keys())))
