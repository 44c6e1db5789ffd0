"""The marked devices beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.devices.compare import comparison_page
from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.queries import DevicesQuery
from kubectl_dra.tui.views.reader import ReportView


class CompareView(ReportView):
    """What differs between them, kept up to date."""

    crumb = Safe("compared")
    gone = Safe("None of these devices is published any more.")

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__()
        self._question = DevicesQuery(among=frozenset(devices))

    def queries(self) -> Sequence[DevicesQuery]:
        return (self._question,)

    def lines(self) -> Sequence[Safe] | None:
        found = self.worker.answer(self._question)
        if found is None:
            return None
        listed = [row.listed(found.cluster) for row in found.record]
        return comparison_page(listed) if listed else [self.gone]
