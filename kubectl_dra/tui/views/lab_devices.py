"""What the selector in the lab says of each device: which match, on which it fails, which fall out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.whatif import WhatIfError
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.devices.parts import STATE_WORDS, state_text
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.output.words import listed
from kubectl_dra.reports.capacity.capacity import CapacityReport, CapacityRequest, capacity_report
from kubectl_dra.reports.selector import expression_question, selector_report
from kubectl_dra.reports.selector.build import device_outcomes
from kubectl_dra.reports.selector.records import DeviceOutcome
from kubectl_dra.reports.selector.scoping import all_devices
from kubectl_dra.reports.simulation.one_claim import ClaimTrial, try_claim
from kubectl_dra.selectors.comparisons import short_clause
from kubectl_dra.selectors.evaluate import Outcome
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.views.device import DeviceView
from kubectl_dra.tui.views.reader import RecordPage, ReportView

_WORDS: Final = {
    Outcome.MATCHES: styled(Safe("matches"), Style.GOOD),
    Outcome.ERROR: styled(Safe("fails"), Style.BAD),
    Outcome.UNDECIDED: styled(Safe("undecided"), Style.WARN),
    Outcome.NO: Safe("no"),
}
_ORDER: Final = list(_WORDS)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """An expression on all devices that it is about, behind a class or alone."""

    expression: str
    device_class: str | None

    def compute(self, cluster: ClusterState) -> tuple[DeviceOutcome, ...]:
        """Those that match first, then those it fails on, then those that fall out."""
        found = device_outcomes(expression_question(self.expression, self.device_class), all_devices(cluster))
        return tuple(sorted(found, key=lambda each: _ORDER.index(each.outcome)))


class Lab(Protocol):
    """What can be done with the selector in the lab, which stays there while its devices are listed."""

    def do_copy_yaml(self) -> None:
        """As a request."""

    def do_copy_command(self) -> None:
        """As a command."""

    def do_would_get(self) -> None:
        """What a claim with it would get."""


class LabDevicesView(ListView[DeviceOutcome]):
    """The list; words of the outcome filter it. The selector can be taken from here as from the lab."""

    crumb = Safe("devices of the selector")
    nothing = Safe("The selector is about no device, or does not compile.")

    def __init__(self, lab: Lab, expression: str, device_class: str | None, filter_: str = "") -> None:
        self.question = Outcomes(expression, device_class)
        super().__init__()
        self.filter = filter_
        self.do_copy_yaml = lab.do_copy_yaml
        self.do_copy_command = lab.do_copy_command
        self.do_would_get = lab.do_would_get

    def columns(self) -> Sequence[Column[DeviceOutcome]]:
        return [
            Column("POOL", lambda r: safe(r.pool), False, 10, 0, lambda r: r.pool, frozen=True, inside=True),
            Column("DEVICE", lambda r: safe(r.device), False, 8, 0, lambda r: r.device, frozen=True),
            Column("SELECTOR", lambda r: _WORDS[r.outcome], key=lambda r: _ORDER.index(r.outcome)),
            Column("STATE", lambda r: state_text(r.state, r.state_bound), False, 9, 1, lambda r: STATE_WORDS[r.state]),
            Column("BECAUSE", _because, least=20, key=lambda r: r.reason),
        ]

    def identity(self, row: DeviceOutcome) -> DeviceId:
        return DeviceId(row.driver, row.pool, row.device)

    def text_of(self, row: DeviceOutcome) -> str:
        return f"{self.identity(row)} {row.outcome} {row.reason}"

    def is_fault(self, row: DeviceOutcome) -> bool:
        return row.outcome in (Outcome.ERROR, Outcome.UNDECIDED)

    def preview_of(self, row: DeviceOutcome) -> ReportView:
        return DeviceView(self.identity(row))

    def opened(self, row: DeviceOutcome) -> None:
        self.dra.push(DeviceView(self.identity(row)))

    @property
    def device(self) -> DeviceId | None:
        return self.identity(self.grid.selected) if self.grid.selected is not None else None

    @property
    def info(self) -> Safe:
        counts = Counter(row.outcome for row in self.all_rows() or ())
        words = [fmt("{} {}", counts[outcome], word) for outcome, word in _WORDS.items() if counts[outcome]]
        return Safe("   ").join([*words, *([super().info] if self.is_filtered else [])])


def _because(row: DeviceOutcome) -> Safe:
    text = safe(short_clause(row.reason))
    return styled(text, Style.BAD) if row.outcome is Outcome.ERROR else text


@dataclass(frozen=True, slots=True)
class Gets:
    """What one claim gets, and how many pods with such a claim fit; ``device_class`` is the one that was tried."""

    device_class: str
    trial: ClaimTrial
    room: CapacityReport | None


@dataclass(frozen=True, slots=True)
class WouldGet:
    """A claim for one device of a class with a selector, tried on the cluster as it is.

    Without a class it is the one of which the selector matches the most devices.
    """

    device_class: str | None
    expression: str
    namespace: str

    def compute(self, cluster: ClusterState) -> Gets | None:
        """As ``simulate`` and ``capacity``; None where there is no such class."""
        name = self.device_class or _best_class(cluster, self.expression)
        if name not in cluster.inventory.classes:
            return None
        trial = try_claim(cluster, name, self.expression, self.namespace)
        try:
            room = capacity_report(
                cluster, CapacityRequest(name, 1, (self.expression,)), self.namespace, (), names=None
            )
        except WhatIfError:
            room = None
        return Gets(name, trial, room if trial.devices else None)


def _best_class(cluster: ClusterState, expression: str) -> str:
    def rank(name: str) -> tuple[int, int, str]:
        totals = selector_report(expression_question(expression, name), devices).totals
        return totals.fails.value, -totals.matches.value, name

    devices = all_devices(cluster)
    return min(cluster.inventory.classes, key=rank, default="")


class WouldGetPage(RecordPage[Gets]):
    """The devices that a claim with the selector would get now, and how many such claims would; or why none would."""

    crumb = Safe("a claim with it")
    gone = Safe("There is no such DeviceClass, and a claim needs one.")

    def page_of(self, record: Gets) -> Sequence[Safe]:
        """The answer, then the page of ``capacity``; the page of ``simulate`` where it would get nothing."""
        address = self.dra.state_now.evidence.address
        if not record.trial.devices or record.room is None:
            return simulation_page(record.trial.simulation, self.dra.now, address=address)
        names = listed([str(device) for device in record.trial.devices])
        text = "A claim of class {} with this selector would get {} now, and its pod would run on {}."
        head = wrapped(styled(fmt(text, record.device_class, names, record.trial.node), Style.BOLD))
        return [*head, Safe("Enter opens the device."), Safe(""), *capacity_page(record.room, address)]

    def can(self, action: str) -> bool:
        """There may be nothing to open."""
        if action == "open":
            gets = self.worker.record(self.question)
            return gets is not None and bool(gets.trial.devices)
        return super().can(action)

    def do_open(self) -> None:
        gets = self.worker.record(self.question)
        if gets is not None and gets.trial.devices:
            self.dra.push(DeviceView(gets.trial.devices[0]))
