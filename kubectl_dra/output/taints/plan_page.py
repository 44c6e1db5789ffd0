"""A plan before anything is written: where and as whom, which rules, whom they hit, what changes for new claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.resource import DeviceTaintSelector
from kubectl_dra.model.taint_plan import OtherTaint, PlannedDevice, PlanTarget, RuleWrite, TaintPlan, Verb
from kubectl_dra.model.taint_text import NO_EXECUTE, PREVENTING, taint_text
from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.parts import ranges
from kubectl_dra.output.layout import GAP, Column, padded, paragraphs, table, width, wrapped
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.taints.hits import hit_rows
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import counted, listed, plural
from kubectl_dra.reports.invocations import dra, plain_word, reading

_VERBS: Final = {Verb.CREATE: "create", Verb.PATCH: "change", Verb.DELETE: "delete"}
_SHOWN: Final = 3
_INDENT: Final = 2
_FROM_NOW_ON: Final = Safe("from now on")


def plan_page(
    plan: TaintPlan, missing: Sequence[Missing] = (), notes: Sequence[Safe] = (), address: Address | None = None
) -> list[Safe]:
    """All lines of a plan with writes."""
    lines = [*target_lines(plan.target), *_write_lines(plan.writes), Safe(""), *_who_and_what(plan)]
    tail = [line for note in (*_notes(plan), *notes) for line in wrapped(note)]
    return around(paragraphs((lines, _where_they_go(plan, address), tail)), missing, address)


def _where_they_go(plan: TaintPlan, address: Address | None) -> list[Safe]:
    """How to see what becomes of pods that are evicted and started again; nothing where there are none, or many rules.

    A plan rests on devices and pods alone: where these go depends on nodes and all else that the scheduler reads.
    """
    selectors = [write.selector for write in plan.writes if write.selector is not None]
    if address is None or plan.removal or len(selectors) > _SHOWN or not any(hit.controller for hit in plan.evicted()):
        return []
    targets = ["/".join(filter(None, (each.driver, each.pool, each.device))) for each in selectors]
    taints = [plain_word(f"{target},{taint_text(plan.taint)}") for target in targets]
    words = dra("simulate", *(word for taint in taints for word in ("--taint", taint)))
    lines = list(command_line("  {}", reading(words, address)))
    return (
        [*wrapped(Safe("Where the evicted pods run when they are started again, if anywhere:")), *lines]
        if lines
        else []
    )


def target_lines(target: PlanTarget) -> list[Safe]:
    """Context, cluster and user, in the first line; none for a file."""
    if not target.server:
        return []
    where = f"{target.cluster}, {target.server}" if target.cluster not in ("", target.context) else target.server
    user = styled(safe(target.user or "without a name in the kubeconfig"), Style.BOLD)
    acting = fmt(" as {}", styled(safe(target.as_user), Style.BOLD)) if target.as_user else Safe("")
    name = styled(safe(target.context or "none"), Style.BOLD)
    return wrapped(fmt("Context {} ({}), user {}{}", name, where, user, acting), indent=2, first=0)


def _write_lines(writes: Sequence[RuleWrite]) -> Iterator[Safe]:
    if len(writes) == 1:
        write = writes[0]
        head = fmt("Will {} {}DeviceTaintRule {}", Safe(_VERBS[write.verb]), _foreign(write), write.name)
        yield from wrapped(fmt("{} ({}): {}", head, write.api_version, _content(write)), indent=2, first=0)
        return
    for verb, word in _VERBS.items():
        some = [write for write in writes if write.verb is verb]
        if some:
            yield fmt("Will {} {} ({}):", Safe(word), counted(len(some), "DeviceTaintRule"), some[0].api_version)
        for write in some:
            yield from wrapped(fmt("{}{}: {}", _foreign(write), write.name, _content(write)), indent=4, first=2)


def _foreign(write: RuleWrite) -> Safe:
    return Safe("") if write.own else styled(Safe("another owner's "), Style.WARN)


def _content(write: RuleWrite) -> Safe:
    where = selector_text(write.selector)
    if write.before is not None:
        return fmt("from {} to {} on {}", taint_text(write.before), taint_text(write.taint), where)
    return fmt("{} on {}", taint_text(write.taint), where)


def selector_text(selector: DeviceTaintSelector | None) -> Safe:
    """``DRIVER/POOL/DEVICE``, or how far a wider selector reaches."""
    if selector is None:
        return Safe("nothing")
    parts = (("driver", selector.driver), ("pool", selector.pool), ("device", selector.device))
    if all(value is not None for _, value in parts):
        return Safe("/").join(value or "" for _, value in parts)
    named = [fmt("{} {}", Safe(what), value) for what, value in parts if value is not None]
    return styled(fmt("every device of {}", Safe(", ").join(named) or Safe("the cluster")), Style.WARN)


def _who_and_what(plan: TaintPlan) -> Iterator[Safe]:
    """Pod by pod, then device by device; both behind the same first column."""
    rows = list(hit_rows(plan.hits, plan.taint.for_rule, [str(device.id) for device in plan.devices]))
    first = max(width(text) for text in (_FROM_NOW_ON, *(row[0] for row in rows)))
    if not any(hit.pod for hit in plan.hits):
        yield from _beside(
            Safe("nobody"), Safe("no pod uses it" if len(plan.devices) == 1 else "no pod uses them"), first
        )
    cells = [(padded(fate, first), who, why) for fate, who, why in rows]
    if cells:
        yield from table([Column(), Column(flexible=True), Column(flexible=True)], cells, header=False, indent=_INDENT)
    for number, (devices, text) in enumerate(_outlooks(plan).items()):
        yield from _beside(Safe("") if number else _FROM_NOW_ON, fmt("{} {}", devices, text), first)


def _beside(head: Safe, text: Safe, columns: int) -> list[Safe]:
    """A text in lines beside the first column."""
    start = Safe(" " * _INDENT) + padded(head, columns) + Safe(" " * GAP)
    lines = wrapped(text, page_width() - width(start))
    return [(start if number == 0 else Safe(" " * width(start))) + line for number, line in enumerate(lines)]


def _outlooks(plan: TaintPlan) -> dict[Safe, Safe]:
    """Devices that fare alike together."""
    groups: defaultdict[Safe, list[PlannedDevice]] = defaultdict(list)
    for device in plan.devices:
        groups[_outlook(device, plan)].append(device)
    return {
        _devices_text(devices): fmt("{} {}", Safe(plural("is", len(devices))), text) for text, devices in groups.items()
    }


def _outlook(device: PlannedDevice, plan: TaintPlan) -> Safe:
    """What follows "is"."""
    others = [other for other in device.others if other.effect in PREVENTING]
    by = listed([f"{other.key}:{other.effect} ({_source(other)})" for other in others])
    if not plan.removal:
        already = fmt(", as already because of {}", by) if others else Safe("")
        return fmt("not given to new claims unless they tolerate {}{}", plan.taint.key, already)
    if others:
        return fmt("still kept from new claims by {}", by)
    return Safe("open to new claims again") if device.pool_devices else Safe("not published any more")


def _source(other: OtherTaint) -> str:
    return f"rule {other.rule}" if other.rule else "driver"


def _devices_text(devices: Sequence[PlannedDevice]) -> Safe:
    """``nic-3 (1 of 4 in rack-1)``; the first few of many."""
    pools: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for device in devices:
        pools[device.pool, device.pool_devices].append(device.device)
    texts = [
        fmt("{} ({} of {} in {})", listed(ranges(names)), len(names), total, pool)
        if total
        else fmt("{} (of {})", listed(ranges(names)), pool)
        for (pool, total), names in pools.items()
    ]
    more = len(texts) - _SHOWN
    return Safe("; ").join(texts[:_SHOWN]) + (fmt("; and in {}", counted(more, "other pool")) if more > 0 else "")


def _notes(plan: TaintPlan) -> Iterator[Safe]:
    if plan.failing:
        yield fmt("The expression can't be evaluated for {}, left out here.", counted(plan.failing, "other device"))
    if plan.present:
        yield fmt("{} such a rule already.", _have(plan))
    if any(
        (write.before or write.taint).effect == NO_EXECUTE for write in plan.writes if write.verb is not Verb.CREATE
    ):
        yield Safe("Pods that were evicted before stay so.")


def _have(plan: TaintPlan) -> Safe:
    number = len(plan.present)
    return fmt("{} {}", counted(number, "device"), Safe("has" if number == 1 else "have"))


def plan_summary(plan: TaintPlan) -> Safe:
    """What is written and whom it hits, in a sentence."""
    if not plan.writes:
        return fmt("Nothing is to be written: {} already there.", _rules(len(plan.present)))
    verbs = [
        fmt("{} {}", Safe(word), _rules(number))
        for verb, word in _VERBS.items()
        if (number := sum(write.verb is verb for write in plan.writes))
    ]
    hit = len(plan.evicted())
    whom = counted(hit, "pod") if hit else Safe("no pod")
    return fmt("The plan is to {}, which evicts {}.", listed(verbs), whom)


def _rules(number: int) -> Safe:
    return counted(number, "DeviceTaintRule")
