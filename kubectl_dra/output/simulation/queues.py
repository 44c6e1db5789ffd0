"""The words about Kueue's part of a simulation: whether it starts what waits in a queue, and what makes it do so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.gates.queue_room import Admits, QueueRoom, QuotaPart, Room
from kubectl_dra.diagnosis.gates.queues import HeldBy
from kubectl_dra.diagnosis.remedies.records import RaiseNominalQuota
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.queues import queue_lines, queue_reason
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, styled
from kubectl_dra.output.words import counted, every, listed, object_name, shortened
from kubectl_dra.reports.invocations import changing
from kubectl_dra.reports.pending.remedy_commands import COMMANDS
from kubectl_dra.reports.simulation.queue_room import LEAST
from kubectl_dra.reports.simulation.records import ManifestReport, PodSimulation

_NAMED: Final = 3
_EVICTS: Final = " unless it evicts other work first, as spec.preemption of the ClusterQueue lets it"


def queue_heads(manifests: Sequence[ManifestReport], address: Address) -> Iterator[Sequence[Safe]]:
    """Of each that Kueue does not start as things are, why, and what would have it started."""
    for each in manifests:
        text = queue_text(each)
        if text is not None:
            yield [*wrapped(styled(text, Style.BOLD)), *_way_lines(each, address)]


def queue_text(manifest: ManifestReport) -> Safe | None:
    """Why Kueue does not start it, in a sentence; None where it does, or that is not known."""
    room, waits, name = manifest.room, manifest.waits, object_name(manifest.object)
    if waits is None or manifest.refused or manifest.error:
        return None
    if room is not None and room.starts:
        return _partly(manifest, room)
    if room is None or room.room not in (Room.NEVER, Room.SOME, Room.LATER):
        return fmt("Kueue does not start {}: {}.", name, queue_reason(waits)) if manifest.admits is Admits.NO else None
    wants = fmt("{} {} ({})", room.requested, room.resource, _parts(room.parts))
    if room.uncovered:
        text = "{} will never be admitted by Kueue: it requests {}, and ClusterQueue {} has no quota of {}."
        return fmt(text, name, wants, waits.cluster_queue, room.resource)
    if room.room is Room.LATER:
        return _later(manifest, room, wants)
    if not room.flavors:
        text = "{} will never be admitted by Kueue: no flavor of ClusterQueue {} matches its {}."
        return fmt(text, name, waits.cluster_queue, Safe("node selector and tolerations"))
    most = _most(room, waits.cluster_queue)
    if room.room is Room.NEVER:
        return fmt("{} will never be admitted by Kueue: it requests {}, and {}.", name, wants, most)
    text = "Kueue admits at most {} of the {} {} of {} at a time: together they request {}, and {}."
    return fmt(text, room.at_a_time, room.units, _unit(manifest), name, wants, most)


def _partly(manifest: ManifestReport, room: QueueRoom) -> Safe:
    """That it starts with fewer pods than it would have."""
    assert manifest.waits is not None  # noqa: S101
    queue, wants = manifest.waits.cluster_queue, fmt("{} {} ({})", room.requested, room.resource, _parts(room.parts))
    if room.most and Quantity.parse(room.most).cmp(Quantity.parse(room.requested)) < 0:
        has = _most(room, queue)
    else:
        unused, are = _unused(room)
        has = fmt("{} of {} in ClusterQueue {} {} unused", unused, room.most or room.nominal, queue, are)
    text = "Kueue starts {} with {} of its {} pods, as {} lets it: together they request {}, and {}."
    wanted = sum(each.copies for each in room.parts)
    return fmt(text, object_name(manifest.object), room.starts, wanted, Safe(LEAST), wants, has)


def _later(manifest: ManifestReport, room: QueueRoom, wants: Safe) -> Safe:
    assert manifest.waits is not None  # noqa: S101
    name, queue = object_name(manifest.object), manifest.waits.cluster_queue
    missing = Quantity.parse(room.requested).sub(Quantity.parse(room.unused))
    evicts = Safe(_EVICTS if room.may_evict else "")
    if room.at_a_time:
        text = (
            "Kueue admits {} of the {} {} of {} now{}: together they request {}; {} of {} in ClusterQueue {} {} unused."
        )
        unused, are = _unused(room)
        numbers = room.at_a_time, room.units, _unit(manifest), name, evicts, wants
        return fmt(text, *numbers, unused, room.most or room.nominal, queue, are)
    where = fmt("{} {} that ClusterQueue {} can have", room.most or room.nominal, room.resource, queue)
    text = "{} waits in Kueue until {} of the {} are released{}: it requests {}, and {} {} unused."
    return fmt(text, name, str(missing), where, evicts, wants, *_unused(room))


def _unused(room: QueueRoom) -> tuple[str, Safe]:
    return room.unused, Safe("is" if room.unused == "1" else "are")


def _unit(manifest: ManifestReport) -> Safe:
    return Safe("groups" if manifest.object.kind == "LeaderWorkerSet" else "pods")


def _most(room: QueueRoom, queue: str) -> Safe:
    """What the queue can have, and where that is from."""
    if len(room.flavors) > 1 and room.units > 1:
        return fmt(
            "ClusterQueue {} can have at most {} in one flavor ({})", queue, room.most, shortened(room.flavors, _NAMED)
        )
    if len(room.flavors) > 1:
        text = "ClusterQueue {} can have at most {} in one flavor ({}), and all pods of a set get the same"
        return fmt(text, queue, room.most, shortened(room.flavors, _NAMED))
    return fmt("ClusterQueue {} can have at most {} ({})", queue, room.most, _sources(room))


def _sources(room: QueueRoom) -> Safe:
    quota = fmt("quota {}", room.nominal)
    if not room.cohort:
        return fmt("{}; it is in no cohort to borrow from", quota)
    borrowed = Quantity.parse(room.most).sub(Quantity.parse(room.nominal))
    if borrowed.sign > 0:
        limit = (
            fmt(", its borrowingLimit") if room.borrowing_limit and str(borrowed) == room.borrowing_limit else Safe("")
        )
        return fmt("{} and {} to borrow in cohort {}{}", quota, str(borrowed), room.cohort, limit)
    if room.borrowing_limit == "0":
        return fmt("{}; its borrowingLimit is 0", quota)
    return fmt("{}; nothing to borrow in cohort {}", quota, room.cohort)


def _parts(parts: Sequence[QuotaPart]) -> Safe:
    """How the amount comes about: ``3 × 8 gpu.nvidia.com``."""
    named = len(parts) > 1
    shown = []
    for each in parts[:_NAMED]:
        what = fmt(" {}", listed(each.classes)) if each.classes else Safe("")
        role = fmt("{} ", each.role) if named and each.role else Safe("")
        shown.append(fmt("{}{} × {}{}", role, each.copies, each.each, what))
    more = fmt(", {} more", len(parts) - _NAMED) if len(parts) > _NAMED else Safe("")
    return Safe(", ").join(shown) + more


def _way_lines(manifest: ManifestReport, address: Address) -> Iterator[Safe]:
    room, waits = manifest.room, manifest.waits
    if waits is None:
        return
    if room is None:
        yield from queue_lines(waits, manifest.object.namespace or "default")
        return
    if room.smaller is not None:
        less = room.smaller
        when = Safe("now") if less.now else fmt("once other work ends ({} {} unused now)", *_unused(room))
        text = "With {}: {} it requests {}, for which there is room {}."
        yield from wrapped(fmt(text, less.field, less.value, less.requested, when), indent=2)
    if room.more is not None:
        more = room.more
        text = "Whoever manages ClusterQueue {} can raise its nominalQuota of {} (flavor {}) from {} to {}:"
        yield from wrapped(
            fmt(text, waits.cluster_queue, room.resource, more.flavor, more.before, more.after), indent=2
        )
        action = RaiseNominalQuota(waits.cluster_queue, room.resource, more.flavor, more.field, more.before, more.after)
        yield from command_line("    {}", changing(COMMANDS[RaiseNominalQuota](action), address))
    if room.uncovered:
        text = "Whoever manages ClusterQueue {} adds a quota of {}, or leave the request out."
        yield from wrapped(fmt(text, waits.cluster_queue, room.resource), indent=2)


def queue_clause(manifest: ManifestReport) -> Safe:
    """Behind the name of work, its queue: whether it waits there, or is admitted at once."""
    room, waits, queue = manifest.room, manifest.waits, manifest.queue
    if waits is not None and waits.held_by is HeldBy.NO_KUEUE:
        return fmt("names queue {} of Kueue, which this cluster does not have", queue)
    if waits is not None and waits.held_by is HeldBy.ADMITTED:
        return fmt("is admitted by Kueue (queue {})", queue)
    if waits is not None and room is not None and room.room is Room.NOW and manifest.admits is Admits.YES:
        if waits.pending:
            others = counted(waits.pending, "workload")
            return fmt(
                "is for queue {}, which has quota for it now; {} in ClusterQueue {} may come first",
                queue,
                others,
                waits.cluster_queue,
            )
        return fmt("is for queue {}, which has quota for it now: Kueue admits it at once", queue)
    if queue_text(manifest) is not None:
        return fmt("is for queue {}", queue)
    return fmt("waits in queue {} until Kueue admits it", queue)


def quota_lines(manifest: ManifestReport) -> Iterator[Safe]:
    """What is left open of the queue, and what of it is reserved."""
    name, waits = object_name(manifest.object), manifest.waits
    if manifest.admits in (Admits.UNKNOWN, Admits.UNREAD) and queue_text(manifest) is None:
        yield from wrapped(fmt("Whether Kueue admits {} is unknown: {}.", name, _open(manifest)))
    # Where it does not start them, the first lines have the numbers.
    if waits is None or waits.held_by is HeldBy.ADMITTED or queue_text(manifest) is not None:
        return
    yield from queue_lines(waits, manifest.object.namespace or "default", facts_only=True)


def if_admitted(name: Safe, pod: PodSimulation) -> Safe | None:
    """Whether all pods find nodes, where it is Kueue that does not start them, or may not."""
    if pod.admits is Admits.YES or pod.lacks or pod.wanted is None:
        return None
    no = pod.admits is Admits.NO
    if pod.wanted == 1:
        return fmt("{}: it would find a node." if no else "{} fits if Kueue admits it.", name)
    text = "{}: {} would find a node." if no else "{}: {} fit if Kueue admits them."
    return fmt(text, name, every(pod.wanted, "copy"))


def _open(manifest: ManifestReport) -> Safe:
    """Why that is not known."""
    waits, room = manifest.waits, manifest.room
    if room is None and waits is not None and waits.cluster_queue:
        return fmt("the quota of ClusterQueue {} is not known", waits.cluster_queue)
    if waits is None or room is None:
        return fmt("its queue {} and the quota behind that were not read", manifest.queue)
    if room.uncovered:
        text = (
            "ClusterQueue {} has no quota of {}, and what Kueue does then is in its Configuration, which was not read"
        )
        return fmt(text, waits.cluster_queue, room.resource)
    if room.untried:
        text = "there are more ways to spread it over the flavors of ClusterQueue {} than are tried"
        return fmt(text, waits.cluster_queue)
    if waits.uncounted:
        return fmt("how it counts devices of {} was not read", listed(waits.uncounted))
    if room.resource:
        return fmt("its Configuration changes {} before it is counted, which is not computed here", room.resource)
    if room.lending_unknown:
        return fmt("what the cohort of ClusterQueue {} can lend is not known", waits.cluster_queue)
    return fmt("how Kueue spreads it over the flavors of ClusterQueue {} is not computed here", waits.cluster_queue)
