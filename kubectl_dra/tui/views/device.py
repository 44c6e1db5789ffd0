"""One device: attributes, capacity, counters, taints, who uses it."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.devices.device_page import device_page
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.reports.devices.pool import PoolReport
from kubectl_dra.tui.documents import device_document
from kubectl_dra.tui.queries import Pool
from kubectl_dra.tui.views.reader import RecordPage


class DeviceView(RecordPage[PoolReport]):
    extras = frozenset({"taint"})
    document = device_document

    def __init__(self, device: DeviceId) -> None:
        # What excludes it stands in the report of its pool.
        super().__init__(Pool(device.pool_id))
        self.named = self._device = device
        self.crumb = safe(device.device)

    def page_of(self, record: PoolReport) -> Sequence[Safe]:
        found = next((each for each in record.devices if each.name == self._device.device), None)
        return [self.gone] if found is None else device_page(found, record, self.dra.now)

    @property
    def device(self) -> DeviceId:
        return self._device

    def do_used_by(self) -> None:
        report = self.worker.record(self.question)
        devices = report.devices if report is not None else ()
        holders = [holder for each in devices if each.name == self._device.device for holder in each.holders]
        self.dra.open_holders([Key(holder.namespace, holder.claim) for holder in holders])

    def do_pool_of(self) -> None:
        self.dra.open_pool(self._device.pool_id)

    def do_node(self) -> None:
        report = self.worker.record(self.question)
        devices = report.devices if report is not None else ()
        record = next((each for each in devices if each.name == self._device.device), None)
        scope = (record.scope if record is not None else None) or (report.scope if report is not None else None)
        if scope is not None and scope.node:
            self.dra.open_node(scope.node)
        else:
            self.dra.say(Safe("this device is not tied to one node"))
