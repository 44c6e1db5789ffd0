"""What comes of nodes that are drained one after the other, with the commands where all pods find a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.whatif import records
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted, first_of, listed
from kubectl_dra.reports.invocations import changing, kubectl, plain_word

_NAMES_SHOWN: Final = 4


def in_turn_lines(found: records.WhatIf, turns: records.InTurn, address: Address) -> Iterator[Safe]:
    """Why it does not work, or in which order it does, what is lost, and the commands."""
    if turns.stuck_at:
        yield from wrapped(_stuck(turns))
        yield from _others(turns)
        return
    first, second, *others = turns.drains
    pods = Safe("every pod that is created again" if found.of(records.PodFate.GONE) else "every pod")
    done = Safe("drained" if first.cordoned else "drained and uncordoned")
    text = "One after the other works: {} finds a node if {} is {} before {}{}."
    yield from wrapped(fmt(text, pods, first.node, done, second.node, Safe(", and so on" if others else "")))
    yield from _others(turns)
    yield from _lost(turns.drains)
    cordoned = [each.node for each in turns.drains if each.cordoned]
    if cordoned:
        yield from wrapped(fmt("Cordoned before, and left so: {}.", listed(cordoned)))
    if found.more_pods:
        text = "Pods without devices were not read one by one: kubectl drain names those that need another flag ({})."
        yield from wrapped(fmt(text, Safe("--force, --delete-emptydir-data")))
    for each in turns.drains:
        name = plain_word(each.node)
        yield from command_line("  {}", changing(kubectl("drain", name, "--ignore-daemonsets", *_flags(each)), address))
        if not each.cordoned:
            yield from command_line("  {}", changing(kubectl("uncordon", name), address))


def _others(turns: records.InTurn) -> Iterator[Safe]:
    """Pods that wait for longer come before those of the next node."""
    if turns.between:
        names = _names(dict.fromkeys(turns.between))
        verb = Safe("waits" if len(turns.between) == 1 else "wait")
        start = Safe("starts" if len(turns.between) == 1 else "start")
        text = "{} {} now and {} before the next drain, on what is free by then."
        yield from wrapped(fmt(text, names, verb, start))
    if turns.untried:
        more = counted(turns.untried, "more pod")
        text = "{} in the scheduler's queue may take what is free before the next drain: too many to try."
        yield from wrapped(fmt(text, more))


def _stuck(turns: records.InTurn) -> Safe:
    stays = fmt("{} without a node", counted(turns.pending, "pod")) if turns.pending else Safe("some of its pods")
    verb = Safe("stays" if turns.pending == 1 else "stay")
    if not turns.pending:
        verb = Safe("wait for a budget, or cannot be placed here")
    text = "One after the other, each uncordoned before the next, is not enough either: at {}, {} {}."
    return fmt(text, turns.stuck_at, stays, verb)


def _flags(drain: records.OneDrained) -> Iterator[str]:
    if drain.empty_dirs:
        yield "--delete-emptydir-data"
    if drain.unowned:
        yield "--force"


def _lost(drains: Sequence[records.OneDrained]) -> Iterator[Safe]:
    """What the flags mean: for the pods that they are for, nothing brings it back."""
    emptied = dict.fromkeys(each for drain in drains for each in drain.empty_dirs)
    unowned = dict.fromkeys(each for drain in drains for each in drain.unowned)
    if emptied:
        whose = Safe("its emptyDir volumes" if len(emptied) == 1 else "their emptyDir volumes")
        verb = Safe("loses" if len(emptied) == 1 else "lose")
        yield from wrapped(fmt("{} {} the data in {} (--delete-emptydir-data).", _names(emptied), verb, whose))
    if unowned:
        verb = Safe("is" if len(unowned) == 1 else "are")
        again = Safe("it" if len(unowned) == 1 else "them")
        yield from wrapped(
            fmt("{} {} gone for good: nothing creates {} again (--force).", _names(unowned), verb, again)
        )


def _names(pods: dict[ObjectRef, None]) -> Safe:
    return first_of([str(each.key) for each in pods], _NAMES_SHOWN)
