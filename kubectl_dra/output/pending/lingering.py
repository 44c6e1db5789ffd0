"""Sentences about pods that should have ended and still hold devices: why they do not end, and where that stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.driver_pods import known_cure, last_words_of, state_of, why_words
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.safe import Safe, command, command_line, fmt
from kubectl_dra.output.words import ago, counted, lasting, listed
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, reading, within
from kubectl_dra.reports.pending.failing_pods import FailingPod
from kubectl_dra.reports.pending.lingering import LingeringPod

#: So many nodes of one machine are named in a sentence.
_NODES: Final = 3
_FINALIZERS: Final = 3
#: So many pods of all have a line in a list.
_LISTED: Final = 4
_WHILE_UNREACHABLE: Final = "Nothing ends pod {} until the kubelet of {} is back: it may still run there, and {} taken."
#: What the first line says of a pod that should be gone.
OVERDUE: Final = "should have ended"
#: The same of one that the scheduler has evicted.
NOT_ENDED: Final = "not ended yet"
#: The same of one that nobody has deleted, where nothing would end it.
_ENDLESS: Final = "would not end if it were deleted"


def lingering_sentence(pods: Sequence[LingeringPod], namespace: str) -> Safe | None:
    """``Pod old should have ended, but FailedKillPod was reported: …``, without a full stop, of the first of them.

    ``namespace``: that of the page, without which names stand.
    """
    if not pods:
        return None
    found = pods[0]
    lead = _lead(found, namespace)
    if found.broken is not None:
        return fmt("{} and holds its devices in vain", _broken(found, lead))
    if found.unreachable:
        called = listed(found.now_called[:_NODES], "or")
        now = fmt("; its machine probably runs as {} now", called) if found.now_called else Safe("")
        return fmt("{}{} {}{}", lead, Safe(", but" if found.due else ":"), _unreachable(found), now)
    if found.reason:
        return fmt("{}, but {} was reported: {}", lead, found.reason, innermost(found.message))
    if found.failing:
        each = found.failing[0]
        return fmt("{}, and the driver does not run on {} ({})", lead, found.node, each.state)
    if found.silent:
        text = (
            "{}, but driver {}, which has to release its devices, publishes them no longer and seems not to run on {}"
        )
        return fmt(text, lead, listed(found.silent), found.node)
    return lead


def not_started(pods: Sequence[LingeringPod], pod: ObjectRef) -> Safe | None:
    """Why nothing starts a pod that has a node; None where the node is there and reports."""
    found = pods[0] if pods else None
    if found is None or found.pod != pod or not (found.unreachable or found.node_gone):
        return None
    return fmt("node {} no longer exists", found.node) if found.node_gone else _unreachable(found)


def overdue_sentence(pods: Sequence[LingeringPod], reason: Safe) -> Safe | None:
    """The same of a pod that is asked about, with why it goes; None where its finalizers are all that is known."""
    if not pods:
        return None
    found = pods[0]
    known = found.unreachable or found.reason or found.failing or found.silent
    if found.finalizers and not known:
        return None
    told = lingering_sentence(pods, "")
    still = Safe("" if known else " and is still there")
    why = fmt(" It {}.", reason) if ": " in reason and not found.unreachable else Safe("")
    return fmt("{}{}.{}", told, still, why)


def overdue_summary(number: int) -> Safe:
    """``1 pod should have ended and still holds devices``."""
    return fmt(
        "{} {} and still {} devices", counted(number, "pod"), Safe(OVERDUE), Safe("holds" if number == 1 else "hold")
    )


def overdue_lines(pods: Sequence[LingeringPod], scope: str, now: datetime, address: Address) -> Iterator[Safe]:
    """Below the pods that wait: those that do not end, each with what is known of why."""
    if not pods:
        return
    yield fmt("{}:", overdue_summary(len(pods)))
    for each in pods[:_LISTED]:
        sentence = with_delay(lingering_sentence([each], scope) or Safe(""), [each], scope, now)
        yield from wrapped(fmt("{}.", sentence), indent=4, first=2)
    if len(pods) > _LISTED:
        yield fmt("  and {} more", len(pods) - _LISTED)
    first = of("pod", pods[0].pod.name, pods[0].pod.namespace)
    yield from command_line("more: {}", reading(dra("why-pending", first), address))


def overdue_cause(pods: Sequence[LingeringPod]) -> Safe | None:
    """The same of a pod that is asked about, in a list with a column for its name."""
    told = overdue_sentence(pods, Safe(""))
    return Safe(told.rstrip(".").removeprefix(fmt("Pod {} ", str(pods[0].pod.key)))) if told is not None else None


def _unreachable(found: LingeringPod, now: datetime | None = None) -> Safe:
    lead = fmt("the kubelet of its node {} has", found.node)
    if now is None or not found.node_down:
        return fmt("{} stopped reporting", lead)
    return fmt("{} not reported {}", lead, lasting(found.node_down, now))


def _lead(found: LingeringPod, namespace: str) -> Safe:
    name = found.pod.name if found.pod.namespace == namespace else str(found.pod.key)
    if found.broken is not None:
        return fmt("Pod {} {}", name, state_of(found.broken))
    return fmt("Pod {} {}", name, Safe(OVERDUE if found.due else _ENDLESS))


def with_delay(text: Safe, pods: Sequence[LingeringPod], namespace: str, now: datetime) -> Safe:
    """A sentence with how long ago the pod that it names should have ended."""
    for each in pods[:1]:
        for lead in dict.fromkeys((_lead(each, namespace), _lead(each, ""))):
            plain, dated = _broken(each, lead), _broken(each, lead, now)
            if each.broken is None and each.due:
                dated = fmt("{} {}", lead, ago(each.due, now))
            text = Safe(text.replace(plain, dated))
        if each.unreachable:
            text = Safe(text.replace(_unreachable(each), _unreachable(each, now)))
    return text


def lingering_lines(
    pods: Sequence[LingeringPod], now: datetime, failing: Sequence[FailingPod] = (), said: str = ""
) -> Iterator[Safe]:
    """Since when the others should have ended, and what is known of each; the first line tells of the first.

    ``failing`` pods of drivers are told elsewhere, and that an evicted pod has not ended in the line that is ``said``.
    """
    for number, each in enumerate(pods):
        if each.broken is not None:
            yield from wrapped(fmt("{}.", _broken(each, _lead(each, ""), now)), indent=2, first=0) if number else ()
            continue
        if each.node_gone and not each.due:
            continue
        text = "The devices of pod {} are free only when the kubelet and the driver on {} have released them."
        text = text if each.drivers else "What pod {} has is free only when the kubelet on {} has ended it."
        # The first line says it of a driver that publishes nothing any more, and of a pod that makes room.
        evicted = not each.drivers and f"({each.pod.key}) has {NOT_ENDED}" in said
        told = [] if evicted or (each.silent and not number) else [fmt(text, str(each.pod.key), each.node)]
        if number and each.due:
            told.insert(0, fmt("Pod {} {} {}.", str(each.pod.key), Safe(OVERDUE), ago(each.due, now)))
        if each.unreachable:
            stay = Safe("its devices stay" if each.drivers else "what it has stays")
            told = [fmt(_WHILE_UNREACHABLE, str(each.pod.key), each.node, stay)]
            if each.now_called:
                told.append(same_devices_text(each.node, each.now_called))
        if each.reason:
            reason = Safe("") if not number else fmt(" ({})", each.reason)
            told.append(fmt("The failure to end it{} was reported last {}.", reason, ago(each.time, now)))
        told += (_of_driver(pod) for pod in each.failing if pod not in failing)
        if each.finalizers:
            word, keep = ("finalizer", "keeps") if len(each.finalizers) == 1 else ("finalizers", "keep")
            names = listed(each.finalizers[:_FINALIZERS])
            told.append(fmt("Its {} {} {} the object of the pod, not its devices.", Safe(word), names, Safe(keep)))
        yield from wrapped(Safe(" ").join(told), indent=2, first=0) if told else ()


def _broken(found: LingeringPod, lead: Safe, now: datetime | None = None) -> Safe:
    """``Pod lab is in CrashLoopBackOff (812 restarts; not ready for 3d)``: the age only with ``now``."""
    how = last_words_of(found.broken) if found.broken is not None else Safe("")
    since = fmt("not ready {}", lasting(found.time, now)) if now is not None and found.time else Safe("")
    told = Safe("; ").join([text for text in (how, since) if text])
    return fmt("{} ({})", lead, told) if told else lead


def lingering_advice(pods: Sequence[LingeringPod]) -> Safe | None:
    """What ends a pod that is asked about; None where only the reason's page has an advice."""
    for found in pods[:1]:
        if found.node_gone and not found.due:
            return Safe(
                "Wait a minute: kube-controller-manager deletes pods of nodes that are gone. If it does not, see its "
                "log. A controller makes a new pod; create a bare one again."
            )
        if found.unreachable and found.now_called:
            text = "Delete the Node {}, if its machine runs as {} now: that removes its pods and frees their devices."
            return fmt(text, found.node, listed(found.now_called[:_NODES], "or"))
        if found.unreachable and not found.due:
            return fmt(
                "Bring node {} back; to remove pods from one that stays off takes the commands below.", found.node
            )
        if found.unreachable:
            return fmt("Bring node {} back: its kubelet then ends the pod.", found.node)
        if found.failing:
            return known_cure(found.failing) or Safe(
                "Repair what the log of the driver's pod says; once it runs, the kubelet ends the pod by itself."
            )
        if found.silent:
            return fmt(
                "Get driver {} running on {} again: the kubelet waits for it, and then ends the pod by itself.",
                listed(found.silent),
                found.node,
            )
    return None


def lingering_commands(pods: Sequence[LingeringPod], address: Address) -> Iterator[Safe]:
    """Where to look next: the log of the driver on the node, and the pod's events unless they were told."""
    for each in pods[:1]:
        if each.broken is not None:
            yield from command_line("Why {} does not run: {}", reading(why_words(each.broken), address), each.pod.name)
            continue
        pod = of("pod", each.pod.name, each.pod.namespace)
        if each.node_gone and not each.due:
            words = kubectl("delete", pod, "--force", "--grace-period=0")
            yield from command_line("To remove it now: {}", changing(words, address))
            continue
        if each.unreachable:
            yield from _node_commands(each, address)
            continue
        if not (each.reason and each.plugins):
            events = reading(kubectl("describe", pod), address)
            yield from command_line("What keeps {} from ending: {}", events, str(each.pod.key))
        failing = {found.pod: found.restarts for found in each.failing}
        for ref in [each.failing[0].pod] if each.failing else each.plugins[:1]:
            where = within(ref.namespace)
            before = ("--previous",) if failing.get(ref) else ("--since=1h",)
            words = kubectl("logs", of("pod", ref.name), where, "--all-containers", *before)
            yield from command_line("Log of the driver on {}: {}", reading(words, address), each.node)
        if each.silent:
            yield from _of_gone_drivers(each, address)


def _of_gone_drivers(found: LingeringPod, address: Address) -> Iterator[Safe]:
    """Where a driver's pod is, and what removes a pod whose devices nobody will release."""
    there = kubectl("get", "pods", "-A", "-o", "wide", "--field-selector", f"spec.nodeName={found.node}")
    if not found.plugins:
        yield from command_line("Whether its pod runs on {}: {}", reading(there, address), found.node)
    force = kubectl("delete", of("pod", found.pod.name, found.pod.namespace), "--force", "--grace-period=0")
    line = command(changing(force, address))
    if line is not None:
        text = "Only if that driver is gone for good (its devices then count as free, whatever was left on them):"
        yield from wrapped(Safe(text))
        yield fmt("  {}", line)


def _node_commands(found: LingeringPod, address: Address) -> Iterator[Safe]:
    """What shows the node, and what removes its pods where it will not come back.

    Upstream: pkg/controller/podgc, gcTerminating; pkg/controller/volume/attachdetach/reconciler, which detaches at once
    by the taint, and else after ReconcilerMaxWaitForUnmountDuration (6 minutes).
    """
    pod, name = of("pod", found.pod.name, found.pod.namespace), (found.node,) if is_subdomain(found.node) else None
    describe = reading(kubectl("describe", of("node", found.node)), address)
    yield from command_line("Its conditions, and since when: {}", describe)
    if found.now_called:
        gone = changing(kubectl("delete", of("node", found.node)), address)
        yield from command_line("To delete the Node that is left over: {}", gone)
    if found.out_of_service:
        return
    taint = kubectl("taint", "nodes", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
    force = kubectl("delete", pod, "--force", "--grace-period=0")
    text = (
        "Only if that machine is certainly off and stays off (else two pods may write the same data), remove its pods "
        "and detach their volumes:"
    )
    lines = [
        (Safe(text), taint),
        (Safe("Or remove this pod alone; its volumes are detached some minutes later:"), force),
    ]
    for told, words in lines:
        line = command(changing(words, address))
        if line is not None:
            yield from wrapped(told)
            yield fmt("  {}", line)


def same_devices_text(node: str, others: Sequence[str], *, left_over: bool = True) -> Safe:
    """That another node publishes what this one does; ``left_over``: one of them is not ready, so that it may be gone.

    Two nodes that are both ready share a machine, as nodes of kind do.
    """
    one = len(others) == 1
    verb, which = Safe("publishes" if one else "publish"), Safe("that" if one else "another")
    then = fmt("probably its machine was reinstalled under {} name.", which)
    if not left_over:
        then = Safe("the scheduler may allocate each of them twice, once for each node.")
    text = "{} {} the same devices as {} (by their uuid): {}"
    return fmt(text, listed(others[:_NODES]), verb, node, then)


def _of_driver(pod: FailingPod) -> Safe:
    restarts = fmt(", {}", counted(pod.restarts, "restart")) if pod.restarts else Safe("")
    return fmt("The driver's pod {} there: {}{}.", str(pod.pod.key), pod.state, restarts)
