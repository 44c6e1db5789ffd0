"""Decides whether claims fit on nodes exactly as the scheduler's structured allocator does.

``Cluster.of`` prepares one scheduling attempt, ``ClaimSearch.on`` answers for one node, ``Answers`` for many nodes.
Nothing here knows pods, and nothing here words a sentence: errors are typed records.
"""

from __future__ import annotations

from kubectl_dra.allocation.outcome import Allocated, Budget, Fatal, Outcome, TimeLimit, Undecided, Unsatisfiable
from kubectl_dra.allocation.search.alike import Answers
from kubectl_dra.allocation.search.allocator import ClaimSearch, Cluster
