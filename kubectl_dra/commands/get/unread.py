"""What the lists of get are about, and what of that could not be read, given their names and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.get import query as get_query
from kubectl_dra.commands.get.query import (
    CLAIMS,
    CLASSES,
    DEVICES,
    NAMESPACED,
    NODES,
    POD_GROUPS,
    POOLS,
    TAINTS,
    TEMPLATES,
    GetQuery,
    TypeArgs,
)
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.reports import unread as subjects
from kubectl_dra.reports.unread import SLICES, ListGaps, Subject, together, unread

SUBJECTS: Final[Mapping[str, Subject]] = {
    POOLS: subjects.POOLS,
    DEVICES: subjects.DEVICES,
    CLAIMS: subjects.CLAIMS,
    CLASSES: subjects.CLASSES,
    TAINTS: subjects.TAINTS,
    POD_GROUPS: subjects.POD_GROUPS,
    NODES: subjects.NODES,
    get_query.SLICES: subjects.SLICE_OBJECTS,
    TEMPLATES: subjects.TEMPLATES,
}


def unread_of(
    wanted: Sequence[TypeArgs], shown: Sequence[bool], query: GetQuery, facts: ClusterState, namespace: str
) -> ListGaps:
    """What could not be read and may change these lists; ``shown``: which of them have lines."""
    within = namespace if len(wanted) == 1 and wanted[0].type in NAMESPACED else ""
    return together(
        unread(facts, _subject(each, query), within, shown=lines, known=_known(each, facts))
        for each, lines in zip(wanted, shown, strict=True)
    )


def _subject(wanted: TypeArgs, query: GetQuery) -> Subject:
    """What the list is about; filters make kinds decide which lines there are."""
    given = {
        "ResourceClaim": query.used,
        "DeviceTaintRule": query.tainted,
        "DeviceClass": bool(query.class_),
        "Node": bool(query.node),
        "Pod": query.unused,
    }
    return SUBJECTS[wanted.type].selecting(*(kind for kind, selects in given.items() if selects))


def _known(wanted: TypeArgs, facts: ClusterState) -> frozenset[str]:
    """Kinds of which everything that is asked for by name was read; a pool may have more slices than were."""
    objects = SUBJECTS[wanted.type].objects
    if objects == (SLICES,):
        return frozenset({SLICES} if facts.evidence.coverage(SLICES) is Coverage.FILTERED else ())
    return frozenset(objects if wanted.names else ())
