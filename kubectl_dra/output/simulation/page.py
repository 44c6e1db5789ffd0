"""What a simulation says: manifests first, then every pod with its copies, and why-pending's page of what fails."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import msgspec

from kubectl_dra.api.kinds import POD
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.whatif.records import Drain, PodFate, RemoveNode
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.devices.unpublished import advertised_lines
from kubectl_dra.output.layout import paragraphs, wrapped
from kubectl_dra.output.pending.asks import unfound_lines, unseen_lines
from kubectl_dra.output.pending.assumptions import fewer_copies
from kubectl_dra.output.pending.footer import codes_lines
from kubectl_dra.output.pending.headline import pending_summary, why_not
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.output.pending.reasons import reason_sentence
from kubectl_dra.output.pending.remedies import step_lines
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.simulation import as_written, faults, manifests, numbers
from kubectl_dra.output.simulation.displaced import without_place_lines
from kubectl_dra.output.simulation.domains import domain_lines, told_once, too_small
from kubectl_dra.output.simulation.doubts import doubt_lines
from kubectl_dra.output.simulation.queues import queue_heads, queue_text
from kubectl_dra.output.simulation.same_pages import ToldPod, head_lines, other_lines, told_together
from kubectl_dra.output.simulation.verdicts import (
    alternative_lines,
    given_lines,
    is_enough,
    mixed_text,
    name_of,
    never_fits,
    sharing_text,
    stage_text,
    verdict_of,
    with_alike,
)
from kubectl_dra.output.unread import incomplete_lines
from kubectl_dra.output.whatif.page import CHOICE_UNREAD, SOME_COMPARED, whatif_lines, whatif_summary
from kubectl_dra.output.words import counted, listed, object_name, shortened
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.simulation import Counted, PodSimulation, SimulationReport
from kubectl_dra.reports.simulation.whole import by_group

_NODES_SHOWN = 8
_VICTIMS: Final = 2
_ALONE: Final = Safe(
    "Claims, templates and pod templates that no pod of the files uses were tried one by one, each as if it were the "
    "only one. --together tries all of them at once."
)
_LEAVE_FIRST: Final = Safe(
    "Pods that leave their nodes are placed before those of the files. If those are created first, the others may stay "
    "pending instead."
)
_NOT_SEEN: Final = Safe(" But not all of its containers see the devices that they name.")
_NOTHING: Final = Safe("Nothing was tried: no object of the files is a pod, makes pods, or is a claim or template.")
_EXAMPLE: Final = Safe(
    "These nodes are one example: not all nodes were tried for each copy, so the scheduler may choose others."
)


def simulation_page(
    report: SimulationReport, now: datetime, *, steps: bool = False, address: Address = HERE
) -> list[Safe]:
    """All lines; ``steps``: with the commands of remedies, for the cluster at ``address``."""
    blocks = list(_head_blocks(report, address))
    left = bool(_wrong(report))
    told: list[PodSimulation] = []
    pages: list[ToldPod] = []
    first = faults.not_told_later(report)
    found = with_alike(told_once(by_group(first)))
    # What never fits comes first; of each the order is that in which they were placed.
    for pod, alike in sorted(found, key=lambda each: never_fits(each[0]), reverse=True):
        same = next((each for each in told if _is_same(each, pod)), None)
        shown = _pod_blocks(pod, now, address, left=left, steps=steps) if same is None else _as_before(pod, same)
        page, these = [*shown], {(each.subject, each.role) for each in (pod, *alike)}
        thens = [each for each in report.then if (each.subject, each.role) in these]
        for then in thens:
            accepted = report.accepted if pod.blocked else ()
            lines = list(manifests.misplaced_lines(report.misplaced, pod.subject))
            lines += faults.as_if_lines(report.corrected, accepted)
            page += [lines, *_pod_blocks(then, now, address, left=left, steps=steps)]
        pages.append(ToldPod(pod, page, [*alike], final=not thens))
        told.append(pod)
    together = told_together(pages, steps=steps)
    blocks.append(list(head_lines(together)))
    for each in together:
        blocks += [*each.blocks, list(other_lines(each))]
    subjects = {pod.subject for pod in first}
    if later := [each for each in report.then if each.subject not in subjects]:
        blocks.append(list(faults.as_if_lines(report.corrected, report.accepted, report.effects.copied)))
        meant = {each.subject: list(manifests.misplaced_lines(report.misplaced, each.subject)) for each in later}
        for then in later:
            blocks += [meant.pop(then.subject, []), *_pod_blocks(then, now, address, left=left, steps=steps)]
    if not report.pods and not report.then and report.what_if is None:
        blocks.append(list(wrapped(_nothing(report))))
    blocks.append(list(faults.unread_lines(report, address)))
    blocks.append([*manifests.effect_lines(report.effects), *faults.planned_lines(report)])
    blocks.append(list(manifests.note_lines(report)))
    blocks.append(list(advertised_lines(report.also_advertised)))
    if any(pod.alone and not pod.hook for pod in report.pods):
        blocks.append(list(wrapped(_ALONE)))
    return paragraphs(blocks)


def _head_blocks(report: SimulationReport, address: Address) -> Iterator[list[Safe]]:
    """What is said before any pod: what is wrong in the files, and what is supposed."""
    yield from (
        list(incomplete_lines(report.unread)),
        list(faults.copied_lines(report)),
        [*as_written.head_lines(report.manifests, report.read_as_meant), *manifests.refusal_lines(report)],
        list(without_place_lines(report.without_place)),
        [*whatif_lines(report.what_if, address), *_first_lines(report)] if report.what_if is not None else [],
        list(faults.corrected_lines(report.corrected)),
        list(faults.planned_head(report)),
        list(manifests.unlabelled_lines(report, address)),
        list(manifests.unknown_node_lines(report.effects)),
        list(as_written.other_lines(report)),
        [] if report.pods else list(manifests.untried_lines(report.manifests)),
        *map(list, queue_heads(report.manifests, address)),
        list(manifests.gang_lines(report.gangs)),
        list(wrapped(unseen)) if (unseen := _unseen_pods(report)) is not None else [],
    )
    if (mixed := mixed_text(report)) is not None:
        yield list(wrapped(styled(mixed, Style.BOLD)))


def _first_lines(report: SimulationReport) -> Iterator[Safe]:
    """That pods which leave their nodes were placed first, where they may be what others lack."""
    moves = report.what_if is not None and report.what_if.of(PodFate.MOVES)
    if moves and any(pod.lacks for pod in report.pods):
        yield from wrapped(_LEAVE_FIRST, indent=2)


def _is_same(told: PodSimulation, pod: PodSimulation) -> bool:
    """Whether other pods of the same object lack the same, and the same would help."""
    one, other = told.pending, pod.pending
    if one is None or other is None or told.subject != pod.subject or not told.role:
        return False
    if is_enough(pod) or pod.blocked or told.blocked:
        return False
    ways = ([each.actions for each in pending.remedies] for pending in (one, other))
    return why_not(one) is not None and why_not(one) == why_not(other) and next(ways) == next(ways)


def _as_before(pod: PodSimulation, told: PodSimulation) -> list[list[Safe]]:
    """What is in the way of pods, where all else is told of others."""
    lines = list(_pod_lines(pod, why_not(pod.pending) if pod.pending is not None else None))
    return [
        [*lines, *numbers.fewer_lines(pod, steps=False), *wrapped(fmt("What helps is told of {} above.", told.role))]
    ]


def simulation_summary(report: SimulationReport) -> Safe:
    """The answer: what is wrong in the files, and of every pod whether it fits."""
    wrong, copied = _wrong(report), faults.copied_summary(report)
    verdicts = [*copied, *([fmt("Not as written: {} dropped.", counted(wrong, "field"))] if wrong else [])]
    verdicts += as_written.refused_texts(report)
    refused = sum(bool(each.refused or each.error) for each in report.manifests)
    verdicts += [fmt("{} would be refused.", counted(refused, "object"))] if refused else []
    verdicts += filter(None, map(queue_text, report.manifests))
    verdicts += map(manifests.gang_text, report.gangs)
    shown = told_once(by_group(report.pods))
    verdicts += (_verdict_of_what_is_left(pod, left=bool(wrong)) + _already(pod) + sharing_text(pod) for pod in shown)
    if report.what_if is not None and report.what_if.displaced:
        verdicts.append(whatif_summary(report.what_if))
    if (unseen := _unseen_pods(report)) is not None:
        verdicts.append(unseen)
    return Safe(" ").join(verdicts) if verdicts else _NOTHING


def _unseen_pods(report: SimulationReport) -> Safe | None:
    """That pods which would have to leave nodes may be others than those that were read, or more."""
    supposed = report.what_if
    if supposed is None or not supposed.moves or not any(each.kind == POD.name for each in report.missing):
        return None
    nodes = [each.node for each in supposed.switches if isinstance(each, Drain | RemoveNode)]
    if not nodes:
        return Safe("Which pods would have to leave their nodes is unknown.")
    return fmt("Which pods are on {} is unknown.", listed(nodes))


def _pod_blocks(pod: PodSimulation, now: datetime, address: Address, *, left: bool, steps: bool) -> list[list[Safe]]:
    """Whether it fits and why not, in one sentence; then what why-pending says of the first copy that does not."""
    refused = faults.refusal_of(name_of(pod), pod)
    if refused is not None:
        found = _pod_blocks(faults.without_refusal(pod), now, address, left=left, steps=steps)
        return [list(faults.refusal_lines(refused, pod)), *found]
    pending = pod.pending
    if pending is None or is_enough(pod) or pod.like is not None or too_small(pod) is not None:
        return [list(_pod_lines(pod, left=left))]
    reason = None if pod.blocked else why_not_there(pod)
    if pod.open_classes.at_most is not None:
        reason = Safe("")
    head = list(_pod_lines(pod, reason, left=left))
    if pod.unread_holders:
        # What stands in the files need not be made.
        return [head, list(codes_lines(pending.causes))]
    others = list(numbers.others_off(pod))
    if reason is None:
        head += [Safe(""), *wrapped(styled(pending_summary(pending), Style.BOLD))]
    # What could not be read is said above.
    shown = msgspec.structs.replace(pending, missing=()) if pod.undecided else pending
    shown = numbers.of_its_nodes(shown, pod.kept_off)
    if pod.unseen_for:
        shown = msgspec.structs.replace(shown, unseen=())
        head += unseen_lines(pod.unseen, pod.unseen_for)
    blocks = [*_page_of(pod, shown, head, now, address, steps=steps)]
    for other in others:
        assert other.pending is not None and other.kept_off is not None  # noqa: S101
        where = [fmt("On {}:", shortened(other.kept_off.nodes, _VICTIMS))]
        shown = numbers.of_its_nodes(msgspec.structs.replace(other.pending, asks=(), unseen=()), other.kept_off)
        blocks += _page_of(other, shown, where, now, address, steps=steps)
    return blocks


def why_not_there(pod: PodSimulation) -> Safe | None:
    """Why the next copy does not fit, on the nodes of a DaemonSet or at all."""
    if pod.pending is None:
        return None
    return numbers.lacks_there(pod) or why_not(numbers.of_its_nodes(pod.pending, pod.kept_off))


def _page_of(
    pod: PodSimulation,
    shown: PendingReport,
    head: list[Safe],
    now: datetime,
    address: Address,
    *,
    steps: bool,
) -> list[list[Safe]]:
    """What why-pending says of the first copy that does not fit, below a ``head``."""
    more = Safe("" if steps else "--remedies prints the commands and manifests")
    if shown.observed is None:
        # Nobody writes of a pod that does not exist.
        shown = msgspec.structs.replace(shown, message=None)
    shown, who = numbers.for_copies(shown, pod)
    also = [*numbers.more_lines(pod), *numbers.fewer_lines(pod, steps=steps), *numbers.kept_off_lines(pod)]
    page = pending_page(shown, now, address, more, head=head, who=who, also=also)
    return [page, list(step_lines(shown.remedies, address)) if steps else []]


def _nothing(report: SimulationReport) -> Safe:
    kept = [each for each in report.manifests if each.refused or each.error or each.untried]
    if not kept:
        return _NOTHING
    if not any(each.refused or each.error for each in kept):
        return Safe("Nothing was tried: the files do not say which pods there will be.")
    return Safe("Nothing was tried: what the files describe can't be created as it is written.")


def _wrong(report: SimulationReport) -> int:
    return sum(not finding.corrected for each in report.manifests for finding in each.findings)


def _verdict_of_what_is_left(pod: PodSimulation, *, left: bool) -> Safe:
    """That something fits of which fields are dropped says nothing about what was written."""
    verdict = verdict_of(pod)
    if (refused := faults.refusal_of(name_of(pod), pod)) is not None:
        as_if = Safe("As if it existed" if pod.blocked else "As if they were admitted")
        verdict = fmt("{} {}: {}", refused, as_if, verdict_of(faults.without_refusal(pod)))
    if not left:
        return verdict
    # A kind keeps its capital, a sentence that goes on does not.
    inside = Safe(verdict[:1].lower() + verdict[1:]) if verdict.startswith(("A ", "One ")) else verdict
    return Safe("What is left: ") + inside


def _made_of(pod: PodSimulation) -> Iterator[Safe]:
    """What its pods have that is not written in a template of their own."""
    if pod.made_from:
        text = "{} is not set: made from {}, with the same requests"
        names = (path.rpartition(".")[2] for path in (pod.instead_of, pod.made_from))
        yield from wrapped(fmt(text, *names), indent=2)
    if pod.flavors:
        flavors = Safe("flavor" if len(pod.flavors) == 1 else "flavors")
        yield from wrapped(fmt("with the node labels of Kueue's {} {}", flavors, listed(pod.flavors)), indent=2)


def _pod_lines(pod: PodSimulation, reason: Safe | None = None, *, left: bool = False) -> Iterator[Safe]:
    whole = verdict = _verdict_of_what_is_left(pod, left=left)
    if reason is not None:
        elsewhere = Safe("").join(
            _next_one(each) + (why_not_there(each) or Safe("")) for each in numbers.others_off(pod)
        )
        whole = fmt("{}{}{}{}.{}", Safe(verdict.removesuffix(".")), _next_one(pod), reason, elsewhere, _before(pod))
    whole += (
        _already(pod) + sharing_text(pod) + (_NOT_SEEN if pod.unfound and pod.copies and not pod.rest_by else Safe(""))
    )
    yield from wrapped(styled(whole, Style.BOLD))
    yield from faults.holder_lines(pod)
    if pod.like is not None:
        yield from wrapped(fmt("like {}, which differs from it in its name only", object_name(pod.like)), indent=2)
    shown = [fmt("{} {}", each.node, each.copies) if pod.copies > 1 else safe(each.node) for each in pod.nodes]
    if shown and too_small(pod) is None:
        more = fmt(" +{}", len(shown) - _NODES_SHOWN) if len(shown) > _NODES_SHOWN else Safe("")
        yield from wrapped(fmt("on {}{}", Safe(", ").join(shown[:_NODES_SHOWN]), more), indent=2)
        if pod.choice is not None:
            yield from wrapped(CHOICE_UNREAD, indent=2)
        if pod.nodes_compared:
            yield from wrapped(SOME_COMPARED, indent=2)
        elif pod.nodes_are_example:
            yield from wrapped(_EXAMPLE, indent=2)
    yield from alternative_lines(pod)
    yield from given_lines(pod)
    if pod.hook:
        text = "hook of {}, which is not created with the rest of the files{}"
        yield from wrapped(fmt(text, pod.hook, Safe(": tried without that" if pod.alone else "")), indent=2)
    if pod.after and pod.copies:
        yield from wrapped(stage_text(pod), indent=2)
    yield from _made_of(pod)
    yield from domain_lines(pod)
    yield from doubt_lines(pod)
    if pod.being_bound is not None:
        yield from wrapped(fewer_copies(pod.being_bound, single=pod.wanted == 1), indent=2)
    if pod.assumed:
        yield from wrapped(fmt("number of pods taken from {}", Safe(", ").join(map(safe, pod.assumed))), indent=2)
    if pod.rest_by and pod.copies and pod.lacks:
        text = "the rest of its pods is made by {} and was not tried"
        yield from wrapped(fmt(text, pod.rest_by), indent=2)
    yield from numbers.growing_lines(pod)
    if pod.pending is None:
        yield from numbers.more_lines(pod)
    if pod.pending is None or is_enough(pod):
        yield from unseen_lines(pod.unseen, pod.unseen_for)
    yield from unfound_lines(pod.unfound, pod.rest_by)
    if pod.pending is not None and pod.pending.causes and is_enough(pod):
        yield from wrapped(fmt("no more: {}", reason_sentence(pod.pending.causes[0])), indent=2)


def _already(pod: PodSimulation) -> Safe:
    """Which of its pods the cluster has, behind the verdict."""
    if pod.present and pod.present == pod.wanted == pod.copies:
        return Safe(" It runs already." if pod.wanted == 1 else " They run already.")
    if pod.present:
        return fmt(" {} of them {} already.", pod.present, Safe("runs" if pod.present == 1 else "run"))
    if pod.runs_alone:
        text = " Tried without its run of now, which ends before the next one starts (concurrencyPolicy {})."
        return fmt(text, pod.runs_alone)
    if pod.replaces and not pod.stuck:
        pods = counted(pod.replaces, "pod")
        return fmt(" The rollout replaces the {} that {} now.", pods, Safe("runs" if pod.replaces == 1 else "run"))
    return Safe("")


def _next_one(pod: PodSimulation) -> Safe:
    """What is said of the first copy that does not fit as things are; of a single one, only whom it would evict."""
    evicts = pod.pending.preemption if pod.pending is not None else None
    if evicts is None or not evicts.victims or not evicts.certain:
        if pod.kept_off is not None:
            return fmt("; on {} it does not", shortened(pod.kept_off.nodes, _VICTIMS))
        if pod.in_turn:
            return Safe(" at a time; the next one waits until one of these has ended")
        other = "; another one does not" if pod.counted is Counted.PER_NODE else "; the next one does not"
        return Safe(other if pod.copies and not pod.stuck else "")
    one = Safe("; the next one does" if pod.copies else " as things are, and does")
    return fmt(
        "{} once the scheduler has evicted {} from {}", one, shortened(evicts.victims, _VICTIMS), evicts.nodes[0]
    )


def _before(pod: PodSimulation) -> Safe:
    """That pods of the files hold what is in use."""
    found = pod.pending.siblings if pod.pending is not None else None
    if found is None or pod.pending is None:
        return Safe("")
    if found.hold_all and pod.pending.code is not Code.DEVICES_IN_USE:
        return Safe(" The devices in use are held by earlier pods of the files.")
    if found.hold_all:
        return Safe(" All of these are held by earlier pods of the files.")
    are = Safe("is" if found.devices == 1 else "are")
    # The nodes of the sentence are the nearest, and these may be on others.
    return fmt(" {} of the devices in use {} held by earlier pods of the files.", found.devices, are)
