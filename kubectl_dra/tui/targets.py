"""What a taint can be planned for besides single devices: all devices of a pool, all devices of a node."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.reports.scope import ScopeKind, device_scope

_NODE = "node/"
_ALL = "/*"


def devices_named(word: str, cluster: ClusterState) -> Sequence[str]:
    """``DRIVER/POOL/*`` or ``node/NAME`` as the names of their devices; any other word is what it is.

    Devices of a node are those that no other node has: what a rack shares is not tainted for one node's sake.
    """
    if word.startswith(_NODE) and word.count("/") == 1:
        return _of_node(word.removeprefix(_NODE), cluster) or [word]
    if word.endswith(_ALL):
        driver, _, pool = word.removesuffix(_ALL).partition("/")
        return [str(DeviceId(driver, pool, d.name)) for _, d in cluster.published(PoolId(driver, pool))] or [word]
    return [word]


def _of_node(node: str, cluster: ClusterState) -> list[str]:
    found = []
    for pool in cluster.pools:
        for slice_, device in cluster.published(pool):
            scope = device_scope(device, slice_, cluster)
            if scope.kind is ScopeKind.NODE and scope.node == node:
                found.append(str(DeviceId(*pool, device.name)))
    return found
