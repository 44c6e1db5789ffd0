"""Ways out in words: what to change, on which nodes it then runs, and the commands that do it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.actions import SetDeletionCost
from kubectl_dra.diagnosis.whatif.records import AddNode
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.pending.actions import action_text, deletion_text, deletions_text, hardware_text
from kubectl_dra.output.pending.claim_edits import drops_condition, new_condition
from kubectl_dra.output.pending.consequences import decides, ended_jobs, note_texts, starts_again
from kubectl_dra.output.pending.folding import alike, of_another
from kubectl_dra.output.safe import Safe, command, fmt, safe
from kubectl_dra.output.words import counted, kind_and_name, listed
from kubectl_dra.reports.invocations import UNKNOWN_CONTEXT
from kubectl_dra.reports.pending.remedies import FileEdit, RemedyReport, Step, lacks_a_name
from kubectl_dra.reports.pending.remedy_order import Area, area, tolerates_device_taint
from kubectl_dra.selectors.comparisons import short_clause

_NODES_SHOWN: Final = 2
_TEXT_INDENT: Final = 7
# With less room than this beside the nodes, a phrase is read word by word: the nodes then stand below it.
_LEAST_TEXT: Final = 46
#: What fits with a way out, where it is not one of several copies.
IT: Final = Safe("it")
NO_LABELS: Final = Safe("")
#: More numbers than these are told as a range.
_EACH: Final = 2
_HEREDOC: Final = "EOF"
#: So many lines of commands, of this length, stand on the page itself; of one that makes a missing object so many.
_SHORT: Final = 2
_SHORT_LINE: Final = 200
#: Lists to which one entry is added.
_LISTS: Final = ("tolerations", "resourceClaims", "claims")
_SKELETON: Final = 24
_ENTRY: Final = "    {}  {}"
_HEADINGS: Final = {
    Area.WAIT: "Wait",
    Area.ROLLOUT: "Change the rollout",
    Area.REQUEST: "Change the request",
    Area.CLUSTER: "Change the cluster",
    Area.OTHER_WORK: "Stop other work",
    Area.DO_WITHOUT: "Do without a part of the request",
    Area.DATA: "Move or replace its data",
    Area.IN_SPITE: "Use devices in spite of their taint",
}


def remedy_lines(remedies: Sequence[RemedyReport], verdict: Verdict, who: Safe = IT) -> Iterator[Safe]:
    """Verified ways out for ``who`` by what they change, with their nodes, then what could not be checked here."""
    numbered = list(enumerate(remedies, 1))
    verified = [(number, remedy) for number, remedy in numbered if remedy.verified]
    others = [(number, remedy) for number, remedy in numbered if not remedy.verified]
    if verified:
        shared = _shared(verified)
        yield from wrapped(_heading(verdict, len(verified), who))
        yield from _by_area(verified, shared)
        yield from _replaces(verified)
        yield from _shared_lines(shared)
    if others:
        yield Safe("Could also help, but cannot be checked here") if verified else Safe("What could help")
        yield from _unchecked(others)


def _unchecked(others: Sequence[tuple[int, RemedyReport]]) -> Iterator[Safe]:
    shared, folded = _shared(others), alike(others)
    inner = {number for numbers in folded.values() for number in numbers}
    for number, remedy in others:
        if number in inner:
            continue
        first, *rest = wrapped(remedy_text(remedy), indent=_TEXT_INDENT)
        yield from (fmt(_ENTRY, number, Safe(first.lstrip())), *rest)
        if nodes := _runs_on(remedy):
            yield from wrapped(fmt("would run on {}", nodes), indent=_TEXT_INDENT)
        yield from _consequences(remedy, shared)
        yield from _same_with(others, remedy, folded.get(number))
    yield from _shared_lines(shared)


def _same_with(
    all_: Sequence[tuple[int, RemedyReport]], first: RemedyReport, others: Sequence[int] | None
) -> Iterator[Safe]:
    """``3-5  the same with …``: those that share the entry of the ``first``."""
    if not others:
        return
    which = [of_another(each, first, _runs_on) for at, each in all_ if at in others]
    span = fmt("{}-{}", others[0], others[-1]) if others[1:] else safe(str(others[0]))
    lines = wrapped(fmt("the same with {}", listed(which, "or")), indent=_TEXT_INDENT)
    yield fmt("  {}  {}", padded(span, 3, right=True), Safe(lines[0].lstrip()))
    yield from lines[1:]


def _shared_lines(shared: Mapping[Safe, Sequence[int]]) -> Iterator[Safe]:
    for text, numbers in shared.items():
        yield from wrapped(fmt("({}: {})", _span(numbers), text), indent=5, first=4)


def _shared(verified: Sequence[tuple[int, RemedyReport]]) -> dict[Safe, list[int]]:
    """The consequences of several ways out, with their numbers: they stand below the list, each once."""
    told: dict[Safe, list[int]] = {}
    for number, remedy in verified:
        for text in note_texts(remedy):
            told.setdefault(text, []).append(number)
    return {text: numbers for text, numbers in told.items() if len(numbers) > 1}


def _span(numbers: Sequence[int]) -> Safe:
    """``2-5``, or ``2, 3 and 6``."""
    if len(numbers) > _EACH and numbers[-1] - numbers[0] == len(numbers) - 1:
        return fmt("{}-{}", numbers[0], numbers[-1])
    return listed([str(number) for number in numbers])


def _by_area(verified: Sequence[tuple[int, RemedyReport]], shared: Collection[Safe]) -> list[Safe]:
    """With the nodes at the right where there is room and that takes no more lines, else below."""
    room = page_width() - max(width(_runs_on(remedy)) for _, remedy in verified)
    ways = (True, False) if room >= _LEAST_TEXT else (False,)
    return min((list(_laid_out(verified, shared, beside=beside)) for beside in ways), key=len)


def _laid_out(
    verified: Sequence[tuple[int, RemedyReport]], shared: Collection[Safe], *, beside: bool
) -> Iterator[Safe]:
    told: Area | None = None
    folded = alike(verified)
    inner = {number for numbers in folded.values() for number in numbers}
    for number, remedy in verified:
        if number in inner:
            continue
        found = area(remedy.actions)
        if found is not told:
            wait = Safe(", or wait until it ends" if found is Area.OTHER_WORK and _may_end(verified) else "")
            heading, right = fmt("  {}{}", Safe(_HEADINGS[found]), wait), Safe("runs on")
            first = told is None and beside and any(_runs_on(each) for _, each in verified)
            yield padded(heading, page_width() - width(right)) + right if first else heading
            told = found
        yield from _entry(number, remedy, shared, beside=beside)
        yield from _same_with(verified, remedy, folded.get(number))


def _may_end(verified: Sequence[tuple[int, RemedyReport]]) -> bool:
    """Whether the pod is scheduled by itself when another ends: one that nothing starts again, and nobody is first."""
    return any(
        isinstance(action, records.DeletePod) and action.recreated_by is None
        for _, remedy in verified
        for action in remedy.actions
        if len(remedy.actions) == 1 and (remedy.competition is None or not remedy.competition.may_be_lost)
    )


def _replaces(verified: Sequence[tuple[int, RemedyReport]]) -> Iterator[Safe]:
    """What an edit of an immutable object means, said once; what only a file has is none yet."""
    there = [(n, remedy) for n, remedy in verified if not any(step.edit is not None for step in remedy.steps)]
    edits = [(n, a) for n, remedy in there for a in remedy.actions if isinstance(a, records.EditClaim)]
    for of_template, text in (
        (True, "the template, then the pod"),
        (False, "the claim; the pod keeps waiting for it"),
    ):
        numbers = list(dict.fromkeys(str(n) for n, action in edits if (action.template is not None) is of_template))
        if numbers:
            verb = Safe("replaces" if len(numbers) == 1 else "replace")
            yield from wrapped(fmt("({} {} {})", listed(numbers), verb, Safe(text)), indent=5, first=4)


def addition_lines(
    additions: Sequence[RemedyReport],
    tainted: Collection[str] = (),
    *,
    alone: bool = False,
    beside: Sequence[RemedyReport] = (),
    who: Safe = IT,
    labels: Safe = NO_LABELS,
) -> Iterator[Safe]:
    """What new devices or a new node would do; ``alone``: nothing else was listed before.

    ``tainted``: nodes with a taint that the pod does not tolerate, which new ones do not have. ``beside``: the ways
    out above, whose consequences are told. ``labels``: a new node of any other zone, say, would be of no use.
    """
    texts, told = [], None
    verified = [each for each in additions if each.verified]
    said = {text for each in beside for text in note_texts(each)}
    notes = [Safe("; ").join(text for text in note_texts(each) if text not in said) for each in verified]
    for at, (each, note) in enumerate(zip(verified, notes, strict=True), 1):
        text, told = hardware_text(each.actions[0], told)
        if isinstance(each.actions[0], AddNode) and told in tainted:
            text = fmt("{}, without its taint", text)
        if isinstance(each.actions[0], AddNode) and labels:
            text = fmt("{}, with {}", text, labels)
        # A note on several stands behind the last.
        texts.append(fmt("{} ({})", text, note) if note and note not in notes[at:] else text)
    if texts:
        lead = fmt("This would make {} fit: add", who) if alone else Safe("Or add hardware:")
        yield from wrapped(fmt("{} {}.", lead, Safe(", or ").join(texts)), indent=2, first=0)
    if texts := [remedy_text(each) for each in additions if not each.verified]:
        also = Safe("" if alone else "also ")
        yield from wrapped(fmt("Could {}help, but cannot be checked here: {}.", also, Safe(", or ").join(texts)))


def remedy_text(remedy: RemedyReport) -> Safe:
    """All actions of a remedy in one phrase; who takes what is freed is said once, there or in a note."""
    noted = remedy.competition is not None and decides(remedy.competition)
    again, over = iter(starts_again(remedy)), ended_jobs(remedy)
    together = deletions_text(remedy.actions, starts_again(remedy)) if not over else None
    if together is not None:
        return together
    return Safe(", and ").join(
        deletion_text(
            action,
            taken_back=not noted,
            again=next(again, None) if action.recreated_by else None,
            fails=action.recreated_by in over,
        )
        if isinstance(action, records.DeletePod)
        else action_text(action)
        for action in remedy.actions
        if not isinstance(action, SetDeletionCost)  # which pods end is told of the scaling
    )


def remedy_details(remedy: RemedyReport) -> Iterator[Safe]:
    """One way out on its own: the whole phrase, where the pod then runs, what else happens."""
    text, code = _apart(remedy, page_width())
    yield from wrapped(text)
    if code:
        yield Safe("  ") + code
    if nodes := _runs_on(remedy):
        yield from wrapped(fmt("runs on {}", nodes), indent=2)
    for line in _consequences(remedy):
        yield Safe("  ") + Safe(line.lstrip(" "))


def _apart(remedy: RemedyReport, room: int) -> tuple[Safe, Safe]:
    """The phrase, and the code that stands below it because code is never broken across lines of ``room`` columns."""
    last = remedy.actions[-1] if remedy.actions else None
    text = remedy_text(remedy)
    edit = last if isinstance(last, records.EditClaim | records.EditClass) else None
    selected = edit if edit is not None and edit.field.startswith("selectors") else None
    if selected is not None and not selected.after:
        code = safe(short_clause(selected.before))
        if width(text) > room and text.endswith(f" {code}"):
            return Safe(text.removesuffix(f" {code}") + ":"), code
    if isinstance(last, records.EditClaim) and last.offers and not drops_condition(last):
        number = sum(each.devices for each in last.offers)
        return (fmt("select ({} free):", number), safe(new_condition(last))) if width(text) > room else (text, Safe(""))
    if selected is not None and selected.after:
        code = safe(" ".join(selected.after.split()))
        if text.endswith(f" {code}"):
            return Safe(text.removesuffix(f" {code}") + ":"), code
    return text, Safe("")


def step_lines(remedies: Sequence[RemedyReport], address: Address) -> Iterator[Safe]:
    """Every remedy with its commands, ready to be pasted into a shell; YAML manifests come in here-documents."""
    lines = [line for number, remedy in enumerate(remedies, 1) for line in numbered_steps(number, remedy)]
    if lines:
        yield from recorded_lines(address)
        yield from lines


def recorded_lines(address: Address) -> Iterator[Safe]:
    """Comments above commands that come from a file: which cluster they are for."""
    if address.context and not address.live:
        where = fmt(" ({})", address.server) if address.server else Safe("")
        yield fmt("# recorded from {}{}", address.context, where)
    elif not address.live:
        text = "# {} stands for the context of the cluster, which {} {} not name"
        do = Safe("does" if len(address.sources) == 1 else "do")
        yield fmt(text, UNKNOWN_CONTEXT, " and ".join(address.sources), do)


def command_lines(remedy: RemedyReport) -> list[Safe]:
    """The commands of one remedy, without words; empty where it has none."""
    return list(lines_of_steps(remedy.steps))


def numbered_steps(number: int, remedy: RemedyReport) -> list[Safe]:
    """One remedy with its commands, below its number and words as comments; empty where it has no commands."""
    lines = command_lines(remedy)
    if not lines:
        return []
    first, *rest = wrapped(remedy_text(remedy), indent=3)
    return [fmt("# {} {}", number, Safe(first.lstrip())), *(fmt("#{}", Safe(line[1:])) for line in rest), *lines]


def commands(step: Step) -> list[Safe] | None:
    """The lines of one step; None if a name in it could not stand in a shell command."""
    if step.edit is not None:
        return _edited(step.edit)
    words = [command(each) for each in step.commands]
    texts = [word for word in words if word is not None]
    if len(texts) != len(words):
        return None
    line = Safe(" | ").join(texts)
    if step.manifest is None:
        return [line]
    from kubectl_dra.output.yaml_dump import dump  # PyYAML only where a manifest is shown

    manifest = dump(step.manifest).splitlines()
    return [fmt("{} <<'{}'", line, _HEREDOC), *(safe(text) for text in manifest), Safe(_HEREDOC)]


def _edited(edit: FileEdit) -> list[Safe]:
    """What to write in a file, with where it belongs: comments, as it is pasted into a shell with the commands."""
    from kubectl_dra.output.yaml_dump import dump  # PyYAML only where a manifest is shown

    whose = kind_and_name(edit.object)
    where = fmt("{} ({})", edit.at, whose) if edit.at else whose
    if edit.value is None:
        return _comment(fmt("in {}: remove {}", where, edit.field))
    last = edit.field.rpartition(".")[2]
    if last:
        listed_in = isinstance(edit.value, dict) and last in _LISTS
        shown = dump({last.partition("[")[0]: [edit.value] if listed_in else edit.value})
        told = fmt("in {}: {}{}", where, Safe("add to " if listed_in else ""), edit.field)
    else:
        shown, told = f"---\n{dump(edit.value)}", fmt("new, beside {}: {}", edit.at or Safe("the other objects"), whose)
    return [*_comment(told), *(fmt("# {}", text) for text in shown.splitlines())]


def _comment(text: Safe) -> list[Safe]:
    first, *rest = wrapped(text, indent=3, first=2)
    return [fmt("#{}", Safe(line[1:])) for line in (first, *rest)]


def short_commands(remedies: Sequence[RemedyReport]) -> list[Safe]:
    """The lines of the only way out that has commands, if they are at most two, or make an object that is missing."""
    ways = [remedy for remedy in remedies if remedy.steps]
    if len(ways) != 1:
        return []
    most = _SKELETON if ways[0].kind is records.RemedyKind.CREATE_OBJECT else _SHORT
    lines = command_lines(ways[0])
    return lines if len(lines) <= most and all(len(line) <= _SHORT_LINE for line in lines) else []


def lines_of_steps(steps: Sequence[Step]) -> Iterator[Safe]:
    for step, after in zip_longest(steps, steps[1:]):
        lines = commands(step) or []
        # Without the mark the workload would end another pod, so a shell is not to go on where that fails.
        marks = after is not None and any(words[1] == "annotate" for words in step.commands)
        yield from (fmt("{} &&", line) if marks and line is lines[-1] else line for line in lines)


def _heading(verdict: Verdict, number: int, who: Safe) -> Safe:
    if verdict is Verdict.GATED:
        return Safe(
            "After this the scheduler would try it" if number == 1 else "After any one of these it would be tried"
        )
    if verdict in (Verdict.PREPARING, Verdict.NOT_PENDING):
        return Safe("Made anew with this it would be scheduled (checked against the current cluster)")
    if number == 1:
        return fmt("This would make {} fit (checked against the current cluster)", who)
    return fmt("Any one of these would make {} fit (checked against the current cluster)", who)


def _runs_on(remedy: RemedyReport) -> Safe:
    return Safe("") if remedy.competition is not None and remedy.competition.may_be_lost else _nodes(remedy.nodes)


def _entry(number: int, remedy: RemedyReport, shared: Collection[Safe], *, beside: bool) -> Iterator[Safe]:
    """The phrase with the nodes at the right end of its first line, or below it where node names are long."""
    nodes = _runs_on(remedy)
    right = nodes if beside else Safe("")
    room = page_width() - width(right) - 2
    text, code = _apart(remedy, room - _TEXT_INDENT)
    lines = wrapped(text, room, indent=_TEXT_INDENT)
    first = fmt(_ENTRY, number, Safe(lines[0].lstrip()))
    yield padded(first, page_width() - width(right)) + right if right else first
    yield from lines[1:]
    if code:
        yield Safe(" " * _TEXT_INDENT) + code
    if nodes and not beside:
        yield from wrapped(fmt("runs on {}", nodes), indent=_TEXT_INDENT + 3, first=_TEXT_INDENT)
    yield from _consequences(remedy, shared)


def _consequences(remedy: RemedyReport, shared: Collection[Safe] = ()) -> Iterator[Safe]:
    """What else happens, unless that is ``shared`` with other ways out, and why there is no command."""
    if tolerates_device_taint(remedy.actions):
        text = "(first see what the taint reports: repair the device if it is at fault)"
        yield from wrapped(Safe(text), indent=_TEXT_INDENT + 1, first=_TEXT_INDENT)
    for text in note_texts(remedy):
        if text not in shared:
            yield from wrapped(fmt("({})", text), indent=_TEXT_INDENT + 1, first=_TEXT_INDENT)
    if lacks_a_name(remedy):
        yield Safe("       (no command: the API does not allow a name in it)")
    elif any(commands(step) is None for step in remedy.steps):
        yield Safe("       (no command: a name in it cannot stand in a shell line)")


def _nodes(nodes: Sequence[str]) -> Safe:
    if len(nodes) <= _NODES_SHOWN:
        return listed(nodes, "or")
    return fmt("{} or {}", nodes[0], counted(len(nodes) - 1, "other"))
