"""What is said of objects of the files that keep pods from fitting: nodes, absent classes, wrong selectors.

An absent class is a PriorityClass or RuntimeClass; the pods were tried as if it existed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pod_security import security_lines
from kubectl_dra.output.safe import Safe, Style, command, fmt, safe, styled
from kubectl_dra.output.simulation.manifests import blocked_text, refused_words
from kubectl_dra.output.unread import left_out_text, rights_lines
from kubectl_dra.output.words import counted, first_of, listed, object_name, plural, shortened
from kubectl_dra.reports.invocations import reading
from kubectl_dra.reports.simulation import SimulationReport
from kubectl_dra.reports.simulation.copied_slices import CopiedSlice, Forgotten
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.stops import AbsentClass
from kubectl_dra.reports.simulation.trials import PRIORITY_CLASS
from kubectl_dra.reports.simulation.uncompiled import CorrectedSelector

_NAMED: Final = 5
_NO_SLICES: Final = (
    "{} {} no devices of {} own: drivers publish their ResourceSlices once a node has joined, and the files have none. "
    "Add slices with -f, or leave the node out and suppose one with devices: --add-node like={}."
)
_UNREADY: Final = (
    "{} has the taint {}, which {} removes once the node is ready. Leave the taint out to see what fits then."
)
_TWICE: Final = (
    "The files have several ResourceSlices named {}, and only the last one was tried, as kubectl apply leaves only "
    "that one: give each a metadata.name of its own."
)
_KNOWN: Final = 6
_NO_RUNTIME: Final = (
    "Remove {} if it is there for devices: those of DRA reach containers through CDI, without a RuntimeClass."
)


def copied_lines(report: SimulationReport) -> Iterator[Safe]:
    """What was left as it was in copied slices, each with its edit: all that is said below follows from it."""
    for text in copied_summary(report):
        yield from wrapped(styled(text, Style.BAD))


def copied_summary(report: SimulationReport) -> list[Safe]:
    twice = (each.object.name for each in report.repeated if each.object.kind == "ResourceSlice")
    return [*(fmt(_TWICE, name) for name in twice), *copied_text(report.effects.copied)]


def copied_text(copied: Sequence[CopiedSlice]) -> Iterator[Safe]:
    """A sentence per slice; of a pool that is not complete one for all its slices."""
    counts: dict[str, list[CopiedSlice]] = {}
    for each in copied:
        if each.forgotten is Forgotten.COUNT:
            counts.setdefault(each.pool, []).append(each)
    pools: dict[tuple[str, str], list[CopiedSlice]] = {}
    for each in copied:
        if each.forgotten is Forgotten.POOL:
            pools.setdefault((each.other, each.pool), []).append(each)
    several = {each.slice for found in pools.values() if len(found) > 1 for each in found}
    told = [_of_one_pool(found) for found in pools.values() if len(found) > 1]
    others = (each for each in copied if each.forgotten is not Forgotten.COUNT and each.slice not in several)
    told += [fmt("{}: {}.", _wrong(each), _edit(each)) for each in others]
    told += map(_incomplete, counts.values())
    yield from told[:_NAMED]
    if len(told) > _NAMED:
        yield fmt("So it is in {}.", counted(len(told) - _NAMED, "more ResourceSlice"))


def _wrong(each: CopiedSlice) -> Safe:
    """Where the mistake is, and what follows from it."""
    subject = fmt("ResourceSlice {} in the files", each.slice)
    match each.forgotten:
        case Forgotten.POOL:
            text = "{} has the pool name of {} ({}), so what is in use on one of the two nodes counts as in use on both"
            return fmt(text, subject, each.other, each.pool)
        case Forgotten.NODE:
            return fmt("{} has nodeName {}, so {} has no devices of its own", subject, each.node, each.other)
        case Forgotten.NAME:
            text = "{} has the name of a slice of {} in the cluster, so it replaces that one and {} loses those devices"
            return fmt(text, subject, each.other, each.other)
        case _:
            return fmt("{} is of an older generation than pool {}, so none of its devices is used", subject, each.pool)


def _of_one_pool(slices: Sequence[CopiedSlice]) -> Safe:
    """Several copies of one slice whose pool is still that of the first."""
    names = first_of([each.slice for each in slices], _NAMED)
    made = [fmt("{} in {}", edit.value, each.slice) for each in slices[:_NAMED] for edit in each.edits]
    text = (
        "ResourceSlices {} in the files have the pool name of {} ({}), so what is in use on one of these nodes counts "
        "as in use on all of them: set {} to {}{}."
    )
    more = Safe(" and so on") if len(slices) > _NAMED else Safe("")
    return fmt(text, names, slices[0].other, slices[0].pool, slices[0].edits[0].field, listed(made), more)


def _incomplete(slices: Sequence[CopiedSlice]) -> Safe:
    first = slices[0]
    names = first_of([each.slice for each in slices], _NAMED)
    ask = fmt("{} {}", Safe(plural("ResourceSlice", len(slices))), names)
    lacks = Safe(", or add the missing ones") if first.seen < first.expected else Safe("")
    text = (
        "Pool {} in the files is incomplete, so none of its devices can be allocated: it has {}, and "
        "spec.pool.resourceSliceCount is {}: {} in {}{}."
    )
    return fmt(text, first.pool, counted(first.seen, "ResourceSlice"), first.expected, _edit(first), ask, lacks)


def _edit(each: CopiedSlice) -> Safe:
    return fmt("set {}", listed([f"{edit.field} to {edit.value}" for edit in each.edits]))


def planned_head(report: SimulationReport) -> Iterator[Safe]:
    """Why the new nodes do not help, where pods lack room: that is what was asked."""
    if _is_the_reason(report):
        yield from wrapped(styled(Safe("The planned nodes take no pod of the files:"), Style.BOLD))
        yield from _planned(report, indent=2)


def planned_lines(report: SimulationReport) -> Iterator[Safe]:
    """The same where all pods fit without them."""
    return iter(()) if _is_the_reason(report) else _planned(report)


def _is_the_reason(report: SimulationReport) -> bool:
    effects = report.effects
    idle = {*effects.empty_nodes, *effects.without_slices, *(each.node for each in effects.unready)}
    idle -= {name for each in effects.copied for name in (each.node, each.other)}
    used = {each.node for pod in report.pods for each in pod.nodes}
    return bool(idle) and idle.isdisjoint(used) and any(pod.lacks and pod.wanted is not None for pod in report.pods)


def _planned(report: SimulationReport, indent: int = 0) -> Iterator[Safe]:
    effects = report.effects
    like = next((each.node for pod in report.pods for each in pod.nodes if each.node not in effects.nodes), "NODE")
    if effects.empty_nodes:
        text = "{}: no status.allocatable with pods, so nothing fits onto it: copy that of a node like it."
        yield from wrapped(fmt(text, listed(effects.empty_nodes[:_NAMED])), indent=indent, first=indent)
    told = {name for each in effects.copied for name in (each.node, each.other)}
    if without := [name for name in effects.without_slices if name not in told]:
        new, one = shortened(without, _NAMED), len(without) == 1
        yield from wrapped(
            fmt(_NO_SLICES, new, Safe("has" if one else "have"), Safe("its" if one else "their"), like),
            indent=indent,
            first=indent,
        )
    for taint in effects.unready:
        yield from wrapped(fmt(_UNREADY, taint.node, taint.key, taint.remover), indent=indent, first=indent)


def refusal_of(name: Safe, pod: PodSimulation) -> Safe | None:
    """The first sentence; None where they are admitted, and their classes exist."""
    if pod.refused and not pod.blocked:
        by = fmt(" (LimitRange {})", pod.refused_by) if pod.refused_by else Safe("")
        return fmt("{}: its pods would be refused: {}{}.", name, refused_words(pod.refused), by)
    return blocked_text(name, pod.blocked[0], maker=True) if pod.absent_classes else None


def without_refusal(pod: PodSimulation) -> PodSimulation:
    """What is found of it as if its first class that is absent existed, and else as if the server admitted its pods."""
    if pod.absent_classes:
        return msgspec.structs.replace(pod, blocked=pod.blocked[1:], absent_classes=pod.absent_classes[1:])
    return msgspec.structs.replace(pod, refused=())


def refusal_lines(text: Safe, pod: PodSimulation) -> Iterator[Safe]:
    """The sentence with the ways out, and how what follows is meant."""
    yield from wrapped(styled(text, Style.BOLD))
    absent = pod.absent_classes
    if not absent:
        if pod.refused_by:
            ways = "Change {} in {} {}, or the bounds in LimitRange {}."
            fields = shortened(pod.refused_at, _KNOWN)
            yield from wrapped(fmt(ways, fields, pod.subject.kind, pod.subject.name, pod.refused_by), indent=2)
        yield from security_lines(pod.subject, pod.refused)
        yield from ("", Safe("As if they were admitted:"))  # type: ignore[misc]
        return
    first = absent[0]
    yield from wrapped(_known(first), indent=2)
    if first.object.kind == PRIORITY_CLASS:
        ways = fmt("Name another one in {}, remove the field, or create it:", safe(first.field))
        yield from wrapped(ways, indent=2)
        yield from _skeleton("scheduling.k8s.io/v1", first, Safe("value: 1000"))
        yield from ("", *wrapped(fmt("As if PriorityClass {} existed, with value 0:", first.object.name)))  # type: ignore[misc]
        return
    yield from wrapped(fmt(_NO_RUNTIME, safe(first.field)), indent=2)
    yield from wrapped(Safe("Or create it, with a handler that the nodes have:"), indent=2)
    yield from _skeleton("node.k8s.io/v1", first, fmt("handler: {}", first.object.name))
    yield from ("", *wrapped(fmt("As if RuntimeClass {} existed:", first.object.name)))  # type: ignore[misc]


def _known(absent: AbsentClass) -> Safe:
    if absent.left_out:
        return left_out_text(BY_NAME[absent.object.kind])
    known = shortened(absent.known, _KNOWN) if absent.known else Safe("none")
    return fmt("{} that exist: {}.", safe(f"{absent.object.kind}es"), known)


def _skeleton(api_version: str, absent: AbsentClass, rest: Safe) -> Iterator[Safe]:
    """The manifest of the class, to be completed."""
    yield fmt("    apiVersion: {}", api_version)
    yield fmt("    kind: {}", absent.object.kind)
    yield Safe("    metadata:")
    yield fmt("      name: {}", absent.object.name)
    yield fmt("    {}", rest)


def corrected_lines(found: Iterable[CorrectedSelector]) -> Iterator[Safe]:
    """What to write instead."""
    for each in found:
        verb = Safe("matches" if each.matching == 1 else "match")
        text = "Write instead in {} (tried: {} of {} {}):"
        yield from wrapped(fmt(text, object_name(each.object), each.matching, counted(each.devices, "device"), verb))
        yield Safe("  - cel:")
        yield Safe("      expression: |-")
        yield from (styled(fmt("        {}", line), Style.GOOD) for line in each.expression.strip().splitlines())


def holder_lines(pod: PodSimulation) -> Iterator[Safe]:
    """Where what it lacks is, or may be, in the files of the call."""
    for each in pod.unread_holders:
        name = object_name(each.object)
        if each.files:
            text = "{} may be in {}, which could not be read: correct that first."
            yield from wrapped(styled(fmt(text, name, listed(each.files[:_NAMED], "or")), Style.BAD))
        else:
            text = "The files have {}, but not as the server takes it (see above): correct that first."
            yield from wrapped(styled(fmt(text, name), Style.BAD))


def not_told_later(report: SimulationReport) -> list[PodSimulation]:
    """The pods without those that are told of as if the slices were written right: what is wrong stands above them."""
    again = {pod.subject for pod in report.then if report.effects.copied}
    return [pod for pod in report.pods if pod.subject not in again]


def as_if_lines(
    found: Iterable[CorrectedSelector], accepted: Iterable[ObjectRef] = (), copied: Iterable[CopiedSlice] = ()
) -> Iterator[Safe]:
    """How what follows is meant."""
    if any(copied):
        yield Safe("As if the ResourceSlices were written so:")
    elif any(found):
        yield Safe("As if it were written so:")
    elif any(accepted):
        yield Safe("As if that were fixed:")


def unread_lines(report: SimulationReport, address: Address) -> Iterator[Safe]:
    """Below the verdicts: what could not be read, and who can change that."""
    yield from rights_lines(report.unread, address)
    classes = dict.fromkeys(name for pod in report.pods for name in pod.open_classes.names)
    if classes and address.again:
        text = "Or give {} as a file, for example from the Helm chart of its driver; this needs no right:"
        yield from wrapped(fmt(text, fmt("DeviceClass {}", listed(list(classes)))), indent=2, first=2)
        yield fmt("    {}", command(reading((*address.again, "-f", "class.yaml"), address)))
