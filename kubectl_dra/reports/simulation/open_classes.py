"""DeviceClasses that could not be read, and what is sure all the same."""

from __future__ import annotations

from kubectl_dra.reports.base import ReportRecord


class AtMost(ReportRecord, frozen=True):
    """No more than so many ``copies`` fit, whatever the classes select.

    Only so many ``devices`` are free and match the selectors of ``request``, if ``selected``; each copy takes ``each``.
    """

    copies: int
    devices: int
    each: int
    request: str
    selected: bool


class OpenClasses(ReportRecord, frozen=True):
    """The classes that claims of a pod name; ``at_most`` where less than what was wanted fits."""

    names: tuple[str, ...] = ()
    at_most: AtMost | None = None

    def too_few(self, wanted: int | None) -> bool:
        return self.at_most is not None and self.at_most.copies < (1 if wanted is None else wanted)
