"""Objects that could not be read and may change the pods of a trial, or want more of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import pod_admission
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import lacking
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.core import Pod
from kubectl_dra.reports.simulation.at_most import with_at_most
from kubectl_dra.reports.simulation.autoscaled import may_be_scaled
from kubectl_dra.reports.simulation.existing import existing
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial


def with_unread(
    world: ClusterState, trial: PodTrial, found: PodSimulation, new_namespaces: Collection[str]
) -> PodSimulation:
    """What came of a trial, with what was not read; a namespace that does not exist yet holds nothing."""
    planned, pod = trial.planned, trial.plan.pod
    found = with_at_most(world, trial, found)
    if found.wanted == 0 or trial.is_bare or (planned.kind == "Pod" and existing(world.inventory, planned)):
        return found
    missing = list(unread_admission(world, pod, new_namespaces))
    namespace = pod.metadata.namespace
    if may_be_scaled(planned) and not (namespace in new_namespaces or _complete(world, needs.AUTOSCALERS, namespace)):
        missing.append(_lacking(world, needs.AUTOSCALERS, namespace))
    return msgspec.structs.replace(found, beside=tuple(missing)) if missing else found


def unread_admission(world: ClusterState, pod: Pod, new_namespaces: Collection[str]) -> Iterator[Missing]:
    """What may add to a pod that is created, or refuse it, and was not read."""
    namespace = pod.metadata.namespace
    if namespace not in new_namespaces and not _complete(world, needs.LIMITS, namespace):
        yield _lacking(world, needs.LIMITS, namespace)
    if not pod_admission.runtime_is_known(pod, world):
        yield _lacking(world, needs.RUNTIMES, "")


def _complete(world: ClusterState, need: needs.Need, namespace: str) -> bool:
    return world.evidence.complete(need.kind, namespace)


def _lacking(world: ClusterState, need: needs.Need, namespace: str) -> Missing:
    return lacking(world.evidence, replace(need, decides=True), namespace)
