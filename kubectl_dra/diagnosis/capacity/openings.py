"""What nodes or devices are closed by (a cordon, a taint), and how many more copies would fit without it.

Each is tried by itself with the count of copies itself; what says that a node is not ready, or goes, is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.cluster.edits import Edit, Put, Remove, edited
from kubectl_dra.diagnosis.capacity.filling import Alike, Filled, fill
from kubectl_dra.diagnosis.capacity.records import Opening, OpeningKind
from kubectl_dra.diagnosis.capacity.shape import Shape, waiting
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Funnel, NodeTaint, StageName
from kubectl_dra.diagnosis.records.nodes import tells_of_node
from kubectl_dra.diagnosis.remedies.pod_edits import toleration
from kubectl_dra.diagnosis.whatif import taints
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.resource import Device
from kubectl_dra.model.taint_text import CORDONED, taint_text

#: So many taints of each kind are tried, those of most nodes first.
_MOST: Final = 3
_NAMES: Final = 3


def openings(state: ClusterState, shape: Shape, filled: Filled) -> tuple[Opening, ...]:
    """The ways that bring more, most copies first."""
    found = [
        *_cordons(state, shape, filled),
        *_node_taints(state, shape, filled),
        *_device_taints(state, shape, filled),
    ]
    return tuple(sorted((each for each in found if each.more > 0), key=lambda each: -each.more))


def _opening(
    kind: OpeningKind, taint: str, state: ClusterState, shape: Shape, filled: Filled, rule: str = ""
) -> Opening:
    """What a cluster, or a shape, as it would be has room for, and on which nodes more."""
    then = fill(waiting(state, shape))
    gained = [name for name, copies in then.counts.items() if copies > filled.counts.get(name, 0)]
    return Opening(kind, taint, then.copies - filled.copies, len(gained), tuple(gained[:_NAMES]), rule)


def _rejecting(filled: Filled, code: Code) -> Iterator[Alike]:
    return (alike for alike in filled.groups if alike.last and any(cause.code is code for cause in alike.last.causes))


def _cordons(state: ClusterState, shape: Shape, filled: Filled) -> Iterator[Opening]:
    nodes = [state.inventory.nodes[name] for a in _rejecting(filled, Code.NODE_UNSCHEDULABLE) for name in a.nodes]
    if nodes:
        kept = (tuple(taint for taint in each.spec.taints if taint.key != CORDONED) for each in nodes)
        edits = (Put("Node", with_spec(e, unschedulable=False, taints=t)) for e, t in zip(nodes, kept, strict=True))
        yield _opening(OpeningKind.CORDON, "", edited(state, edits), shape, filled)


def _node_taints(state: ClusterState, shape: Shape, filled: Filled) -> Iterator[Opening]:
    found = Counter[str]()
    for alike in _rejecting(filled, Code.NODE_TAINTS):
        for cause in alike.last.causes if alike.last is not None else ():
            if isinstance(cause.detail, NodeTaint) and not tells_of_node(cause.detail.taint):
                found[cause.detail.taint] += len(alike.nodes)
    for taint, _ in found.most_common(_MOST):
        tolerations = (*shape.pod.spec.tolerations, toleration(taint))
        tolerant = Shape(with_spec(shape.pod, tolerations=tolerations), shape.templates)
        yield _opening(OpeningKind.NODE_TAINT, taint, state, tolerant, filled)


def _device_taints(state: ClusterState, shape: Shape, filled: Filled) -> Iterator[Opening]:
    found = Counter[tuple[str, str]]()
    for alike in filled.groups:
        found.update(dict.fromkeys(_taints_on(alike), len(alike.nodes)))
    for (taint, rule), _ in found.most_common(_MOST):
        edits = [Remove("DeviceTaintRule", Key("", rule))] if rule else _repaired(state, taint)
        yield _opening(OpeningKind.DEVICE_TAINT, taint, edited(state, edits), shape, filled, rule)


def _taints_on(alike: Alike) -> Iterator[tuple[str, str]]:
    """The taints that take devices away on such nodes, with the rule that sets each; empty for the driver's own."""
    reports = alike.last.requests if alike.last is not None else ()
    funnels: Sequence[Funnel] = [each.funnel for each in reports if each.funnel is not None]
    for funnel in funnels:
        yield from ((each.reason, each.source) for each in funnel.stage(StageName.TAINTS).removed)


def _repaired(state: ClusterState, taint: str) -> Iterator[Edit]:
    """Without such taints of drivers, of this value alone: those of another one stay."""

    def change(_: DeviceId, device: Device) -> Device:
        kept = tuple(each for each in device.taints if taint_text(each) != taint)
        return device if len(kept) == len(device.taints) else msgspec.structs.replace(device, taints=kept)

    return taints.changed_slices(state.inventory.slices.values(), change)
