"""Remedies that delete pods which hold no devices, but the cpu, a port, a volume, or the place beside another pod.

Of ordinary pods perhaps no more was read than what they take of their node; that is enough to try it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.claim.reserved import never_ends
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.actions import ScaleDown
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.freeing import CRITICAL_COST, SYSTEM_CRITICAL, to_scale, wait_for_end
from kubectl_dra.diagnosis.remedies.records import (
    DeletePod,
    RemedyKind,
)
from kubectl_dra.diagnosis.whatif.nodes import MIRROR
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import PodInfo
from kubectl_dra.model.requests import quantity_of

_CODES: Final = (
    Code.NODE_RESOURCES,
    Code.NODE_PORTS,
    Code.KEPT_AWAY,
    Code.UNWANTED_COMPANY,
    Code.SPREAD,
    Code.VOLUME_IN_USE,
    Code.VOLUME_LIMIT,
)
_NODES: Final = 4
_PODS: Final = 5
_COST: Final = 62
_SCALE_COST: Final = 64


def scaled_down(case: Case) -> Iterator[Candidate]:
    """Workloads whose pods would be in the way again however often they are deleted."""
    for cause in case.causes(Code.KEPT_AWAY, Code.UNWANTED_COMPANY, Code.NODE_PORTS):
        for owner in dict.fromkeys(each.owner for each in _there(cause.detail) if not each.own):
            found = to_scale(case, owner) if owner is not None else None
            if owner is None or found is None or not found[0]:
                continue
            replicas, pods = found[0], [key_of(pod.metadata) for pod in found[1]]
            action = ScaleDown(owner, replicas, tuple(records.ObjectRef.of("Pod", key) for key in pods[:_PODS]))
            change = changes.without_pods(pods)
            yield Candidate(RemedyKind.FREE_DEVICES, (action,), _SCALE_COST, (change,), only=cause.nodes[:_NODES])


def _there(detail: object) -> Iterator[records.PodsThere]:
    match detail:
        case records.KeptAway():
            yield from (each for term in detail.terms for each in term.by)
        case records.Company() | records.TakenPorts():
            yield from detail.by


def candidates(case: Case) -> Iterator[Candidate]:
    """Single pods on the nodes that are nearest, those that free the most of what lacks first.

    Those that are being deleted are waited for, all of a node together.
    """
    for cause in case.causes(*_CODES):
        detail = cause.detail
        resource = detail.resource if isinstance(detail, records.NodeShortage) else ""
        users = detail.users if isinstance(detail, records.VolumeTrouble) else ()
        for node in cause.nodes[:_NODES]:
            there = [info for info in _placed(case, node) if _is_in_the_way(info, resource, users)]
            there = [info for info in there if not _never_ends(case, info)]
            going = sorted((info for info in there if info.shape.terminating), key=lambda info: info.key)
            if going:
                yield _waiting(case.state, node, going)
            staying = [info for info in there if not info.shape.terminating and _may_go(case, info)]
            for info in sorted(staying, key=partial(_last_to_go, resource))[:_PODS]:
                yield _deleting(node, info, resource)


def _placed(case: Case, node: str) -> Iterable[PodInfo]:
    usage = case.state.inventory.usage.get(node)
    return usage.placed if usage is not None else ()


def _last_to_go(resource: str, info: PodInfo) -> tuple[bool, int, Key]:
    return _is_critical(info), -info.shape.requests.get(resource, 0), info.key


def _is_in_the_way(info: PodInfo, resource: str, users: Sequence[str]) -> bool:
    if resource and not info.shape.requests.get(resource):
        return False
    return not users or str(info.key) in users


def _may_go(case: Case, info: PodInfo) -> bool:
    pod = case.state.inventory.pods.get(info.key)
    if pod is not None and (MIRROR in pod.metadata.annotations or case.is_of_same_workload(pod)):
        return False
    return info.key not in case.keep


def _never_ends(case: Case, info: PodInfo) -> bool:
    pod = case.state.inventory.pods.get(info.key)
    return pod is not None and never_ends(case.state.inventory, pod)


def _is_critical(info: PodInfo) -> bool:
    return info.shape.priority >= SYSTEM_CRITICAL


def _waiting(state: ClusterState, node: str, going: Sequence[PodInfo]) -> Candidate:
    gone = tuple(changes.without_placed(node, info) for info in going)
    return Candidate(RemedyKind.WAIT, tuple(wait_for_end(state, info.key) for info in going), 0, gone, only=(node,))


def _deleting(node: str, info: PodInfo, resource: str) -> Candidate:
    amount = info.shape.requests.get(resource, 0)
    freed = (f"{quantity_of(resource, amount)} {resource}",) if amount else ()
    action = DeletePod(records.ObjectRef.of("Pod", info.key), (), None, freed)
    cost = CRITICAL_COST if _is_critical(info) else _COST
    return Candidate(RemedyKind.FREE_DEVICES, (action,), cost, (changes.without_placed(node, info),), only=(node,))
