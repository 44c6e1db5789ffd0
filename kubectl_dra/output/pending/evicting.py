"""Devices that evict the pod that gets them at once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kubectl_dra.diagnosis.records import EvictingTaint
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import lasting, shortened

_DEVICES = 3


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
