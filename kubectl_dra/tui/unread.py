"""What lists, badges and the header say where something could not be read."""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.reports.unread import CLAIMS, PENDING_PODS, POOLS, TAINTS, ListGaps, Subject

#: Lists that tabs count, by the tab's action.
COUNTED: Final[dict[str, Subject]] = {
    "pools": POOLS,
    "claims": CLAIMS,
    "taints": TAINTS,
    "pending": PENDING_PODS,
}
_DECISIVE: Final = tuple(need.kind for need in needs.POD if need.decides)


def unknown_kinds(cluster: ClusterState | None) -> Safe:
    """Kinds that decide and could not be read completely: numbers carry ``≥ ≤ ?`` because of them."""
    missing = cluster.evidence.missing(_DECISIVE) if cluster is not None else ()
    return styled(fmt("unknown: {}", Safe(", ").join(missing)), Style.WARN) if missing else Safe("")


def empty_words(found: ListGaps, words: Safe) -> Safe:
    """What an empty list says: ``words``, unless something that makes its lines could not be read."""
    if not found.hides_lines:
        return words
    kinds = Safe(", ").join(dict.fromkeys(each.kind for each in found.missing))
    return styled(fmt("not known: {} could not be read; ! says who can permit it", kinds), Style.WARN)
