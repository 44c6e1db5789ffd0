"""One list of everything that has a name: what ``/`` looks through where there is nothing to filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView


@dataclass(frozen=True, slots=True)
class Found:
    """One object; ``name`` with its namespace, driver and pool."""

    type: str
    name: str
    of: Key | PoolId | DeviceId | Code | str


class SearchView(ListView[Found]):
    """Pods, claims, pools and devices; enter opens what is under the cursor."""

    nothing = Safe("Nothing was read that has a name.")

    def __init__(self, pods: Sequence[Key] = (), crumb: Safe = Safe("search")) -> None:  # noqa: B008 - immutable
        """``pods``: only these, to choose one of."""
        super().__init__()
        self.crumb = crumb
        self._pods = [Found("pod", str(key), key) for key in pods]
        self._made: tuple[ClusterState | None, str, Sequence[Found]] = (None, "", ())

    def columns(self) -> Sequence[Column[Found]]:
        return [
            Column("TYPE", lambda row: safe(row.type), key=lambda row: row.type),
            Column("NAME", lambda row: safe(row.name), least=24, key=lambda row: row.name),
        ]

    def all_rows(self) -> Sequence[Found] | None:
        """Everything in the namespaces in view, of one reading."""
        cluster, namespace = self.dra.cluster, self.dra.namespace
        if cluster is None:
            return None
        if self._pods:
            return self._pods
        if self._made[:2] != (cluster, namespace):
            self._made = cluster, namespace, list(named_objects(cluster, namespace))
        return self._made[2]

    def identity(self, row: Found) -> tuple[str, str]:
        return row.type, row.name

    def text_of(self, row: Found) -> str:
        return f"{row.type} {row.name}"

    def named_by(self, row: Found) -> str:
        return row.name

    def opened(self, row: Found) -> None:
        self.dra.open_named(row)


def named_objects(cluster: ClusterState, namespace: str) -> Iterator[Found]:
    """Everything that has a name: pods, claims, pools, nodes, devices, reasons."""
    inventory = cluster.inventory
    for type_, keys in (("pod", inventory.pods), ("claim", inventory.claims)):
        yield from (Found(type_, str(key), key) for key in sorted(keys) if namespace in ("", key.namespace))
    for pool in cluster.pools:
        yield Found("pool", str(pool), pool)
    yield from (Found("node", name, name) for name in sorted(inventory.nodes))
    for pool in cluster.pools:
        for _, device in cluster.published(pool):
            id_ = DeviceId(*pool, device.name)
            yield Found("device", str(id_), id_)
    yield from (Found("reason", f"{code.value} {title(code)}", code) for code in Code)
