"""Sentences about pods that should have ended and still hold devices: why they do not end, and where that stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.driver_pods import last_words_of, state_of, why_words
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.safe import Safe, command, command_line, fmt
from kubectl_dra.output.words import age, ago, counted, listed
from kubectl_dra.reports.invocations import kubectl, of, reading, within
from kubectl_dra.reports.pending.failing_pods import FailingPod
from kubectl_dra.reports.pending.lingering import LingeringPod

_FINALIZERS: Final = 3
_SHOULD: Final = "should have ended"


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
    if found.reason:
        return fmt("{}, but {} was reported: {}", lead, found.reason, innermost(found.message))
    if found.failing:
        each = found.failing[0]
        return fmt("{}, and the driver does not run on {} ({})", lead, found.node, each.state)
    return lead


def _lead(found: LingeringPod, namespace: str) -> Safe:
    name = found.pod.name if found.pod.namespace == namespace else str(found.pod.key)
    return fmt("Pod {} {}", name, Safe(_SHOULD) if found.broken is None else state_of(found.broken))


def with_delay(text: Safe, pods: Sequence[LingeringPod], namespace: str, now: datetime) -> Safe:
    """A sentence with how long ago the pod that it names should have ended."""
    for each in pods[:1]:
        lead = _lead(each, namespace)
        plain, dated = _broken(each, lead), _broken(each, lead, now)
        if each.broken is None:
            dated = fmt("{} {}", lead, ago(each.due, now))
        before, found, after = text.partition(plain)
        if found:
            return fmt("{}{}{}", Safe(before), dated, Safe(after))
    return text


def lingering_lines(pods: Sequence[LingeringPod], now: datetime) -> Iterator[Safe]:
    """Since when the others should have ended, and what is known of each; the first line tells of the first."""
    for number, each in enumerate(pods):
        if each.broken is not None:
            yield from wrapped(fmt("{}.", _broken(each, _lead(each, ""), now)), indent=2, first=0) if number else ()
            continue
        text = "The devices of pod {} are free only when the kubelet and the driver on {} have released them."
        told = [fmt(text, str(each.pod.key), each.node)]
        if number:
            told.insert(0, fmt("Pod {} {} {}.", str(each.pod.key), Safe(_SHOULD), ago(each.due, now)))
        if each.reason:
            reason = Safe("") if not number else fmt(" ({})", each.reason)
            told.append(fmt("The failure to end it{} was reported last {}.", reason, ago(each.time, now)))
        told += map(_of_driver, each.failing)
        if each.finalizers:
            word, keep = ("finalizer", "keeps") if len(each.finalizers) == 1 else ("finalizers", "keep")
            names = listed(each.finalizers[:_FINALIZERS])
            told.append(fmt("Its {} {} {} the object of the pod, not its devices.", Safe(word), names, Safe(keep)))
        yield from wrapped(Safe(" ").join(told), indent=2, first=0)


def _broken(found: LingeringPod, lead: Safe, now: datetime | None = None) -> Safe:
    """``Pod lab is in CrashLoopBackOff (812 restarts; not ready for 3d)``: the age only with ``now``."""
    how = last_words_of(found.broken) if found.broken is not None else Safe("")
    since = fmt("not ready for {}", age(found.time, now)) if now is not None and found.time else Safe("")
    told = Safe("; ").join([text for text in (how, since) if text])
    return fmt("{} ({})", lead, told) if told else lead


def lingering_commands(pods: Sequence[LingeringPod], address: Address) -> Iterator[Safe]:
    """Where to look next: the log of the driver on the node, and the pod's events unless they were told."""
    for each in pods[:1]:
        if each.broken is not None:
            yield from command_line("Why {} does not run: {}", reading(why_words(each.broken), address), each.pod.name)
            continue
        pod = of("pod", each.pod.name, each.pod.namespace)
        events = command(reading(kubectl("describe", pod), address))
        if events is not None and not (each.reason and each.plugins):
            yield fmt("What keeps {} from ending: {}", str(each.pod.key), events)
        failing = {found.pod: found.restarts for found in each.failing}
        for ref in [each.failing[0].pod] if each.failing else each.plugins[:1]:
            where = within(ref.namespace)
            before = ("--previous",) if failing.get(ref) else ("--since=1h",)
            words = kubectl("logs", of("pod", ref.name), where, "--all-containers", *before)
            yield from command_line("Log of the driver on {}: {}", reading(words, address), each.node)


def _of_driver(pod: FailingPod) -> Safe:
    restarts = fmt(", {}", counted(pod.restarts, "restart")) if pod.restarts else Safe("")
    return fmt("The driver's pod {} there: {}{}.", str(pod.pod.key), pod.state, restarts)
