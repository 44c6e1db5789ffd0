"""What helps where only the scheduler's words tell why: against what the nodes lack that have passed all else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, HeardReason, HeldFor, MissingEvidence, NodeOutcome, OwnHolder
from kubectl_dra.diagnosis.said.heard import nearest
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.heard import free_but_for_taints, page_of, said_of
from kubectl_dra.output.pending.node_names import names_of
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.claims.ask import ClaimAsk
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.reasons import DYNAMIC_RESOURCES

_TAINTED: Final = Safe(
    "What usually helps: Ask whoever may read the rules which devices are tainted, and why. A taint ends with its "
    "rule, once the fault is repaired; until then only requests that tolerate it get the device. What shows the rules:"
)
_LOWER: Final = (
    "lower the {} request of its containers, or have whoever manages the nodes free or add one with so much."
)
#: Why the devices of an own pod or claim could be had.
_HELD: Final = {
    HeldFor.NOBODY: "is used by no pod and holds",
    HeldFor.GONE: "is reserved for a pod that is gone and holds",
    HeldFor.FINISHED: "has finished and still holds",
    HeldFor.ENDING: "is being deleted and still holds",
    HeldFor.FAILING: "does not run and holds",
    HeldFor.USED: "holds",
}


def heard_advice(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What helps nodes over the check at which those fail that have passed the most, and who has what they lack."""
    said = said_of(report)
    if said is None or not said.heard:
        return
    if free_but_for_taints(report):
        yield from wrapped(_TAINTED)
        yield from command_line("  {}", reading(dra("get", "taints"), address))
        return
    reason = nearest(said.heard)
    helps = _against(reason, report.asks)
    if helps is None:
        return
    lacking = _only_lacking(report, reason)
    yield from wrapped(fmt("What usually helps: {}{}", _nearest_way(report, reason, said, lacking), helps))
    if page_of(reason) is not Code.DEVICES_IN_USE:
        return
    yield from _own(said.own, {name for group in lacking for name in group.names}, address)
    if not any(each.kind == "ResourceSlice" for each in said.missing):
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
    text = "{} {} all other checks and only {} free devices: that is the nearest way. {}. "
    return fmt(text, which, Safe(passes), Safe(lacks), _of_the_others(report, others))


def _of_the_others(report: PendingReport, number: int) -> Safe:
    """Whether the nodes that fail before have devices: those have where only a plugin before was left open."""
    open_ = [group for group in report.nodes if group.outcome == NodeOutcome.UNDECIDED]
    known = report.certainty.free_devices is Bound.EXACT and all(group.plugin != DYNAMIC_RESOURCES for group in open_)
    if known and sum(group.count for group in open_) == number:
        has, fails = ("has", "fails") if number == 1 else ("have", "fail")
        return fmt("{} {} such devices free, but {} a check before", names_of(open_), Safe(has), Safe(fails))
    rest = Safe("other node has" if number == 1 else f"other {number} nodes have")
    return fmt("Whether the {} any is not known", rest)


def _against(reason: HeardReason, asks: Sequence[ClaimAsk]) -> Safe | None:
    """The advice, as the beginning of a sentence."""
    code = page_of(reason)
    if reason.resource:
        return _capital(fmt(_LOWER, reason.resource))
    if code is Code.DEVICES_IN_USE:
        requests = [request for ask in asks for request in ask.requests]
        ways = ["fewer devices"] if any(each.count != 1 for each in requests) else []
        ways += ["other devices" if not ways else "others"] if any(each.selectors for each in requests) else []
        text = "wait until pods that hold such devices end."
        return _capital(fmt("request {}, or {}", Safe(" or ".join(ways)), Safe(text)) if ways else Safe(text))
    return fmt("{}", reason_page(code).advice.replace("`", "")) if code is not None else None


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
        yield from wrapped(fmt("Whether {} all other checks is not known.", which))


def _afterwards(each: OwnHolder) -> Safe:
    """What becomes of a pod that is deleted; what has finished or is a claim that nobody uses is no loss."""
    if each.again is not None:
        return fmt("; its {} starts it again", each.again.kind)
    bare = each.holder.kind == "Pod" and each.held_for in (HeldFor.USED, HeldFor.FAILING)
    return Safe("; it has no controller that starts it again") if bare else Safe("")


def _capital(text: Safe) -> Safe:
    return Safe(text[:1].upper() + text[1:])
