"""What the scheduler says where that could not be checked, as it reads everything; and what helps against it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.api.kinds import RESOURCE_SLICE
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Bound,
    Cause,
    FatalError,
    GroupShortage,
    HeardReason,
    HeldFor,
    MissingEvidence,
    NodeOutcome,
    OwnHolder,
    QuotaShortage,
    Verdict,
)
from kubectl_dra.diagnosis.said.unread import nearest
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.explain.index import matching
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.amounts import free_amount
from kubectl_dra.output.pending.free_nodes import free_advice
from kubectl_dra.output.pending.heard_words import page_of, predicate
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.pending.quotas import quota_advice
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import ago, capital, counted, listed
from kubectl_dra.reports.claims.ask import RequestAsk
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import DYNAMIC_RESOURCES, SCHEDULER_ERROR, without_idle_words, without_preemption
from kubectl_dra.scheduler.reasons import is_simulated

#: What every node has some of, and no device.
_NO_DEVICES: Final = ("cpu", "memory", "ephemeral-storage")
_OF_GROUP: Final = Safe(
    "Let each pod need less, wait until devices are free for all of them, or lower minCount of the PodGroup, which can "
    "be changed while pods wait."
)
#: What the scheduler's words say by themselves.
_NAMED: Final = (Code.SELECTOR_FAILS, Code.CLASS_SELECTOR_FAILS, Code.QUOTA_EXCEEDED, Code.POD_GROUP_UNPLACED)
_TAINTED: Final = Safe(
    "What usually helps: Ask whoever may read the rules which devices are tainted, and why. A taint ends with its "
    "rule, once the fault is repaired; until then only requests that tolerate it get the device. What shows the rules:"
)
_LOWER: Final = (
    "lower the {} request of its containers, or have whoever manages the nodes free or add one with so much."
)
_UNSEEN: Final = Safe("Whether these devices match the selectors of its requests is unknown.")
#: Why the devices of an own pod or claim could be had.
_HELD: Final = {
    HeldFor.NOBODY: "is used by no pod and holds",
    HeldFor.GONE: "is reserved for a pod that is gone and holds",
    HeldFor.FINISHED: "has finished and still holds",
    HeldFor.ENDING: "is being deleted and still holds",
    HeldFor.FAILING: "does not run and holds",
    HeldFor.USED: "holds",
}


def is_heard_first(report: PendingReport) -> bool:
    """Whether the scheduler's words are the best answer that there is: it could read everything."""
    seen = report.observed
    unread = report.code is Code.EVIDENCE_MISSING and report.verdict is Verdict.UNKNOWN
    return unread and seen is not None and seen.status == "False" and bool(seen.message)


def is_before_devices(report: PendingReport) -> bool:
    """Whether every node was rejected before devices were tried, for something that is no device."""
    said = said_of(report)
    if said is None or not said.heard or any(each.of_all for each in said.heard):
        return False
    return all(
        is_simulated(each.text)
        and each.plugin != DYNAMIC_RESOURCES
        and (not each.resource or each.resource in _NO_DEVICES)
        for each in said.heard
    )


def heard_sentence(report: PendingReport) -> Safe:
    """What the scheduler wrote, in plain words where they are known."""
    said = said_of(report)
    if named_cause(report) is not None:
        return fmt(
            "{}, according to the scheduler", main_reason(msgspec.structs.replace(report, causes=report.causes[1:]))
        )
    if said is None or not said.heard:
        message = without_preemption(report.observed.message) if report.observed is not None else ""
        return fmt("the scheduler found no node for it ({})", message.removesuffix("."))
    request, nodes = _only_request(report), said.heard_nodes
    told = _one(said.heard[0], nodes, request) if len(said.heard) == 1 else _several(said.heard, nodes, request)
    if makes_room(report) and report.preemption is not None:
        text = "the scheduler makes room for it on {}, where pods that it evicted have not ended yet. Until then {}"
        return fmt(text, report.preemption.nodes[0], told)
    return told + Safe("; devices were not checked on these nodes" if is_before_devices(report) else "")


def named_cause(report: PendingReport) -> Cause | None:
    """The cause that the scheduler's words name by themselves; None where they only count nodes."""
    if not is_heard_first(report) or len(report.causes) == 1:
        return None
    told = report.causes[1]
    return told if told.code in _NAMED and isinstance(told.detail, FatalError | QuotaShortage | GroupShortage) else None


def makes_room(report: PendingReport) -> bool:
    """Whether pods are being ended for it, as far as the scheduler's words tell."""
    return is_heard_first(report) and report.preemption is not None and report.preemption.under_way


def heard_lines(report: PendingReport, now: datetime) -> Iterator[Safe]:
    """That the first line is the scheduler's word, since when, and how it puts it."""
    seen = report.observed
    if not is_heard_first(report) or seen is None:
        return
    words = seen.message if makes_room(report) else without_idle_words(without_preemption(seen.message))
    said = said_of(report)
    codes = matching(f"{seen.reason}: {seen.message}" if seen.reason == SCHEDULER_ERROR else seen.message)
    if (said is not None and said.heard) or named_cause(report) is not None:
        when = ago(seen.time, now)
        text = fmt("The scheduler, which reads everything, wrote {}: {}", when, words.removesuffix("."))
    else:
        text = fmt("The scheduler, which reads everything, wrote that {}", ago(seen.time, now))
    if len(codes) == 1:
        text = fmt("{}. That is {}: {} (kubectl dra explain {})", text, codes[0], Safe(codes[0].meaning), codes[0])
    yield from wrapped(fmt("{}.", text))


def said_of(report: PendingReport) -> MissingEvidence | None:
    """What could not be read, and what is known all the same."""
    return next((cause.detail for cause in report.causes if isinstance(cause.detail, MissingEvidence)), None)


def free_but_for_taints(report: PendingReport) -> Sequence[NodeGroupRecord]:
    """Nodes that would fit where the scheduler says that devices lack, and nothing but taint rules is unread."""
    said = said_of(report)
    unread = {each.kind for each in said.missing if each.decides} if said is not None else set[str]()
    if said is None or unread != {"DeviceTaintRule"}:
        return ()
    if all(page_of(each) is not Code.DEVICES_IN_USE for each in said.heard):
        return ()
    return [group for group in report.nodes if group.outcome == NodeOutcome.FITS]


def _only_request(report: PendingReport) -> RequestAsk | None:
    """What the pod requests where that is one request; None for all others."""
    requests = [request for ask in report.asks for request in ask.requests]
    return requests[0] if len(requests) == 1 and not report.extended else None


def _one(reason: HeardReason, nodes: int, request: RequestAsk | None) -> Safe:
    if reason.of_all:
        return fmt('it can run on no node, according to the scheduler: "{}"', reason.text)
    if reason.resource:
        amount = free_amount(reason.resource, reason.requested)
        return fmt(
            "no node has the {} it requests ({} of {}, according to the scheduler)",
            amount,
            nodes,
            counted(nodes, "node"),
        )
    if nodes == 1:
        return fmt("the only node {}, according to the scheduler", predicate(reason, request))
    return fmt("no node fits, according to the scheduler: all {} {}", nodes, predicate(reason, request))


def _several(heard: Sequence[HeardReason], nodes: int, request: RequestAsk | None) -> Safe:
    parts = [fmt("{} {}", each.nodes, predicate(each, request)) for each in heard]
    told = fmt("{} and {}", Safe(", ").join(parts[:-1]), parts[-1])
    return fmt("no node fits, according to the scheduler: of {}, {}", counted(nodes, "node"), told)


def heard_advice(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What helps nodes over the check at which those fail that have passed the most, and who has what they lack."""
    said = said_of(report)
    if (named := named_cause(report)) is not None:
        yield from wrapped(fmt("What usually helps: {}", _against_named(named)))
        return
    if makes_room(report) and report.preemption is not None:
        yield from _ending(report.preemption.nodes[0], address)
        return
    if said is None or not said.heard:
        return
    if free_but_for_taints(report):
        yield from wrapped(_TAINTED)
        yield from command_line("  {}", reading(dra("get", "taints"), address))
        return
    if ways := list(free_advice(report.free_nodes, said, address)):
        yield from ways
        return
    reason = nearest(said.heard)
    helps = _against(reason, report)
    if helps is None:
        return
    lacking = _only_lacking(report, reason)
    yield from wrapped(fmt("What usually helps: {}{}", _nearest_way(report, reason, said, lacking), helps))
    yield from _of_the_own(said.heard, reason)
    if page_of(reason) is not Code.DEVICES_IN_USE:
        return
    yield from _own(said.own, {name for group in lacking for name in group.names}, address)
    seen = not any(each.kind == RESOURCE_SLICE.name for each in said.missing)
    if said.own and not seen and any(request.selectors for ask in report.asks for request in ask.requests):
        yield from wrapped(_UNSEEN)
    if seen:
        yield from command_line(
            "Who holds which, as far as it could be read: {}", reading(dra("get", "devices"), address)
        )


def _only_lacking(report: PendingReport, reason: HeardReason) -> Sequence[NodeGroupRecord]:
    """The nodes that the scheduler rejects for their devices, where these are all on which devices lack."""
    found = [group for group in report.nodes if group.outcome == NodeOutcome.CANNOT_ALLOCATE]
    known = page_of(reason) is Code.DEVICES_IN_USE and report.certainty.free_devices is Bound.EXACT
    return found if known and sum(group.count for group in found) == reason.nodes else ()


def _nearest_way(
    report: PendingReport, reason: HeardReason, said: MissingEvidence, lacking: Sequence[NodeGroupRecord]
) -> Safe:
    """Why it is this reason of several that is worth a change."""
    others = said.heard_nodes - reason.nodes
    if len(said.heard) == 1 or others <= 0 or page_of(reason) is not Code.DEVICES_IN_USE:
        return Safe("")
    noun, passes, lacks = ("node", "passes", "lacks") if reason.nodes == 1 else ("nodes", "pass", "lack")
    which = names_of(lacking) if lacking else fmt("{} {}", reason.nodes, Safe(noun))
    text = "{} {} all other checks and only {} free devices, so start there. {}. "
    return fmt(text, which, Safe(passes), Safe(lacks), _of_the_others(report, others))


def _of_the_others(report: PendingReport, number: int) -> Safe:
    """Whether the nodes that fail before have devices: those have where only a plugin before was left open."""
    open_ = [group for group in report.nodes if group.outcome == NodeOutcome.UNDECIDED]
    known = report.certainty.free_devices is Bound.EXACT and all(group.plugin != DYNAMIC_RESOURCES for group in open_)
    if known and sum(group.count for group in open_) == number:
        has, fails = ("has", "fails") if number == 1 else ("have", "fail")
        return fmt("{} {} such devices free, but {} a check before", names_of(open_), Safe(has), Safe(fails))
    if report.free_nodes is not None and not report.free_nodes.count:
        return Safe("The other node has none free either" if number == 1 else "No other node has them free either")
    rest = Safe("other node has" if number == 1 else f"other {number} nodes have")
    return fmt("Whether the {} any is unknown", rest)


def _against(reason: HeardReason, report: PendingReport) -> Safe | None:
    """The advice, as the beginning of a sentence."""
    code = page_of(reason)
    if reason.resource:
        return capital(fmt(_LOWER, reason.resource))
    if code is Code.DEVICES_IN_USE:
        requests = [request for ask in report.asks for request in ask.requests]
        counts = (*(each.count for each in requests), *(each.count for each in report.extended))
        ways = ["fewer devices"] if any(count != 1 for count in counts) else []
        ways += ["other devices" if not ways else "others"] if any(each.selectors for each in requests) else []
        text = "wait until pods that hold such devices end."
        return capital(fmt("request {}, or {}", Safe(" or ".join(ways)), Safe(text)) if ways else Safe(text))
    return _of_page(code) if code is not None else None


def _against_named(cause: Cause) -> Safe:
    match cause.detail:
        case QuotaShortage() as shortage:
            return quota_advice(shortage)
        case GroupShortage():
            return _OF_GROUP
    return _of_page(cause.code)


def _of_page(code: Code) -> Safe:
    return safe(reason_page(code).advice.replace("`", ""))


def _ending(node: str, address: Address) -> Iterator[Safe]:
    """Nothing has to be done unless pods do not end."""
    text = "What usually helps: Wait. The scheduler tries again once they have ended. If that lasts longer than their "
    yield from wrapped(
        fmt("{}terminationGracePeriodSeconds, an administrator finds them among the pods there:", Safe(text))
    )
    words = kubectl("get", "pods", "-A", "--field-selector", f"spec.nodeName={node}")
    yield from command_line("  {}", reading(words, address))


def _of_the_own(heard: Sequence[HeardReason], nearest_: HeardReason) -> Iterator[Safe]:
    """What helps on nodes where a pod of the own namespace is in the way."""
    for each in heard:
        code = page_of(each)
        if each.users and each is not nearest_ and code is not None:
            where = fmt(
                "{} with {}", counted(each.nodes, "node"), listed([name.partition(" ")[0] for name in each.users])
            )
            yield from wrapped(fmt("For the {}: {}", where, _of_page(code)))


def _own(own: Sequence[OwnHolder], passing: Collection[str], address: Address) -> Iterator[Safe]:
    """Who of the pod's namespace has such devices, with the command that ends it; ``passing`` nodes only lack these."""
    for each in own:
        kind = Safe("Pod" if each.holder.kind == "Pod" else "Claim")
        again = _afterwards(each)
        text = "{} {} of your namespace {} {} of class {} on {}{}"
        devices = counted(each.devices, "device")
        told = fmt(
            text, kind, each.holder.name, Safe(_HELD[each.held_for]), devices, each.device_class, each.node, again
        )
        if each.held_for is HeldFor.ENDING:
            yield from wrapped(told + Safe("."))
            continue
        what = of("pod" if each.holder.kind == "Pod" else "resourceclaim", each.holder.name, each.holder.namespace)
        yield from wrapped(fmt("{}. To free {}:", told, Safe("it" if each.devices == 1 else "them")))
        yield from command_line("  {}", changing(kubectl("delete", what), address))
    nodes = {each.node for each in own if each.held_for is not HeldFor.ENDING}.difference(passing)
    if nodes:
        which = Safe("this node passes" if len(nodes) == 1 else "each of these nodes passes")
        yield from wrapped(fmt("Whether {} all other checks is unknown.", which))


def _afterwards(each: OwnHolder) -> Safe:
    """What becomes of a pod that is deleted; what has finished or is a claim that nobody uses is no loss."""
    if each.again is not None:
        return fmt("; its {} starts it again", each.again.kind)
    bare = each.holder.kind == "Pod" and each.held_for in (HeldFor.USED, HeldFor.FAILING)
    return Safe("; it has no controller that starts it again") if bare else Safe("")
