"""What helps where only the scheduler's words tell why: against what the nodes lack that have passed all else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import HeardReason, HeldFor, MissingEvidence, OwnHolder
from kubectl_dra.diagnosis.said.heard import nearest
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.heard import page_of, said_of
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.claims.ask import ClaimAsk
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading
from kubectl_dra.reports.pending.pending import PendingReport

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
    reason = nearest(said.heard)
    helps = _against(reason, report.asks)
    if helps is None:
        return
    yield from wrapped(fmt("What usually helps: {}{}", _nearest_way(reason, said), helps))
    if page_of(reason) is not Code.DEVICES_IN_USE:
        return
    yield from _own(said.own, address)
    if not any(each.kind == "ResourceSlice" for each in said.missing):
        yield from command_line(
            "Who holds which, as far as it could be read: {}", reading(dra("get", "devices"), address)
        )


def _nearest_way(reason: HeardReason, said: MissingEvidence) -> Safe:
    """Why it is this reason of several that is worth a change."""
    others = said.heard_nodes - reason.nodes
    if len(said.heard) == 1 or others <= 0 or page_of(reason) is not Code.DEVICES_IN_USE:
        return Safe("")
    passes, lacks = ("node passes", "lacks") if reason.nodes == 1 else ("nodes pass", "lack")
    rest = Safe("other node has" if others == 1 else f"other {others} nodes have")
    text = "{} {} all other checks and only {} free devices: that is the nearest way. Whether the {} any is not known. "
    return fmt(text, reason.nodes, Safe(passes), Safe(lacks), rest)


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


def _own(own: Sequence[OwnHolder], address: Address) -> Iterator[Safe]:
    """Who of the pod's namespace has such devices, with the command that ends it."""
    for each in own:
        kind = Safe("Pod" if each.holder.kind == "Pod" else "Claim")
        again = fmt("; its {} starts it again", each.again.kind) if each.again is not None else Safe("")
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
    nodes = {each.node for each in own if each.held_for is not HeldFor.ENDING}
    if nodes:
        which = Safe("this node passes" if len(nodes) == 1 else "these nodes pass")
        yield from wrapped(fmt("Whether {} the other checks could not be read.", which))


def _capital(text: Safe) -> Safe:
    return Safe(text[:1].upper() + text[1:])
