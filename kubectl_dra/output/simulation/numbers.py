"""What is said of other numbers of pods: the fields that would make as many as fit, and what may make more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ClassOffer
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.consequences import fit_then
from kubectl_dra.output.pending.remedies import IT
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, kind_and_name, listed, shortened
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.reports.pending.renewal import FitThen
from kubectl_dra.reports.simulation.counts import FewerPods, Growing, KeptOff
from kubectl_dra.reports.simulation.records import Counted, PodSimulation

_NODES: Final = 3
#: What lacks for as long as others have it.
_FOR_A_WHILE: Final = frozenset(
    {Code.DEVICES_IN_USE, Code.CAPACITY_TOO_SMALL, Code.COUNTERS_EXHAUSTED, Code.ALL_MODE_BLOCKED, Code.NODE_RESOURCES}
)


def more_lines(pod: PodSimulation) -> Iterator[Safe]:
    """How as many are made as their gang needs."""
    if pod.more is not None:
        at = fmt(" ({})", pod.more.at) if pod.more.at else Safe("")
        name = kind_and_name(pod.subject)
        text = "Or make more pods: with {} in {}{} all {} fit."
        yield from wrapped(fmt(text, fields_text(pod.more), name, at, pod.more.pods))


def fewer_lines(pod: PodSimulation, *, steps: bool) -> Iterator[Safe]:
    """The way out for all copies: to have as many as fit; ``steps``: with where it belongs."""
    if pod.fewer is not None:
        pods = pod.fewer.pods
        one = fmt(" ({})", counted(pods, "pod")) if any(each.value != pods for each in pod.fewer.fields) else Safe("")
        ways = pod.pending is not None and (pod.pending.remedies or any(e.verified for e in pod.pending.additions))
        lead = Safe("Or ask for fewer: all fit" if ways else "All of them fit")
        at = fmt(" in {}", pod.fewer.at) if steps and pod.fewer.at else Safe("")
        others = (fmt(", and {}: {} in {} {}", e.path, e.value, e.object.kind, e.object.name) for e in pod.fewer.also)
        text = fmt("{} with {}{}{}{}", lead, fields_text(pod.fewer), at, one, Safe("").join(others))
        if heals := pod.fewer.heals:
            text += fmt("; {} then {} as well", listed(heals), Safe("fits" if len(heals) == 1 else "fit"))
        yield from wrapped(text + Safe("."))


def for_copies(pending: PendingReport, pod: PodSimulation) -> tuple[PendingReport, Safe]:
    """For how many copies ways out are: said once where it is the same of all, else it stays with each of them."""
    if pod.wanted in (None, 1) or pod.stuck or pod.group:
        return pending, IT
    ways = [each for each in pending.remedies if each.verified]
    told = {_then(each) for each in ways or pending.additions if each.verified}
    first = next(iter(told), None)
    if len(told) > 1 or (first is not None and (first.most or first.nodes or first.more)):
        return pending, Safe("more copies")
    if first is None:
        return pending, Safe("one more copy" if pod.copies else "one copy")

    def without(way: RemedyReport) -> RemedyReport:
        return msgspec.structs.replace(way, notes=tuple(note for note in way.notes if note != first))

    remedies, additions = tuple(map(without, pending.remedies)), tuple(map(without, pending.additions))
    number = fmt("{} copies", fit_then(first))
    who = fmt("{} and the rest of the files", number) if first.rest else number
    return msgspec.structs.replace(pending, remedies=remedies, additions=additions), who


def whole_groups(its: Sequence[PodSimulation], lacking: Sequence[PodSimulation]) -> Safe:
    """How many groups of an object may be whole, where pods of them lack; nothing where they come in none."""
    field = next((pod.in_groups.field for pod in lacking if pod.in_groups is not None), "")
    parts = [(pod.copies, pod.in_groups) for pod in its if pod.in_groups is not None and pod.in_groups.field == field]
    if not parts:
        return Safe("")
    whole, groups = min(copies // each.pods for copies, each in parts), parts[0][1].groups
    if not whole:
        return fmt(", and none of its {} groups is whole", groups)
    return fmt(", and at most {} of its {} groups {} whole", whole, groups, Safe("is" if whole == 1 else "are"))


def _then(way: RemedyReport) -> FitThen | None:
    return next((note for note in way.notes if isinstance(note, FitThen)), None)


def lacks_there(pod: PodSimulation) -> Safe | None:
    """That the nodes of a DaemonSet on which it does not fit have no such devices; None where something else is."""
    causes = pod.pending.causes if pod.pending is not None and pod.kept_off is not None else ()
    offer = causes[0].detail if causes and causes[0].code is Code.DEVICES_FOR_OTHER_NODES else None
    return fmt(": there are no {} devices", offer.device_class) if isinstance(offer, ClassOffer) else None


def of_its_nodes(pending: PendingReport, found: KeptOff | None) -> PendingReport:
    """What is said of a pod that its DaemonSet ties to a node, without nodes that are not its."""
    if found is None:
        return pending
    its = set(found.nodes)
    nodes = tuple(group for group in pending.nodes if not its.isdisjoint(group.names))
    causes = tuple(each for each in pending.causes if not each.nodes or not its.isdisjoint(each.nodes))
    return msgspec.structs.replace(pending, nodes=nodes, causes=causes, idle_daemon_sets=())


def others_off(pod: PodSimulation) -> Iterator[PodSimulation]:
    """The same DaemonSet on nodes where it does not fit for other reasons."""
    for each in pod.kept_off.others if pod.kept_off is not None else ():
        found = KeptOff(each.nodes, pod.kept_off.field if pod.kept_off is not None else "", each.label)
        yield msgspec.structs.replace(pod, pending=each.pending, kept_off=found)


def kept_off_lines(pod: PodSimulation) -> Iterator[Safe]:
    """How a DaemonSet makes no pods where they don't fit; devices in use may be free at another time."""
    found = pod.kept_off
    if found is None or (pod.pending is not None and pod.pending.code in _FOR_A_WHILE):
        return
    where = shortened(found.nodes, _NODES)
    if found.label:
        key, _, value = found.label.partition("=")
        text = 'Or keep it off {}: with {}: {{{}: "{}"}} it makes pods only where they fit.'
        yield from wrapped(fmt(text, where, found.field, key, value))
        return
    text = "Or keep it off {}: label the nodes where it fits, and name that label in {}."
    yield from wrapped(fmt(text, where, found.field))


def fields_text(fewer: FewerPods) -> Safe:
    """``spec.replicas: 3``."""
    return listed([fmt("{}: {}", each.path, each.value) for each in fewer.fields])


def makes_none_text(name: Safe, growing: Growing) -> Safe:
    """A verdict about pods that only another program makes."""
    return fmt("{} makes no pods now; {}.", name, _may_make(growing))


def growing_lines(pod: PodSimulation) -> Iterator[Safe]:
    """To how many another program may bring them."""
    if pod.growing is None or (pod.counted is Counted.UNKNOWN and not pod.lacks):
        return
    now = Safe("makes none now; " if pod.counted is Counted.UNKNOWN else "")
    yield from wrapped(fmt("{}{}", now, _may_make(pod.growing)), indent=2)


def _may_make(growing: Growing) -> Safe:
    text = fmt("{} may make up to {:,}", growing.by, growing.most)
    if growing.fit is None:
        return text
    if growing.fit >= growing.most:
        return fmt("{}, which fit", text)
    none = fmt("{:,} of them {}", growing.fit, Safe("fits" if growing.fit == 1 else "fit")) if growing.fit else None
    return fmt("{}; {}", text, none or Safe("none of them fits"))
