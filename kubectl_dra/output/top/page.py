"""The table of who holds most, and the claims that hold devices for nobody with the command that frees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.columns import ListColumn, list_table
from kubectl_dra.output.devices.parts import number
from kubectl_dra.output.devices.state_columns import DEVICES, TITLES
from kubectl_dra.output.devices.twins import counted_twice_lines
from kubectl_dra.output.devices.unpublished import vanished_text
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.remedies import recorded_lines
from kubectl_dra.output.safe import Safe, Style, command, command_line, fmt, safe, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import age, counted, listed
from kubectl_dra.reports.base import Count
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading
from kubectl_dra.reports.top import SHARED, By, TopReport, TopRow

_TITLES: Final = {By.NODES: "NODE", By.CLASSES: "CLASS", By.NAMESPACES: "NAMESPACE", By.PODS: "POD"}
_COMMANDS: Final = 5
_PARTLY: Final = TITLES[DeviceState.PARTLY]
_RELEASED: Final = Safe(
    "kube-controller-manager ends reservations of pods that have ended within minutes: where it does not, see its log."
)
_UNKNOWN: Final = Safe("Who holds devices here is unknown.")


def top_page(report: TopReport, now: datetime, address: Address, scope: str = "") -> list[Safe]:
    """All lines; ``scope`` is the namespace that was counted, or empty for all."""
    lines: list[Safe] = []
    if report.rows:
        lines += list_table(_columns_of(report), report.rows, now)
    else:
        lines += _none(report.by, scope, address) if report.answered else [_UNKNOWN]
    if report.vanished:
        lines += [Safe(""), *wrapped(vanished_text(report.vanished))]
    if report.machines:
        lines += [Safe(""), *counted_twice_lines(report.machines, address)]
    if report.idle:
        lines += [Safe(""), *_idle(report, now, address)]
    return around(lines, report.missing, address)


def _none(by: By, scope: str, address: Address) -> Iterator[Safe]:
    """That there is no row, and where to look for more."""
    if not scope:
        yield Safe("No claim holds a device.")
        return
    yield fmt("No claim in namespace {} holds a device.", scope)
    everywhere = command(reading(dra("top", by, "-A"), address))
    if everywhere is not None:
        yield Safe("In all namespaces: ") + everywhere


def top_summary(report: TopReport, scope: str = "") -> Safe:
    """Who holds most, and how much is idle."""
    idle = sum(len(each.devices) for each in report.idle)
    wasted = fmt("; {} held for nobody", counted(idle, "device")) if idle else Safe("")
    if not report.answered:
        return _UNKNOWN
    if not report.rows:
        where = fmt(" in namespace {}", scope) if scope else Safe("")
        return fmt("No claim{} holds a device{}.", where, wasted)
    first = report.rows[0]
    return fmt("{} holds most: {} used{}.", _name(first), first.used.value, wasted)


def top_columns(by: By, *, whole: bool = True) -> list[ListColumn[TopRow]]:
    """What is said of each who holds devices; ``whole``: how many there are is known of some."""
    named: ListColumn[TopRow] = ListColumn(_TITLES[by], lambda row, _: _name(row), lambda row: row.name)
    space: ListColumn[TopRow] = ListColumn("NAMESPACE", lambda row, _: safe(row.namespace), lambda row: row.namespace)
    return [
        *([space] if by is By.PODS else []),
        named,
        *(_of_whole() if whole else []),
        _amount(TITLES[DeviceState.IN_USE], lambda row: row.used),
        *([_amount("IDLE", lambda row: row.idle)] if by is not By.PODS else []),
    ]


def _of_whole() -> list[ListColumn[TopRow]]:
    return [
        _amount(DEVICES, lambda row: row.devices),
        _amount(TITLES[DeviceState.FREE], lambda row: row.free),
        _amount(_PARTLY, lambda row: row.partly),
    ]


def _columns_of(report: TopReport) -> list[ListColumn[TopRow]]:
    """Those that say something of any row."""
    whole = any(row.devices is not None for row in report.rows)
    columns = top_columns(report.by, whole=whole)
    partly = any(row.partly is not None and row.partly.value for row in report.rows)
    return [column for column in columns if partly or column.title != _PARTLY]


def _amount(title: str, count: Callable[[TopRow], Count | None]) -> ListColumn[TopRow]:
    def cell(row: TopRow, _: datetime) -> Safe:
        found = count(row)
        return number(found) if found is not None else Safe("-")

    return ListColumn(title, cell, lambda row: (count(row) or Count(0)).value, right=True)


def _name(row: TopRow) -> Safe:
    return Safe("(several nodes)") if row.name == SHARED else safe(row.name)


def _idle(report: TopReport, now: datetime, address: Address) -> Iterator[Safe]:
    """A claim without consumers keeps its devices until somebody deletes it."""
    devices = sum(len(each.devices) for each in report.idle)
    claims = counted(len(report.idle), "claim")
    head = fmt("{} held for nobody, by {} that no pod uses:", counted(devices, "device"), claims)
    yield styled(head, Style.BOLD)
    for each in report.idle:
        ended = Safe(", reserved for pods that have ended") if each.reserved else Safe("")
        if each.groups:
            ended = fmt(", of PodGroup {}, which has no pods any more", listed([ref.name for ref in each.groups]))
        names = Safe(", ").join(each.devices)
        text = fmt("{}  {} (created {} ago{})", str(each.claim.key), names, age(each.created, now), ended)
        yield from wrapped(text, indent=4, first=2)
    if any(each.reserved for each in report.idle):
        yield from wrapped(_RELEASED, indent=2)
    # A claim that is reserved keeps its devices when it is deleted (the finalizer of delete-protection).
    yield from _groups(report, address)
    free = [each for each in report.idle if not (each.reserved or each.groups)]
    if not free:
        return
    yield from wrapped(Safe("If nobody needs them any more, delete the claims:"), indent=2)
    yield from (fmt("  {}", line) for line in recorded_lines(address))
    for each in free[:_COMMANDS]:
        words = changing(kubectl("delete", of("resourceclaim", each.claim.name, each.claim.namespace)), address)
        yield from command_line("  {}", words)


def _groups(report: TopReport, address: Address) -> Iterator[Safe]:
    """What releases the claims of PodGroups, which keep them as long as they are there."""
    groups = list(dict.fromkeys(ref for each in report.idle for ref in each.groups))
    if not groups:
        return
    yield from wrapped(Safe("If nobody needs these groups any more, delete them:"), indent=2)
    yield from (fmt("  {}", line) for line in recorded_lines(address))
    for ref in groups[:_COMMANDS]:
        words = kubectl("delete", of("podgroups.scheduling.k8s.io", ref.name, ref.namespace))
        yield from command_line("  {}", changing(words, address))
