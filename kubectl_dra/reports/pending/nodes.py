"""Nodes with the same outcome, as the reports of pods and groups have them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from kubectl_dra.diagnosis import records
from kubectl_dra.reports.base import Fits, ReportRecord

NAMES_SHOWN = 20
_FITS: Final = {True: Fits.YES, False: Fits.NO, None: Fits.UNKNOWN}


class NodeGroupRecord(ReportRecord, frozen=True):
    """Nodes with the same outcome: at most 20 ``names`` unless all were asked for, ``more`` says how many are left out.

    ``message`` is the reason as the scheduler counts it; several reasons of one plugin are joined with ``, ``.
    ``devices_fit``: whether nodes that another plugin rejects would have the devices, Unknown where that was not tried.
    ``no_devices``: these have no device of any class that is requested.
    """

    count: int
    names: tuple[str, ...]
    more: int
    outcome: str
    plugin: str
    message: str
    claims: tuple[records.ObjectRef, ...]
    causes: tuple[records.Cause, ...]
    requests: tuple[records.RequestReport, ...]
    not_checked: tuple[str, ...]
    devices_fit: Fits
    no_devices: bool = False


def node_records(groups: Iterable[records.NodeGroup]) -> tuple[NodeGroupRecord, ...]:
    """Groups of nodes, of each the first 20 names."""
    return tuple(node_group(group, NAMES_SHOWN, "") for group in groups)


def node_group(group: records.NodeGroup, limit: int | None, only: str) -> NodeGroupRecord:
    """A group with at most ``limit`` names of nodes; ``only``: as if it had this node alone."""
    nodes = (only,) if only else group.nodes
    names = nodes if limit is None else nodes[:limit]
    return NodeGroupRecord(
        count=len(nodes),
        names=names,
        more=len(nodes) - len(names),
        outcome=group.outcome,
        plugin=group.plugin,
        message=", ".join(group.messages),
        claims=group.claims,
        causes=tuple(map(_brief, group.causes)),
        requests=group.requests,
        not_checked=group.not_checked,
        devices_fit=_FITS[group.devices_fit],
        no_devices=group.no_devices,
    )


def without_values(group: NodeGroupRecord) -> NodeGroupRecord:
    """The values that a constraint is about are those of the nearest nodes."""
    requests = tuple(
        msgspec.structs.replace(each, funnel=msgspec.structs.replace(each.funnel, values=()))
        if each.funnel is not None and each.funnel.values
        else each
        for each in group.requests
    )
    return msgspec.structs.replace(group, requests=requests)


def brief_offer(cause: records.Cause) -> records.Cause:
    """What a class has elsewhere matters where it is the main reason."""
    return msgspec.structs.replace(cause, detail=None) if isinstance(cause.detail, records.ClassOffer) else cause


def in_numbers(cause: records.Cause) -> records.Cause:
    """A cause with numbers of devices instead of the devices, which stand in ``requests``."""
    found = cause.detail
    match found:
        case records.Funnel():
            return msgspec.structs.replace(cause, detail=records.Nearest.of(found))
        case records.GroupShortage() | records.GroupWaits() | records.GroupError():
            because = tuple(map(in_numbers, found.because))
            return msgspec.structs.replace(cause, detail=msgspec.structs.replace(found, because=because))
    return cause


def _brief(cause: records.Cause) -> records.Cause:
    """A cause of a group without what stands in ``requests``, ``names`` or the pod's own causes already."""
    told = isinstance(cause.detail, records.Funnel | records.ClassOffer | records.Unpublished)
    return msgspec.structs.replace(cause, detail=None, nodes=()) if told else cause
