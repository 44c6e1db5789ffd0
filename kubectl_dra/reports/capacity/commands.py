"""The commands that make room for copies: nodes cordoned, pods restarted turn by turn, nodes used again.

Between two turns a command waits until the pods of the first have their nodes: pasted at once, the rest would come
before the scheduler has placed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.capacity.records import Deletion, Move, Moves
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.invocation import Words
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.reports.invocations import changing, kubectl, of, within

_NAMED_AGAIN: Final = "StatefulSet"
#: By which label a controller's pods are told from all others. Upstream: apps/v1, types.go; batch/v1, types.go.
_OF_ITS: Final = {"ReplicaSet": "pod-template-hash", "Job": "batch.kubernetes.io/job-name"}
_TIMEOUT: Final = "--timeout=10m"


def restarting(moves: Moves, state: ClusterState) -> Iterator[Words]:
    """What carries a plan out; where nothing can be waited for, the pods are only deleted."""
    closed: tuple[str, ...] = ()
    found: list[Words | None] = []
    for turn in moves.turns:
        wanted = turn[0].closed
        for verb, names in (("uncordon", set(closed) - set(wanted)), ("cordon", set(wanted) - set(closed))):
            found += [kubectl(verb, of("node", name)) for name in sorted(names)]
        found += _deleted([move.pod for move in turn])
        found += _placed(turn, state)
        closed = wanted
    found += [kubectl("uncordon", of("node", name)) for name in closed]
    return _lines(found, state)


def deleting(deletion: Deletion, state: ClusterState) -> Iterator[Words]:
    return _lines(_deleted(deletion.pods), state)


def unwaited(moves: Moves, state: ClusterState) -> Iterator[ObjectRef]:
    """The pods of which no command can name what is made in their place."""
    found = (move.pod for move in moves.moves if not any(True for _ in _placed([move], state)))
    yield from dict.fromkeys(found)


def _deleted(pods: Sequence[ObjectRef]) -> Iterator[Words | None]:
    """One command for the pods of each namespace."""
    for namespace in dict.fromkeys(pod.namespace for pod in pods):
        named = [of("pod", pod.name) for pod in pods if pod.namespace == namespace]
        yield kubectl("delete", *named, within(namespace))


def _placed(turn: Sequence[Move], state: ClusterState) -> Iterator[Words | None]:
    """One command, or two, for each controller whose new pods can be named, by their name or by a label."""
    told: dict[tuple[str, ...], None] = {}
    for move in turn:
        pod = state.inventory.pods.get(move.pod.key)
        controller = pod.metadata.controller if pod is not None else None
        if pod is None or controller is None:
            continue
        where, scheduled = within(move.pod.namespace), "--for=condition=PodScheduled"
        label = _OF_ITS.get(controller.kind, "")
        value = pod.metadata.labels.get(label, "")
        lines: list[Words | None] = []
        if controller.kind == _NAMED_AGAIN:
            named = of("pod", move.pod.name)
            lines = [kubectl("wait", each, named, where, _TIMEOUT) for each in ("--for=create", scheduled)]
        elif is_subdomain(value):
            lines = [kubectl("wait", scheduled, "pod", "-l", f"{label}={value}", where, _TIMEOUT)]
        told.update((line, None) for line in lines if line is not None)
    yield from told


def _lines(found: Iterator[Words | None] | Sequence[Words | None], state: ClusterState) -> Iterator[Words]:
    for words in found:
        line = changing(words, state.evidence.address)
        if line is not None:
            yield line
