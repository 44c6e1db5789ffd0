"""All small clusters, by number."""

from __future__ import annotations

from typing import Final

from tests.scheduler.edges import attempt, company, groups, volumes
from tests.scheduler.edges.objects import Edge

EDGES: Final[tuple[Edge, ...]] = (*attempt.EDGES, *volumes.EDGES, *company.EDGES, *groups.EDGES)
