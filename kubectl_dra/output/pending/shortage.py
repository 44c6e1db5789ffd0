"""Sentences about a request that no node can serve: what is missing, and where the devices are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Funnel, Short, Stage, StageName, ValueCount
from kubectl_dra.model.likeness import similar
from kubectl_dra.output.pending.funnel import Track, funnel_views, has_devices
from kubectl_dra.output.pending.removals import IN_VAIN, amounts_left, removal_note, without_users
from kubectl_dra.output.pending.wanted import Asks, Wanted, amount_of
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, plural
from kubectl_dra.reports.pending.nodes import NodeGroupRecord

#: So many groups of nodes, or nodes of a group, are all named; of more the two closest.
_FEW: Final = 3
_NODES: Final = 2
#: Two names are as short as one and the number of those like it, and so are three short ones.
_PAIR: Final = 2
_SHORT_NAMES: Final = 48
_VALUES: Final = 3
#: What takes devices of the class away, in the order of the checks.
_LOSSES: Final = (
    StageName.SELECTORS,
    StageName.NODE,
    StageName.FEATURES,
    StageName.TAINTS,
    StageName.UNUSED,
    StageName.CAPACITY,
    StageName.COUNTERS,
)
_NOT_OF_THE_REQUEST: Final = (StageName.SELECTORS, StageName.NODE)


def shortage_sentence(cause: Cause, asks: Asks, nodes: Sequence[NodeGroupRecord]) -> Safe | None:
    """The sentence of a cause with a funnel, with its closest nodes; None for other causes."""
    if not isinstance(cause.detail, Funnel):
        return None
    view = next((v for v in funnel_views(nodes) if (v.claim, v.request) == (cause.claim, cause.request)), None)
    tracks = [track for track in view.tracks if has_devices(track)] if view is not None else []
    say = _SENTENCES.get(cause.code)
    wanted = _sized(asks.of_cause(cause), cause.detail)
    return say(wanted, cause.detail, tracks, cause) if say is not None else None


def lack_on_node(cause: Cause, funnel: Funnel, asks: Asks) -> Safe:
    """``has no free gpu.example.com device: both are in use (a, b)``, of the node of a funnel."""
    wanted = _sized(asks.of_cause(cause), funnel)
    losses = _told_losses(funnel, cause.claim.namespace if cause.claim is not None else "")
    lack = fmt("no free {}", wanted.kind(1)) if not wanted.many else fmt("too few free {}", wanted.kind(2))
    if not _of_the_request(funnel):
        lack = fmt("no {}", wanted.kind(1 if not wanted.many else 2))
    return fmt("has {}: {}", lack, losses) if losses else fmt("has {}", lack)


def lack_of(group: NodeGroupRecord, wanted: Safe) -> Safe:
    """What nodes come short of: ``no gpu.example.com devices``, ``only 2 of the 4 free gpu.example.com devices``."""
    funnels = [request.funnel for request in group.requests if request.funnel is not None]
    if funnels and all(funnel.total == 0 for funnel in funnels):
        return fmt("no {}", wanted)
    if len(funnels) == 1 and 0 < len(funnels[0].left) < funnels[0].needed:
        return fmt("only {} of the {} free {}", len(funnels[0].left), funnels[0].needed, wanted)
    if len(funnels) == 1 and funnels[0].stage(StageName.SELECTORS).count == 0:
        return fmt("no {} that match", wanted)
    if len(funnels) == 1 and funnels[0].constraint and len(funnels[0].left) >= funnels[0].needed:
        return fmt("no {} that meet the constraint on {}", wanted, funnels[0].constraint.rpartition("/")[2])
    if len(funnels) > 1:
        return fmt("too few free {}", wanted)
    several = group.count > 1
    losses = _told_losses(funnels[0], group.requests[0].claim.namespace, several=several) if funnels else Safe("")
    return fmt("no free {}: {}", wanted, losses) if losses else fmt("no free {}", wanted)


def taken_note(funnel: Funnel, namespace: str) -> Safe:
    """`` (2 more are in use: nb)``; nothing where no device of the request is in use."""
    stage = funnel.stage(StageName.UNUSED)
    number = sum(len(removal.devices) for removal in stage.removed)
    if not number:
        return Safe("")
    note = removal_note(stage.name, stage.removed, namespace, users=True)
    return fmt(" ({} more {} in use: {})", number, Safe(plural("is", number)), note)


def _told_losses(funnel: Funnel, namespace: str, *, several: bool = False) -> Safe:
    """``3 of 4 are tainted (…) and 1 of 4 is in use (nb)``; empty where nothing was taken."""
    losses = list(_losses(funnel, namespace, several=several))
    return listed(losses) if losses else Safe("")


def _sized(wanted: Wanted, funnel: Funnel) -> Wanted:
    """The extended resource's own request knows its number only from the funnel."""
    return replace(wanted, count=None if funnel.all_devices else max(funnel.needed, 1))


# --- one sentence per code --------------------------------------------------------------------------------------------


def _too_few(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], _cause: Cause) -> Safe:
    return fmt("no node has {}{}", wanted.phrase(free=False), _closest(wanted, funnel, tracks))


def _no_match(wanted: Wanted, _funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    removed = [r for track in tracks for r in track.funnel.stage(StageName.SELECTORS).removed]
    note = removal_note(StageName.SELECTORS, removed, cause.claim.namespace if cause.claim is not None else "")
    seen = list(dict.fromkeys(removal.source for removal in removed))
    device = wanted.kind(1, selected=False)
    value = wanted.value
    if value is not None and seen and all(seen) and len(seen) <= _VALUES:
        if value[1] in seen:
            text = 'no {} has the text "{}" as {}: it is {} there, not a text, and is compared without quotes'
            return fmt(text, device, value[1], value[0], listed(seen, "or"))
        have = fmt("their {} is {}", value[0], listed(seen, "or"))
        return fmt("no {} has {} {} ({})", device, value[0], value[1], have)
    bound = wanted.bound
    if bound is not None and seen and all(seen):
        some = fmt("{} other values", len(seen)) if len(seen) > _VALUES else listed(seen, "or")
        return fmt("no {} has {} (they have {})", device, bound, some)
    because = fmt(" ({})", note) if note else Safe("")
    return fmt("no {} matches the selector{}", device, because)


def _unavailable(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    namespace = cause.claim.namespace if cause.claim is not None else ""
    lead = fmt("no node has {}", wanted.phrase())
    closest = _closest(wanted, funnel, tracks) if wanted.many else Safe("")
    return lead + closest + _why_closest(tracks, namespace) if closest else lead + _per_node(tracks, namespace)


def _capacity(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    namespace = cause.claim.namespace if cause.claim is not None else ""
    unnamed, rounded = _unnamed(wanted, tracks), _rounded(tracks)
    sizes = unnamed or ({rounded[0]: rounded[1].needs} if rounded is not None else dict(wanted.capacity))
    amounts = listed([f"{value} of {name}" for name, value in sizes.items()]) or Safe("the requested capacity")
    lead = fmt("no node has {} with {} left", wanted.phrase(free=False), amounts)
    for name in unnamed:
        lead += fmt(" (the request names no amount of {}, so it takes {})", name, _what_it_takes(tracks))
    if rounded is not None:
        lead += fmt(" ({} rounded up by the device's request policy)", rounded[1].requested)
    return lead + _closest(wanted, funnel, tracks) + _per_node(tracks, namespace, sized=len(sizes) == 1)


def _rounded(tracks: Sequence[Track]) -> tuple[str, Short] | None:
    """The capacity of which all devices are short and which their policies round up alike; None for others."""
    short = list(_short(tracks))
    same = {(name, amounts.needs, amounts.requested) for name, amounts in short}
    return short[0] if len(same) == 1 and short[0][1].requested else None


def _unnamed(wanted: Wanted, tracks: Sequence[Track]) -> dict[str, str]:
    """The one capacity that is short and of which the request names no amount, with what it takes; else nothing."""
    short = list(_short(tracks))
    found = {(name, amounts.needs) for name, amounts in short}
    named = dict(wanted.capacity)
    return (
        dict(found) if wanted.device_class and len(found) == 1 and not any(name in named for name, _ in found) else {}
    )


def _what_it_takes(tracks: Sequence[Track]) -> Safe:
    """What upstream gives to a request that names no amount (calculateConsumedCapacity)."""
    whole = all(amounts.needs == amounts.total for _, amounts in _short(tracks))
    return Safe("all of it" if whole else "the device's default")


def _short(tracks: Sequence[Track]) -> Iterator[tuple[str, Short]]:
    for track in tracks:
        for removal in track.funnel.stage(StageName.CAPACITY).removed:
            if removal.short is not None and removal.source != "policy":
                yield removal.reason, removal.short


def _unobtainable(wanted: Wanted, _funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    """Devices that would not do even if nothing used them."""
    namespace = cause.claim.namespace if cause.claim is not None else ""
    amounts = listed([f"{value} of {name}" for name, value in wanted.capacity]) or Safe("the requested capacity")
    removed = [r for track in tracks for r in track.funnel.stage(StageName.CAPACITY).removed]
    sized = amounts_left(removed, namespace) if len(wanted.capacity) == 1 else Safe("")
    note = sized or removal_note(StageName.CAPACITY, removed, namespace)
    because = fmt(" ({})", note) if note else Safe("")
    return fmt("no {} can give {}{}", wanted.kind(1), amounts, because)


def _tainted(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    text = _unavailable(wanted, funnel, tracks, cause)
    if not wanted.tolerations:
        return text
    told = fmt("{}. The request tolerates only {}", text, listed(wanted.tolerations))
    removed = [removal for track in tracks for removal in track.funnel.stage(StageName.TAINTS).removed]
    keys = {_key(removal.reason) for removal in removed}
    near = [key for toleration in wanted.tolerations for key in similar(_key(toleration), keys)]
    return (
        fmt("{}, which has another key (did you mean {}?)", told, listed(list(dict.fromkeys(near)))) if near else told
    )


def _key(taint: str) -> str:
    return re.split("[=:]", taint, maxsplit=1)[0]


def _all_devices(wanted: Wanted, _funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    namespace = cause.claim.namespace if cause.claim is not None else ""
    kind = wanted.kind(1)
    return fmt("it requests every {} of a node (allocationMode All){}", kind, _per_node(tracks, namespace))


def _constraint(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], cause: Cause) -> Safe:
    name = safe(funnel.constraint.rpartition("/")[2])
    if funnel.distinct:
        lead = fmt("no node has {} that all differ in {}", wanted.phrase(), name)
    elif wanted.many:
        lead = fmt("no node has {} with the same {}", wanted.phrase(), name)
    else:
        lead = fmt("no node has {} whose {} matches the other requests", wanted.phrase(), name)
    if tracks and not any(each.published for track in tracks for each in track.funnel.values):
        # Those that are in use, or on nodes that are ruled out, may publish it.
        where = _names(tracks[0]) if len(tracks) == 1 else Safe("the nodes that were tried")
        return fmt("{}; the free ones on {} do not publish {}", lead, where, name)
    return lead + _closest(wanted, funnel, tracks, best=True) + _values(funnel, name)


def _for_other_nodes(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], _cause: Cause) -> Safe:
    closest = _closest(wanted, funnel, tracks)
    return fmt("no node has {}; the devices that match are for other nodes{}", wanted.phrase(free=False), closest)


# --- how near the nodes are -------------------------------------------------------------------------------------------


def _closest(wanted: Wanted, funnel: Funnel, tracks: Sequence[Track], *, best: bool = False) -> Safe:
    """``. Closest: node-b, with 3 of 4``; nothing where no node has any, or one device is all that is needed."""
    track = tracks[0] if tracks else None
    found = track.funnel if track is not None else funnel
    have = found.together if best else len(found.left)
    if have <= 0 or not wanted.many or wanted.count is None:
        return Safe("")
    where = _names(track) if track is not None else safe(found.node)
    return fmt(". Closest: {}, with {} of {}", where, have, wanted.count)


def _names(track: Track) -> Safe:
    """The nodes of a column: all where they are few, else the first and how many are like it."""
    group = track.group
    if group.count == len(group.names) <= _FEW and (group.count <= _PAIR or sum(map(len, group.names)) <= _SHORT_NAMES):
        return listed(group.names)
    return fmt("{} and {} alike", track.funnel.node, group.count - 1) if group.count > 1 else safe(track.funnel.node)


def _why_closest(tracks: Sequence[Track], namespace: str) -> Safe:
    """Why the closest node has no more: ``: 5 of its 8 are in use (serve-1 holds 3, serve-0 2)``."""
    track = tracks[0] if tracks else None
    losses = list(_losses(track.funnel, namespace, several=track.group.count > 1)) if track is not None else []
    return fmt(": {}", listed(losses)) if losses else Safe("")


def _per_node(tracks: Sequence[Track], namespace: str, *, sized: bool = False) -> Safe:
    """``: on node-1, both are in use (a, b); on node-2, the only one is tainted``: few nodes, or the closest of many.

    ``sized``: the sentence says what is needed of the only capacity.
    """
    texts = []
    for track in tracks if len(tracks) <= _FEW else sorted(tracks, key=_is_well_used)[:_NODES]:
        losses = list(_losses(track.funnel, namespace, several=track.group.count > 1, sized=sized))
        if losses:
            texts.append(fmt("on {}, {}", _names(track), listed(losses)))
    return fmt(": {}", Safe("; ").join(texts)) if texts else Safe("")


def _is_well_used(track: Track) -> bool:
    """Whether nobody holds devices there in vain: who does is the first to be told of."""
    return not any(each.held_for in IN_VAIN for each in track.funnel.removed)


def _losses(funnel: Funnel, namespace: str, *, several: bool = False, sized: bool = False) -> Iterator[Safe]:
    """``3 of 4 are tainted (…)``: what takes devices that the request means.

    ``several``: of nodes that are alike, which differ in who holds their devices. ``sized``: what is needed is told.
    """
    total = _of_the_request(funnel)
    for stage in funnel.stages:
        if stage.name not in _LOSSES or stage.name in _NOT_OF_THE_REQUEST or not stage.removed:
            continue
        whose = without_users(stage.removed) if several else stage.removed
        left = amounts_left(whose, namespace, rounded=True) if sized and stage.name is StageName.CAPACITY else Safe("")
        number = sum(len(removal.devices) for removal in stage.removed)
        text = _loss_text(stage, number, namespace, funnel.node if several else "")
        yield left or fmt("{} {}", amount_of(number, total, of_each=several), text)


def _of_the_request(funnel: Funnel) -> int:
    """The devices that class and selectors leave."""
    return funnel.stage(StageName.NODE).count


def _loss_text(stage: Stage, number: int, namespace: str, node: str) -> Safe:
    be = Safe(plural("is", number))
    note = removal_note(stage.name, stage.removed, namespace, users=True)
    # Nodes that are alike differ in who holds their devices, or has a share of them.
    named = note != removal_note(stage.name, stage.removed, namespace) if stage.name is StageName.CAPACITY else True
    if node and named and stage.name in (StageName.UNUSED, StageName.COUNTERS, StageName.CAPACITY):
        note = fmt("on {}: {}", node, note)
    match stage.name:
        case StageName.TAINTS:
            return fmt("{} tainted ({})", be, note)
        case StageName.UNUSED:
            return fmt("{} in use ({})", be, note)
        case StageName.FEATURES:
            return fmt("{} a feature that is off ({})", Safe("needs" if number == 1 else "need"), note)
        case StageName.CAPACITY:
            return fmt("{} too little capacity ({})", Safe(plural("has", number)), note)
    return fmt("{} blocked by other partitions of the same hardware ({})", be, note)


def typed(value: ValueCount) -> Safe:
    """A value so that one can see its type beside values of other types: texts in quotes."""
    return fmt('"{}"', value.value) if value.type == "string" else safe(value.value)


def _values(funnel: Funnel, name: Safe) -> Safe:
    """``; numa is 0 on one device and 1 on another``: the values that the devices which are left have."""
    published = [each for each in funnel.values if each.published]
    several = len({each.type for each in published}) > 1
    found = [
        (fmt("{} ({})", typed(each), each.type) if several else safe(each.value), each.devices) for each in published
    ]
    lacking = sum(each.devices for each in funnel.values if not each.published)
    if not found:
        return fmt("; none of them publishes {}", name) if lacking else Safe("")
    shown = found[:_VALUES]
    if len(shown) == 1 and not lacking and not funnel.distinct:
        return Safe("")
    texts = [fmt("{} on {}", value, counted(number, "device")) for value, number in shown]
    if lacking:
        texts.append(fmt("none on {}", counted(lacking, "device")))
    if len(found) > _VALUES:
        texts.append(counted(len(found) - _VALUES, "other value"))
    return fmt(" ({}: {})", name, Safe(", ").join(texts))


_SENTENCES: Final[dict[Code, Callable[[Wanted, Funnel, Sequence[Track], Cause], Safe]]] = {
    Code.SELECTOR_MATCHES_NOTHING: _no_match,
    Code.TOO_FEW_DEVICES: _too_few,
    Code.DEVICES_IN_USE: _unavailable,
    Code.DEVICES_TAINTED: _tainted,
    Code.CAPACITY_TOO_SMALL: _capacity,
    Code.CAPACITY_UNOBTAINABLE: _unobtainable,
    Code.COUNTERS_EXHAUSTED: _unavailable,
    Code.DEVICES_UNUSABLE: _unavailable,
    Code.DEVICES_FOR_OTHER_NODES: _for_other_nodes,
    Code.ALL_MODE_BLOCKED: _all_devices,
    Code.CONSTRAINT: _constraint,
}
