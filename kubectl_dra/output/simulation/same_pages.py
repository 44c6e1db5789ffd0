"""Pods of which a simulation says the same, word for word but for names, or whom one change helps: one page for all."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies.records import CreateObject
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.headline import why_not
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.words import counted, listed, object_name, plural, shortened, without_names
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.simulation import PodSimulation

_NAMED: Final = 4
#: Where each object stands in the files, without white space.
_LINE: Final = re.compile(",line[0-9]+")
_FAILED: Final = (Verdict.UNSCHEDULABLE, Verdict.SCHEDULER_ERROR)
#: Where a way out makes room for one of them.
_OF_ITS_OWN: Final = (Code.DEVICES_IN_USE, Code.TOO_FEW_DEVICES)
_EACH: Final = Safe(" Each of them needs devices of its own: a way out is for one.")
Blocks = list[list[Safe]]


@dataclass(slots=True)
class ToldPod:
    """A pod with what is said of it, and ``others`` of which the same is said.

    ``final``: nothing more is said of it as if the files were different, so that another one with the same reason and
    ways out needs no page of its own.
    """

    pod: PodSimulation
    blocks: Blocks
    others: list[PodSimulation] = field(default_factory=list)
    final: bool = True


def told_together(pages: Iterable[ToldPod], *, steps: bool = False) -> list[ToldPod]:
    """The pages in their order, each of them once; those of pods that fit are short and tell where.

    Of bare claims and templates that fit, each tried as the only one, it is the same.
    ``steps``: the ways out are written out, so that they have to be the same to the letter.
    """
    pages = list(pages)
    everyone = dict.fromkeys(each.pod.subject.name for each in pages)
    known: dict[str, ToldPod] = {}
    told = []
    for page in pages:
        keys = list(filter(None, (_words(page, everyone), _cause(page, everyone, steps=steps))))
        same = next((known[key] for key in keys if key in known), None)
        if same is None:
            told.append(page)
        else:
            same.others += [page.pod, *page.others]
        known |= {key: same or page for key in keys if key not in known}
    return told


def head_lines(told: Sequence[ToldPod]) -> Iterator[Safe]:
    """That nothing fits, where one page tells why."""
    if len(told) != 1 or not told[0].others:
        return
    everyone = [told[0].pod, *told[0].others]
    subjects = list(dict.fromkeys(each.subject for each in everyone))
    kinds = {each.kind for each in subjects}
    if any(each.copies or each.in_turn for each in everyone):
        return
    if len(subjects) == 1:
        what = fmt("No pod of {}", object_name(subjects[0]))
    elif len(kinds) == 1:
        what = fmt("None of the {}", counted(len(subjects), subjects[0].kind))
    else:
        what = fmt("None of the {}", counted(len(subjects), "object"))
    yield from wrapped(styled(fmt("{} fits, all for the same reason:", what), Style.BOLD))


def other_lines(page: ToldPod) -> Iterator[Safe]:
    """Who else is meant; of other pods of the same object, where the change belongs."""
    first, others = page.pod, page.others
    roles = [each for each in others if each.subject == first.subject]
    for each in roles:
        fields = dict.fromkeys(_fields(each))
        where = fmt(", in {}", listed(list(fields))) if fields else Safe("")
        yield from wrapped(fmt("The same applies to {}{}.", each.role, where))
    rest = [each for each in others if each.subject != first.subject]
    if not rest:
        return
    if {each.subject.kind for each in rest} == {first.subject.kind}:
        names = shortened([str(each.subject.key) for each in rest], _NAMED)
        kind = fmt("more {}", plural(first.subject.kind, len(rest)))
    else:
        names = shortened([object_name(each.subject) for each in rest], _NAMED)
        kind = Safe("others" if len(rest) > 1 else "other")
    alone = _EACH if first.pending is not None and first.pending.code in _OF_ITS_OWN else Safe("")
    yield from wrapped(fmt("The same applies, with other names, to {} {}: {}.{}", len(rest), kind, names, alone))


def _fields(pod: PodSimulation) -> Iterator[str]:
    for way in pod.pending.remedies if pod.pending is not None else ():
        yield from (step.edit.field for step in way.steps if step.edit is not None and step.edit.field)


def _words(page: ToldPod, everyone: dict[str, None]) -> str:
    """What is said, with one word in place of the names of the pods, of this one's claims and of their templates."""
    pod, own = page.pod, _own(page.pod.pending) if page.pod.pending is not None else {}
    if not (own if pod.lacks else pod.alone):
        return ""
    said = without_names(ChainMap(own, everyone), chain.from_iterable(page.blocks))
    return f"{pod.subject.kind} {pod.role} {_LINE.sub('', said)}"


def _cause(page: ToldPod, everyone: dict[str, None], *, steps: bool) -> str:
    """Why not even one fits, and what would help: one change helps all of which that is the same."""
    pod, pending = page.pod, page.pod.pending
    never = pod.lacks and not pod.copies and page.final
    if pending is None or not never or pod.blocked or pod.refused or pod.kept_off is not None or pod.scheduler:
        return ""
    reason = why_not(pending)
    if reason is None or pending.verdict not in _FAILED:
        return ""
    lacking = bool(pending.remedies) and all(
        isinstance(action, CreateObject) for way in pending.remedies for action in way.actions
    )
    # Of an object that does not exist each request tells in its own words.
    told = [*([] if lacking else [reason]), *map(remedy_text, pending.remedies)]
    told += [main_reason(pending.still_blocked)] if pending.still_blocked is not None else []
    told += [fmt("{}", node) for way in pending.remedies for node in way.nodes]
    told += [fmt("{}", repr(way.steps)) for way in pending.remedies] if steps else []
    return without_names(ChainMap(_own(pending), everyone), told)


def _own(pending: PendingReport) -> dict[str, None]:
    names = (name for ask in pending.asks for name in (ask.name, ask.template))
    return dict.fromkeys((pending.pod.name, *names))
