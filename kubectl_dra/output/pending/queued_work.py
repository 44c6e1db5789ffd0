"""Below the overview of pods that wait: work without pods, in queues or refused, and pods that failed on their node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.said.kubelet import NOT_PLACED, WAS_REJECTED
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.queues import qualified
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.go_errors import innermost
from kubectl_dra.output.pending.made import refused_sentence
from kubectl_dra.output.pending.queues import queue_reason
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import ago, counted, listed, shortened
from kubectl_dra.reports.invocations import dra, of, reading
from kubectl_dra.reports.pending.idle import WorkloadPendingReport
from kubectl_dra.reports.pending.rejected import RejectedPods

_NAMES: Final = 3
_QUEUES: Final = 6
_REFUSED: Final = 4
#: Of kinds that why-pending takes by their name alone.
_KINDS: Final = ("Job", "JobSet", "RayJob", "RayCluster", "LeaderWorkerSet", "MPIJob", "TrainJob")
_FAILED_NAMED: Final = 2


def work_summary(found: Sequence[WorkloadPendingReport], scope: str) -> Safe:
    """How much work waits in queues, and how much is refused its pods."""
    refused = [each for each in found if each.refused is not None]
    texts = [_refused_summary(refused, scope)] if refused else []
    texts += [_queued_summary(len(found) - len(refused), scope)] if len(refused) < len(found) else []
    return Safe("; ").join(texts)


def _queued_summary(number: int, scope: str) -> Safe:
    where = fmt(" in namespace {}", scope) if scope else Safe("")
    verb = Safe("waits" if number == 1 else "wait")
    return fmt("{} without pods yet {} in a queue{}", counted(number, "workload"), verb, where)


def _refused_summary(found: Sequence[WorkloadPendingReport], scope: str) -> Safe:
    where = fmt(" in namespace {}", scope) if scope else Safe("")
    return fmt("{}{} cannot create pods with devices", counted(len(found), "workload"), where)


def refused_work_lines(found: Sequence[WorkloadPendingReport], scope: str, address: Address) -> Iterator[Safe]:
    """The work whose controllers are refused pods, and why; nothing where none is."""
    refused = [each for each in found if each.refused is not None]
    if not refused:
        return
    yield fmt("{}:", _refused_summary(refused, scope))
    for each in refused[:_REFUSED]:
        ref = each.workload
        name = fmt("{} {}", ref.kind, ref.name if scope else str(ref.key))
        if each.refused is not None:
            yield from wrapped(fmt("{}: {}", name, refused_sentence(each.refused, ref).rstrip(".")), indent=4, first=2)
    if len(refused) > _REFUSED:
        yield fmt("  and {} more", len(refused) - _REFUSED)
    first = refused[0].workload
    asked = of(first.kind.lower(), first.name, first.namespace)
    yield from command_line("more: {}", reading(dra("why-pending", asked), address))


def work_lines(found: Sequence[WorkloadPendingReport], scope: str, address: Address) -> Iterator[Safe]:
    """By queue and reason which work waits; nothing where none does."""
    alike: dict[tuple[str, str, Safe], list[WorkloadPendingReport]] = {}
    for each in found:
        if each.queue is not None:
            key = each.workload.namespace, each.queue.queue, queue_reason(each.queue)
            alike.setdefault(key, []).append(each)
    if not alike:
        return
    yield fmt("{}:", _queued_summary(sum(map(len, alike.values())), scope))
    ordered = sorted(alike.items(), key=lambda item: (-len(item[1]), item[0]))
    for (namespace, queue, reason), waits in ordered[:_QUEUES]:
        refs = [each.workload for each in waits]
        names = shortened([f"{ref.kind} {ref.name if scope else ref.key}" for ref in refs], _NAMES)
        where = fmt("queue {}", queue if scope else f"{namespace}/{queue}") if queue else Safe("no queue")
        yield from wrapped(fmt("{} ({}): {}", names, where, reason), indent=4, first=2)
    if len(ordered) > _QUEUES:
        rest = sum(len(waits) for _, waits in ordered[_QUEUES:])
        yield fmt("  and {} more, for {}", rest, counted(len(ordered) - _QUEUES, "other reason"))
    first = next((each.workload for each in found if each.workload.kind in _KINDS), None)
    if first is not None:
        asked = of(first.kind.lower(), first.name, first.namespace)
        yield from command_line("more: {}", reading(dra("why-pending", asked), address))


def unread_work_line() -> Safe:
    """That work in queues could not be read."""
    text = "Work that waits in a queue of Kueue and has no pods yet is not listed: {} could not be read."
    return fmt(text, qualified("workloads"))


def rejected_lines(found: Sequence[RejectedPods], scope: str, now: datetime, address: Address) -> Iterator[Safe]:
    """By reason how many, which, and what the kubelet said of the newest."""
    if not found:
        return
    number = sum(len(each.pods) for each in found)
    verb = Safe("was" if number == 1 else "were")
    whose = Safe(" by its node" if number == 1 else " by their nodes")
    # YuniKorn rejects pods before they have one.
    whose = Safe("") if any(each.reason in NOT_PLACED for each in found) else whose
    yield fmt("{} with device claims {} not taken{}:", counted(number, "pod"), verb, whose)
    for each in found:
        names = shortened([ref.name if scope else str(ref.key) for ref in each.pods], _FAILED_NAMED)
        when = fmt(", the newest created {}", ago(each.created, now)) if each.created else Safe("")
        number_of = counted(len(each.pods), "pod")
        lead = fmt("{} {}: {} ({}){}", Code.KUBELET_REJECTED, each.reason, number_of, names, when)
        yield from wrapped(lead, indent=4, first=2)
        if each.message:
            yield from wrapped(fmt("{}", each.message), indent=4, first=4)
    newest = found[0].pods[0]
    pod = of("pod", newest.name, newest.namespace)
    yield from command_line("more: {}", reading(dra("why-pending", pod), address))


def unserved_lines(found: Mapping[Key, Collection[str]], scope: str, address: Address) -> Iterator[Safe]:
    """Pods that wait for a resource of which DRA knows nothing: of each the page tells who could offer it."""
    if not found:
        return
    keys = sorted(found)
    names = shortened([key.name if scope else str(key) for key in keys], _FAILED_NAMED)
    wanted = listed(sorted({name for resources in found.values() for name in resources}))
    verb = Safe("requests" if len(keys) == 1 else "request")
    text = "{} without device claims ({}) {} {}, which no DeviceClass serves."
    yield from wrapped(fmt(text, counted(len(keys), "pending pod"), names, verb, wanted))
    pod = of("pod", keys[0].name, keys[0].namespace)
    yield from command_line("more: {}", reading(dra("why-pending", pod), address))


def not_taken_lines(found: Sequence[RejectedPods], owner: ObjectRef | None, now: datetime) -> Iterator[Safe]:
    """Of a pod that waits, or is made anew: which pods of its controller a node has not taken, and why."""
    if owner is None:
        return
    for each in found:
        number = len(each.pods)
        whose = fmt("{} of its {} {}", counted(number, "other pod"), owner.kind, owner.name)
        when = fmt(", the newest created {}", ago(each.created, now)) if each.created else Safe("")
        verb = Safe("was" if number == 1 else "were")
        by = "YuniKorn" if each.reason in NOT_PLACED else "its node"
        text = "{} {} not taken by {} ({}{}): {}"
        words = innermost(each.message.removeprefix(WAS_REJECTED).rstrip("."))
        told = fmt(text, whose, verb, each.node or by, each.reason, when, words or each.reason)
        yield from wrapped(fmt("{}.", told), indent=2, first=0)
