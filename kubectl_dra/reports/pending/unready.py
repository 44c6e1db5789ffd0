"""Nodes with devices that are not ready yet: who removes the taint that says so, and whether that runs there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Cause, NodeTaint, ObjectRef
from kubectl_dra.diagnosis.records.nodes import key_of_taint
from kubectl_dra.model.core import Pod
from kubectl_dra.model.taint_text import remover_of
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.failing_pods import FailingPod, failing_among

_NODES: Final = 3
_DAEMONS: Final = "DaemonSet"


class UnreadyNode(ReportRecord, frozen=True):
    """A node whose ``taint`` goes when ``remover`` finds it ready; ``joined``: when the node object was made.

    ``agent``: the remover has a pod on each node; of those on this one some are ``failing`` and some ``running``. Both
    are empty where there is none, and ``pods_read`` says whether that is known.
    """

    node: str
    taint: str
    remover: str
    joined: str
    agent: bool = False
    failing: tuple[FailingPod, ...] = ()
    running: tuple[ObjectRef, ...] = ()
    pods_read: bool = True


def unready_nodes(causes: Iterable[Cause], state: ClusterState) -> tuple[UnreadyNode, ...]:
    """The first few nodes that a startup taint keeps a pod from; those that Kubernetes itself taints are left out."""
    found = (each for cause in causes if isinstance(cause.detail, NodeTaint) for each in _of_cause(cause, state))
    return tuple(dict.fromkeys(found))[:_NODES]


def unready_by(name: str, taints: Iterable[str], state: ClusterState) -> tuple[UnreadyNode, ...]:
    """The same of one node and all of its taints."""
    return tuple(each for taint in taints for each in _tainted(taint, (name,), state))


def _of_cause(cause: Cause, state: ClusterState) -> Iterator[UnreadyNode]:
    assert isinstance(cause.detail, NodeTaint)  # noqa: S101 - the caller asks
    return _tainted(cause.detail.taint, cause.nodes[:_NODES], state)


def _tainted(taint: str, names: Iterable[str], state: ClusterState) -> Iterator[UnreadyNode]:
    remover = remover_of(key_of_taint(taint))
    if remover is None or remover.of_the_node:
        return
    for name in names:
        node = state.inventory.nodes.get(name)
        if node is None:
            continue
        agents = list(_agents(name, remover.agent, state)) if remover.agent else []
        failing = _failing(agents, state)
        bad = {each.pod for each in failing}
        yield UnreadyNode(
            name,
            taint,
            remover.name,
            node.metadata.creation_timestamp or "",
            bool(remover.agent),
            failing,
            tuple(ref for ref in agents if ref not in bad),
            state.evidence.complete("Pod"),
        )


def _agents(node: str, agent: str, state: ClusterState) -> Iterator[ObjectRef]:
    usage = state.inventory.usage.get(node)
    for info in usage.placed if usage is not None else ():
        pod = state.inventory.pods.get(info.key)
        if pod is not None and _is_agent(pod, agent):
            yield ObjectRef.of("Pod", info.key)


def _failing(agents: list[ObjectRef], state: ClusterState) -> tuple[FailingPod, ...]:
    """Those that do not run; a pod that has not started has no containers that could say why."""
    known = failing_among(agents, state.inventory)
    told = {each.pod for each in known}
    pods = ((ref, state.inventory.pods[ref.key]) for ref in agents if ref not in told)
    waiting = (FailingPod(ref, pod.spec.node_name, pod.status.phase) for ref, pod in pods if _waits(pod))
    return (*known, *waiting)


def _waits(pod: Pod) -> bool:
    return pod.status.phase != "Running"


def _is_agent(pod: Pod, agent: str) -> bool:
    """By the name of the DaemonSet, and of a pod of which that is not known by what DaemonSets append to theirs."""
    controller = pod.metadata.controller
    if controller is not None:
        return (controller.kind, controller.name) == (_DAEMONS, agent)
    prefix, _, suffix = pod.metadata.name.rpartition("-")
    return prefix == agent and bool(suffix)
