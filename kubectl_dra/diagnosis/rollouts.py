"""Rollouts that wait for themselves: an old pod stays until a new one is ready, which needs what the old one has.

Upstream: pkg/controller/deployment/rolling.go, reconcileOldReplicaSets, and util/deployment_util.go. A StatefulSet,
and a Deployment of strategy Recreate, end the old pod before they make the new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import Evidence, ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import RollingUpdate, WorkloadObject

_REVISION: Final = "deployment.kubernetes.io/revision"
_ROLLING: Final = ("", "RollingUpdate")
_PERCENTAGE: Final = re.compile(r"(\d+)%")
# What the API server fills in. Upstream: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment.
_DEFAULT: Final = "25%"


@dataclass(frozen=True, slots=True)
class Rollout:
    """A rollout of a Deployment that ends none of its ``old`` pods before one more new pod is ready.

    ``replicas``: how many pods it should have. ``unavailable``: so many of them would have to be allowed to be missing
    (``maxUnavailable``) for one old pod to go. ``seen``: whether all of the old pods are known.
    """

    workload: ObjectRef
    old: tuple[Pod, ...]
    replicas: int
    unavailable: int
    seen: bool


class EditRollout(Evidence, frozen=True):
    """Let the rollout of a ``workload`` end old pods before new ones are ready, which wait for what old ones have.

    ``pods`` are those that hold devices, which it ``frees``. ``max_unavailable``: how many of its ``replicas`` may be
    missing (``maxUnavailable``, without any surge) for one old pod to go; 0: all (strategy ``Recreate``).
    """

    workload: ObjectRef
    pods: tuple[ObjectRef, ...]
    frees: tuple[str, ...]
    replicas: int
    max_unavailable: int = 0


def stuck_rollout(inventory: Inventory, owners: Owners, pod: Pod) -> Rollout | None:
    """The rollout that a pod is new in, if that is stuck; None where that can't be told as well."""
    chain = owners.of(pod)
    if [each.ref.kind for each in chain] != ["ReplicaSet", "Deployment"]:
        return None
    made_by, deployment = (each.object for each in chain)
    if made_by is None or deployment is None or not _rolls(deployment) or not _is_newest(made_by, deployment):
        return None
    limits = fenceposts(deployment)
    replicas, status = _replicas(deployment), deployment.status
    mine = chain[0].uid
    waiting = sum(_uid(each) == mine and not each.spec.node_name for each in _living(inventory, pod))
    if limits is None or replicas == 0 or waiting > status.updated_replicas:
        return None
    # All pods that have a node: the new ones among them may become ready, and let an old one go.
    if status.replicas - waiting > replicas - min(limits[1], replicas):
        return None
    number = status.replicas - status.updated_replicas
    top = chain[-1]
    old = tuple(each for each in _replaceable(inventory, deployment, pod) if _is_below(owners, each, top.uid))
    unavailable = replicas - max(number, status.available_replicas) + 1
    return Rollout(top.ref, old, replicas, unavailable, len(old) == number) if old else None


def fenceposts(deployment: WorkloadObject) -> tuple[int, int] | None:
    """``maxSurge`` and ``maxUnavailable`` as numbers of pods; None where one is no number.

    Upstream: ResolveFenceposts. What is both 0 is 1 unavailable.
    """
    limits = deployment.spec.strategy.rolling_update or RollingUpdate(_DEFAULT, _DEFAULT)
    replicas = _replicas(deployment)
    surge, unavailable = _scaled(limits.max_surge, replicas, up=True), _scaled(limits.max_unavailable, replicas)
    if surge is None or unavailable is None:
        return None
    return surge, unavailable if surge or unavailable else 1


def _scaled(value: int | str | None, total: int, *, up: bool = False) -> int | None:
    """Upstream: apimachinery, pkg/util/intstr, GetScaledValueFromIntOrPercent."""
    if not isinstance(value, str):
        return value or 0
    found = _PERCENTAGE.fullmatch(value)
    if found is None:
        return None
    part = int(found[1]) * total
    return -(-part // 100) if up else part // 100


def _replicas(deployment: WorkloadObject) -> int:
    return 1 if deployment.spec.replicas is None else deployment.spec.replicas


def _rolls(deployment: WorkloadObject) -> bool:
    """Whether its controller does a rolling update, and its status is about the present template."""
    meta, spec = deployment.metadata, deployment.spec
    observed = deployment.status.observed_generation >= meta.generation > 0
    return spec.strategy.type in _ROLLING and not spec.paused and meta.deletion_timestamp is None and observed


def _is_newest(replica_set: WorkloadObject, deployment: WorkloadObject) -> bool:
    """Whether a ReplicaSet is that of the Deployment's present template, which both call by the same number."""
    number = deployment.metadata.annotations.get(_REVISION)
    return number is not None and replica_set.metadata.annotations.get(_REVISION) == number


def _living(inventory: Inventory, pod: Pod) -> Iterator[Pod]:
    """The pods of the namespace that neither end nor have ended."""
    here = (each for key, each in inventory.pods.items() if key.namespace == pod.metadata.namespace)
    return (each for each in here if each.metadata.deletion_timestamp is None and not is_terminal(each))


def _replaceable(inventory: Inventory, deployment: WorkloadObject, pod: Pod) -> Iterator[Pod]:
    """Pods that may be older ones of the Deployment: what makes them is read only of these."""
    labels = deployment.spec.selector.match_labels.items() if deployment.spec.selector is not None else ()
    for each in _living(inventory, pod):
        maker = each.metadata.controller
        another = maker is not None and maker.kind == "ReplicaSet" and maker.uid != _uid(pod)
        if another and all(item in each.metadata.labels.items() for item in labels):
            yield each


def _is_below(owners: Owners, pod: Pod, uid: str) -> bool:
    top = owners.top(pod)
    return top is not None and bool(uid) and top.uid == uid


def _uid(pod: Pod) -> str:
    maker = pod.metadata.controller
    return maker.uid if maker is not None else ""
