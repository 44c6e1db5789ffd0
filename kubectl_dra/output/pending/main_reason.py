"""The first line of a page: one sentence with the whole cause, over all nodes, claims and alternatives of a pod."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from kubectl_dra.allocation.input.nodes import NAME_FIELD
from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records import (
    Cause,
    ClaimElsewhere,
    ClassOffer,
    ClassProblem,
    Funnel,
    NodeOutcome,
    NodeSelection,
    NoSingleNode,
    PoolProblem,
    StageName,
    Unpublished,
    UnpublishedInConstraint,
)
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.output.pending.asks import extended_title
from kubectl_dra.output.pending.device_plugins import by_device_plugin, plugin_shortage
from kubectl_dra.output.pending.gangs import GROUP_CODES, gang_reason
from kubectl_dra.output.pending.node_names import NAMES, names_of
from kubectl_dra.output.pending.obstacles import CLAUSES, lacking_both, node_clause, obstacle, without_devices
from kubectl_dra.output.pending.passed_over import passed_over_note
from kubectl_dra.output.pending.queues import by_flavor
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.reasons.devices import (
    gone_sentence,
    offer_sentence,
    unpublished_constraint,
    unpublished_sentence,
)
from kubectl_dra.output.pending.reasons.nodes import nowhere
from kubectl_dra.output.pending.set_by_admission import by_runtime
from kubectl_dra.output.pending.shortage import lack_of, lack_on_node, shortage_sentence
from kubectl_dra.output.pending.together import compete, constrained, constraint_over, no_single_node
from kubectl_dra.output.pending.volumes import out_of_reach
from kubectl_dra.output.pending.wanted import Asks, Wanted
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import first_of, listed, plural
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.claims.ask import ExtendedAsk
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.still_blocked import StillBlocked

#: Other pods decide where it may run.
_DRAWN: Final = frozenset({Code.KEPT_AWAY, Code.SPREAD, Code.NO_COMPANY, Code.UNWANTED_COMPANY})
#: Codes that another spec of the claim may end.
_OF_REQUESTS: Final = (Family.DEVICES, Family.ABORTED)


#: What a sentence is made from: a pod, the one that keeps its group waiting, or a pod as it would be.
Report = PendingReport | StillBlocked


def main_reason(report: Report) -> Safe:
    """The clause behind ``Pod X is pending:``, without a full stop; empty where there is no cause."""
    if not report.causes:
        return Safe("")
    return _as_written(_reason(report) + _changed_templates(report), report.extended)


def _as_written(text: Safe, extended: Sequence[ExtendedAsk]) -> Safe:
    """Requests that the scheduler names by itself, as the containers ask for them."""
    for request in sorted((name for each in extended for name in each.requests), key=len, reverse=True):
        title = extended_title(request, extended)
        text = Safe(text.replace(request, title)) if title is not None else text
    return text


def _changed_templates(report: Report) -> Safe:
    """What the claims would ask for by now, had they been made later."""
    about = report.causes[0].claim
    changed = [
        ask.template
        for ask in report.asks
        if ask.template_changed and about is not None and (ask.namespace, ask.name) == (about.namespace, about.name)
    ]
    if not changed or report.causes[0].code.family not in _OF_REQUESTS:
        return Safe("")
    return fmt(". Its claim was made earlier, and template {} has changed since", changed[0])


def _reason(report: Report) -> Safe:
    cause, asks = report.causes[0], Asks(report.asks, report.extended)
    of_gang = gang_reason(report, main_reason) if isinstance(report, PendingReport) else None
    if of_gang is not None:
        return of_gang
    of_nodes = cause.code.family is Family.NODES and cause.code not in GROUP_CODES
    if of_nodes or cause.code is Code.CLAIM_ELSEWHERE:
        told = _on_nodes(cause, report, asks)
        if told is not None:
            return told
    if isinstance(cause.detail, NoSingleNode):
        return no_single_node(cause.detail)
    alternatives = _alternatives(report, asks)
    if alternatives is not None:
        return alternatives
    if isinstance(cause.detail, PoolProblem):
        return _with_a_pool(cause, report, asks)
    told = _sentence(cause, report, asks) + _beside(cause, report) + by_device_plugin(report.nodes, report.extended)
    return _even_guarded(cause, report, asks, told) + _unused_beside(cause, report, asks)


def _sentence(cause: Cause, report: Report, asks: Asks) -> Safe:
    """One cause, with what the request asks for where that is known."""
    if isinstance(cause.detail, UnpublishedInConstraint):
        return unpublished_constraint(cause.detail)
    if cause.code is Code.CONSTRAINT and len(constrained(cause, report.nodes)) > 1:
        return constraint_over(cause, report.nodes)
    told = shortage_sentence(cause, asks, report.nodes)
    if told is not None:
        return told
    if isinstance(cause.detail, ClassOffer) and cause.detail.matching:
        return gone_sentence(cause.detail, asks.of_cause(cause).kind(cause.detail.selected))
    if isinstance(cause.detail, ClassOffer):
        told = offer_sentence(cause.detail, cause.code, _tried(report)) + _kept_from(report, cause.detail)
        return told + _unused_on(cause.detail.nodes, report) + passed_over_note(cause, report.extended)
    if isinstance(cause.detail, Unpublished):
        return unpublished_sentence(cause.detail)
    if cause.code is Code.CONSTRAINT and not isinstance(cause.detail, Funnel):
        return constraint_over(cause, report.nodes)
    if cause.code is Code.REQUESTS_COMPETE:
        return compete(cause, report.nodes, asks)
    return reason_sentence(cause)


def _kept_from(report: Report, offer: ClassOffer) -> Safe:
    """``, which is unreachable``: what rejects the nodes with the devices, where that is the same for all of them."""
    groups = [group for group in report.nodes if group.outcome == NodeOutcome.REJECTED]
    found = next((group for group in groups if 0 < offer.on_nodes == len(set(offer.nodes) & set(group.names))), None)
    if found is None and len(groups) == 1 and len(offer.nodes) < offer.on_nodes <= groups[0].count:
        # Not all names are known, but those that were tried have no devices.
        found = groups[0]
    if found is None or not found.causes:
        return Safe("")
    told = dict.fromkeys(obstacle(cause, several=offer.on_nodes > 1) for cause in found.causes)
    lack = (
        [fmt("{} {}", Safe(plural("has", offer.on_nodes)), lack_of(found, _all_wanted(report)))]
        if found.requests
        else []
    )
    return fmt(", which {}", Safe(", and ").join([*told, *lack]))


def _unused_on(nodes: Collection[str], report: Report) -> Safe:
    """``, but pool b is incomplete: …``: the pools on the nodes of the sentence that the scheduler does not use."""
    found = [each for each in report.causes if isinstance(each.detail, PoolProblem) and {*each.nodes} & {*nodes}]
    return fmt(", but {}", Safe("; ").join(map(reason_sentence, found))) if found else Safe("")


def _tried(report: Report) -> Safe:
    """The few nodes where a pod may run that is kept from others; empty where they are all or many."""
    tried = [group for group in report.nodes if group.outcome == NodeOutcome.CANNOT_ALLOCATE]
    if len(tried) == len(report.nodes) or sum(group.count for group in tried) > NAMES:
        return Safe("")
    return names_of(tried)


def _beside(cause: Cause, report: Report) -> Safe:
    """The alternatives that an error of the claim keeps from being tried."""
    if cause.code is not Code.CLASS_MISSING or not isinstance(cause.detail, ClassProblem) or "/" not in cause.request:
        return Safe("")
    request, _, name = cause.request.partition("/")
    others = [
        each.name.partition("/")[2]
        for ask in report.asks
        for each in ask.requests
        if each.name.startswith(f"{request}/") and each.name != cause.request
    ]
    if not others:
        return Safe("")
    verb = Safe("is" if len(others) == 1 else "are")
    text = ", which alternative {} of request {} names; {} {} not tried until it does"
    return fmt(text, name, request, listed(others), verb)


def _with_a_pool(cause: Cause, report: Report, asks: Asks) -> Safe:
    """A pool that is not used, beside devices that are there and not available."""
    pool = reason_sentence(cause)
    for other in report.causes[1:]:
        told = shortage_sentence(other, asks, report.nodes) if isinstance(other.detail, Funnel) else None
        if told is not None and isinstance(other.detail, Funnel) and other.detail.stage(StageName.SELECTORS).count:
            return fmt("{}. In addition, {}", told, pool)
    return pool


def _unused_beside(cause: Cause, report: Report, asks: Asks) -> Safe:
    """Beside devices that are not available, a pool whose devices would be, or those of a node by another name."""
    if not isinstance(cause.detail, Funnel):
        return Safe("")
    for other in report.causes[1:]:
        if isinstance(other.detail, PoolProblem):
            return fmt(". In addition, {}", reason_sentence(other))
        if isinstance(other.detail, ClassOffer) and other.detail.matching:
            kind = asks.of_cause(other).kind(other.detail.selected)
            return fmt(". In addition, {}", gone_sentence(other.detail, kind, beside=True))
    return Safe("")


def _even_guarded(cause: Cause, report: Report, asks: Asks, told: Safe) -> Safe:
    """``told``, behind what a guarded selector would still lack: it fails on one device, and matches no other."""
    if cause.code is not Code.SELECTOR_FAILS or any(group.outcome == NodeOutcome.FITS for group in report.nodes):
        return told
    for other in report.causes[1:]:
        if other.code is Code.SELECTOR_MATCHES_NOTHING and other.claim == cause.claim:
            return fmt("{}. In addition, {}", _sentence(other, report, asks), told)
    return told


# --- alternatives -----------------------------------------------------------------------------------------------------


def _alternatives(report: Report, asks: Asks) -> Safe | None:
    """Every alternative of a request with its obstacle; None where the first cause is not about one of several."""
    return _every_alternative(report.causes[0], report, asks)


def _alternatives_elsewhere(report: Report, asks: Asks) -> Safe | None:
    """The same of the first request with alternatives, where nodes that could serve it are ruled out."""
    first = next((cause for cause in report.causes if "/" in cause.request), None)
    return _every_alternative(first, report, asks) if first is not None else None


def _every_alternative(first: Cause, report: Report, asks: Asks) -> Safe | None:
    request = first.request.partition("/")[0]
    if "/" not in first.request or first.code.family is not Family.DEVICES or first.code is Code.CLASS_MISSING:
        return None
    found = [c for c in report.causes if c.claim == first.claim and c.request.startswith(f"{request}/")]
    requests = dict.fromkeys(cause.request for cause in found)
    unique = {name: max((cause for cause in found if cause.request == name), key=_reach) for name in requests}
    names = [name for ask in report.asks for r in ask.requests if (name := r.name) in unique]
    texts = [fmt("{}: {}", name.partition("/")[2], _sentence(unique[name], report, asks)) for name in names[:CLAUSES]]
    if not texts:
        return None
    return fmt("no alternative of request {} can be served. {}", request, Safe("; ").join(texts))


def _reach(cause: Cause) -> int:
    """How many checks leave enough devices: where an alternative gets furthest, its obstacle is told."""
    if not isinstance(cause.detail, Funnel):
        return 0
    needed = max(cause.detail.needed, 1)
    return sum(stage.count >= needed for stage in cause.detail.stages)


# --- nodes that other plugins reject ----------------------------------------------------------------------------------


def _on_nodes(first: Cause, report: Report, asks: Asks) -> Safe | None:
    """Which nodes have the devices and what keeps the pod away from them; what the others lack."""
    if isinstance(first.detail, ClaimElsewhere):
        return _claim_elsewhere(first.detail, report, asks)
    if first.code is Code.NO_NODES:
        return None
    needs_none = not (report.asks or report.extended)
    rejected = [group for group in report.nodes if group.outcome == NodeOutcome.REJECTED]
    with_devices = [group for group in rejected if needs_none or group.devices_fit is not Fits.NO]
    wanted = _all_wanted(report)
    if not with_devices:
        return lacking_both(rejected, wanted)
    placed = _placement(with_devices, report, wanted)
    if placed is not None:
        return placed
    unserved = _alternatives_elsewhere(report, asks)
    if unserved is not None:
        texts = [node_clause(group, Safe("the devices")) for group in with_devices[:CLAUSES]]
        return fmt("{}. On the other nodes {}", Safe("; ").join(texts), unserved)
    devices = Safe("the device" if _single(report) else "the devices") if report.asks or report.extended else None
    lacks = list(without_devices(report.nodes, CLAUSES, wanted))
    if devices is not None and lacks:
        troubles = [cause.detail for group in with_devices for cause in group.causes]
        has = fmt("{} {}", Safe(plural("has", sum(group.count for group in with_devices))), devices)
        told = out_of_reach(troubles, names_of(with_devices), has, Safe("; ").join(lacks))
        if told is not None:
            return told
    # What a device plugin offers are no devices of a driver.
    plugins = [each for each in with_devices if not report.asks and plugin_shortage(each, report.extended) is not None]
    texts = [node_clause(each, None if each in plugins else devices) for each in with_devices[:CLAUSES]]
    # Where other pods draw it elsewhere, that there are no devices is the other half.
    drawn = any(cause.code in _DRAWN for group in with_devices for cause in group.causes)
    texts += without_devices(report.nodes, CLAUSES - len(texts), wanted, some=not drawn)
    return Safe("; ").join(texts)


def _placement(with_devices: Sequence[NodeGroupRecord], report: Report, wanted: Safe) -> Safe | None:
    """The pod's node selector points away from the devices."""
    selections = [
        cause.detail
        for group in with_devices
        for cause in group.causes
        if cause.code is Code.NODE_AFFINITY and isinstance(cause.detail, NodeSelection) and cause.detail.unmatched
    ]
    if len(selections) != len(with_devices):
        return None
    wishes = listed(list(dict.fromkeys(text for each in selections for text in each.unmatched)))
    allowed = [g for g in report.nodes if all(cause.code is not Code.NODE_AFFINITY for cause in g.causes)]
    where = fmt(" ({})", names_of(allowed)) if allowed else (nowhere(selections) or Safe(" (no node matches)"))
    if allowed and wishes == f"{HOSTNAME}={allowed[0].names[0]}":
        where = Safe("")
    admission = report.admission if isinstance(report, PendingReport) else None
    only = fmt("it may only run on nodes with {}{}{}{}", wishes, where, by_flavor(admission), by_runtime(selections))
    if allowed and wishes.startswith(f"{NAME_FIELD} In "):
        only = fmt("it may only run on {}, as its node affinity says", names_of(allowed))
    assigned = admission.assigned if admission is not None else ""
    if assigned and wishes == f"{HOSTNAME}={assigned}":
        own = next((g for g in allowed if g.outcome == NodeOutcome.CANNOT_ALLOCATE), None)
        if own is not None:
            has = Safe(plural("has", sum(group.count for group in with_devices)))
            text = "Kueue assigned it to {}, which has {}; {} {} enough"
            return fmt(text, assigned, lack_of(own, wanted), names_of(with_devices), has)
    if not (report.asks or report.extended) or any(group.devices_fit is not Fits.YES for group in with_devices):
        return only
    unused = _unused_on([name for group in allowed for name in group.names], report) or _taken_on(allowed, wanted)
    text = "{}{}. The free {} are on {}" if unused else "{}{}, and the free {} are on {}"
    return fmt(text, only, unused, _selected(report, wanted), names_of(with_devices))


def _taken_on(allowed: Sequence[NodeGroupRecord], wanted: Safe) -> Safe:
    """``, which has no free GPUs: all 4 are tainted (…)``: the only nodes where a pod may run, if some match."""
    (own,) = allowed if len(allowed) == 1 else (None,)
    funnels = [each.funnel for each in own.requests if each.funnel is not None] if own is not None else []
    if own is None or own.outcome != NodeOutcome.CANNOT_ALLOCATE or not any(map(_matching, funnels)):
        return Safe("")
    return fmt(", which {} {}", Safe(plural("has", own.count)), lack_of(own, wanted))


def _matching(funnel: Funnel) -> int:
    return funnel.stage(StageName.SELECTORS).count


def _selected(report: Report, wanted: Safe) -> Safe:
    """The devices that the selectors leave: others of the class may be free on nodes where the pod may run."""
    requests = [request for ask in report.asks for request in ask.requests]
    if not any(request.selectors for request in requests):
        return wanted
    if len(requests) > 1:
        return Safe("devices that match its requests")
    return Wanted(requests[0].device_class, None, requests[0].selectors).kind(2)


def _claim_elsewhere(elsewhere: ClaimElsewhere, report: Report, asks: Asks) -> Safe | None:
    """A claim that is allocated already, and what keeps the pod from the nodes where it can be used."""
    usable = set(elsewhere.nodes)
    cause = report.causes[0]
    name = cause.claim.name if cause.claim is not None else ""
    users = [ref.name for ref in elsewhere.consumers]
    by = fmt(" (in use by {})", first_of(users, NAMES)) if users else Safe("")
    lead = fmt("its ResourceClaim {} is already allocated on {}{}", name, listed(elsewhere.nodes[:NAMES]), by)
    groups = [group for group in report.nodes if usable & set(group.names) and group.causes]
    if not usable or not groups:
        return None
    group = groups[0]
    chosen = group.causes[0].detail
    if isinstance(chosen, NodeSelection) and chosen.unmatched:
        return fmt("{}, but the pod may only run on nodes with {}", lead, listed(chosen.unmatched))
    told = [_lacks(each, group, asks) or obstacle(each, several=group.count > 1) for each in group.causes]
    return fmt("{}, but that node {}", lead, Safe(", and ").join(told))


def _lacks(cause: Cause, group: NodeGroupRecord, asks: Asks) -> Safe | None:
    """Which devices are not available on the nodes of a group, if that is what the cause is about."""
    found = (each.funnel for each in group.requests if (each.claim, each.request) == (cause.claim, cause.request))
    funnel = next(found, None)
    return lack_on_node(cause, funnel, asks) if funnel is not None else None


# --- small parts ------------------------------------------------------------------------------------------------------


def _single(report: Report) -> bool:
    """Whether the pod needs one device in all."""
    counts = [request.count for ask in report.asks for request in ask.requests]
    return counts == [1] or (not counts and sum(each.count for each in report.extended) == 1)


def _all_wanted(report: Report) -> Safe:
    """``gpu.example.com devices``; only ``devices`` where the pod asks for several classes."""
    classes = {request.device_class for ask in report.asks for request in ask.requests}
    classes |= {each.device_class for each in report.extended}
    number = 1 if _single(report) else 2
    if len(classes) != 1:
        return Safe("devices")
    request = next((request for ask in report.asks for request in ask.requests), None)
    if request is None:
        return Wanted(classes.pop()).kind(number)
    return Wanted(request.device_class, request.count, request.selectors).kind(2, selected=False)
