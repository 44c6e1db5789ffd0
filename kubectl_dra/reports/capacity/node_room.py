"""What a node is to one more copy of a shape, in one word: it fits, or what keeps it away."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from kubectl_dra.diagnosis.capacity.records import NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.reports.capacity.capacity import CapacityReport


class RoomKind(StrEnum):
    """The roomiest first; the order of legends."""

    FITS = "fits"
    IN_USE = "in use"
    USED_UP = "used up"
    CONSTRAINT = "constraint"
    NO_DEVICES = "no devices"
    TAINT = "taint"
    CORDONED = "cordoned"
    RESOURCES = "resources"
    SELECTION = "selection"
    OTHER_PODS = "other pods"
    VOLUMES = "volumes"
    OTHER = "other"
    UNKNOWN = "unknown"


_CODES: Final = {
    RoomKind.IN_USE: (Code.DEVICES_IN_USE, Code.ALL_MODE_BLOCKED),
    RoomKind.USED_UP: (Code.CAPACITY_TOO_SMALL, Code.COUNTERS_EXHAUSTED),
    RoomKind.CONSTRAINT: (Code.CONSTRAINT, Code.REQUESTS_COMPETE),
    RoomKind.NO_DEVICES: (
        Code.TOO_FEW_DEVICES,
        Code.NO_DEVICE_IN_CLASS,
        Code.SELECTOR_MATCHES_NOTHING,
        Code.CLASS_SELECTS_NOTHING,
        Code.ATTRIBUTE_UNPUBLISHED,
        Code.CAPACITY_UNOBTAINABLE,
        Code.DEVICES_FOR_OTHER_NODES,
    ),
    RoomKind.TAINT: (Code.DEVICES_TAINTED, Code.NODE_TAINTS),
    RoomKind.CORDONED: (Code.NODE_UNSCHEDULABLE,),
    RoomKind.RESOURCES: (Code.NODE_RESOURCES,),
    RoomKind.SELECTION: (Code.NODE_AFFINITY, Code.NODE_NAME),
    RoomKind.OTHER_PODS: (Code.KEPT_AWAY, Code.SPREAD, Code.NO_COMPANY, Code.UNWANTED_COMPANY, Code.NODE_PORTS),
    RoomKind.VOLUMES: (
        Code.VOLUMES,
        Code.VOLUME_CLAIM,
        Code.VOLUME_ELSEWHERE,
        Code.NO_VOLUME,
        Code.VOLUME_IN_USE,
        Code.VOLUME_LIMIT,
        Code.VOLUME_DRIVER_MISSING,
    ),
    RoomKind.UNKNOWN: (Code.EVIDENCE_MISSING, Code.NOT_SIMULATED),
}
_KINDS: Final = {code: kind for kind, codes in _CODES.items() for code in codes}
# Devices that could not be read may be the free ones.
_OF_DEVICES: Final = frozenset({RoomKind.IN_USE, RoomKind.USED_UP, RoomKind.CONSTRAINT, RoomKind.NO_DEVICES})


def room_kinds(report: CapacityReport) -> Iterator[tuple[RoomKind, NodeRoom]]:
    """Alike nodes of the first shape with their kind, in the report's order: the first cause decides, as on the page.

    Unknown where no number could be given, or where devices that were not read may be the ones that are lacking.
    """
    if not report.shapes:
        return
    found = report.shapes[0].capacity
    few = {report.certainty.devices, report.certainty.free_devices} & {Bound.AT_LEAST, Bound.UNKNOWN}
    for room in found.nodes:
        kind = RoomKind.UNKNOWN if found.copies.bound is Bound.UNKNOWN else _kind(room)
        yield (RoomKind.UNKNOWN if few and kind in _OF_DEVICES else kind), room


def _kind(room: NodeRoom) -> RoomKind:
    if room.copies:
        return RoomKind.FITS
    return _KINDS.get(room.causes[0].code, RoomKind.OTHER) if room.causes else RoomKind.UNKNOWN
