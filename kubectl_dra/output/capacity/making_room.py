"""What makes room for more copies: pods to restart in their order, and bare pods to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.diagnosis.capacity.records import Moves
from kubectl_dra.diagnosis.whatif.records import Because
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.remedies import recorded_lines
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, styled
from kubectl_dra.output.whatif.page import CHOICE_WORDS
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.capacity.capacity import EndingWay, WayOut


def way_lines(way: WayOut, address: Address) -> Iterator[Safe]:
    moves = way.moves
    pods = counted(len(moves.moves), "pod")
    room = fmt("Room for {}: restart {} {}", counted(moves.more, "more copy"), pods, _proof(moves))
    yield from wrapped(styled(room, Style.BOLD))
    for move in moves.moves:
        devices = fmt(" ({})", Safe(", ").join(move.devices)) if move.devices else Safe("")
        certain = move.because is Because.NONE
        which = Safe(", or a node as good") if certain else Safe(", or another node that fits")
        other = which if move.equal else Safe("")
        text = fmt("{} leaves {} and would run on {}{}{}", str(move.pod.key), move.from_node, move.to, other, devices)
        yield from wrapped(text, indent=4, first=2)
    for because, sentence in CHOICE_WORDS.items():
        if any(move.because is because for move in moves.moves):
            yield from wrapped(sentence, indent=2)
    yield from recorded_lines(address)
    for words in way.commands:
        yield from command_line("  {}", words)
    if way.commands:
        wait = "Before an uncordon, wait until the restarted pods run: until then the scheduler could put them back."
        yield from wrapped(Safe(wait), indent=2)


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
