"""The cluster at one time, and what follows from it: computed once, kept while its parts are unchanged.

``ClusterState`` carries the Inventory, the Evidence, the features and the clock. Every layer above adds facts of its
own with ``derived``; nothing here knows pods' verdicts, words or where bytes come from.
"""

from __future__ import annotations

from kubectl_dra.cluster.derived import derived, derived_for_each
from kubectl_dra.cluster.state import ClusterState

__all__ = ["ClusterState", "derived", "derived_for_each"]
