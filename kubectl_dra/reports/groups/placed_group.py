"""The group that a pod is placed with: what the pages of the group and of each of its pods tell alike."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from kubectl_dra.cluster import ClusterState, derived_for_each
from kubectl_dra.diagnosis.gangs.groups import diagnose_group
from kubectl_dra.diagnosis.gangs.records import GroupDiagnosis, GroupFinding
from kubectl_dra.diagnosis.pod.diagnose import diagnoser
from kubectl_dra.diagnosis.records import Agreement, Cause, GroupError, GroupShortage, GroupWaits
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.claims.ask import ClaimAsk, ExtendedAsk, extended_asks, pending_asks
from kubectl_dra.reports.pending.nodes import NodeGroupRecord, in_numbers, node_records

GroupT = TypeVar("GroupT", bound=GroupFinding)
_SILENT: Final = {"observed": None, "agreement": Agreement.UNCHECKED}


class PlacedGroup(GroupFinding, frozen=True, kw_only=True):
    """One group; ``asks``, ``extended`` and ``nodes`` are those of the pod that is in the way (``blocking``)."""

    asks: tuple[ClaimAsk, ...]
    extended: tuple[ExtendedAsk, ...]
    nodes: tuple[NodeGroupRecord, ...]


def placed_group(state: ClusterState, causes: tuple[Cause, ...], *, supposed: bool = False) -> PlacedGroup | None:
    """The group that is the first of a pod's ``causes``; None for a pod that something else keeps waiting.

    ``supposed``: the scheduler has said nothing about this cluster.
    """
    detail = causes[0].detail if causes else None
    if not isinstance(detail, GroupShortage | GroupWaits | GroupError):
        return None
    group = _group(state, detail.group.key)
    return without_words(group) if supposed else group


@derived_for_each()
def _group(state: ClusterState, key: Key) -> PlacedGroup:
    return placed_group_of(state, diagnose_group(diagnoser(state), key))


def placed_group_of(state: ClusterState, diagnosis: GroupDiagnosis) -> PlacedGroup:
    """The diagnosis of a group with what its blocking pod asks for."""
    pod = diagnosis.blocking
    return PlacedGroup(
        **{name: getattr(diagnosis, name) for name in GroupFinding.__struct_fields__},
        asks=pending_asks(pod.key, state.inventory) if pod is not None else (),
        extended=extended_asks(pod.key, state) if pod is not None else (),
        nodes=node_records(diagnosis.nodes),
    )


def without_words(group: GroupT) -> GroupT:
    """The same where the scheduler has said nothing."""
    members = tuple(msgspec.structs.replace(each, **_SILENT) for each in group.members)
    return msgspec.structs.replace(group, members=members, **_SILENT)


def in_brief(group: GroupT) -> GroupT:
    """The same with numbers instead of devices in its causes, as the devices stand in ``nodes``."""
    members = tuple(msgspec.structs.replace(each, causes=tuple(map(in_numbers, each.causes))) for each in group.members)
    return msgspec.structs.replace(group, causes=tuple(map(in_numbers, group.causes)), members=members)
