"""The parts of a page about capacity: devices that are shared, what makes room, whole groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Final

from kubectl_dra.diagnosis.capacity.records import Move, Moves, NodeRoom, Opening, OpeningKind, OwnTerm
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, Count, Funnel, Short, StageName
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.driver_pods import not_running_sentence, starting_sentence
from kubectl_dra.output.pending.remedies import recorded_lines
from kubectl_dra.output.pending.unready import unready_sentence
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.whatif.page import CHOICE_WORDS
from kubectl_dra.output.words import counted, first_of, listed, object_name, plural
from kubectl_dra.reports.capacity.capacity import EndingWay, WayOut
from kubectl_dra.reports.capacity.groups import GroupCapacity, GroupPart
from kubectl_dra.reports.pending.pending import PendingReport

_SHOWN: Final = 4


def _shorts(room: NodeRoom) -> tuple[str, Sequence[Short]]:
    """The capacity of which too little is left on every device of the node that matches, with the amounts of each."""
    cause = room.causes[0] if room.causes else None
    if cause is None or cause.code is not Code.CAPACITY_TOO_SMALL or not isinstance(cause.detail, Funnel):
        return "", ()
    removed = cause.detail.stage(StageName.CAPACITY).removed
    found = [each.short for each in removed if each.short is not None for _ in each.devices]
    names = {each.reason for each in removed}
    shared = any(each.users for each in found)
    whole = len(found) == room.devices.matching
    return (names.pop(), found) if len(names) == 1 and shared and whole else ("", ())


def too_little_left(room: NodeRoom) -> Safe:
    """``dra.cpu/cpu: 22 needed, 20 and 0 of 60 left``; empty for devices that nobody shares."""
    name, found = _shorts(room)
    totals = {each.total for each in found}
    if not found or len({each.needs for each in found}) > 1:
        return Safe("")
    lefts = [safe(each.left) for each in found]
    of = fmt(" of {}", totals.pop()) if len(totals) == 1 else Safe("")
    return fmt("{}: {} needed, {}{} left", name, found[0].needs, first_of(lefts, _SHOWN), of)


def share_lines(nodes: Sequence[NodeRoom], *, single: bool) -> Iterator[Safe]:
    """The amounts of each node together; ``single``: a copy takes them for one request, so that its part is known."""
    for room in nodes[:_SHOWN]:
        name, found = _shorts(room)
        if not found or any(not (each.total and each.left) for each in found):
            continue
        total, left = (_sum(texts) for texts in zip(*((each.total, each.left) for each in found), strict=True))
        taken = _sum([found[0].needs] * room.copies * _needed(room))
        used = total.sub(left)
        where = fmt("{} {}", name, _where(room))
        if single and len({each.needs for each in found}) == 1 and used.cmp(taken) >= 0:
            text = "{}: {} of {} in use, {} taken by these copies, {} left over"
            yield from wrapped(fmt(text, where, str(used.sub(taken)), str(total), str(taken), str(left)))
        else:
            yield from wrapped(
                fmt("{}: {} of {} used with these copies, {} left over", where, str(used), str(total), str(left))
            )


def _where(room: NodeRoom) -> Safe:
    first = fmt("on {}", room.names[0])
    return fmt("{} and {} alike, each", first, room.count - 1) if room.count > 1 else first


def _needed(room: NodeRoom) -> int:
    detail = room.causes[0].detail
    return detail.needed if isinstance(detail, Funnel) else 0


def _sum(texts: Iterable[str]) -> Quantity:
    return reduce(Quantity.add, map(Quantity.parse, texts), Quantity(0))


def way_lines(ways: Sequence[WayOut], address: Address) -> Iterator[list[Safe]]:
    """The shortest plan, and the one that makes the most room; those between them repeat these."""
    for way in (*ways[:1], *ways[1:][-1:]):
        yield list(_way_lines(way, address))


def _way_lines(way: WayOut, address: Address) -> Iterator[Safe]:
    moves = way.moves
    yield from wrapped(styled(_title(moves), Style.BOLD))
    for move in moves.moves:
        yield from wrapped(_move(move), indent=4, first=2)
    for because, sentence in CHOICE_WORDS.items():
        if any(move.because is because for move in moves.moves):
            yield from wrapped(sentence, indent=2)
    yield from recorded_lines(address)
    for words in way.commands:
        yield from command_line("  {}", words)
    if way.unwaited and way.commands:
        text = "After each delete, wait until {} has a node before you go on: no command can tell which pod that is."
        new = [str(pod.key) for pod in way.unwaited]
        yield from wrapped(fmt(text, fmt("the new pod in place of {}", listed(new, "or"))), indent=2)


def _title(moves: Moves) -> Safe:
    pods, restarts = len({move.pod for move in moves.moves}), len(moves.moves)
    what = counted(pods, "pod") if pods == restarts else fmt("{} ({} restarts)", counted(pods, "pod"), restarts)
    return fmt("Room for {}: restart {} {}", counted(moves.more, "more copy"), what, _proof(moves))


def _move(move: Move) -> Safe:
    """Where a pod would run, with the devices that it gets there."""
    devices = fmt(" ({})", Safe(", ").join(move.devices)) if move.devices else Safe("")
    if move.to == move.from_node:
        return fmt("{} stays on {} and gets other devices there{}", str(move.pod.key), move.to, devices)
    which = Safe(", or a node as good") if move.because is Because.NONE else Safe(", or another node that fits")
    other = which if move.equal else Safe("")
    return fmt("{} leaves {} and would run on {}{}{}", str(move.pod.key), move.from_node, move.to, other, devices)


def ending_lines(ends: Sequence[EndingWay], address: Address) -> Iterator[Safe]:
    """What only ends, each with the node where it makes room."""
    yield styled(Safe("Deleting bare pods makes room (gone for good: nothing starts them again)"), Style.BOLD)
    for each in ends:
        pods = listed([str(pod.key) for pod in each.deletion.pods])
        text = fmt("without {} one more fits on {}", pods, each.deletion.node)
        if each.deletion.more > 1:
            text = fmt("without {} {} more fit on {}", pods, each.deletion.more, each.deletion.node)
        yield from wrapped(text, indent=4, first=2)
    yield from recorded_lines(address)
    for each in ends:
        for words in each.commands:
            yield from command_line("  {}", words)


def _proof(moves: Moves) -> Safe:
    if moves.smallest:
        return Safe("(no smaller set is enough)")
    return fmt("(the smallest set found; at least {} needed)", moves.at_least)


def group_text(found: GroupCapacity) -> Safe:
    """How many whole groups fit, and what is in one."""
    parts, name = Safe(", ").join(_part(each, found) for each in found.parts), object_name(found.subject)
    least, most = found.groups.value, found.most
    if found.groups.bound is Bound.EXACT:
        number = counted(least, "more time") if least else Safe("")
    elif found.groups.bound is Bound.AT_MOST:
        number = fmt("at most {}", counted(found.groups.value, "more time"))
    else:
        number = fmt("at least {} and at most {}", counted(least, "more time"), most)
    what = fmt("A group of {} ({})" if found.each else "{} ({})", name, parts)
    if found.scheduler:
        text = "{}: scheduler {} decides; by the rules of the default scheduler it would {} now."
        return fmt(text, what, found.scheduler, fmt("fit {}", number) if number else Safe("not fit"))
    if not number:
        do = Safe("does" if found.short == 1 else "do")
        few = fmt(": {} of its {} pods {}", found.short, found.parts[0].pods, do) if found.short else Safe("")
        return fmt("{} does not fit now{}.", what, few)
    fewer = Safe("; that its pods have to be in one domain may allow fewer" if found.kept_together else "")
    return fmt("{} fits {} now{}.", what, number, fewer)


def _part(part: GroupPart, of: GroupCapacity) -> Safe:
    """``1 leader``, ``2 pods of 8 devices each``; of several roles ``8 trainer pods``."""
    if of.each:
        pods = counted(part.pods, part.role)
    elif part.role and len(of.parts) > 1:
        pods = fmt("{} {} {}", part.pods, part.role, Safe(plural("pod", part.pods)))
    else:
        pods = counted(part.pods, "pod")
    if not part.devices:
        return pods
    return fmt("{} of {}{}", pods, counted(part.devices, "device"), Safe(" each" if part.pods > 1 else ""))


def opening_lines(openings: Sequence[Opening]) -> Iterator[Safe]:
    """What closes nodes or devices, and how many more fit without it, each by itself."""
    if openings:
        yield styled(Safe("Opening what is closed makes room (each tried by itself, nothing was changed)"), Style.BOLD)
    for each in openings:
        fit = Safe("fits" if each.more == 1 else "fit")
        yield from wrapped(fmt("{:,} more {}: {}", each.more, fit, _opening(each)), indent=4, first=2)


def _opening(each: Opening) -> Safe:
    names = (
        listed(each.names) if each.nodes <= len(each.names) else fmt("{} and {} more", each.names[0], each.nodes - 1)
    )
    match each.kind:
        case OpeningKind.CORDON:
            return fmt("uncordon {} (kubectl uncordon), once nobody works on {}", names, _it(each))
        case OpeningKind.NODE_TAINT:
            return fmt("tolerate the node taint {} of {}, if such pods may run there", each.taint, names)
    if each.rule:
        return fmt("end the device taint {} on {}: delete DeviceTaintRule {}", each.taint, names, each.rule)
    return fmt("repair the devices on {} that their driver taints with {}", names, each.taint)


def _it(each: Opening) -> Safe:
    return Safe("it" if each.nodes == 1 else "them")


def sign_of(amount: Count) -> Safe:
    return {Bound.AT_LEAST: Safe("at least "), Bound.AT_MOST: Safe("at most ")}.get(amount.bound, Safe(""))


def own_term_text(term: OwnTerm) -> Safe:
    """One pod per node, zone or the like, and how many more there would be without that."""
    pods = fmt("one pod with {}", term.selector) if term.selector else Safe("one such pod")
    there = fmt(
        " ({} {} already)",
        listed([str(ref.key) for ref in term.there]),
        Safe("runs" if len(term.there) == 1 else "run"),
    )
    copies = fmt("{}{}", sign_of(term.copies), term.copies.value)
    text = "Its own anti-affinity allows {} per {}{}; without it {} would fit."
    return fmt(text, pods, term.topology_key, there if term.there else Safe(""), copies)


def driver_lines(pending: PendingReport | None) -> Iterator[Safe]:
    """Where none fits: the nodes whose driver does not run, or is only starting, and taints of nodes that start."""
    if pending is not None:
        running = [not_running_sentence(pending.failing)] if pending.failing else starting_sentence(pending.starting)
        for text in (*running, *unready_sentence(pending.unready)):
            yield from wrapped(fmt("{}.", text))
