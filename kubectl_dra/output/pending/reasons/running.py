"""Binding, the kubelet, and what happens to pods and claims afterwards."""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.said.kubelet import NOT_PLACED, WAS_REJECTED, was_not_taken
from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.pending.besides_devices import held_sentence, waiting_for_image
from kubectl_dra.output.pending.extenders import extender_of, extender_sentence
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.pending.reasons.sentence import Sentence, with_detail
from kubectl_dra.output.pending.taints import device_names, tolerated
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.unread import unread_sentence
from kubectl_dra.output.words import counted, duration, listed, plural


def _binding_conditions(problem: records.BindingProblem, _cause: records.Cause) -> Safe:
    met = fmt(" ({} {} True already)", listed(problem.met), Safe(plural("is", len(problem.met))))
    waiting, noun = problem.waiting_for, Safe(plural("condition", len(problem.waiting_for)))
    after = met if problem.met else Safe("")
    said = ": ".join(text for text in (problem.reason, problem.message.removesuffix(".")) if text)
    if said:
        text = "device {} waits for the binding {} {}{}, whose last report is {}"
        return fmt(text, problem.device, noun, listed(waiting), after, said)
    return fmt("device {} has not reported the binding {} {} yet{}", problem.device, noun, listed(waiting), after)


_EVICTED: Final = "Evicted"
#: Their sentence holds the kubelet's error, or the end of it.
DETAIL_TOLD: Final = (Code.DRIVER_FAILED, Code.KUBELET_FAILED, Code.KUBELET_WARNS)


def _kubelet(text: records.KubeletText, cause: records.Cause) -> Safe:
    return fmt("{}: {}", Safe(cause.code.meaning), innermost(text.detail or text.text))


def _warned(text: records.KubeletText, _cause: records.Cause) -> Safe:
    if text.held is not None:
        return fmt("its containers have not started: {}", held_sentence(text.held))
    return fmt("its containers have not started, and {} was reported: {}", text.reason, innermost(text.text))


def _kubelet_api(_text: records.KubeletText, _cause: records.Cause) -> Safe:
    return Safe("the kubelet there reads claims in a version of the API that the server does not serve")


def _not_registered(text: records.KubeletText, _cause: records.Cause) -> Safe:
    return fmt("driver {} is not registered at the kubelet of the node", text.driver)


def _not_reserved(cause: records.Cause) -> Safe:
    return fmt("its {} is not reserved for it", _claim_of(cause))


def _not_allocated(cause: records.Cause) -> Safe:
    if isinstance(cause.detail, records.BoundBy):
        text = (
            "its {} has no devices: its scheduler, {}, put it there without allocating any, and nothing does so later"
        )
        return fmt(text, _claim_of(cause), cause.detail.scheduler)
    text = (
        "its {} has no devices: the pod was put there without the scheduler (spec.nodeName), so nothing allocates them"
    )
    return fmt(text, _claim_of(cause))


def _claim_of(cause: records.Cause) -> Safe:
    return fmt("ResourceClaim {}", cause.claim.name) if cause.claim is not None else Safe("ResourceClaim")


def _unhealthy(health: records.Health, _cause: records.Cause) -> Safe:
    why = fmt(": {}", health.message) if health.message else Safe("")
    return fmt("device {} of container {} is {}{}", health.device, health.container, health.health, why)


def unwell(waits: records.ContainerWaits) -> Safe:
    """``container main is in CrashLoopBackOff (812 restarts, last exit code 1)``, of a pod that has been started."""
    state = fmt("is in {}" if waits.reason.endswith("BackOff") else "does not run: {}", waits.reason)
    restarts = counted(waits.restarts, "restart") if waits.restarts else Safe("")
    last = fmt("last {}", waits.ended) if waits.ended else Safe("")
    told = Safe(", ").join([text for text in (restarts, last) if text])
    words = fmt("{}: {}", told, waits.message) if told and waits.message else told or safe(waits.message)
    lead = fmt("container {} {}", waits.container, state if waits.reason else Safe("runs, but is not ready"))
    return fmt("{} ({})", lead, words) if words else lead


def _waits(waits: records.ContainerWaits, _cause: records.Cause) -> Safe:
    if waits.initializes:
        return fmt("its init container {} still runs, and the others start when it has ended", waits.container)
    words = fmt(" ({})", innermost(waits.message)) if waits.message else Safe("")
    image = waiting_for_image(waits)
    return fmt("container {} is waiting{}: {}{}", waits.container, image, waits.reason, words)


def _consumers_gone(consumers: records.Consumers, _cause: records.Cause) -> Safe:
    return fmt("it is reserved for {}, which is gone or finished", listed([str(ref.key) for ref in consumers.gone]))


def _kept(consumers: records.Consumers, _cause: records.Cause) -> Safe:
    if consumers.present:
        return fmt("its deletion waits for {}", listed([str(ref.key) for ref in consumers.present]))
    if not consumers.finalizers:
        return Safe("no consumer or finalizer is left")
    what = plural("finalizer", len(consumers.finalizers))
    return fmt("its deletion waits for the {} {}", what, listed(consumers.finalizers))


def _going(departure: records.Departure, _cause: records.Cause) -> Safe:
    """What happens to the pod, with its verb: it stands behind the pod's name."""
    what = Safe("is being deleted" if departure.deleted else "is about to be deleted")
    if departure.reason:
        what += Safe(": ") + _evicted(departure)
    if departure.finalizers:
        what += fmt(", held by the {} {}", plural("finalizer", len(departure.finalizers)), listed(departure.finalizers))
    return what


def _evicted(departure: records.Departure) -> Safe:
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


def _vanished(gone: records.VanishedDevices, cause: records.Cause) -> Safe:
    claim = cause.claim.name if cause.claim is not None else ""
    shown = listed(gone.devices)
    verb = Safe("is" if len(gone.devices) == 1 else "are")
    return fmt("{} of ResourceClaim {} {} not published any more", shown, claim, verb)


def _evicted_at_once(found: records.EvictingTaint, _cause: records.Cause) -> Safe:
    has = Safe("has" if len(found.devices) == 1 else "have")
    return fmt("{} {} the taint {}, {}", device_names(found), has, found.taint, tolerated(found))


def _refusal(refusal: records.Refusal, _cause: records.Cause) -> Safe:
    if refusal.earlier:
        return fmt("an earlier attempt was refused: {}", refusal.text)
    if refusal.order_known:
        return fmt("a node fits, but what the scheduler writes then is refused: {}", refusal.text)
    text = "a node fits now, the scheduler was refused, and which came first is not known: {}"
    return fmt(text, refusal.text)


def _volumes_late(refusal: records.Refusal, _cause: records.Cause) -> Safe:
    if refusal.earlier:
        return fmt("in an earlier attempt its volumes were not made or bound: {}", refusal.text)
    text = fmt("its volumes were not made or bound for the node that was chosen: {}", refusal.text)
    if refusal.order_known:
        return text
    return fmt("{} (whether anything has changed since is not known)", text)


#: Where plugins are asked about the one node that was chosen (upstream: schedule_one.go, bindingCycle).
_CHOSEN: Final = ("Reserve", "Permit", "PreBind", "PreBindPreFlight", "Bind")


def _refused_by_another(refusal: records.Refusal, _cause: records.Cause) -> Safe:
    if refusal.plugin:
        which = fmt("plugin {} of its scheduler, which is not in the default profile,", refusal.plugin)
        after = Safe(" after a node and devices were chosen" if refusal.point in _CHOSEN else "")
        when = Safe(" at an earlier attempt" if refusal.earlier else "")
        return fmt("{} refused it{}{}: {}", which, after, when, refusal.text)
    if (extender := extender_of(refusal)) is not None:
        return extender_sentence(extender, earlier=refusal.earlier)
    if refusal.earlier:
        return fmt("an extender or a plugin that is not simulated refused an earlier attempt: {}", refusal.text)
    return fmt("an extender or a plugin that is not simulated refused it: {}", refusal.text)


def _scoring(refusal: records.Refusal, _cause: records.Cause) -> Safe:
    text = "the scheduler ends its attempt with an error while it scores the nodes: {}"
    if refusal.earlier:
        return fmt("an earlier attempt ended with an error of scoring: {}", refusal.text)
    if refusal.order_known:
        return fmt(text, refusal.text)
    return fmt("{} (whether anything has changed since is not known)", fmt(text, refusal.text))


def _in_flight(found: records.AllocationInFlight, cause: records.Cause) -> Safe:
    claim = cause.claim.name if cause.claim is not None else ""
    text = " for another pod of PodGroup {}, which shares it" if found.group else "{}"
    first, last = parse_time(found.first_time), parse_time(found.last_time)
    lasted = (last - first).total_seconds() if first is not None and last is not None else 0
    told = fmt("the scheduler finds claim {} still being allocated{}", claim, fmt(text, found.group))
    told = fmt("{} ({} in {})", told, counted(found.times, "time"), duration(lasted))
    return told if found.order_known else fmt("{}, unless something has changed since", told)


def _ignored(found: records.IgnoredResource, _cause: records.Cause) -> Safe:
    text = (
        "DeviceClass {} serves {}, but the scheduler counts only what nodes offer themselves, as it does while its "
        "feature gate DRAExtendedResource is off"
    )
    told = fmt(text, found.device_class, found.resource)
    return told if found.order_known else fmt("{}, unless the class was changed after its last message", told)


def _missing(evidence: records.MissingEvidence, _cause: records.Cause) -> Safe:
    return unread_sentence(evidence.missing)


def _rejected(found: records.KubeletRejection, cause: records.Cause) -> Safe:
    """The kubelet's words, without those that stand before all of them."""
    words = safe(found.message.removeprefix(WAS_REJECTED).rstrip(".") or found.reason)
    other = Safe("YuniKorn" if found.reason in NOT_PLACED else "the cluster")
    by = fmt("the kubelet of {}", cause.nodes[0]) if cause.nodes else other
    verb = Safe("evicted" if found.reason == _EVICTED else "rejected" if _is_rejected(found) else "ended")
    why = fmt("{} ({})", words, found.reason) if found.message else words
    return fmt("{} {} it: {}", by, verb, why)


def _is_rejected(found: records.KubeletRejection) -> bool:
    """Whether the pod never started there."""
    return was_not_taken(found.reason, found.message)


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.BINDING_CONDITIONS: with_detail(records.BindingProblem, _binding_conditions),
    Code.DRIVER_NOT_REGISTERED: with_detail(records.KubeletText, _not_registered),
    Code.DRIVER_FAILED: with_detail(records.KubeletText, _kubelet),
    Code.CLAIM_NOT_RESERVED: _not_reserved,
    Code.CLAIM_NOT_ALLOCATED: _not_allocated,
    Code.KUBELET_API: with_detail(records.KubeletText, _kubelet_api),
    Code.KUBELET_FAILED: with_detail(records.KubeletText, _kubelet),
    Code.KUBELET_WARNS: with_detail(records.KubeletText, _warned),
    Code.KUBELET_REJECTED: with_detail(records.KubeletRejection, _rejected),
    Code.DEVICE_UNHEALTHY: with_detail(records.Health, _unhealthy),
    Code.CONTAINER_WAITS: with_detail(records.ContainerWaits, _waits),
    Code.DEVICE_NOT_INJECTED: with_detail(records.ContainerWaits, _waits),
    Code.CONSUMER_GONE: with_detail(records.Consumers, _consumers_gone),
    Code.CLAIM_KEPT_BY_CONSUMERS: with_detail(records.Consumers, _kept),
    Code.POD_BEING_DELETED: with_detail(records.Departure, _going),
    Code.POD_EVICTED: with_detail(records.Departure, _going),
    Code.DEVICE_VANISHED: with_detail(records.VanishedDevices, _vanished),
    Code.EVICTED_AT_ONCE: with_detail(records.EvictingTaint, _evicted_at_once),
    Code.API_ERROR_AT_BINDING: with_detail(records.Refusal, _refusal),
    Code.SCORING_FAILED: with_detail(records.Refusal, _scoring),
    Code.VOLUMES_AT_BINDING: with_detail(records.Refusal, _volumes_late),
    Code.REFUSED_BY_ANOTHER: with_detail(records.Refusal, _refused_by_another),
    Code.ALLOCATION_IN_FLIGHT: with_detail(records.AllocationInFlight, _in_flight),
    Code.EXTENDED_RESOURCE_IGNORED: with_detail(records.IgnoredResource, _ignored),
    Code.EVIDENCE_MISSING: with_detail(records.MissingEvidence, _missing),
}
