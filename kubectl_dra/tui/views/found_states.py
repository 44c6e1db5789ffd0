"""Beside the names that a search finds: how each of them stands, in the words of the lists that they are in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.output.devices.lists import DEVICES, short_users
from kubectl_dra.output.devices.pool_columns import pool_state_cell
from kubectl_dra.output.pending.headline import pending_cause
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.claims.claim_list import ClaimRow
from kubectl_dra.reports.devices.pool import PoolSummary
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.tui.queries import ALL_POOLS, Claims, DeviceRow, DevicesQuery, PodQuery
from kubectl_dra.tui.views.claims import state_word, users_word

if TYPE_CHECKING:
    from kubectl_dra.tui.host import Host
    from kubectl_dra.tui.report_worker import Query, ReportWorker

_DEVICES: Final = DevicesQuery()
_STATE: Final = next(column for column in DEVICES if column.title == "STATE")
_NOT_YET: Final = Safe("")


class FoundStates:
    """The states of one reading; what the worker has not made yet is empty."""

    def __init__(self, dra: Host, worker: ReportWorker) -> None:
        self._dra, self._worker = dra, worker
        self._made: tuple[object, ...] = ()
        self._devices: Mapping[DeviceId, DeviceRow] = {}
        self._claims: Mapping[Key, ClaimRow] = {}
        self._pools: Mapping[PoolId, PoolSummary] = {}
        self._causes: dict[Key, tuple[PendingReport, Safe]] = {}

    @property
    def queries(self) -> tuple[Query[object], ...]:
        return (_DEVICES, Claims(), ALL_POOLS)

    def refresh(self) -> tuple[object, ...]:
        """Take what the worker has made meanwhile; compares equal as long as that is the same."""
        devices, claims, pools = made = (
            self._worker.record(_DEVICES),
            self._worker.record(Claims()),
            self._worker.record(ALL_POOLS),
        )
        # What they are of is kept, so that no other record gets the same number.
        if not self._made or any(new is not old for new, old in zip(made, self._made, strict=True)):
            self._made = made
            self._devices = {row.id: row for row in devices or ()}
            self._claims = {Key(row.namespace, row.name): row for row in claims or ()}
            self._pools = {PoolId(row.driver, row.pool): row for row in pools or ()}
        return tuple(map(id, made))

    def of_device(self, id_: DeviceId) -> Safe:
        row, answer = self._devices.get(id_), self._worker.answer(_DEVICES)
        if row is None or answer is None:
            return _NOT_YET
        listed = row.listed(answer.cluster)
        state = _STATE.cell(listed, self._dra.now)
        return fmt("{} by {}", state, short_users(listed.device)) if listed.device.holders else state

    def of_claim(self, key: Key) -> Safe:
        row = self._claims.get(key)
        if row is None:
            return _NOT_YET
        return fmt("{} by {}", state_word(row), users_word(row)) if row.reserved_for else state_word(row)

    def of_pool(self, id_: PoolId) -> Safe:
        row = self._pools.get(id_)
        return pool_state_cell(row) if row is not None else _NOT_YET

    def of_pod(self, key: Key) -> Safe:
        """Why it is pending, or its phase and node."""
        report = self._worker.record(PodQuery(key))
        if report is not None and key in self._dra.pending_keys():
            known = self._causes.get(key)
            if known is None or known[0] is not report:
                known = self._causes[key] = report, fmt("pending: {}", pending_cause(report))
            return known[1]
        pod = self._dra.state_now.inventory.pods.get(key)
        if pod is None:
            return _NOT_YET
        on = fmt(" on {}", pod.spec.node_name) if pod.spec.node_name else Safe("")
        return safe(pod.status.phase.lower()) + on
