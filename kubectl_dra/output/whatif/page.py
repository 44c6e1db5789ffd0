"""The head of a page about a cluster as it would be: what is supposed, and what becomes of pods that have to leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from kubectl_dra.diagnosis.whatif import records
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.layout import Column, table, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.whatif.in_turn import in_turn_lines
from kubectl_dra.output.words import counted, first_of, listed, plural

_NAMES_SHOWN: Final = 4
_COLUMNS: Final = tuple(Column(title, flexible=True) for title in ("POD", "NODE", "DEVICES"))
_WHY: Final = {
    records.Because.DAEMON_SET: (Safe("belongs to a DaemonSet"), Safe("belong to DaemonSets")),
    records.Because.STATIC: (Safe("is a static pod of the kubelet"), Safe("are static pods of the kubelet")),
    records.Because.NO_CONTROLLER: (Safe("has no controller that creates it again"),) * 2,
    records.Because.BEING_DELETED: (Safe("is being deleted already"), Safe("are being deleted already")),
    records.Because.GANG: (Safe("belongs to a PodGroup, which is scheduled as a whole"),) * 2,
    records.Because.OTHER_SCHEDULER: (Safe("is placed by another scheduler"), Safe("are placed by another scheduler")),
    records.Because.DRIVER_DECIDES: (
        Safe("depends on its driver's controller"),
        Safe("depend on their drivers' controllers"),
    ),
    records.Because.NOT_READ: (
        Safe("depends on data that could not be read"),
        Safe("depend on data that could not be read"),
    ),
}
_MANY: Final = {
    records.Because.NO_CONTROLLER: Safe("have no controllers that create them again"),
    records.Because.GANG: Safe("belong to PodGroups, which are scheduled as a whole"),
}
_LEFT: Final = {
    records.PodFate.STAYS: (Safe("stays"), Safe("stay")),
    records.PodFate.GONE: (Safe("would be gone"), Safe("would be gone")),
    records.PodFate.UNKNOWN: (Safe("cannot be placed here"), Safe("cannot be placed here")),
}
#: Upstream: plugins/podtopologyspread, system default constraints; plugins/helper/spread.go, DefaultSelector.
CHOICE_UNREAD: Final = Safe(
    "The scheduler may choose another of the nodes that fit: it keeps pods of one Service or controller apart, and not "
    "all of these could be read."
)
#: Upstream: schedule_one.go, numFeasibleNodesToFind.
SOME_COMPARED: Final = Safe(
    "In a cluster of more than 100 nodes the scheduler compares only some of the nodes that fit, the first that "
    "it meets: it may choose others."
)
#: Why more nodes are told than the best.
CHOICE_WORDS: Final = {records.Because.NOT_READ: CHOICE_UNREAD, records.Because.SOME_COMPARED: SOME_COMPARED}
#: What kubectl drain asks for before it deletes such pods.
_FORCE: Final = Safe("; kubectl drain needs --force")


def whatif_lines(found: records.WhatIf, address: Address = HERE) -> list[Safe]:
    """All lines; none for no switches."""
    if not found.switches:
        return []
    names = iter(found.added_nodes)
    said = Safe(", ").join([_switch(switch, names) for switch in found.switches])
    lines = wrapped(styled(fmt("What if: {}.", said), Style.BOLD))
    for note in found.notes:
        lines += wrapped(_note(note), indent=2)
    if found.displaced or found.more_pods:
        lines += ["", *_displaced_lines(found)]  # type: ignore[list-item]
    if found.in_turn is not None:
        lines += ["", *in_turn_lines(found, found.in_turn, address)]  # type: ignore[list-item]
    return [line if isinstance(line, Safe) else Safe(line) for line in lines]


def _switch(switch: records.Switch, added: Iterator[str]) -> Safe:
    """One switch; ``added``: the names of new nodes that no switch before it made."""
    match switch:
        case records.AddNode():
            free = Safe(" with all devices free") if switch.free else Safe("")
            names = list(islice(added, switch.count))
            nodes = plural("node", switch.count)
            return fmt("{} more {} like {}{} ({})", switch.count, nodes, switch.like, free, _some(names))
        case records.RemoveNode():
            return fmt("node {} is removed", switch.node)
        case records.Drain():
            return fmt("node {} is drained", switch.node)
        case records.MoreDevices():
            return fmt("{} more {} like {}", switch.count, plural("device", switch.count), switch.like)
        case records.AddTaint():
            value = fmt("={}", switch.value) if switch.value else Safe("")
            return fmt("{} has the taint {}{}:{}", switch.target, switch.key, value, switch.effect)
        case records.AddTaintRule():
            return fmt("DeviceTaintRule {} is created", switch.rule)
        case records.EndTaint():
            effect = fmt(":{}", switch.effect) if switch.effect else Safe("")
            return fmt("{} no longer has the taint {}{}", switch.target, switch.key, effect)


def _some(names: Sequence[str]) -> Safe:
    if len(names) <= _NAMES_SHOWN:
        return listed(names)
    return fmt("{} to {}", names[0], names[-1])


def _note(note: records.Note) -> Safe:
    match note.about:
        case records.About.NO_SUCH_TAINT:
            return fmt("{} has no taint {}, so nothing changes there.", note.subject, note.detail)
        case records.About.SHARED_COUNTERS:
            text = "Devices like {} draw on the counters {}, which stay as they are: more devices may bring no room."
            return fmt(text, note.subject, note.detail)


def _displaced_lines(found: records.WhatIf) -> Iterator[Safe]:
    moving, pending = found.of(records.PodFate.MOVES), found.of(records.PodFate.PENDING)
    yield from wrapped(whatif_summary(found))
    if moving:
        rows = [[_name(each), _node(each), Safe(", ").join(each.devices) or Safe("-")] for each in moving]
        yield from table(_COLUMNS, rows, indent=2)
    for because, sentence in CHOICE_WORDS.items():
        if any(each.because is because for each in moving):
            yield from wrapped(sentence, indent=2)
    for each in pending:
        said = fmt(": {}", each.message) if each.message else Safe("")
        yield from wrapped(fmt("{} {}{}", _name(each), styled(Safe("stays pending"), Style.BAD), said), indent=2)
    for fate, words in _LEFT.items():
        yield from _reasons(found.of(fate), *words)
    if found.more_pods:
        more = counted(found.more_pods, "more pod")
        text = "{} without devices on these nodes could not be read one by one, so where they would go is unknown."
        yield from wrapped(fmt(text, more), indent=2)


def _reasons(pods: Sequence[records.Displaced], one: Safe, several: Safe) -> Iterator[Safe]:
    groups: dict[tuple[records.Because, str], list[records.Displaced]] = {}
    for each in pods:
        groups.setdefault((each.because, each.budget), []).append(each)
    for (because, budget), members in groups.items():
        names = [str(each.pod.key) for each in members]
        shown = first_of(names, _NAMES_SHOWN)
        many = len(names) > 1
        why = _budget(budget) if because is records.Because.BUDGET else _why(because, many=many)
        yield from wrapped(fmt("{} {}: {}", shown, several if many else one, why), indent=2)
        yield from _released(members)


def _released(pods: Sequence[records.Displaced]) -> Iterator[Safe]:
    """What would become of pods that a budget holds, if it let them go: the places may be too few for that."""
    moving = [each for each in pods if each.released is records.PodFate.MOVES]
    pending = [each for each in pods if each.released is records.PodFate.PENDING]
    gone = [each for each in pods if each.released is records.PodFate.GONE]
    told = [fmt("{} would run on {}", _name(each), _node(each)) for each in moving[:_NAMES_SHOWN]]
    if len(moving) > _NAMES_SHOWN:
        told.append(fmt("{} would run elsewhere", counted(len(moving) - _NAMES_SHOWN, "more pod")))
    messages = dict.fromkeys(each.message for each in pending)
    for message in messages:
        names = first_of([str(each.pod.key) for each in pending if each.message == message], _NAMES_SHOWN)
        why = fmt(" ({})", message.rstrip(".")) if message else Safe("")
        told.append(fmt("{} {}{}", names, styled(Safe("would stay pending"), Style.BAD), why))
    if gone:
        told.append(fmt("nothing would start {} again", first_of([str(each.pod.key) for each in gone], _NAMES_SHOWN)))
    if told:
        yield from wrapped(fmt("If the budget let go: {}.", Safe("; ").join(told)), indent=4)


def _why(because: records.Because, *, many: bool) -> Safe:
    single, plural_ = _WHY[because]
    force = _FORCE if because is records.Because.NO_CONTROLLER else Safe("")
    return fmt("{} {}{}", Safe("they" if many else "it"), _MANY.get(because, plural_) if many else single, force)


def _budget(name: str) -> Safe:
    if ", " in name:
        return fmt("the PodDisruptionBudgets {} both cover it, which the eviction API refuses", name)
    return fmt("PodDisruptionBudget {} allows no more disruptions; kubectl drain waits for it", name)


def whatif_summary(found: records.WhatIf) -> Safe:
    """How many pods have to leave, and what becomes of them, in one sentence."""
    nodes = list(dict.fromkeys(each.from_node for each in found.displaced))
    numbers = (
        (len(found.of(records.PodFate.MOVES)), "would run elsewhere"),
        (len(found.of(records.PodFate.PENDING)), "would stay pending"),
        (len(found.of(records.PodFate.STAYS)), "would stay"),
        (len(found.of(records.PodFate.GONE)), "would be gone"),
        (len(found.of(records.PodFate.UNKNOWN)), "cannot be told"),
    )
    parts = [fmt("{} {}", number, words) for number, words in numbers if number]
    held = sum(each.released is records.PodFate.PENDING for each in found.displaced)
    if held:
        parts.append(
            fmt("{} of these would find no other node if {} budget let go", held, Safe("its" if held == 1 else "their"))
        )
    total = counted(len(found.displaced), "pod")
    if not parts:
        return Safe("No pod that could be read has to leave.")
    where = fmt(" on {}", listed(nodes)) if len(nodes) <= _NAMES_SHOWN else Safe("")
    return fmt("Of {}{}: {}.", total, where, Safe(", ").join(parts))


def _name(each: records.Displaced) -> Safe:
    return safe(str(each.pod.key))


def _node(each: records.Displaced) -> Safe:
    others = [name for name in each.equal if name != each.node]
    if not others:
        return safe(each.node)
    if len(others) <= 2:
        return fmt("{} or {}", each.node, Safe(" or ").join(others))
    which = Safe("others as good") if each.because is records.Because.NONE else Safe("other nodes")
    return fmt("{} or {} {}", each.node, len(others), which)
