"""Causes of several nodes that are about the same thing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import msgspec

from kubectl_dra.diagnosis import records
from kubectl_dra.model.names import HOSTNAME


def merged(causes: Iterable[records.Cause]) -> list[records.Cause]:
    """Causes about the same thing become one, with the evidence of the first and the nodes of all."""
    found: dict[Hashable, records.Cause] = {}
    for cause in causes:
        key = _subject(cause)
        known = found.get(key)
        if known is None:
            found[key] = cause
        else:
            nodes = tuple(dict.fromkeys((*known.nodes, *cause.nodes)))
            found[key] = msgspec.structs.replace(known, nodes=nodes)
    return list(found.values())


def _subject(cause: records.Cause) -> Hashable:
    detail = cause.detail
    match detail:
        case records.NodeTaint() | records.ExtendedResource() | records.PluginText():
            return cause.code, detail
        case records.Company():
            return cause.code, detail.topology_key, detail.selector
        case records.NodeShortage():
            return cause.code, detail.resource, bool(detail.allocatable)
        case records.VolumeTrouble():
            return cause.code, detail.reason, detail.claim, detail.entry, detail.volume, detail.about, detail.wanted
        case records.Spread():
            domain = detail.value if detail.topology_key != HOSTNAME else bool(detail.value)
            return cause.code, detail.topology_key, detail.selector, domain
    return cause.code, cause.claim, cause.request
