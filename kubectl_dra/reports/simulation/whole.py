"""Pods of one PodGroup as one answer: they are placed in one cycle, and what is in their way is in the way of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.reports.simulation.records import NodeCopies, PodSimulation

POD_GROUP = "PodGroup"


def by_group(pods: Iterable[PodSimulation]) -> list[PodSimulation]:
    """The answers with those about pods of one group as one, at the place of the first, where they say the same."""
    together: dict[object, list[PodSimulation]] = {}
    for position, pod in enumerate(pods):
        single = pod.group and pod.subject.kind == "Pod" and pod.wanted is not None
        key = (pod.subject.namespace, pod.group) if single else position
        together.setdefault(key, []).append(pod)
    return [each for found in together.values() for each in _whole(found)]


def _whole(pods: Sequence[PodSimulation]) -> Sequence[PodSimulation]:
    first = pods[0]
    if len(pods) == 1 or any(_rest(each) != _rest(first) for each in pods):
        return pods
    nodes = Counter[str]()
    for pod in pods:
        nodes.update({each.node: each.copies for each in pod.nodes})
    whole = msgspec.structs.replace(
        first,
        subject=ObjectRef(POD_GROUP, first.subject.namespace, first.group),
        wanted=sum(each.wanted or 0 for each in pods),
        copies=sum(each.copies for each in pods),
        nodes=tuple(NodeCopies(node, copies) for node, copies in nodes.items()),
        pending=next((each.pending for each in pods if each.pending is not None), None),
    )
    return (whole,)


def _rest(pod: PodSimulation) -> PodSimulation:
    """What an answer says beside who it is about, and how many of them fit where."""
    subject = ObjectRef("Pod", pod.subject.namespace, "")
    return msgspec.structs.replace(pod, subject=subject, wanted=1, copies=1, nodes=(), pending=None, choice=None)
