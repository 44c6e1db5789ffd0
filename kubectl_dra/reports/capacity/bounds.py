"""What counts of copies and devices are worth where something that decides could not be read."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from kubectl_dra.api.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from kubectl_dra.diagnosis.capacity.records import Capacity, Devices, NodeRoom
from kubectl_dra.diagnosis.records import Bound


def with_bounds(found: Capacity, unread: Collection[str]) -> Capacity:
    """The same with bounds, of each node as well; ``unread``: kinds that decide and were not all read."""
    nodes = tuple(_room(room, unread) for room in found.nodes)
    return msgspec.structs.replace(found, devices=_devices(found.devices, unread), nodes=nodes)


def _room(room: NodeRoom, unread: Collection[str]) -> NodeRoom:
    return msgspec.structs.replace(room, bound=_copies(room), devices=_devices(room.devices, unread))


def _copies(room: NodeRoom) -> Bound:
    """By what was not read fewer fit; unknown where none was counted and nothing is known that keeps one off."""
    return Bound.AT_MOST if room.copies or room.causes else Bound.UNKNOWN


def _devices(found: Devices, unread: Collection[str]) -> Devices:
    """Slices may publish more devices that match, claims hold more of them, and then nobody knows what is left."""
    slices = RESOURCE_SLICE.name in unread
    held = slices or (RESOURCE_CLAIM.name in unread and found.matching)
    return msgspec.structs.replace(
        found,
        matching_bound=Bound.AT_LEAST if slices else Bound.EXACT,
        in_use_bound=Bound.AT_LEAST if held else Bound.EXACT,
        others_bound=Bound.UNKNOWN if slices or found.matching else Bound.EXACT,
    )
