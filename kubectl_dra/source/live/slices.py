"""ResourceSlices by their fields, as far as the server can select by them.

``spec.nodeName`` and ``spec.driver`` are served wherever slices have a spec, ``spec.pool.name`` since 1.37; nothing but
the answer 400 tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from kubectl_dra.api.kinds import RESOURCE_SLICE
from kubectl_dra.model.evidence import DRIVER_FIELD, NODE_FIELD, POOL_FIELD, Coverage, Fields, Read, pool_fields
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim, ResourceSlice
from kubectl_dra.source.live.errors import ApiError
from kubectl_dra.source.live.listing import Listed, take_list
from kubectl_dra.source.live.session import Session

BAD_REQUEST: Final = 400
# For more than that one list of everything is cheaper.
_MAX_LISTS: Final = 8
_EVERYTHING: Final[frozenset[Fields]] = frozenset({frozenset()})


def list_slices(session: Session, api_version: str, selections: frozenset[Fields]) -> list[Listed]:
    """The slices that match one of ``selections``; more where the server can't select so. Raises ``ClusterError``.

    Without a selector for pools, only selections that also name a driver are read, if there are any: what else the
    others mean, pools with slashes in their names, is not worth reading everything.
    """
    without_pools = {without_pool(fields) for fields in selections} - _EVERYTHING
    for attempt in (selections, without_pools):
        if attempt and len(attempt) <= _MAX_LISTS:
            try:
                return [_take(session, api_version, fields) for fields in sorted(attempt, key=sorted)]
            except ApiError as error:
                if error.code != BAD_REQUEST:
                    raise
    return [_take(session, api_version, frozenset())]


def list_slices_for_node(session: Session, api_version: str, node: str) -> list[Listed]:
    """All slices of every pool of which the node can use something. Raises ``ClusterError``.

    Slices of the node, and those of no node, name the pools; whether a pool can be used depends on all of its slices.
    """
    places = frozenset({frozenset({(NODE_FIELD, node)}), frozenset({(NODE_FIELD, "")})})
    found = list_slices(session, api_version, places)
    if any(listed.bad_objects for listed in found):
        # Nobody knows the pool of a slice that can't be read.
        return [_take(session, api_version, frozenset())]
    pools = frozenset(
        pool_fields(slice_.spec.pool_id)
        for listed in found
        for slice_ in listed.sink.kept
        if isinstance(slice_, ResourceSlice)
    )
    whole = not all(listed.read.fields for listed in found)
    return found if whole or not pools else list_slices(session, api_version, pools)


def pools_of(claims: Iterable[object], asked: frozenset[Key]) -> frozenset[Fields]:
    """The selections for the pools that the claims ``asked`` for hold devices of."""
    return frozenset(
        pool_fields(PoolId(result.driver, result.pool))
        for claim in claims
        if isinstance(claim, ResourceClaim) and key_of(claim.metadata) in asked and claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    )


def selections_to_follow(selections: frozenset[Fields]) -> tuple[Fields, ...]:
    """What to watch for ``selections``: each of them, or everything."""
    return tuple(sorted(selections, key=sorted)) if 0 < len(selections) <= _MAX_LISTS else (frozenset(),)


def slice_fields(slice_: ResourceSlice) -> Fields:
    """What selections can be about."""
    spec = slice_.spec
    return frozenset({(DRIVER_FIELD, spec.driver), (POOL_FIELD, spec.pool.name), (NODE_FIELD, spec.node_name or "")})


def field_selector(fields: Fields) -> str:
    return ",".join(f"{path}={_escaped(value)}" for path, value in sorted(fields))


def without_pool(fields: Fields) -> Fields:
    """What is left for servers that can't select by pool."""
    return frozenset(pair for pair in fields if pair[0] != POOL_FIELD)


def _take(session: Session, api_version: str, fields: Fields) -> Listed:
    listed = take_list(session, RESOURCE_SLICE, api_version, field_selector=field_selector(fields))
    return replace(listed, read=_limited(listed.read, fields))


def _limited(read: Read, fields: Fields) -> Read:
    filtered = bool(fields) and read.coverage is Coverage.COMPLETE
    return replace(read, fields=fields, coverage=Coverage.FILTERED if filtered else read.coverage)


def _escaped(value: str) -> str:
    """As fields.EscapeValue upstream."""
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
