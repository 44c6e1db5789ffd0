"""All taints of devices on one page: what, from whom, what the controller says of it, whom it hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.model.resource import DeviceTaint
from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.devices.parts import spoken
from kubectl_dra.output.layout import Column, table, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.taints.hits import hit_rows
from kubectl_dra.output.taints.misdirected import correction_command, correction_text
from kubectl_dra.output.taints.plan_page import selector_text
from kubectl_dra.output.words import ago, did_you_mean, listed_count, plural
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.taints.taint_list import ListedTaint, TaintRow
from kubectl_dra.reports.taints.taint_observation import NO_EFFECT

_SHOWN = 3
#: What effect None is for (KEP-5055): reports of drivers, and a rule's count of what NoExecute would evict.
KEEPS_NOBODY: Final = Safe("it keeps no claims from the devices and evicts no pods")


def list_page(
    taints: Sequence[ListedTaint], now: datetime, bound: Bound = Bound.EXACT, address: Address = HERE
) -> list[Safe]:
    """All lines, one block per rule or driver's taint; ``bound`` is that of their number."""
    lines = [styled(list_summary(taints, bound), Style.BOLD)]
    for each in taints:
        lines += [Safe(""), *listed_lines(each, now, address)]
    return lines


def list_summary(taints: Sequence[ListedTaint], bound: Bound) -> Safe:
    if not taints:
        known = bound is Bound.EXACT
        return Safe("No device is tainted, and there is no DeviceTaintRule." if known else "No taint could be read.")
    rules, number = sum(bool(each.taint.rule) for each in taints), listed_count(len(taints), "taint", bound)
    return fmt("{}: {} by rules, {} by drivers.", number, rules, len(taints) - rules)


def listed_lines(listed: ListedTaint, now: datetime, address: Address = HERE) -> Iterator[Safe]:
    """One rule or driver's taint: where it is, from whom, what the controller says, whom it hits."""
    row = listed.taint
    taint = DeviceTaint(row.key, row.value, row.effect, row.time_added or None)
    yield from wrapped(fmt("{} on {}", styled(safe(taint_text(taint)), Style.NAME), _where(row)), indent=2, first=0)
    yield from wrapped(_source(listed, now), indent=4, first=2)
    if listed.unknown:
        yield from wrapped(fmt("It {}", on_nothing(listed.unknown, listed.near)), indent=4, first=2)
    if listed.correction is not None:
        command = correction_command(row.rule, listed.correction, address)
        end = Safe(":" if command else ".")
        yield from wrapped(correction_text(listed.correction) + end, indent=4, first=2)
        yield from [fmt("    {}", command)] if command else []
    if row.effect == NO_EFFECT:
        yield from wrapped(fmt("With effect None {}.", KEEPS_NOBODY), indent=4, first=2)
    for condition in row.conditions:
        text = fmt("{}={} ({}): {}", condition.type, condition.status, condition.reason, condition.message)
        yield from wrapped(text, indent=4, first=2)
    cells = [list(cells) for cells in hit_rows(listed.hits, taint, listed.devices, now)]
    yield from table([Column(), Column(flexible=True), Column(flexible=True)], cells, header=False, indent=4)


def on_nothing(name: str, near: Sequence[str]) -> Safe:
    """What is said of a rule that names a driver or pool which nobody publishes."""
    meant = did_you_mean(near, "; ")
    text = fmt("is on no device: no driver publishes devices of {}{}", name, meant)
    return text if meant else text + Safe(".")


def _where(row: TaintRow) -> Safe:
    if not row.rule:
        more = row.device_count.value - len(row.devices[:_SHOWN])
        return Safe(", ").join(row.devices[:_SHOWN]) + (fmt(" +{}", more) if more else Safe(""))
    count = row.device_count
    text = selector_text(row.selector)
    if count.value == 1 and row.devices and text == row.devices[0]:
        return text
    return fmt("{} ({} published {})", text, spoken(count), plural("device", count.value))


def _source(listed: ListedTaint, now: datetime) -> Safe:
    row = listed.taint
    since = ago(row.time_added or row.created, now)
    if not row.rule:
        return fmt("set by the driver {}: only the driver can remove it", since)
    whose = Safe("") if listed.own else Safe(", not made by kubectl-dra")
    return fmt("rule {}{}, {}", safe(row.rule), whose, since)
