"""What devices a pod lacks: classes, selectors, free devices, capacity, constraints, pools."""

from __future__ import annotations

from typing import Final

from kubectl_dra.allocation.input.pool_faults import PoolFault
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.devices.pool_lack import without_sets
from kubectl_dra.output.pending.reasons.nodes import label_note
from kubectl_dra.output.pending.reasons.sentence import Sentence, object_name, with_detail
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, did_you_mean, listed, plural
from kubectl_dra.reports.devices.pool_state import FAULTS
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX
from kubectl_dra.selectors.comparisons import short_clause


def _class_missing(problem: records.ClassProblem, _cause: records.Cause) -> Safe:
    return fmt("DeviceClass {} does not exist{}", problem.device_class, did_you_mean(problem.similar[:1], " (", ")"))


def _unserved(resource: records.ExtendedResource, _cause: records.Cause) -> Safe:
    if resource.resource.startswith(DEVICE_CLASS_PREFIX):
        name = resource.resource.removeprefix(DEVICE_CLASS_PREFIX)
        return fmt("it requests {}, and DeviceClass {} does not exist", resource.resource, name)
    return fmt("no DeviceClass and no node offers the resource {}", resource.resource)


def offer_sentence(offer: records.ClassOffer, code: Code, tried: Safe | None = None) -> Safe:
    """What a class has, of which no node that was tried has enough; ``tried``: the names of these, where few are."""
    name = offer.device_class
    if code is Code.NO_DEVICE_IN_CLASS:
        return fmt("no driver publishes devices for class {}: there are no ResourceSlices with devices", name)
    if code is Code.CLASS_SELECTS_NOTHING:
        return _selects_nothing(offer)
    if code is Code.DEVICES_OF_GONE_NODES:
        verb = Safe(plural("is", offer.selected))
        text = "the {} of class {} {} published for {}, {}; for the nodes that exist there are none"
        return fmt(text, counted(offer.selected, "device"), name, verb, _places(offer), _no_nodes(offer))
    wanted = Safe("device") if offer.needed <= 1 and not offer.all_devices else Safe("devices")
    count = counted(offer.selected, "device")
    if offer.nowhere:
        return _for_no_node(offer)
    if not offer.nodes:
        text = "none of the nodes where the pod may run can use the {} of class {}"
        return fmt(text, count, name)
    where, verb = _places(offer), Safe(plural("is", offer.selected))
    if tried:
        text = "it may only run on {}, without {} {}: the {} of the class {} on {}"
        return fmt(text, tried, name, Safe("devices"), count, verb, where)
    text = "no node where the pod may run has the {} {} that it requests: the {} of the class {} on {}"
    return fmt(text, name, wanted, count, verb, where)


def gone_sentence(offer: records.ClassOffer, kind: Safe, *, beside: bool = False) -> Safe:
    """Devices of a ``kind``, all that match or some ``beside`` others, of nodes that do not exist."""
    number, verb = offer.selected, Safe(plural("is", offer.selected))
    few = {1: Safe("the only"), 2: Safe("both")}
    amount = few.get(number, fmt("all {:,}", number)) if not beside else fmt("{:,}", number)
    return fmt("{} {} {} published for {}, {}", amount, kind, verb, _places(offer), _no_nodes(offer))


def _no_nodes(offer: records.ClassOffer) -> Safe:
    """That the cluster does not have the nodes of a pool, and which it may mean."""
    if offer.meant:
        what = Safe("which does not exist" if offer.on_nodes == 1 else "which do not exist")
        meant = offer.meant[:_NODES]
        more = len(offer.meant) - len(meant)
        names = fmt("{} +{}", Safe(", ").join(map(safe, meant)), more) if more else listed(meant)
        return fmt("{} ({} may be meant)", what, names)
    return Safe("which no longer exists" if offer.on_nodes == 1 else "which no longer exist")


def _for_no_node(offer: records.ClassOffer) -> Safe:
    """Labels that no node has: whatever the pod requires, none reaches the devices."""
    wishes = list(dict.fromkeys(label.wish for label in offer.nowhere))
    where = (
        listed(wishes, "or") if len(wishes) <= _NODES else fmt("{} or {}", wishes[0], counted(len(wishes) - 1, "other"))
    )
    verb = Safe(plural("is", offer.selected))
    text = "no node can use the {} of class {}, which {} published for nodes with {}{}"
    of_nodes = label_note(offer.nowhere[0])
    return fmt(text, counted(offer.selected, "device"), offer.device_class, verb, where, of_nodes)


def _places(offer: records.ClassOffer) -> Safe:
    """``a, b, c +5``: the record has the names of the first nodes only."""
    shown = offer.nodes[:_NODES]
    more = offer.on_nodes - len(shown)
    return fmt("{} +{}", Safe(", ").join(map(safe, shown)), more) if more > 0 else listed(shown)


def _selects_nothing(offer: records.ClassOffer) -> Safe:
    text = "DeviceClass {} selects none of the {} published {}: its selector is {}, but the devices are published by {}"
    if offer.clause:
        text = (
            "DeviceClass {} selects none of the {} published {}: its selector needs {}, but the devices have {} there"
        )
        devices = Safe(plural("device", offer.published))
        clause = short_clause(offer.clause)
        return fmt(text, offer.device_class, offer.published, devices, clause, listed(offer.seen, "or"))
    unclear = offer.similar and set(offer.similar) != set(offer.drivers)
    near = did_you_mean(offer.similar if unclear else (), " (", ")")
    devices = Safe(plural("device", offer.published))
    selector = short_clause(offer.selector)
    return fmt(text, offer.device_class, offer.published, devices, selector, listed(offer.drivers)) + near


def unpublished_sentence(found: records.Unpublished) -> Safe:
    """An attribute that no device of the class has, and what they have."""
    what = Safe("attribute" if found.field == "attributes" else "capacity")
    have = fmt("; they publish {}", listed(found.names)) if found.names else Safe("")
    if found.elsewhere:
        have = fmt("; they publish it in the domain {}", listed(found.elsewhere, "or"))
    near = did_you_mean(found.similar, " (", ")")
    text = "a selector needs the {} {}/{}, which none of the {} of class {} publishes{}{}"
    count = counted(found.devices, "device")
    return fmt(text, what, found.domain, found.name, count, found.device_class, have, near)


def unpublished_constraint(found: records.UnpublishedInConstraint) -> Safe:
    """The attribute of a constraint that none of the devices has."""
    over = fmt(" over {}", listed(found.requests)) if len(found.requests) > 1 else Safe("")
    have = fmt("; they publish {}", listed(found.elsewhere or found.similar, "or"))
    if not (found.elsewhere or found.similar):
        # The record has the first of them only, and not how many there are.
        names = [*found.names[:_PUBLISHED], *(["others"] if len(found.names) > _PUBLISHED else [])]
        have = fmt("; they publish {}", listed(names)) if names else Safe("; they publish no attributes")
    device = fmt("{} device", listed(found.classes, "or")) if found.classes else Safe("device of its class")
    text = "the constraint{} compares {}, which no {} publishes, on any node{}"
    return fmt(text, over, found.attribute, device, have)


def _offered(cause: records.Cause) -> Safe:
    return offer_sentence(cause.detail, cause.code) if isinstance(cause.detail, records.ClassOffer) else _nothing(cause)


def _nothing(cause: records.Cause) -> Safe:
    if isinstance(cause.detail, records.Funnel):
        return fmt("no node has {} of the class", wanted(cause.detail))
    return Safe(cause.code.meaning)


def _unpublished(found: records.Unpublished, _cause: records.Cause) -> Safe:
    return unpublished_sentence(found)


def _no_single_node(found: records.NoSingleNode, _cause: records.Cause) -> Safe:
    requests = listed([request.request for request in found.requests])
    return fmt("no single node can serve {} together", requests)


def wanted(funnel: records.Funnel) -> Safe:
    """``4 devices``, ``a device``, ``all devices``: what a request needs."""
    if funnel.all_devices:
        return Safe("all devices")
    return Safe("a device") if funnel.needed == 1 else counted(funnel.needed, "device")


def _left(funnel: records.Funnel) -> int:
    return len(funnel.left)


def _closest(funnel: records.Funnel, have: int) -> Safe:
    """How near the best node is; nothing where no node has any."""
    if have <= 0 or funnel.needed <= 1 or funnel.all_devices:
        return Safe("")
    return fmt(". The closest is {}, with {} of {}", funnel.node, have, funnel.needed)


#: So many attributes are named in place of one that nothing publishes.
_PUBLISHED: Final = 4
_NODES: Final = 3
_VERBS: Final = {"match": ("matches", "match"), "be": ("is", "are")}


def _few(text: str) -> Sentence:
    """A sentence about the devices that a request needs; its verbs agree with their number."""

    def say(funnel: records.Funnel, _cause: records.Cause) -> Safe:
        one = funnel.needed == 1 and not funnel.all_devices
        verbs = {name: Safe(forms[0] if one else forms[1]) for name, forms in _VERBS.items()}
        return fmt(text, wanted(funnel), **verbs) + _closest(funnel, _left(funnel))

    return with_detail(records.Funnel, say)


def _removed_by(funnel: records.Funnel, names: tuple[records.StageName, ...]) -> tuple[str, ...]:
    reasons = [removal.reason for removal in funnel.removed if removal.stage in names]
    return tuple(dict.fromkeys(reasons))


def _tainted(funnel: records.Funnel, _cause: records.Cause) -> Safe:
    taints = _removed_by(funnel, (records.StageName.TAINTS,))
    by = fmt(" ({})", listed(taints)) if taints else Safe("")
    return fmt("no node has {} without a taint{}", wanted(funnel), by) + _closest(funnel, _left(funnel))


def _constraint(funnel: records.Funnel, _cause: records.Cause) -> Safe:
    name = funnel.constraint.rpartition("/")[2]
    if funnel.distinct:
        return fmt("no node has {} free that all differ in {}", wanted(funnel), name) + _closest(
            funnel, funnel.together
        )
    free = fmt("{} free devices", funnel.needed) if funnel.needed != 1 else Safe("a free device")
    return fmt("no node has {} in one {}", free, name) + _closest(funnel, funnel.best or 0)


def _left_over(cause: records.Cause) -> Safe:
    told = fmt("an earlier attempt has left ResourceClaim {}", object_name(cause.claim))
    match cause.detail:
        case records.Consumers(finalizers=(_, *_) as finalizers):
            what = plural("finalizer", len(finalizers))
            text = "{}, whose deletion waits for the {} {}; as long as it is there, the scheduler rejects every node"
            return fmt(text, told, what, listed(finalizers))
    return fmt("{}, which the scheduler deletes before it tries again", told)


def _elsewhere(elsewhere: records.ClaimElsewhere, cause: records.Cause) -> Safe:
    where = listed(elsewhere.nodes) if elsewhere.nodes else safe(elsewhere.selector)
    at = fmt(" (it can be used on {})", where) if where else Safe("")
    return fmt("its ResourceClaim {} is allocated on a node where the pod cannot run{}", object_name(cause.claim), at)


def _binding_failed(problem: records.BindingProblem, cause: records.Cause) -> Safe:
    what = fmt("reported {}", problem.failed) if problem.failed else Safe("was not ready in time")
    if problem.failed and problem.message:
        what = fmt("failed to bind: {} ({})", problem.message.rstrip("."), problem.failed)
    return fmt("device {} of claim {} {}", problem.device, object_name(cause.claim), what)


def _pool_incomplete(pool: records.PoolProblem, _cause: records.Cause) -> Safe:
    return fmt(
        "pool {} is incomplete: {} of its {} ResourceSlices (generation {}) {} published{}, so none of its devices "
        "can be allocated",
        pool.pool,
        pool.seen,
        pool.expected,
        pool.generation,
        Safe(plural("is", pool.seen)),
        without_sets(pool.undefined),
    )


def _pool_outdated(pool: records.PoolProblem, _cause: records.Cause) -> Safe:
    newer = pool.detail.removeprefix("generation ")
    count = counted(pool.devices, "device") if pool.devices else Safe("devices that match")
    text = "pool {} no longer publishes {}: its newest generation, {}, lacks {}, and generation {} no longer counts"
    whom = Safe("it" if pool.devices == 1 else "them")
    return fmt(text, pool.pool, count, newer, whom, pool.generation)


def _pool_invalid(cause: records.Cause) -> Safe:
    if isinstance(cause.detail, records.FatalError):
        return fmt(
            "{} publishes device {} twice, which ends every scheduling attempt that reaches it",
            cause.detail.owner,
            cause.detail.device,
        )
    return with_detail(records.PoolProblem, _unused_pool)(cause)


def _unused_pool(pool: records.PoolProblem, _cause: records.Cause) -> Safe:
    fault, _, what = pool.detail.partition(" ")
    said = FAULTS[PoolFault(fault)] if fault in FAULTS else None
    # Names of devices have no slash, unless a file has what no server takes.
    names = what.split("/", 1)[::-1] if fault == PoolFault.UNKNOWN_COUNTER else [what]
    detail = fmt(said, *names) if said is not None else safe(pool.detail)
    return fmt("pool {} is invalid and none of its devices can be allocated: {}", pool.pool, detail)


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.CLASS_MISSING: with_detail(records.ClassProblem, _class_missing),
    Code.EXTENDED_RESOURCE_UNSERVED: with_detail(records.ExtendedResource, _unserved),
    Code.NO_DEVICE_IN_CLASS: _offered,
    Code.CLASS_SELECTS_NOTHING: _offered,
    Code.DEVICES_OF_GONE_NODES: _offered,
    Code.ATTRIBUTE_UNPUBLISHED: with_detail(records.Unpublished, _unpublished),
    Code.SELECTOR_MATCHES_NOTHING: _few("no node has {} that {match} the selectors"),
    Code.TOO_FEW_DEVICES: _few("no node has {}"),
    Code.DEVICES_IN_USE: _few("no node has {} that {match} and {be} not in use"),
    Code.DEVICES_TAINTED: with_detail(records.Funnel, _tainted),
    Code.CAPACITY_TOO_SMALL: _few("no node has {} with the requested capacity left"),
    Code.CAPACITY_UNOBTAINABLE: _few("no node has {} that can give the requested capacity"),
    Code.COUNTERS_EXHAUSTED: _few("no node has {} that the shared counters of its pool still allow"),
    Code.ALL_MODE_BLOCKED: _few("a request needs {} of its kind on a node, and on no node all of them are available"),
    Code.DEVICES_FOR_OTHER_NODES: _offered,
    Code.DEVICES_UNUSABLE: _few("no node has {} that can be used with the features that are on"),
    Code.CONSTRAINT: with_detail(records.Funnel, _constraint),
    Code.CLAIM_ELSEWHERE: with_detail(records.ClaimElsewhere, _elsewhere),
    Code.BINDING_FAILED: with_detail(records.BindingProblem, _binding_failed),
    Code.EXTENDED_CLAIM_LEFT_OVER: _left_over,
    Code.POOL_INCOMPLETE: with_detail(records.PoolProblem, _pool_incomplete),
    Code.POOL_INVALID: _pool_invalid,
    Code.POOL_OUTDATED: with_detail(records.PoolProblem, _pool_outdated),
    Code.NO_SINGLE_NODE: with_detail(records.NoSingleNode, _no_single_node),
}
