"""A driver that is kept off tainted nodes: what follows, and the toleration that its DaemonSet lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kubectl_dra.diagnosis.remedies.pod_edits import toleration
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import listed, plural
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet


def kept_off_driver_lines(found: Iterable[IdleDaemonSet]) -> Iterator[Safe]:
    """``Node gpu-1 publishes no devices of gpu.example.com: DaemonSet N/D … does not tolerate its taint …``."""
    for each in found:
        them = Safe("it has" if len(each.tainted) == 1 else "they have")
        more = fmt(" The pod has to tolerate {} as well.", Safe("it" if len(each.taints) == 1 else "them"))
        text = "{}. If {} such devices, add to {}.{}"
        told = fmt(text, kept_off_sentence(each), them, tolerations_of(each.taints), more if each.pod_too else Safe(""))
        yield from wrapped(told)


def kept_off_sentence(each: IdleDaemonSet) -> Safe:
    """Where a driver publishes nothing, and which taint its DaemonSet does not tolerate."""
    rest = [fmt("{} more", each.more)] if each.more else []
    one = len(each.tainted) == 1
    nodes = fmt("{} {}", Safe("Node" if one else "Nodes"), listed([*each.tainted, *rest]))
    verb, whose = (Safe("publishes"), Safe("its")) if one else (Safe("publish"), Safe("their"))
    taints = fmt("{} {} {}", whose, Safe(plural("taint", len(each.taints))), listed(each.taints))
    text = "{} {} no devices of {}: DaemonSet {}, by its name the driver's, does not tolerate {}"
    return fmt(text, nodes, verb, each.driver, str(each.daemon_set.key), taints)


def tolerations_of(taints: Sequence[str]) -> Safe:
    """``the tolerations of the DaemonSet …: {key: dedicated, operator: Exists, effect: NoSchedule}``."""
    shown = Safe(", ").join(_flow(msgspec.to_builtins(toleration(taint))) for taint in taints)
    return fmt("the tolerations of the DaemonSet (with the values of the driver's chart) {}", shown)


def _flow(fields: dict[str, str]) -> Safe:
    """The toleration as YAML on one line."""
    return fmt("{{{}}}", Safe(", ").join(fmt("{}: {}", safe(key), value) for key, value in fields.items()))
