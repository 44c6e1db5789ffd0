"""One list of everything that has a name: what ``/`` looks through where there is nothing to filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.report_worker import Query
from kubectl_dra.tui.views.found_states import FoundStates

#: What tells objects apart that have pages.
Named = Key | PoolId | DeviceId | Code | str


@dataclass(frozen=True, slots=True)
class Found:
    """One object; ``name`` with its namespace, driver and pool."""

    type: str
    name: str
    of: Named


class SearchView(ListView[Found]):
    """Pods, claims, pools and devices; enter opens what is under the cursor."""

    nothing = Safe("Nothing was read that has a name.")

    def __init__(self, pods: Sequence[Key] = (), crumb: Safe = Safe("search")) -> None:  # noqa: B008 - immutable
        """``pods``: only these, to choose one of."""
        super().__init__()
        self.crumb = crumb
        self._pods = [Found("pod", str(key), key) for key in pods]
        self._made: tuple[ClusterState | None, str, object, Sequence[Found]] = (None, "", None, ())

    @cached_property
    def states(self) -> FoundStates:
        return FoundStates(self.dra, self.worker)

    def queries(self) -> Sequence[Query[object]]:
        return () if self._pods else self.states.queries

    def columns(self) -> Sequence[Column[Found]]:
        return [
            Column("TYPE", lambda row: safe(row.type), key=lambda row: row.type),
            Column("NAME", lambda row: safe(row.name), least=40, key=lambda row: row.name, inside=True),
            Column("STATE", self._state, least=12, drop=1),
        ]

    def all_rows(self) -> Sequence[Found] | None:
        """Everything in the namespaces in view, of one reading."""
        cluster, namespace = self.dra.cluster, self.dra.namespace
        if cluster is None:
            return None
        if self._pods:
            return self._pods
        # Other states make other rows, so that they are drawn.
        wanted = cluster, namespace, self.states.refresh()
        if self._made[:3] != wanted:
            self._made = (*wanted, list(named_objects(cluster, namespace)))
        return self._made[3]

    def _state(self, row: Found) -> Safe:
        match row.type, row.of:
            case "pod", Key() as key:
                return self.states.of_pod(key)
            case "claim", Key() as key:
                return self.states.of_claim(key)
            case "pool", PoolId() as pool:
                return self.states.of_pool(pool)
            case "device", DeviceId() as device:
                return self.states.of_device(device)
        return Safe("")

    def identity(self, row: Found) -> tuple[str, str]:
        return row.type, row.name

    def texts_of(self, rows: Sequence[Found]) -> list[str]:
        """Without the states: these may be those of 80,000 devices."""
        return [f"{row.type} {row.name}".casefold() for row in rows]

    def named_by(self, row: Found) -> str:
        return row.name

    describes_row = True

    def do_describe(self) -> None:
        self.do_open()

    def opened(self, row: Found) -> None:
        self.dra.open_named(row.of, row.type)


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
