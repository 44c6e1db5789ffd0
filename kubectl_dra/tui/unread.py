"""What lists, badges and the header say where something could not be read."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.kinds import BY_NAME, RESOURCE_GROUP
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.output.api_there import NONE, SHORT
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


def absent_api(cluster: ClusterState | None) -> Safe:
    """That the cluster has no devices because it does not serve their API."""
    return styled(SHORT, Style.WARN) if cluster is not None and cluster.evidence.lacks_api else Safe("")


def none_there(cluster: ClusterState | None, subject: Subject | None, found: ListGaps, words: Safe) -> Safe:
    """What an empty list about ``subject`` says: of a cluster without the API why it is empty, else ``empty_words``."""
    of_api = subject is not None and any(BY_NAME[kind].group == RESOURCE_GROUP for kind in subject.objects)
    return styled(NONE, Style.WARN) if of_api and absent_api(cluster) else empty_words(found, words)


def empty_words(found: ListGaps, words: Safe) -> Safe:
    """What an empty list says: ``words``, unless something that makes its lines could not be read."""
    if not found.hides_lines:
        return words
    kinds = Safe(", ").join(dict.fromkeys(each.kind for each in found.missing))
    refused = any(each.coverage == Coverage.FORBIDDEN for each in found.missing)
    says = Safe("who can permit it" if refused else "why")
    return styled(fmt("not known: {} could not be read; ! says {}", kinds, says), Style.WARN)
