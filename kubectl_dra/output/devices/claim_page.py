"""describe-claim as a page: where the claim stands, what it asks for and got, who uses it, what drivers say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.resource import NetworkDeviceData
from kubectl_dra.output.devices.holders import consumer_text, taint_lines
from kubectl_dra.output.devices.parts import condition_text, pairs_text, scope_text
from kubectl_dra.output.layout import PAGE, Column, paragraphs, table, wrapped
from kubectl_dra.output.pending.asks import ask_lines
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.unread import around
from kubectl_dra.output.words import ago, counted, listed
from kubectl_dra.reports.claims.ask import toleration_text
from kubectl_dra.reports.claims.claim import ClaimReport, ConfigRecord, ResultRecord, TemplateUse
from kubectl_dra.reports.devices.holders import OVER, Consumer, ConsumerState
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading

_STATES: Final = {
    ClaimVerdict.PENDING: "has no devices yet",
    ClaimVerdict.ALLOCATED: "is allocated",
    ClaimVerdict.RESERVED: "is in use",
    ClaimVerdict.UNRESERVED: "holds devices, but is reserved for nobody",
    ClaimVerdict.DELETING: "is being deleted",
}

_TRIES: Final = "releases the devices and tries again."
_ABANDONED: Final = "holds devices only for what is finished or deleted"
_OF_EMPTY_GROUP: Final = "holds devices only for a PodGroup that has no pods any more"


def claim_page(
    report: ClaimReport, now: datetime, wide: bool = False, address: Address = HERE, *, rights: bool = True
) -> list[Safe]:
    """All lines of one report; commands are for the cluster at ``address``.

    Without ``rights``: another place says what could not be read.
    """
    blocks: list[list[Safe]] = [
        list(_head(report, now)),
        list(_leads_on(report, address)),
        [*ask_lines((report.asks,)), *_derived(report)],
        list(_results(report, wide)),
        list(_handles(report)),
        list(_consumers(report, now)),
        list(_driver_words(report, now)),
        list(_configs(report)),
    ]
    return around(paragraphs(blocks), report.missing if rights else (), address)


# --- the answer -----------------------------------------------------------------------------------------------------


def _head(report: ClaimReport, now: datetime) -> Iterator[Safe]:
    yield from wrapped(styled(claim_summary(report), Style.BOLD))
    facts = [listed(report.printed_state.split(",")), fmt("created {}", ago(report.created, now))]
    facts += [fmt("allocated {}", ago(report.allocated, now))] if report.allocated else []
    facts += [fmt("deletion asked for {}", ago(report.deleted, now))] if report.deleted else []
    facts += [fmt("owned by {}", report.owner)] if report.owner else []
    yield from wrapped(Safe(", ").join(facts), indent=2)
    yield from _deletion(report, now)
    if report.template is not None:
        yield from _template(report.template)


def claim_summary(report: ClaimReport) -> Safe:
    state = _being_bound(report) or Safe(
        _OF_EMPTY_GROUP if _empty_groups(report) else _ABANDONED if _abandoned(report) else _STATES[report.state]
    )
    devices = fmt(": {}{}", counted(len(report.results), "device"), _vanished(report)) if report.results else Safe("")
    told = fmt("ResourceClaim {}/{} {}{}{}.", report.namespace, report.name, state, devices, _where(report))
    return told + _action(report)


def _vanished(report: ClaimReport) -> Safe:
    """How many of its devices no slice has any more."""
    gone = sum(each.published is False for each in report.results)
    some = Safe("" if gone == len(report.results) else f"{gone} of them ")
    return fmt(" ({}not published any more)", some) if gone else Safe("")


def _being_bound(report: ClaimReport) -> Safe:
    """What binding waits for or failed on, in the driver's words, as long as no pod of it has a node."""
    if report.state is not ClaimVerdict.RESERVED or any(
        each.state is not ConsumerState.PENDING for each in report.reserved_for
    ):
        return Safe("")
    for verb, conditions in (("cannot be bound", "failed"), ("is not bound yet", "waiting_for")):
        found = next((each for each in report.results if getattr(each, conditions)), None)
        if found is not None:
            names = getattr(found, conditions)
            wants = Safe("has" if conditions == "failed" else "waits for")
            return fmt("{}: {} {} {}{}", Safe(verb), found.device, wants, listed(names), _said(found, names))
    return Safe("")


def _said(result: ResultRecord, names: Sequence[str]) -> Safe:
    """`` (Pending: switch port 12 busy)``: what the driver wrote into the first of some conditions."""
    conditions = result.status.conditions if result.status is not None else ()
    told = next((each for each in conditions if each.type in names and (each.reason or each.message)), None)
    if told is None:
        return Safe("")
    return fmt(" ({})", Safe(": ").join(safe(each) for each in (told.reason, told.message) if each))


def _action(report: ClaimReport) -> Safe:
    """What comes next with a claim that nobody uses, or that waits for the pod which names it."""
    if _being_bound(report):
        again = " Its pods wait for a node until then; the scheduler gives up after 10 minutes, unless configured, and "
        failed = any(each.failed for each in report.results)
        return Safe(f" The scheduler {_TRIES}" if failed else f"{again}{_TRIES}")
    if _empty_groups(report):
        return Safe(" The claim stays allocated until the PodGroup is deleted.")
    if _abandoned(report):
        return Safe(
            " kube-controller-manager ends such reservations within minutes, which frees the devices: where it does "
            "not, see its log."
        )
    if is_unused(report):
        if report.state is ClaimVerdict.PENDING:
            return Safe(" No pod uses it: name it under spec.resourceClaims of a pod, or delete it.")
        return Safe(" No pod uses it: if nobody needs it any more, delete it, which frees them.")
    waiting = next((each for each in report.waiting if each.state is ConsumerState.PENDING), None)
    if report.state is not ClaimVerdict.PENDING or waiting is None:
        return Safe("")
    return fmt(" Pod {}, which names it, waits for a node: see why.", waiting.name)


def is_unused(report: ClaimReport) -> bool:
    """Whether it is known that no pod uses or names a claim, and it is not on its way out."""
    nobody = not report.reserved_for and not report.waiting
    unread = any(missing.kind == "Pod" for missing in report.missing)
    return nobody and not unread and report.state in (ClaimVerdict.PENDING, ClaimVerdict.UNRESERVED)


def _abandoned(report: ClaimReport) -> bool:
    return report.state is ClaimVerdict.RESERVED and all(each.state in OVER for each in report.reserved_for)


def _empty_groups(report: ClaimReport) -> list[Consumer]:
    """The PodGroups that keep a claim which nobody uses."""
    empty = [each for each in report.reserved_for if each.state is ConsumerState.EMPTY]
    return empty if _abandoned(report) else []


def _where(report: ClaimReport) -> Safe:
    return fmt(", usable on {}", scope_text(report.scope)) if report.scope is not None and report.results else Safe("")


def _deletion(report: ClaimReport, now: datetime) -> Iterator[Safe]:
    if report.deleted and report.finalizers:
        waits = [consumer_text(each, now) for each in report.reserved_for]
        for_whom = fmt(" until it is no longer reserved for {}", listed(waits)) if waits else Safe("")
        yield from wrapped(fmt("It is kept by {}{}.", listed(report.finalizers), for_whom), indent=2)


def _template(template: TemplateUse) -> Iterator[Safe]:
    if not template.name:
        yield from wrapped(fmt("made from a template, for entry {} of its pod", template.entry), indent=2)
        return
    gone = Safe(", which does not exist any more") if template.exists is False else Safe("")
    yield from wrapped(
        fmt("from template {}{}, for entry {} of its pod", template.name, gone, template.entry), indent=2
    )
    for what, copied in (("labels", template.labels), ("annotations", template.annotations)):
        if copied:
            yield from wrapped(fmt("the template gives it {}: {}", Safe(what), pairs_text(copied)), indent=4)


def _derived(report: ClaimReport) -> Iterator[Safe]:
    for each in report.derived_attributes:
        yield from wrapped(fmt("{}: derived attribute {} = {}", each.request, each.name, each.expression), indent=4)


# --- devices --------------------------------------------------------------------------------------------------------


def _results(report: ClaimReport, wide: bool) -> Iterator[Safe]:
    if not report.results:
        return
    yield Safe("It has:")
    rows = []
    for result in report.results:
        notes = list(_notes(result)) or [Safe("-")]
        cells = [safe(result.request), fmt("{}/{}/{}", result.driver, result.pool, result.device)]
        rows += [[*(cells if index == 0 else [Safe(""), Safe("")]), note] for index, note in enumerate(notes)]
    columns = [Column("REQUEST", flexible=True), Column("DEVICE", flexible=True), Column("DETAILS", flexible=True)]
    yield from table(columns, rows, columns_wide=None if wide else PAGE, indent=2)


def _handles(report: ClaimReport) -> Iterator[Safe]:
    """What the driver of a classic claim recorded; its own data is only measured."""
    classic = report.classic
    if classic is None:
        return
    if classic.deallocation_requested:
        yield from wrapped(fmt("Its driver {} is asked to deallocate it; no pod is admitted.", classic.driver))
    if classic.driver:
        shared = Safe("can be shared") if classic.shareable else Safe("is for one pod at a time")
        yield from wrapped(fmt("The allocation of driver {} {}.", classic.driver, shared))
    for handle in classic.handles:
        parts = [fmt("{} of its own data", counted(handle.data_bytes, "byte"))] if handle.data_bytes else []
        parts += [fmt("{} on node {}", listed(handle.instances), handle.node)] if handle.instances else []
        text = Safe(", ").join(parts) or Safe("no data")
        yield from wrapped(fmt("handle for {}: {}", handle.driver, text), indent=4, first=2)


def _notes(result: ResultRecord) -> Iterator[Safe]:
    if result.published is False:
        yield styled(Safe("no longer published by its driver"), Style.BAD)
    if result.admin_access:
        yield Safe("admin access")
    if result.consumed_capacity:
        yield amounts_text(result.consumed_capacity)
    if result.share_id:
        yield fmt("share {}", result.share_id)
    for taint, source in taint_lines(result.taints):
        yield fmt("tainted {}, {}", styled(taint, Style.WARN), source)
    if result.tolerations:
        yield fmt("tolerates {}", listed(list(map(toleration_text, result.tolerations))))
    yield from _binding(result)
    if result.skip_node_operations:
        yield fmt("skips {}", listed(result.skip_node_operations))
    for health in result.health:
        text = fmt(": {}", health.message) if health.message else Safe("")
        yield fmt("{} in pod {}{}", health.health, health.pod, text)


def _binding(result: ResultRecord) -> Iterator[Safe]:
    if result.failed:
        yield styled(fmt("binding failed: {}", listed(result.failed)), Style.BAD)
    if result.waiting_for:
        yield fmt("binding waits for {}", listed(result.waiting_for))
    elif result.binding_conditions:
        yield fmt("binding conditions met: {}", listed(result.binding_conditions))
    if result.binding_failure_conditions and not result.failed:
        yield fmt("binding would fail on {}", listed(result.binding_failure_conditions, "or"))


# --- consumers ------------------------------------------------------------------------------------------------------


def _consumers(report: ClaimReport, now: datetime) -> Iterator[Safe]:
    if report.reserved_for:
        yield Safe("Reserved for:")
    for consumer in report.reserved_for:
        yield from wrapped(consumer_text(consumer, now, running="running"), indent=4, first=2)
    if report.waiting:
        yield Safe("Named by, without a reservation:")
    for consumer in report.waiting:
        yield from wrapped(consumer_text(consumer, now), indent=4, first=2)
    if not report.reserved_for and not report.waiting:
        unread = any(missing.kind == "Pod" for missing in report.missing)
        if unread:
            yield Safe("Whether a pod names it is unknown.")
        elif not is_unused(report):
            yield Safe("No pod uses it.")


def _leads_on(report: ClaimReport, address: Address) -> Iterator[Safe]:
    """Why a claim has no devices is told of the pod that waits for it, or of the claim where no pod does."""
    if is_unused(report):
        words = kubectl("delete", of("resourceclaim", report.name, report.namespace))
        yield from command_line("To delete it: {}", changing(words, address))
    for each in _empty_groups(report):
        group = of(f"{each.resource}.{each.api_group}", each.name, each.namespace)
        yield from command_line("To release the devices: {}", changing(kubectl("delete", group), address))
    if _being_bound(report):
        target = of("pod", report.reserved_for[0].name, report.namespace)
        yield from command_line("More: {}", reading(dra("why-pending", target), address))
    if report.state is not ClaimVerdict.PENDING:
        return
    waiting = next((each for each in report.waiting if each.state is ConsumerState.PENDING), None)
    target = (
        of("claim", report.name, report.namespace) if waiting is None else of("pod", waiting.name, report.namespace)
    )
    yield from command_line("Why: {}", reading(dra("why-pending", target), address))


# --- drivers and configuration --------------------------------------------------------------------------------------


def _driver_words(report: ClaimReport, now: datetime) -> Iterator[Safe]:
    told = [result for result in report.results if result.status is not None]
    if told:
        yield Safe("Its drivers say:")
    for result in told:
        status = result.status
        if status is None:
            continue
        yield from wrapped(fmt("{}/{}/{}", result.driver, result.pool, result.device), indent=4, first=2)
        yield from reported_lines(status.conditions, status.network_data, now)
        if status.data is not None:
            yield from wrapped(fmt("data: {}", raw_text(status.data)), indent=6, first=4)


def reported_lines(conditions: Sequence[Condition], network: NetworkDeviceData | None, now: datetime) -> Iterator[Safe]:
    """What a driver says of a device, below its name."""
    for condition in conditions:
        yield from wrapped(condition_text(condition, now), indent=6, first=4)
    if network is not None:
        parts = [fmt("interface {}", network.interface_name)] if network.interface_name else []
        parts += [fmt("hardware address {}", network.hardware_address)] if network.hardware_address else []
        parts += [fmt("IPs {}", listed(network.ips))] if network.ips else []
        yield from wrapped(fmt("network: {}", Safe(", ").join(parts)), indent=6, first=4)


def amounts_text(consumed: Mapping[str, str]) -> Safe:
    """What is taken of a device that is shared."""
    return fmt("takes {}", pairs_text({name.rpartition("/")[2]: amount for name, amount in consumed.items()}))


def _configs(report: ClaimReport) -> Iterator[Safe]:
    if not report.configs:
        return
    allocated = bool(report.results)
    yield Safe("Configuration for its drivers:") if allocated else Safe("Configuration that drivers would get:")
    for config in report.configs:
        yield from wrapped(_config_head(config), indent=4, first=2)
        yield from wrapped(raw_text(config.parameters), indent=4)


def _config_head(config: ConfigRecord) -> Safe:
    name = fmt(" {}", config.device_class) if config.device_class else Safe("")
    source = Safe("from the class") if config.source == "FromClass" else Safe("from the claim")
    requests: Sequence[str] = config.requests
    who = fmt("for {}", listed(requests)) if requests else Safe("for all requests")
    return fmt("{}{}, {}, {}:", source, name, who, config.driver or "of an unknown type")


def raw_text(raw: msgspec.Raw | None) -> Safe:
    """A driver's own JSON in one line."""
    if raw is None:
        return Safe("-")
    return safe(msgspec.json.format(bytes(raw), indent=-1).decode("utf-8", "backslashreplace"))
