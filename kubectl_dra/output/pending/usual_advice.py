"""What usually helps where no change is verified: words about the first cause, or the advice of the reason's page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ClassOffer, LabelOnNodes
from kubectl_dra.diagnosis.records.nodes import key_of_taint, tells_of_node
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.taint_text import removes_node
from kubectl_dra.output.explain.pages import reason_page
from kubectl_dra.output.pending.amounts import amount_phrase
from kubectl_dra.output.pending.gang_words import workload_advice
from kubectl_dra.output.pending.lingering import lingering_advice
from kubectl_dra.output.pending.passed_over import passed_over, passed_over_advice
from kubectl_dra.output.pending.quotas import quota_advice
from kubectl_dra.output.pending.said_advice import advice_on_words
from kubectl_dra.output.pending.siblings import sibling_advice
from kubectl_dra.output.pending.unready import ADVICE
from kubectl_dra.output.pending.volumes import volume_advice
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.invocations import changing, kubectl, plain_word
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.unready import UnreadyNode

_NODE_STATE: Final = Safe(
    "Repair the node; Kubernetes removes the taint by itself once the node is well again. A pod that tolerates it gets "
    "no working node. Or add a node like it."
)
_LEAVES: Final = Safe(
    "The node is about to be removed, with all pods on it: wait for its replacement, free devices on "
    "another node, or add a node."
)
_OWNED: Final = "Delete the pod: its owner makes a new one, and the controller makes a claim that belongs to it."
_BARE: Final = "Create the pod again: nothing else does, and the controller then makes a claim that belongs to it."
_NO_DRIVER: Final = Safe(
    "The class alone does not help: a cluster administrator installs the driver, whose chart creates the class."
)
#: What pages write where a name belongs.
_CAPITALS: Final = re.compile(r"\b(?:CLASS|CLAIM|POD|NAMESPACE|NODE)\b")

#: Of a scheduler that has written something about the pod.
_WRITTEN: Final = " Where it has written a message it runs, and the message says what it waits for."

#: What the page of such a reason advises is to wait until other pods have ended, or to delete them.
_WAITS_FOR_PODS: Final = (Code.CLAIM_BEING_DELETED, Code.CLAIM_ELSEWHERE, Code.VOLUME_IN_USE, Code.NODE_PORTS)


def usual_advice(report: PendingReport, code: Code) -> Safe:
    """What helps against the first cause of its kind."""
    told: Safe | None = None
    if report.failing and code is Code.DEVICES_IN_USE:
        nodes = listed(list(dict.fromkeys(each.node for each in report.failing)))
        return fmt("Get the driver to run on {}: the devices there are not published before.", nodes)
    if report.siblings is not None and report.siblings.hold_all:
        return sibling_advice(report.siblings)
    waits_for_it = report.verdict in (records.Verdict.DELETING, records.Verdict.PREPARING) or code in _WAITS_FOR_PODS
    if waits_for_it and (ends := lingering_advice(report.lingering)) is not None:
        return ends
    other = passed_over(report.causes[0], report.extended)
    if other is not None:
        return passed_over_advice(other)
    match report.causes[0].detail:
        case records.NoSingleNode() as found:
            return _bring_together(found)
        case records.WorkloadGang() as gang:
            told = workload_advice(gang)
        case records.VolumeTrouble() as trouble:
            told = volume_advice(trouble)
        case records.QuotaShortage() as shortage:
            told = quota_advice(shortage)
        case records.NodeTaint(taint=taint) if tells_of_node(taint):
            leaves = removes_node(key_of_taint(taint))
            told = _in_file(report, taint, report.causes[0].nodes) or _until_ready(report.unready)
            told = told or (_LEAVES if leaves else _NODE_STATE)
        case records.PoolProblem(pool=pool, expected=expected) as problem if expected and pool in report.in_files.pools:
            told = _incomplete_in_file(problem)
        case records.ClassOffer(nowhere=labels) as offer if labels:
            told = _label_advice(offer)
        case records.ClassOffer() as offer if _are_unwell(report, offer):
            told = _NODE_STATE
    return told or advice_on_words(report) or page_advice(report, code)


def _until_ready(nodes: Sequence[UnreadyNode]) -> Safe | None:
    return fmt(ADVICE, nodes[0].remover) if nodes else None


def _in_file(report: PendingReport, taint: str, nodes: Sequence[str]) -> Safe | None:
    """What to change in a Node manifest that was taken from a node which was not ready yet."""
    written = [name for name in nodes if name in report.in_files.nodes]
    if not written or len(written) < len(nodes):
        return None
    text = "Drop taint {} from spec.taints of Node {} in the files: Kubernetes removes it from a node that is ready."
    return fmt(text, taint, listed(written))


def _incomplete_in_file(problem: records.PoolProblem) -> Safe:
    text = "The files have {} of the {} ResourceSlices of pool {}: add the others, or correct resourceSliceCount."
    return fmt(text, problem.seen, problem.expected, problem.pool)


def _are_unwell(report: PendingReport, offer: records.ClassOffer) -> bool:
    """Whether all nodes with devices are kept from pods for their state; ``offer`` names only a few of many."""
    unwell = [group for group in report.nodes if any(_tells_of_state(cause) for cause in group.causes)]
    others = [group for group in report.nodes if group not in unwell]
    named = any(not set(offer.nodes).isdisjoint(group.names) for group in others)
    fitting = any(group.devices_fit is Fits.YES for group in others)
    return 0 < offer.on_nodes <= sum(group.count for group in unwell) and not (named or fitting)


def _tells_of_state(cause: records.Cause) -> bool:
    return isinstance(cause.detail, records.NodeTaint) and tells_of_node(cause.detail.taint)


def _bring_together(found: records.NoSingleNode) -> Safe:
    """What every request lacks on the node of another, and the pod in parts."""
    ways = [
        fmt("{} on {}", amount_phrase(one), other.nodes[0].node)
        for one in found.requests
        for other in found.requests
        if one is not other and other.nodes
    ]
    text = "Publish or release {}; or split the work into several pods, each with one of the requests."
    return fmt(text, listed(ways, "or"))


def _of_another_scheduler(report: PendingReport, text: str) -> str:
    """Without what does not hold for this pod: one of no gang, one of which nothing was written, or something was."""
    detail = report.causes[0].detail
    if isinstance(detail, records.SchedulerName | records.GangElsewhere) and detail.words:
        # It runs, as it has written about this very pod.
        return text[text.find("Of a gang ") :] if "Of a gang " in text else ""
    of_gang = isinstance(detail, records.GangElsewhere) and bool(detail.name)
    text = text if of_gang else text.partition(" Of a gang ")[0]
    return text.replace(_WRITTEN, "") if report.observed is None else text


def page_advice(report: PendingReport, code: Code) -> Safe:
    """The advice of the reason's page, with the names of this pod in place of the words in capitals."""
    cause, text = report.causes[0], reason_page(code).advice.replace("`", "")
    if code is Code.CLASS_MISSING and report.existing is not None:
        known, or_name, rest = report.existing.comes_with, *text.partition(" Or name an existing class")[1:]
        lead = _NO_DRIVER if known is not None else safe(text.removesuffix(or_name + rest))
        return lead + safe(or_name + rest) if report.existing.count else lead
    detail = cause.detail
    if code is Code.OTHER_SCHEDULER:
        text = _of_another_scheduler(report, text)
    if code is Code.CLAIM_NOT_OWNED:
        text = _OWNED if report.owner is not None else _BARE
    if isinstance(detail, records.FatalError) and detail.consumers:
        text = _of_consumers(text, sorted(each.resource for each in detail.consumers))
    if code is Code.EXTENDED_CLAIM_LEFT_OVER and isinstance(detail, records.Consumers):
        # The scheduler has deleted it.
        text = "".join(text.partition("If its deletion")[1:])
    names = {"POD": report.pod.name, "NAMESPACE": report.pod.namespace}
    if cause.claim is not None:
        names["CLAIM"] = cause.claim.name
    fitting = [group.names[0] for group in report.nodes if group.outcome == records.NodeOutcome.FITS and group.names]
    if fitting or report.node:
        names["NODE"] = report.node or (*report.best_nodes, *fitting)[0]
    if isinstance(detail, records.ClassOffer | records.ClassProblem | records.Unpublished):
        names["CLASS"] = detail.device_class
    return safe(_CAPITALS.sub(lambda word: names.get(word[0]) or word[0], text))


def _of_consumers(text: str, kinds: Sequence[str]) -> str:
    """The advice of a claim with all its consumers, with what removes those that it has."""
    lead, end, _ = text.partition("Or end consumers of this claim: ")
    if "pods" not in kinds:
        return f"{lead}{end}they are {listed(kinds)}, which are removed by whoever made them."
    return f"{lead}{end}the controller removes pods that have ended." if len(kinds) == 1 else text


def _label_advice(offer: ClassOffer) -> Safe:
    """The label on the nodes, or the selector of the slices: neither is the pod's."""
    text = (
        "A cluster administrator gives the nodes that reach these devices the label {}, or corrects the nodeSelector "
        "that the driver writes into its ResourceSlices. A change of the pod or of its claim does not help."
    )
    return fmt(text, safe(_label(offer.nowhere[0])))


def label_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """How a node gets the label."""
    detail = report.causes[0].detail
    if not isinstance(detail, ClassOffer) or not detail.nowhere or report.idle_drivers:
        return
    words = kubectl("label", "node", "NODE", plain_word(_label(detail.nowhere[0])), "--overwrite")
    yield from command_line("For each of these nodes: {}", changing(words, address))


def _label(found: LabelOnNodes) -> str:
    """``KEY=VALUE`` of what is wanted, with the first of several values; a label that only has to exist has none."""
    if found.wish == f"{found.label} Exists":
        return f"{found.label}="
    _, several, values = found.wish.partition(" In [")
    return f"{found.label}={values.rstrip(']').split()[0]}" if several else found.wish
