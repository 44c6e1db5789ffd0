"""One sentence per reason code: what is wrong, with the names and numbers of its evidence.

Every sentence is a clause that can follow "Pod X cannot be scheduled:", without a full stop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates import ADMIN_LABEL
from kubectl_dra.diagnosis.records import (
    BindingProblem,
    Cause,
    ClaimElsewhere,
    ClaimEntry,
    ClassOffer,
    ClassProblem,
    Company,
    Consumers,
    ContainerWaits,
    Departure,
    ExtendedResource,
    FatalError,
    Funnel,
    GangElsewhere,
    Gates,
    Health,
    IgnoredResource,
    KeptAway,
    KubeletText,
    MissingEvidence,
    MissingFeatures,
    Negotiation,
    NodeSelection,
    NodeShortage,
    NodeTaint,
    NoSingleNode,
    ObjectRef,
    OpenPlugins,
    ParametersProblem,
    PluginText,
    PoolProblem,
    QuotaShortage,
    Refusal,
    SchedulerName,
    SearchSize,
    Spread,
    StageName,
    TakenPorts,
    Unpublished,
    VanishedDevices,
    VolumeTrouble,
)
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.output.pending.amounts import shortage_text
from kubectl_dra.output.pending.gangs import GROUP_CODES, elsewhere_sentence, group_sentence
from kubectl_dra.output.pending.removals import short_clause
from kubectl_dra.output.pending.volumes import volume_sentence
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, plural, shortened

DetailT = TypeVar("DetailT")
_INNER: Final = 2
_LONG_ERROR: Final = 80
Sentence = Callable[[Cause], Safe]


def title(code: Code | None) -> Safe:
    """The few words of a code; a dash without one."""
    return Safe(code.label) if code is not None else Safe("-")


def reason_sentence(cause: Cause) -> Safe:
    """The clause of one cause; the code's general meaning where its evidence does not allow a more precise one."""
    sentence = _SENTENCES.get(cause.code)
    return sentence(cause) if sentence is not None else Safe(cause.code.meaning)


def object_name(ref: ObjectRef | None) -> Safe:
    """``namespace/name``, or the name alone for cluster-scoped objects."""
    return safe(str(ref.key)) if ref is not None else Safe("")


def _with(kind: type[DetailT], say: Callable[[DetailT, Cause], Safe]) -> Sentence:
    return partial(_said, kind, say)


def _said(kind: type[DetailT], say: Callable[[DetailT, Cause], Safe], cause: Cause) -> Safe:
    return say(cause.detail, cause) if isinstance(cause.detail, kind) else Safe(cause.code.meaning)


# --- nothing is tried -----------------------------------------------------------------------------------------------


def _gates(gates: Gates, _cause: Cause) -> Safe:
    return fmt(
        "it has the scheduling {} {}, which the controller that set {} has to remove",
        Safe(plural("gate", len(gates.names))),
        listed(gates.names),
        Safe("it" if len(gates.names) == 1 else "them"),
    )


def _claim_missing(entry: ClaimEntry, cause: Cause) -> Safe:
    return fmt(
        'it waits for ResourceClaim "{}", which does not exist', cause.claim.name if cause.claim else entry.entry
    )


def _not_created(entry: ClaimEntry, _cause: Cause) -> Safe:
    return fmt('its claim "{}" was not created from ResourceClaimTemplate "{}" yet', entry.entry, entry.template)


def _template_missing(entry: ClaimEntry, _cause: Cause) -> Safe:
    return fmt('it needs ResourceClaimTemplate "{}", which does not exist', entry.template)


def _creation_failed(entry: ClaimEntry, _cause: Cause) -> Safe:
    return fmt('the controller cannot create its claim "{}" from template "{}"', entry.entry, entry.template)


def _quota(quota: QuotaShortage, _cause: Cause) -> Safe:
    return fmt(
        'ResourceQuota "{}" forbids the claim: {} of {} {} are used, and it requests {} more',
        quota.quota,
        quota.used,
        quota.hard,
        quota.resource,
        quota.requested,
    )


def _deleting(_entry: ClaimEntry, cause: Cause) -> Safe:
    return fmt("its ResourceClaim {} is being deleted", object_name(cause.claim))


def _not_owned(entry: ClaimEntry, cause: Cause) -> Safe:
    owner = fmt("belongs to {} {}", entry.owner.kind, entry.owner.name) if entry.owner else Safe("has no owner")
    return fmt(
        "ResourceClaim {}, which its status names, does not belong to it: the claim {}", object_name(cause.claim), owner
    )


def _left_to(cause: Cause) -> Safe:
    match cause.detail:
        case SchedulerName(name=name):
            return fmt('it names the scheduler "{}", which has to place it; the default scheduler ignores it', name)
        case GangElsewhere() as gang:
            return elsewhere_sentence(gang, cause)
    return Safe(cause.code.meaning)


# --- no devices -----------------------------------------------------------------------------------------------------


def _class_missing(problem: ClassProblem, _cause: Cause) -> Safe:
    return fmt("DeviceClass {} does not exist", problem.device_class)


def _unserved(resource: ExtendedResource, _cause: Cause) -> Safe:
    return fmt("no DeviceClass and no node offers the resource {}", resource.resource)


def offer_sentence(offer: ClassOffer, code: Code) -> Safe:
    """What a class has, of which no node that was tried has enough."""
    name = offer.device_class
    if code is Code.NO_DEVICE_IN_CLASS:
        return fmt("no driver publishes devices for class {}: there are no ResourceSlices with devices", name)
    if code is Code.CLASS_SELECTS_NOTHING:
        return _selects_nothing(offer)
    if code is Code.DEVICES_OF_GONE_NODES:
        verb = Safe(plural("is", offer.selected))
        text = "the {} of class {} {} published for {}, which no longer {}; for the nodes that exist there are none"
        exist = Safe("exists" if len(offer.nodes) == 1 else "exist")
        return fmt(text, counted(offer.selected, "device"), name, verb, shortened(offer.nodes, 3), exist)
    wanted = Safe("device") if offer.needed <= 1 and not offer.all_devices else Safe("devices")
    count = counted(offer.selected, "device")
    if not offer.nodes:
        text = "none of the nodes where the pod may run can use the {} of class {}"
        return fmt(text, count, name)
    where, verb = shortened(offer.nodes, 3), Safe(plural("is", offer.selected))
    text = "no node where the pod may run has the {} {} that it requests: the {} of the class {} on {}"
    return fmt(text, name, wanted, count, verb, where)


def _selects_nothing(offer: ClassOffer) -> Safe:
    text = "DeviceClass {} selects none of the {} published {}: its selector is {}, but the devices are published by {}"
    if offer.clause:
        text = (
            "DeviceClass {} selects none of the {} published {}: its selector needs {}, but the devices have {} there"
        )
        devices = Safe(plural("device", offer.published))
        clause = short_clause(offer.clause)
        return fmt(text, offer.device_class, offer.published, devices, clause, listed(offer.seen, "or"))
    unclear = offer.similar and set(offer.similar) != set(offer.drivers)
    near = fmt(" (did you mean {}?)", listed(offer.similar, "or")) if unclear else Safe("")
    devices = Safe(plural("device", offer.published))
    selector = short_clause(offer.selector)
    return fmt(text, offer.device_class, offer.published, devices, selector, listed(offer.drivers)) + near


def unpublished_sentence(found: Unpublished) -> Safe:
    """An attribute that no device of the class has, and what they have."""
    what = Safe("attribute" if found.field == "attributes" else "capacity")
    have = fmt("; they publish {}", listed(found.names)) if found.names else Safe("")
    if found.elsewhere:
        have = fmt("; they publish it in the domain {}", listed(found.elsewhere, "or"))
    near = fmt(" (did you mean {}?)", listed(found.similar, "or")) if found.similar else Safe("")
    text = "a selector needs the {} {}/{}, which none of the {} of class {} publishes{}{}"
    count = counted(found.devices, "device")
    return fmt(text, what, found.domain, found.name, count, found.device_class, have, near)


def _offered(cause: Cause) -> Safe:
    return offer_sentence(cause.detail, cause.code) if isinstance(cause.detail, ClassOffer) else _nothing(cause)


def _nothing(cause: Cause) -> Safe:
    if isinstance(cause.detail, Funnel):
        return fmt("no node has {} of the class", wanted(cause.detail))
    return Safe(cause.code.meaning)


def _unpublished(found: Unpublished, _cause: Cause) -> Safe:
    return unpublished_sentence(found)


def _no_single_node(found: NoSingleNode, _cause: Cause) -> Safe:
    requests = listed([request.request for request in found.requests])
    return fmt("no single node can serve {} together", requests)


def wanted(funnel: Funnel) -> Safe:
    """``4 devices``, ``a device``, ``all devices``: what a request needs."""
    if funnel.all_devices:
        return Safe("all devices")
    return Safe("a device") if funnel.needed == 1 else counted(funnel.needed, "device")


def _left(funnel: Funnel) -> int:
    return len(funnel.left)


def _closest(funnel: Funnel, have: int) -> Safe:
    """How near the best node is; nothing where no node has any."""
    if have <= 0 or funnel.needed <= 1 or funnel.all_devices:
        return Safe("")
    return fmt(". The closest is {}, with {} of {}", funnel.node, have, funnel.needed)


_VERBS: Final = {"match": ("matches", "match"), "be": ("is", "are")}


def _few(text: str) -> Sentence:
    """A sentence about the devices that a request needs; its verbs agree with their number."""

    def say(funnel: Funnel, _cause: Cause) -> Safe:
        one = funnel.needed == 1 and not funnel.all_devices
        verbs = {name: Safe(forms[0] if one else forms[1]) for name, forms in _VERBS.items()}
        return fmt(text, wanted(funnel), **verbs) + _closest(funnel, _left(funnel))

    return _with(Funnel, say)


def _removed_by(funnel: Funnel, names: tuple[StageName, ...]) -> tuple[str, ...]:
    reasons = [removal.reason for removal in funnel.removed if removal.stage in names]
    return tuple(dict.fromkeys(reasons))


def _tainted(funnel: Funnel, _cause: Cause) -> Safe:
    taints = _removed_by(funnel, (StageName.TAINTS,))
    by = fmt(" ({})", listed(taints)) if taints else Safe("")
    return fmt("no node has {} without a taint{}", wanted(funnel), by) + _closest(funnel, _left(funnel))


def _constraint(funnel: Funnel, _cause: Cause) -> Safe:
    name = funnel.constraint.rpartition("/")[2]
    if funnel.distinct:
        return fmt("no node has {} free that all differ in {}", wanted(funnel), name) + _closest(
            funnel, funnel.together
        )
    free = fmt("{} free devices", funnel.needed) if funnel.needed != 1 else Safe("a free device")
    return fmt("no node has {} in one {}", free, name) + _closest(funnel, funnel.best or 0)


def _elsewhere(elsewhere: ClaimElsewhere, cause: Cause) -> Safe:
    where = listed(elsewhere.nodes) if elsewhere.nodes else safe(elsewhere.selector)
    at = fmt(" (it can be used on {})", where) if where else Safe("")
    return fmt("its ResourceClaim {} is allocated on a node where the pod cannot run{}", object_name(cause.claim), at)


def _binding_failed(problem: BindingProblem, cause: Cause) -> Safe:
    what = fmt("reported {}", problem.failed) if problem.failed else Safe("was not ready in time")
    return fmt("device {} of claim {} {}", problem.device, object_name(cause.claim), what)


def _pool_incomplete(pool: PoolProblem, _cause: Cause) -> Safe:
    return fmt(
        "pool {} is incomplete: {} of its {} ResourceSlices (generation {}) {} published, so none of its devices can "
        "be allocated",
        pool.pool,
        pool.seen,
        pool.expected,
        pool.generation,
        Safe(plural("is", pool.seen)),
    )


def _pool_outdated(pool: PoolProblem, _cause: Cause) -> Safe:
    newer = pool.detail.removeprefix("generation ")
    count = counted(pool.devices, "device") if pool.devices else Safe("devices that match")
    verb = Safe(plural("is", pool.devices or 2))
    return fmt(
        "{} of pool {} {} only in ResourceSlices of generation {}, which generation {} replaces without them",
        count,
        pool.pool,
        verb,
        pool.generation,
        newer,
    )


def _pool_invalid(cause: Cause) -> Safe:
    if isinstance(cause.detail, FatalError):
        return fmt(
            "{} publishes device {} twice, which ends every scheduling attempt that reaches it",
            cause.detail.owner,
            cause.detail.device,
        )
    return _with(PoolProblem, _unused_pool)(cause)


def _unused_pool(pool: PoolProblem, _cause: Cause) -> Safe:
    fault, _, what = pool.detail.partition(" ")
    said = _FAULTS.get(fault)
    detail = fmt(said, what) if said is not None else safe(pool.detail)
    return fmt("pool {} is invalid and none of its devices can be allocated: {}", pool.pool, detail)


_FAULTS: Final = {"duplicateDevice": "it publishes device {} twice"}


# --- classic DRA: a driver's controller decides ----------------------------------------------------------------------


def _driver(negotiation: Negotiation) -> Safe:
    return fmt("driver {}", negotiation.driver) if negotiation.driver else Safe("its driver")


def _by_driver(text: str) -> Sentence:
    """A sentence about a claim and the driver that decides about it."""

    def say(negotiation: Negotiation, cause: Cause) -> Safe:
        return fmt(text, claim=object_name(cause.claim), driver=_driver(negotiation))

    return _with(Negotiation, say)


def _not_shareable(consumers: Consumers, cause: Cause) -> Safe:
    users = listed([str(ref.key) for ref in consumers.present])
    return fmt("its ResourceClaim {} cannot be shared and is used by {}", object_name(cause.claim), users)


def _resource_class_missing(problem: ClassProblem, cause: Cause) -> Safe:
    return fmt(
        "ResourceClass {}, which its ResourceClaim {} names, does not exist",
        problem.device_class,
        object_name(cause.claim),
    )


def _parameters_missing(problem: ParametersProblem, cause: Cause) -> Safe:
    whose = Safe("the class of its ResourceClaim {}") if problem.owner == "class" else Safe("its ResourceClaim {}")
    where = fmt(" in namespace {}", problem.namespace) if problem.namespace else Safe("")
    made = Safe("the parameters generated from ") if problem.generated else Safe("")
    does = Safe("do not exist") if problem.generated else Safe("does not exist")
    owner = fmt(whose, object_name(cause.claim))
    return fmt("{}{} {}{}, which {} refers to, {}", made, problem.kind, problem.name, where, owner, does)


def _class_excludes(problem: ClassProblem, cause: Cause) -> Safe:
    claim = object_name(cause.claim)
    return fmt("class {} of its ResourceClaim {} excludes {}", problem.device_class, claim, _on_nodes(cause))


def _on_nodes(cause: Cause) -> Safe:
    return fmt("node {}", cause.nodes[0]) if len(cause.nodes) == 1 else fmt("nodes {}", shortened(cause.nodes, 3))


def _unsuitable(negotiation: Negotiation, cause: Cause) -> Safe:
    claim = object_name(cause.claim)
    return fmt(
        "{} reports that it cannot allocate ResourceClaim {} for {}", _driver(negotiation), claim, _on_nodes(cause)
    )


def _allocates(negotiation: Negotiation, cause: Cause) -> Safe:
    node, claim = negotiation.selected_node, object_name(cause.claim)
    return fmt("{} is asked to allocate ResourceClaim {} for node {} and has not", _driver(negotiation), claim, node)


def _named_fails(error: FatalError, _cause: Cause) -> Safe:
    return fmt("the selector of {} raises an error on {}", error.owner, error.device)


def _foreign(_error: FatalError, _cause: Cause) -> Safe:
    return Safe("the PodSchedulingContext of its name belongs to another pod")


# --- the attempt is aborted -----------------------------------------------------------------------------------------


def _selector_fails(error: FatalError, cause: Cause) -> Safe:
    where = fmt(" on device {}", error.device) if error.device else Safe("")
    owner = fmt("a selector of {}", error.owner) if error.owner else fmt("a selector of {}", object_name(cause.claim))
    return fmt("{} raises an error{}, which stops scheduling on every node{}", owner, where, _why_error(error))


def _class_fails(error: FatalError, _cause: Cause) -> Safe:
    name = error.owner.removeprefix("class ")
    where = fmt(" on device {}", error.device) if error.device else Safe("")
    text = "DeviceClass {} is broken and blocks every pod that uses it: its selector raises an error{}{}"
    return fmt(text, name, where, _why_error(error))


def _why_error(error: FatalError) -> Safe:
    """The attribute that is not there, or the types that do not go together."""
    if error.attribute:
        return _missing_attribute(error)
    if error.reads and "no such overload" in error.detail:
        return fmt(": {}", listed([f"{r.name} is the {r.type} {_shown(r.type, r.value)}" for r in error.reads]))
    return Safe("")


def _shown(kind: str, value: str) -> str:
    return f'"{value}"' if kind in ("string", "version") else value


def _missing_attribute(error: FatalError) -> Safe:
    domain, _, name = error.attribute.rpartition("/")
    have = fmt(" (it has {})", listed(error.names)) if error.names else Safe("")
    if any("/" in each for each in error.similar):
        return fmt(
            ": it reads {} in the domain {}, which no device has; the devices publish {}",
            name,
            domain,
            listed(error.similar, "or"),
        )
    if error.publishers == 0:
        near = fmt("; did you mean {}?", listed(error.similar, "or")) if error.similar else Safe("")
        return fmt(": it reads the attribute {}, which no device publishes{}{}", name, have, near)
    count = fmt(", unlike {} of the {} devices of the class", error.publishers, error.devices) if error.devices else ""
    return fmt(": it reads the attribute {}, which that device does not publish{}{}", name, have, Safe(count))


def _fatal(error: FatalError, cause: Cause) -> Safe:
    detail = fmt(" ({})", error.detail) if error.detail else Safe("")
    return fmt("{}{}, which ends every scheduling attempt on all nodes", Safe(cause.code.meaning), detail)


def _all_of_pool(error: FatalError, _cause: Cause) -> Safe:
    pool = error.owner.removeprefix("pool ")
    invalid = Safe("invalid" if "invalid" in error.text else "incomplete (not all of its ResourceSlices are published)")
    return fmt(
        "a request for all devices (allocationMode All) sees pool {}, which is {}; scheduling fails on every node "
        "until the pool is complete",
        pool,
        invalid,
    )


def _consumers_full(_cause: Cause) -> Safe:
    claim = object_name(_cause.claim)
    of = fmt("its ResourceClaim {}", claim) if claim else Safe("its ResourceClaim")
    return fmt("{} is already reserved for 256 pods, the maximum, so the API server refuses another", of)


def _admin_refused(_error: FatalError, cause: Cause) -> Safe:
    text = "it requests admin access, and namespace {} lacks the label {}=true, without which the API server refuses it"
    return fmt(text, cause.claim.namespace if cause.claim is not None else "", ADMIN_LABEL)


def _named_twice(_error: FatalError, cause: Cause) -> Safe:
    return fmt(
        "it names ResourceClaim {} twice, and the API server refuses the second reservation", object_name(cause.claim)
    )


def _timeout(size: SearchSize, _cause: Cause) -> Safe:
    return fmt("the search takes {} steps, more than the scheduler's 10 seconds allow", Safe(f"{size.steps:,}"))


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node_taints(taint: NodeTaint, _cause: Cause) -> Safe:
    return fmt("nodes have the taint {}, which the pod does not tolerate", taint.taint)


def _node_selection(selection: NodeSelection, cause: Cause) -> Safe:
    if not selection.unmatched:
        return Safe(cause.code.meaning)
    return fmt("no node matches the pod's node selector or affinity: it requires {}", listed(selection.unmatched))


def _shortage(shortage: NodeShortage, _cause: Cause) -> Safe:
    return fmt("{} has {}", shortage.node, shortage_text(shortage))


def _ports(ports: TakenPorts, _cause: Cause) -> Safe:
    return fmt("host {} {} taken", Safe(plural("port", len(ports.ports))), listed(ports.ports))


def _kept_away(kept: KeptAway, _cause: Cause) -> Safe:
    return fmt("nodes run pods whose required anti-affinity keeps it away (per {})", listed(kept.topology_keys))


def _volume(trouble: VolumeTrouble, cause: Cause) -> Safe:
    return volume_sentence(trouble) or Safe(cause.code.meaning)


def _spread(spread: Spread, _cause: Cause) -> Safe:
    if not spread.value:
        return fmt("nodes lack the label {}, which its spread constraint requires", spread.topology_key)
    which = fmt(" with {}", spread.selector) if spread.selector else Safe("")
    return fmt(
        "{}={} already has {} {}{} and the emptiest domain {}; its spread constraint allows a difference of {}",
        spread.topology_key,
        spread.value,
        spread.pods,
        Safe(plural("pod", spread.pods)),
        which,
        spread.fewest,
        spread.max_skew,
    )


def _company(company: Company, cause: Cause) -> Safe:
    which = fmt("with {} ", company.selector) if company.selector else Safe("")
    if cause.code is Code.UNWANTED_COMPANY:
        return fmt("nodes have a pod {}that its anti-affinity excludes (per {})", which, company.topology_key)
    return fmt("nodes have no pod {}that its affinity requires (per {})", which, company.topology_key)


def _features(missing: MissingFeatures, _cause: Cause) -> Safe:
    return fmt("nodes do not declare {}", listed(missing.features))


def _not_simulated(found: OpenPlugins, _cause: Cause) -> Safe:
    names = [each.plugin for each in found.plugins]
    verbs = Safe("also decides and is") if len(names) == 1 else Safe("also decide and are")
    return fmt("{} {} not simulated", listed(names), verbs)


def _plugin(text: PluginText, _cause: Cause) -> Safe:
    return fmt("{} says: {}", text.plugin, text.text)


def _other_plugin(cause: Cause) -> Safe:
    match cause.detail:
        case PluginText() as text:
            return _plugin(text, cause)
        case GangElsewhere() as gang:
            return elsewhere_sentence(gang, cause)
    return Safe(cause.code.meaning)


# --- binding and after ----------------------------------------------------------------------------------------------


def _binding_conditions(problem: BindingProblem, _cause: Cause) -> Safe:
    return fmt("device {} has not reported the binding condition {} yet", problem.device, listed(problem.waiting_for))


#: Their sentence holds the kubelet's error, or the end of it.
DETAIL_TOLD: Final = (Code.DRIVER_FAILED, Code.KUBELET_FAILED)


def innermost(error: str) -> str:
    """The end of a long error: Go wraps from the outside, so that the cause stands last."""
    parts = error.split(": ")
    return ": ".join(parts[-_INNER:]) if len(error) > _LONG_ERROR else error


def _kubelet(text: KubeletText, cause: Cause) -> Safe:
    return fmt("{}: {}", Safe(cause.code.meaning), innermost(text.detail or text.text))


def _kubelet_api(_text: KubeletText, _cause: Cause) -> Safe:
    return Safe("the kubelet there reads claims in a version of the API that the server does not serve")


def _not_registered(text: KubeletText, _cause: Cause) -> Safe:
    return fmt("driver {} is not registered at the kubelet of the node", text.driver)


def _unhealthy(health: Health, _cause: Cause) -> Safe:
    return fmt("device {} of container {} is {}", health.device, health.container, health.health)


def _waits(waits: ContainerWaits, _cause: Cause) -> Safe:
    return fmt("container {} is waiting: {}", waits.container, waits.reason)


def _consumers_gone(consumers: Consumers, _cause: Cause) -> Safe:
    return fmt("it is reserved for {}, which is gone or finished", listed([str(ref.key) for ref in consumers.gone]))


def _kept(consumers: Consumers, _cause: Cause) -> Safe:
    if consumers.present:
        return fmt("its deletion waits for {}", listed([str(ref.key) for ref in consumers.present]))
    if not consumers.finalizers:
        return Safe("it is being deleted, and no consumer or finalizer is left")
    what = plural("finalizer", len(consumers.finalizers))
    return fmt("its deletion waits for the {} {}", what, listed(consumers.finalizers))


def _going(departure: Departure, _cause: Cause) -> Safe:
    """What happens to the pod, with its verb: it stands behind the pod's name."""
    what = Safe("is being deleted" if departure.deleted else "is about to be deleted")
    if departure.reason:
        what += Safe(": ") + _evicted(departure)
    if departure.finalizers:
        what += fmt(", held by the {} {}", plural("finalizer", len(departure.finalizers)), listed(departure.finalizers))
    return what


def _evicted(departure: Departure) -> Safe:
    by_taint = [
        fmt(
            "its device {} has the taint {}{}",
            each.device,
            each.taint,
            fmt(" of rule {}", each.rule) if each.rule else "",
        )
        for each in departure.taints
    ]
    if by_taint:
        return fmt("it is evicted because {}", Safe(" and ").join(by_taint))
    words = fmt(" ({})", departure.message.removesuffix(".")) if departure.message else Safe("")
    return (
        fmt("{}{}", Safe(_EVICTED_BY[departure.reason]), words)
        if departure.reason in _EVICTED_BY
        else fmt("it is evicted: {}{}", departure.reason, words)
    )


#: Reasons of the condition DisruptionTarget.
_EVICTED_BY: Final = {
    "PreemptionByScheduler": "the scheduler makes room for a pod of higher priority",
    "DeletionByTaintManager": "its node has a taint that it does not tolerate",
    "DeletionByDeviceTaintManager": "a device of it is tainted",
    "EvictionByEvictionAPI": "it is evicted on request, as by kubectl drain",
    "DeletionByPodGC": "its node is gone",
    "TerminationByKubelet": "the kubelet of its node ends it",
}


def _vanished(gone: VanishedDevices, cause: Cause) -> Safe:
    claim = cause.claim.name if cause.claim is not None else ""
    shown = listed(gone.devices)
    verb = Safe("is" if len(gone.devices) == 1 else "are")
    return fmt("{} of ResourceClaim {} {} not published any more", shown, claim, verb)


def _refusal(refusal: Refusal, _cause: Cause) -> Safe:
    if refusal.earlier:
        return fmt("an earlier attempt was refused: {}", refusal.text)
    if refusal.order_known:
        return fmt("a node fits, but what the scheduler writes then is refused: {}", refusal.text)
    text = "a node fits now, the scheduler was refused, and which came first is not known: {}"
    return fmt(text, refusal.text)


def _scoring(refusal: Refusal, _cause: Cause) -> Safe:
    text = "the scheduler ends its attempt with an error while it scores the nodes: {}"
    if refusal.earlier:
        return fmt("an earlier attempt ended with an error of scoring: {}", refusal.text)
    if refusal.order_known:
        return fmt(text, refusal.text)
    return fmt("{} (whether anything has changed since is not known)", fmt(text, refusal.text))


def _ignored(found: IgnoredResource, _cause: Cause) -> Safe:
    text = (
        "DeviceClass {} serves {}, but the scheduler counts only what nodes offer themselves, as it does while its "
        "feature gate DRAExtendedResource is off"
    )
    told = fmt(text, found.device_class, found.resource)
    return told if found.order_known else fmt("{}, unless the class was changed after its last message", told)


def _missing(evidence: MissingEvidence, _cause: Cause) -> Safe:
    parts = tuple(dict.fromkeys(item.kind for item in evidence.missing if item.coverage == Coverage.PARTIAL))
    whole = tuple(dict.fromkeys(item.kind for item in evidence.missing if item.kind not in parts))
    texts = [fmt("{} could not be read", listed(whole))] if whole else []
    texts += [fmt("not every {} could be read", listed(parts, "or"))] if parts else []
    return Safe(" and ").join(texts)


def _no_nodes(_cause: Cause) -> Safe:
    return Safe("the cluster has no nodes")


_SENTENCES: Final[dict[Code, Sentence]] = {
    Code.SCHEDULING_GATES: _with(Gates, _gates),
    Code.CLAIM_MISSING: _with(ClaimEntry, _claim_missing),
    Code.CLAIM_NOT_CREATED: _with(ClaimEntry, _not_created),
    Code.TEMPLATE_MISSING: _with(ClaimEntry, _template_missing),
    Code.CLAIM_CREATION_FAILED: _with(ClaimEntry, _creation_failed),
    Code.QUOTA_EXCEEDED: _with(QuotaShortage, _quota),
    Code.CLAIM_BEING_DELETED: _with(ClaimEntry, _deleting),
    Code.CLAIM_NOT_OWNED: _with(ClaimEntry, _not_owned),
    Code.QUEUED: _with(GangElsewhere, elsewhere_sentence),
    Code.OTHER_SCHEDULER: _left_to,
    **dict.fromkeys(GROUP_CODES, lambda cause: group_sentence(cause, reason_sentence)),
    Code.CLASS_MISSING: _with(ClassProblem, _class_missing),
    Code.EXTENDED_RESOURCE_UNSERVED: _with(ExtendedResource, _unserved),
    Code.NO_DEVICE_IN_CLASS: _offered,
    Code.CLASS_SELECTS_NOTHING: _offered,
    Code.DEVICES_OF_GONE_NODES: _offered,
    Code.ATTRIBUTE_UNPUBLISHED: _with(Unpublished, _unpublished),
    Code.SELECTOR_MATCHES_NOTHING: _few("no node has {} that {match} the selectors"),
    Code.TOO_FEW_DEVICES: _few("no node has {}"),
    Code.DEVICES_IN_USE: _few("no node has {} that {match} and {be} not in use"),
    Code.DEVICES_TAINTED: _with(Funnel, _tainted),
    Code.CAPACITY_TOO_SMALL: _few("no node has {} with the requested capacity left"),
    Code.COUNTERS_EXHAUSTED: _few("no node has {} that the shared counters of its pool still allow"),
    Code.ALL_MODE_BLOCKED: _few("a request needs {} of its kind on a node, and on no node all of them are available"),
    Code.DEVICES_FOR_OTHER_NODES: _offered,
    Code.DEVICES_UNUSABLE: _few("no node has {} that can be used with the features that are on"),
    Code.CONSTRAINT: _with(Funnel, _constraint),
    Code.CLAIM_ELSEWHERE: _with(ClaimElsewhere, _elsewhere),
    Code.BINDING_FAILED: _with(BindingProblem, _binding_failed),
    Code.POOL_INCOMPLETE: _with(PoolProblem, _pool_incomplete),
    Code.POOL_INVALID: _pool_invalid,
    Code.POOL_OUTDATED: _with(PoolProblem, _pool_outdated),
    Code.NO_SINGLE_NODE: _with(NoSingleNode, _no_single_node),
    Code.DEALLOCATION_REQUESTED: _by_driver(
        "{driver} is asked to deallocate its ResourceClaim {claim}, which admits no pod meanwhile"
    ),
    Code.CLAIM_NOT_SHAREABLE: _with(Consumers, _not_shareable),
    Code.IMMEDIATE_NOT_ALLOCATED: _by_driver(
        "{driver} has not allocated its ResourceClaim {claim}, which does not wait for pods, yet"
    ),
    Code.RESOURCE_CLASS_MISSING: _with(ClassProblem, _resource_class_missing),
    Code.PARAMETERS_MISSING: _with(ParametersProblem, _parameters_missing),
    Code.CLASS_EXCLUDES_NODE: _with(ClassProblem, _class_excludes),
    Code.NODE_UNSUITABLE: _with(Negotiation, _unsuitable),
    Code.NAMED_SELECTOR_FAILS: _with(FatalError, _named_fails),
    Code.CONTROLLER_DISABLED: _by_driver(
        "its ResourceClaim {claim} is left to {driver}, and DRAControlPlaneController is off in the scheduler"
    ),
    Code.SCHEDULER_WILL_ASK: _by_driver(
        "its ResourceClaim {claim} waits for its first consumer; the scheduler will ask {driver} at its next attempt"
    ),
    Code.DRIVER_SILENT: _by_driver("{driver} has not said yet on which nodes it can allocate ResourceClaim {claim}"),
    Code.DRIVER_ALLOCATES: _with(Negotiation, _allocates),
    Code.NEVER_SELECTED: _by_driver(
        "this scheduler never selects a node for ResourceClaim {claim} of {driver} beside as many claims of its own"
    ),
    Code.NEGOTIATION_FOREIGN: _with(FatalError, _foreign),
    Code.ALL_MODE_POOL: _with(FatalError, _all_of_pool),
    Code.CONSUMERS_FULL: _consumers_full,
    Code.ADMIN_LABEL_AT_BINDING: _with(FatalError, _admin_refused),
    Code.CLASS_SELECTOR_FAILS: _with(FatalError, _class_fails),
    Code.SELECTOR_FAILS: _with(FatalError, _selector_fails),
    Code.SELECTOR_DOES_NOT_COMPILE: _with(FatalError, _fatal),
    Code.TOO_MANY_DEVICES: _with(FatalError, _fatal),
    Code.FEATURE_DISABLED_FATAL: _with(FatalError, _fatal),
    Code.REQUEST_MALFORMED: _with(FatalError, _fatal),
    Code.CLAIM_NAMED_TWICE: _with(FatalError, _named_twice),
    Code.SEARCH_TIMEOUT: _with(SearchSize, _timeout),
    Code.NO_NODES: _no_nodes,
    Code.NODE_TAINTS: _with(NodeTaint, _node_taints),
    Code.NODE_AFFINITY: _with(NodeSelection, _node_selection),
    Code.NODE_RESOURCES: _with(NodeShortage, _shortage),
    Code.NODE_PORTS: _with(TakenPorts, _ports),
    Code.KEPT_AWAY: _with(KeptAway, _kept_away),
    Code.VOLUMES: _with(PluginText, _plugin),
    Code.VOLUME_CLAIM: _with(VolumeTrouble, _volume),
    Code.VOLUME_ELSEWHERE: _with(VolumeTrouble, _volume),
    Code.NO_VOLUME: _with(VolumeTrouble, _volume),
    Code.VOLUME_IN_USE: _with(VolumeTrouble, _volume),
    Code.VOLUME_LIMIT: _with(VolumeTrouble, _volume),
    Code.TOPOLOGY: _with(PluginText, _plugin),
    Code.SPREAD: _with(Spread, _spread),
    Code.NO_COMPANY: _with(Company, _company),
    Code.UNWANTED_COMPANY: _with(Company, _company),
    Code.NODE_FEATURES: _with(MissingFeatures, _features),
    Code.OTHER_PLUGIN: _other_plugin,
    Code.BINDING_CONDITIONS: _with(BindingProblem, _binding_conditions),
    Code.DRIVER_NOT_REGISTERED: _with(KubeletText, _not_registered),
    Code.DRIVER_FAILED: _with(KubeletText, _kubelet),
    Code.KUBELET_API: _with(KubeletText, _kubelet_api),
    Code.KUBELET_FAILED: _with(KubeletText, _kubelet),
    Code.DEVICE_UNHEALTHY: _with(Health, _unhealthy),
    Code.CONTAINER_WAITS: _with(ContainerWaits, _waits),
    Code.CONSUMER_GONE: _with(Consumers, _consumers_gone),
    Code.CLAIM_KEPT_BY_CONSUMERS: _with(Consumers, _kept),
    Code.POD_BEING_DELETED: _with(Departure, _going),
    Code.POD_EVICTED: _with(Departure, _going),
    Code.DEVICE_VANISHED: _with(VanishedDevices, _vanished),
    Code.API_ERROR_AT_BINDING: _with(Refusal, _refusal),
    Code.SCORING_FAILED: _with(Refusal, _scoring),
    Code.EXTENDED_RESOURCE_IGNORED: _with(IgnoredResource, _ignored),
    Code.EVIDENCE_MISSING: _with(MissingEvidence, _missing),
    Code.NOT_SIMULATED: _with(OpenPlugins, _not_simulated),
}
