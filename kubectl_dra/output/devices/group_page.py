"""describe-podgroup as a page: what the group needs, its pods and their devices, shared claims, what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.devices.parts import condition_text
from kubectl_dra.output.layout import Column, paragraphs, table, wrapped
from kubectl_dra.output.pending.gangs import domain_of_group, how_many, origin
from kubectl_dra.output.safe import Safe, Style, command, command_line, fmt, safe, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import ago, counted, listed, shortened
from kubectl_dra.reports.devices.holders import ConsumerState
from kubectl_dra.reports.groups.group_state import GroupPod, GroupReport
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading

_NAMES: Final = 3
_POD_STATES: Final = {
    ConsumerState.PENDING: "waits",
    ConsumerState.BOUND: "has a node, is not running yet",
    ConsumerState.RUNNING: "runs",
    ConsumerState.FINISHED: "finished",
}


def group_state_page(
    report: GroupReport, now: datetime, address: Address | None = None, *, rights: bool = True
) -> list[Safe]:
    blocks: list[list[Safe]] = [
        list(_head(report, now)),
        list(_needs(report)),
        _pods(report),
        list(_claims(report)),
        list(_kept(report, address or HERE)),
        [*_said(report, now), *_leads_on(report, address or HERE)],
    ]
    return around(paragraphs(blocks), report.missing if rights else (), address)


def group_state_summary(report: GroupReport) -> Safe:
    name = fmt("PodGroup {}/{}", report.namespace, report.name)
    if any(each.kind == "Pod" for each in report.missing):
        return fmt("{}: its pods could not all be read.", name)
    if not report.with_node and not report.waiting:
        return fmt("{} has no pods.", name) if not report.pods else fmt("{}: all of its pods have finished.", name)
    everyone = counted(report.with_node + report.waiting, "pod")
    has = Safe("has" if report.with_node == 1 else "have")
    text = fmt("{}: {} of {} {} a node", name, report.with_node, everyone, has)
    if report.min_count is None:
        return fmt("{}.", text)
    return fmt("{}; minCount is {}.", text, report.min_count)


def _head(report: GroupReport, now: datetime) -> Iterator[Safe]:
    yield from wrapped(styled(group_state_summary(report), Style.BOLD))
    facts = [fmt("created {}", ago(report.created, now))] if report.created else []
    facts += [fmt("deletion asked for {}", ago(report.deleted, now))] if report.deleted else []
    facts += [fmt("made from {}", origin(report.workload, report.template))] if report.workload else []
    facts += [fmt("part of CompositePodGroup {}", report.parent.name)] if report.parent is not None else []
    if facts:
        yield from wrapped(Safe(", ").join(facts), indent=2)
    if report.deleted and report.finalizers:
        yield from wrapped(fmt("It is kept by {}.", listed(report.finalizers)), indent=2)
    if not report.placed_together:
        text = "This cluster's scheduler takes no notice of groups: it places each pod by itself."
        yield from wrapped(Safe(text), indent=2)


def _needs(report: GroupReport) -> Iterator[Safe]:
    yield from how_many(report)
    yield from domain_of_group(report)
    named = fmt(" ({})", report.priority_class) if report.priority_class else Safe("")
    never = Safe(", evicts nobody") if report.preemption_policy == "Never" else Safe("")
    yield fmt("  priority   {}{}{}", report.priority, named, never)
    if report.evicted_as_one:
        yield Safe("  evicted    all pods or none")


def _pods(report: GroupReport) -> list[Safe]:
    if not report.pods:
        return []
    rows = [[safe(each.pod.name), _state(each), safe(each.node or "-"), _devices(each)] for each in report.pods]
    columns = [Column("POD", flexible=True), Column("STATE", flexible=True), Column("NODE", flexible=True)]
    return table([*columns, Column("OWN DEVICES", flexible=True)], rows, indent=2)


def _state(pod: GroupPod) -> Safe:
    reason = fmt(" ({})", pod.reason) if pod.reason else Safe("")
    return fmt("{}{}", Safe(_POD_STATES[pod.state]), reason)


def _devices(pod: GroupPod) -> Safe:
    return listed(pod.devices) if pod.devices else Safe("-")


def _claims(report: GroupReport) -> Iterator[Safe]:
    if report.claims:
        yield Safe("Its pods share:")
    for claim in report.claims:
        name = fmt("claim {}", claim.claim.name) if claim.claim is not None else Safe("claim not created yet")
        made = fmt(" (from template {})", claim.template) if claim.template else Safe("")
        state = listed(claim.devices) if claim.devices else Safe("no devices yet")
        yield from wrapped(fmt("{}: {}{}, {}", claim.name, name, made, state), indent=4, first=2)


def _kept(report: GroupReport, address: Address) -> Iterator[Safe]:
    """What gives back the devices of a group that has no pods any more."""
    unread = any(each.kind == "Pod" for each in report.missing)
    if unread or report.with_node or report.waiting or report.deleted:
        return
    if any(claim.devices for claim in report.claims):
        text = "These devices stay taken until the PodGroup is deleted. If nobody needs it any more: {}"
        words = kubectl("delete", of("podgroups.scheduling.k8s.io", report.name, report.namespace))
        yield from command_line(text, changing(words, address))


def _said(report: GroupReport, now: datetime) -> Iterator[Safe]:
    on_pods = _on_pods(report, now)
    if not report.conditions and not on_pods:
        yield from wrapped(Safe("The scheduler has written nothing about it yet."))
        return
    yield Safe("What was written about it:")
    for text in (*(condition_text(condition, now) for condition in report.conditions), *on_pods):
        yield from wrapped(text, indent=4, first=2)


def _on_pods(report: GroupReport, now: datetime) -> list[Safe]:
    """The scheduler's words on pods that have no node; the same words once."""
    told: dict[tuple[str, str], list[GroupPod]] = {}
    for pod in report.pods:
        if pod.observed is not None and pod.observed.status == "False":
            told.setdefault((pod.observed.reason, pod.observed.message), []).append(pod)
    return [_words(pods, now) for pods in told.values()]


def _words(pods: Sequence[GroupPod], now: datetime) -> Safe:
    names, seen = shortened([pod.pod.name for pod in pods], _NAMES), [pod.observed for pod in pods if pod.observed]
    last = max(seen, key=lambda each: each.time)
    return fmt("{}, {}: {}: {}", names, ago(last.time, now), last.reason, last.message)


def _leads_on(report: GroupReport, address: Address) -> Iterator[Safe]:
    """Where it is told why pods wait."""
    line = command(reading(dra("why-pending", of("podgroup", report.name, report.namespace)), address))
    if report.waiting and line is not None:
        yield fmt("Why: {}", line)
