"""What makes room for more copies: pods to restart in their order, and bare pods to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.diagnosis.capacity.records import Move, Moves
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.remedies import recorded_lines
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, styled
from kubectl_dra.output.whatif.page import CHOICE_WORDS
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.capacity.capacity import EndingWay, WayOut


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
