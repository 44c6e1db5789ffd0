"""Since when devices that a pod could use are tainted, or their claims are going; devices that evict the pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from kubectl_dra.diagnosis.records import EvictingTaint, HeldFor, Removal, StageName
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.funnel import FunnelView, Track
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import ago, counted, lasting, shortened
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

_NODES: Final = 2
_TIMES: Final = 3
_DEVICES = 3


def with_age(text: Safe, nodes: Sequence[NodeGroupRecord], now: datetime) -> Safe:
    """A sentence with how long it has lasted behind the taint that it names, if that is the only one of one node."""
    only = _only_taint(nodes)
    if only is None or len(only[1]) != 1:
        return text
    before, found, after = text.partition(only[0])
    return fmt("{}{} {}{}", Safe(before), only[0], _times(only[1], now), Safe(after)) if found else text


def with_ages(view: FunnelView, now: datetime) -> FunnelView:
    """The table of a request with how long each taint has lasted behind it."""

    def aged(removal: Removal) -> Removal:
        if removal.stage is not StageName.TAINTS or not removal.since:
            return removal
        return replace(removal, reason=f"{removal.reason} {lasting(removal.since, now)}")

    def track(old: Track) -> Track:
        return replace(old, funnel=replace(old.funnel, removed=tuple(map(aged, old.funnel.removed))))

    return replace(view, tracks=tuple(map(track, view.tracks)))


def taint_lines(nodes: Sequence[NodeGroupRecord], now: datetime, said: str = "") -> Iterator[Safe]:
    """One line per taint of the closest nodes: ``node-1: ecc:NoSchedule for 3h on 2 devices``; none without a time.

    The only taint of the only node, named in ``said``, is not named again, nor is its age.
    """
    only = _only_taint(nodes)
    if only is not None and only[0] in said:
        if f"{only[0]} {_times(only[1], now)}" not in said:
            yield from wrapped(fmt("Tainted {}.", _times(only[1], now)))
        return
    found, shown = [_by_taint(group) for group in nodes], 0
    for group, taints in zip(nodes, found, strict=True):
        told = [fmt("{} {}", reason, _times(times, now)) for reason, times in taints.items()]
        if told and shown < _NODES:
            shown += 1
            yield from wrapped(fmt("Tainted on {}: {}", group.names[0], Safe("; ").join(told)), indent=2, first=0)


def deletion_lines(nodes: Sequence[NodeGroupRecord], now: datetime) -> Iterator[Safe]:
    """Claims that nobody uses, hold devices of the closest nodes and are being deleted."""
    removed = [
        (group.names[0], each)
        for group in nodes[:_NODES]
        for request in group.requests
        if request.funnel is not None
        for each in request.funnel.removed
        if each.stage is StageName.UNUSED and each.since
    ]
    claims: dict[Safe, dict[str, None]] = {}
    for _, each in removed:
        if each.held_for not in (HeldFor.USED, HeldFor.ENDING, HeldFor.FAILING):
            claims.setdefault(ago(each.since, now), {})[each.reason] = None
    for since, names in claims.items():
        one = len(names) == 1
        text = "{} {}: deleted {}, but {} until {} reservation is ended."
        stays, whose = ("it stays", "its") if one else ("they stay", "each")
        kind = Safe("Claim" if one else "Claims")
        line = fmt(text, kind, shortened(list(names), _TIMES), since, Safe(stays), Safe(whose))
        yield from wrapped(line, indent=2, first=0)


def _only_taint(nodes: Sequence[NodeGroupRecord]) -> tuple[str, Counter[str]] | None:
    """The only taint of the only node that has some, and since when; None where there are more, or none."""
    tainted = [taints for group in nodes if (taints := _by_taint(group))]
    return next(iter(tainted[0].items())) if len(tainted) == 1 and len(tainted[0]) == 1 else None


def _by_taint(group: NodeGroupRecord) -> dict[str, Counter[str]]:
    """By taint, on how many devices it is since when; those of a device that several requests want count once."""
    funnels = (each.funnel for each in group.requests if each.funnel is not None)
    removed = dict.fromkeys(removal for funnel in funnels for removal in _taints(funnel.removed))
    found: dict[str, Counter[str]] = {}
    for removal in removed:
        found.setdefault(removal.reason, Counter())[removal.since] += len(removal.devices)
    return found


def _taints(removed: Sequence[Removal]) -> Iterator[Removal]:
    return (each for each in removed if each.stage is StageName.TAINTS and each.since)


def _times(times: Counter[str], now: datetime) -> Safe:
    if len(times) == 1:
        return lasting(next(iter(times)), now)
    parts = [fmt("{} on {}", lasting(since, now), counted(number, "device")) for since, number in sorted(times.items())]
    more = [fmt("{} later", counted(len(parts) - _TIMES, "time"))] if len(parts) > _TIMES else []
    return Safe(", ").join([*parts[:_TIMES], *more])


def device_names(found: EvictingTaint) -> Safe:
    """The devices without driver and pool."""
    return shortened([name.rpartition("/")[2] for name in found.devices], _DEVICES)


def tolerated(found: EvictingTaint) -> Safe:
    """``which ...``: why the toleration that gets the device does not keep it."""
    if found.seconds is not None:
        return fmt("which the claim tolerates for {} s only", str(found.seconds))
    return Safe("which no toleration with effect: NoExecute covers")


def evicting_line(found: EvictingTaint, nodes: Sequence[str], now: datetime) -> Safe:
    """What becomes of a pod that waits for them."""
    where = fmt(" on {}", shortened(list(nodes), _DEVICES)) if nodes else Safe("")
    since = fmt(" {}", lasting(found.since, now)) if found.since else Safe("")
    it = Safe("it has" if len(found.devices) == 1 else "each has")
    text = "A pod that gets {}{} is evicted at once: {} the taint {}{}, {}."
    return fmt(text, device_names(found), where, it, found.taint, since, tolerated(found))
