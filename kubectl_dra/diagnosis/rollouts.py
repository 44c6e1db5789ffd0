"""Rollouts that wait for themselves: an old pod stays until a new one is ready, which needs what the old one has.

Upstream: pkg/controller/deployment/rolling.go, reconcileOldReplicaSets, and util/deployment_util.go; of DaemonSets with
a surge pkg/controller/daemon, rollingUpdate and podsShouldBeOnNode. A StatefulSet, a DaemonSet without a surge, and a
Deployment of strategy Recreate end the old pod before they make the new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.diagnosis.records import Evidence, ObjectRef
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import is_true
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.model.workloads import RollingUpdate, UpdateStrategy, WorkloadObject
from kubectl_dra.scheduler.plugins.node_affinity import names_in_terms, required_terms

#: The number of a Deployment's present template, which its newest ReplicaSet has too.
REVISION: Final = "deployment.kubernetes.io/revision"
_DAEMON_REVISION: Final = "controller-revision-hash"
_ROLLING: Final = ("", "RollingUpdate")
_PERCENTAGE: Final = re.compile(r"(\d+)%")
# What the API server fills in. Upstream: pkg/apis/apps/v1/defaults.go, SetDefaults_Deployment.
_DEFAULT: Final = "25%"


class Rollout(msgspec.Struct, frozen=True):
    """A rollout that ends none of the ``old`` pods before one more new pod is ready.

    ``replicas``: how many pods it should have. ``unavailable``: so many of them would have to be allowed to be missing
    (``maxUnavailable``) for one of the old pods to go; 0 where that would be all, or not all old pods are known.
    """

    workload: ObjectRef
    old: tuple[Pod, ...]
    replicas: int
    unavailable: int


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
    found = [each.object for each in chain if each.object is not None]
    match [each.ref.kind for each in chain]:
        case ["ReplicaSet", "Deployment"] if len(found) == len(chain):
            return _of_deployment(inventory, owners, pod, *found)
        case ["DaemonSet"] if found:
            return _of_daemon_set(inventory, pod, chain[0].ref, found[0])
    return None


# --- Deployments ----------------------------------------------------------------------------------------------------


def _of_deployment(
    inventory: Inventory, owners: Owners, pod: Pod, made_by: WorkloadObject, deployment: WorkloadObject
) -> Rollout | None:
    if not _rolls(deployment, deployment.spec.strategy) or not _is_newest(made_by, deployment):
        return None
    limits = fenceposts(deployment)
    replicas, status = _replicas(deployment), deployment.status
    waiting = sum(_uid(each) == _uid(pod) and not each.spec.node_name for each in _living(inventory, pod))
    if limits is None or replicas == 0 or waiting > status.updated_replicas:
        return None
    # All pods that have a node: the new ones among them may become ready, and let an old one go.
    if status.replicas - waiting > replicas - min(limits[1], replicas):
        return None
    number = status.replicas - status.updated_replicas
    old = tuple(each for each in _replaceable(inventory, deployment, pod) if _is_below(owners, each, deployment))
    unavailable = replicas - max(number, status.available_replicas) + 1
    one = len(old) == number and unavailable < replicas
    ref = ObjectRef("Deployment", deployment.metadata.namespace, deployment.metadata.name)
    return Rollout(ref, old, replicas, unavailable if one else 0) if old else None


def fenceposts(deployment: WorkloadObject) -> tuple[int, int] | None:
    """``maxSurge`` and ``maxUnavailable`` as numbers of pods; None where one of them is not a number.

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


def is_rolling(strategy: UpdateStrategy) -> bool:
    """Whether pods are replaced step by step; that is what a strategy of no type does."""
    return strategy.type in _ROLLING


def _rolls(workload: WorkloadObject, strategy: UpdateStrategy) -> bool:
    """Whether its controller does a rolling update, and its status is about the present template."""
    meta = workload.metadata
    observed = workload.status.observed_generation >= meta.generation > 0
    return is_rolling(strategy) and not workload.spec.paused and meta.deletion_timestamp is None and observed


def _is_newest(replica_set: WorkloadObject, deployment: WorkloadObject) -> bool:
    """Whether a ReplicaSet is that of the Deployment's present template, which both call by the same number."""
    number = deployment.metadata.annotations.get(REVISION)
    return number is not None and replica_set.metadata.annotations.get(REVISION) == number


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


def _is_below(owners: Owners, pod: Pod, workload: WorkloadObject) -> bool:
    top, uid = owners.top(pod), workload.metadata.uid
    return top is not None and bool(uid) and top.uid == uid


def _uid(pod: Pod) -> str:
    maker = pod.metadata.controller
    return maker.uid if maker is not None else ""


# --- DaemonSets -----------------------------------------------------------------------------------------------------


def _of_daemon_set(inventory: Inventory, pod: Pod, ref: ObjectRef, daemons: WorkloadObject) -> Rollout | None:
    """The old pod of the same node, which is ready: of one that is not, the controller itself makes an end."""
    strategy, status = daemons.spec.update_strategy, daemons.status
    surge = _scaled(strategy.rolling_update.max_surge, 1, up=True) if strategy.rolling_update is not None else 0
    if not surge or not _rolls(daemons, strategy):
        return None
    here, mine = _target(pod), pod.metadata.labels.get(_DAEMON_REVISION)
    siblings = (each for each in _living(inventory, pod) if _uid(each) == _uid(pod) and each.spec.node_name in here)
    old = tuple(each for each in siblings if each.metadata.labels.get(_DAEMON_REVISION) != mine)
    if mine is None or len(old) != 1 or not _is_ready(old[0]):
        return None
    return Rollout(ref, old, status.desired_number_scheduled, status.number_unavailable + 1)


def _target(pod: Pod) -> frozenset[str]:
    """The node that a DaemonSet's pod is made for. Upstream: pkg/controller/daemon/util, GetTargetNodeName."""
    return names_in_terms(required_terms(pod)) or frozenset()


def _is_ready(pod: Pod) -> bool:
    return is_true(pod.status.conditions, "Ready")
