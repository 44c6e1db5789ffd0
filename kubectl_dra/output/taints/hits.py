"""Whom a taint hits, in rows: what becomes of a pod, which pod, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.resource import DeviceTaint
from kubectl_dra.model.taint_plan import Fate, Hit, Use, Why
from kubectl_dra.output.devices.parts import ranges
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import duration, listed

_ENDS: Final = frozenset({Fate.EVICTED, Fate.LATER, Fate.ON_BINDING})
Row = tuple[Safe, Safe, Safe]
_FATES: Final = {
    Fate.EVICTED: ("evicted now", Style.BAD),
    Fate.LATER: ("evicted after {}s", Style.BAD),
    Fate.ON_BINDING: ("evicted once bound", Style.BAD),
    Fate.UNCERTAIN: ("may be evicted", Style.WARN),
    Fate.SPARED: ("no longer evicted", Style.GOOD),
    Fate.KEPT: ("kept", Style.GOOD),
}


def hit_rows(
    hits: Sequence[Hit], taint: DeviceTaint, devices: Collection[str], now: datetime | None = None
) -> Iterator[Row]:
    """One row per hit. Of several ``devices`` each use names its own, with the pool where that differs too.

    ``now``: the time of the facts, of a ``taint`` that is there already: tolerations count from when it was added.
    """
    parts = 0 if len(devices) == 1 else 1 if len({device.rpartition("/")[0] for device in devices}) == 1 else 2
    for hit in hits:
        left = _left(hit, taint, now) if now is not None else None
        yield left or fate_text(hit), who_text(hit), _reasons(hit, taint, parts)


def fate_text(hit: Hit) -> Safe:
    """``evicted after 300s``."""
    if hit.why is Why.DELETING:
        return styled(Safe("being deleted"), Style.WARN)
    words, style = _FATES[hit.fate]
    return styled(fmt(words, hit.seconds or 0), style)


def _left(hit: Hit, taint: DeviceTaint, now: datetime) -> Safe | None:
    """``evicted in 2m``: how long a toleration still lasts; None where nothing counts down.

    Upstream: DeviceToleration.tolerationSeconds, "<time when taint was added> + <toleration seconds>".
    """
    added = parse_time(taint.time_added)
    if hit.fate is not Fate.LATER or added is None:
        return None
    # Any int64 is allowed, which no date can hold.
    left = (hit.seconds or 0) - (now - added).total_seconds()
    text = Safe("evicted now") if left <= 0 else fmt("evicted in {}", duration(left))
    return styled(text, Style.BAD)


def who_text(hit: Hit) -> Safe:
    """``pod ml/serve-1``, or the claim where no pod uses it."""
    if hit.pod:
        return fmt("pod {}/{}", hit.namespace, hit.pod)
    return fmt("claim {}/{}", hit.namespace, hit.uses[0].claim)


def _reasons(hit: Hit, taint: DeviceTaint, parts: int) -> Safe:
    devices: dict[Safe, list[str]] = {}
    for use in hit.uses:
        devices.setdefault(_use_text(use, hit, taint), []).append(_short(use.device, parts))
    texts = [fmt("{}: {}", listed(ranges(names)), text) if parts else text for text, names in devices.items()]
    if hit.anyway:
        names = [name if name == "driver" else f"rule {name}" for name in hit.anyway]
        texts.append(fmt("is evicted anyway, by {}", listed(names)))
    if hit.fate in _ENDS and hit.why is not Why.NOT_READ and hit.pod and not hit.anyway:
        texts.append(_afterwards(hit.controller))
    return Safe("; ").join(texts)


def _afterwards(controller: str) -> Safe:
    """What becomes of work whose pod is evicted, which is deleted then."""
    if not controller:
        return Safe("nothing starts it again")
    # A Job counts the deleted pod as failed, and may give up.
    verb = Safe("may start" if controller == "Job" else "starts")
    return fmt("its {} {} it again", controller, verb)


def _short(device: str, parts: int) -> str:
    """The device alone, or with its pool."""
    name = device.rpartition("/")[2]
    return name if parts < 2 else device.partition("/")[2]


def _use_text(use: Use, hit: Hit, taint: DeviceTaint) -> Safe:
    parts = [_what(use, hit), *_why(use, taint)]
    if use.admin_access:
        parts.append(Safe("admin access"))
    return Safe(", ").join(filter(None, parts))


def _what(use: Use, hit: Hit) -> Safe:
    """The claim, where the reader does not know it yet."""
    if not hit.pod or use.extended_resource:
        return Safe("")
    return fmt("{}claim {}", Safe("share of ") if use.share_id else Safe(""), use.claim)


def _why(use: Use, taint: DeviceTaint) -> Iterator[Safe]:
    key = safe(taint.key)
    match use.why:
        case Why.EMPTY_EFFECT:
            yield fmt("tolerates {} for scheduling only: against eviction a toleration must name NoExecute", key)
        case Why.TOLERATED_FOR:
            yield fmt("tolerates {} for {} s", key, use.seconds or 0)
        case Why.TOLERATED:
            yield fmt("tolerates {} (NoExecute)", key)
        case Why.EXTENDED_RESOURCE:
            yield fmt("has it as {}", use.extended_resource)
            yield Safe("which some versions of the eviction controller overlook")
        case Why.NOT_RESERVED:
            yield Safe("which is not reserved for it")
        case Why.NOT_READ:
            yield Safe("the pod could not be read")
        case Why.NO_POD:
            yield Safe("no pod uses it; it keeps its devices")
        case Why.NO_EVICTION if use.extended_resource:
            yield fmt("has it as {}", use.extended_resource)
