"""ResourceQuotas that may forbid what a file creates: not read, or requiring what only a LimitRange gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import lacking
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.simulation.existing import existing
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: Of these one that exists is taken as it is.
_SINGLE = ("Pod", "ResourceClaim")


def with_quotas(
    world: ClusterState, tries: Iterable[tuple[PodTrial, PodSimulation]], new_namespaces: Collection[str]
) -> Iterator[PodSimulation]:
    """What came of each trial, with the quotas that may forbid it; a namespace that does not exist yet has none."""
    earlier, quotas = Counter[Key](), world.inventory.quotas.values()
    for trial, found in tries:
        yield _with_quotas(world, trial, found, new_namespaces, earlier)
        if not trial.alone and _creates_pods(world, trial):
            earlier.update(dict.fromkeys(quota.may_be_about(quotas, trial.plan.pod), found.copies))


def _with_quotas(
    world: ClusterState,
    trial: PodTrial,
    found: PodSimulation,
    new_namespaces: Collection[str],
    earlier: Mapping[Key, int],
) -> PodSimulation:
    namespace = trial.plan.pod.metadata.namespace
    if found.wanted == 0 or namespace in new_namespaces or not _creates(world, trial):
        return found
    if _creates_pods(world, trial):
        quotas, pod = world.inventory.quotas.values(), trial.plan.pod
        doubts = (*quota.unspecified(quotas, pod), *quota.may_exceed(quotas, pod, found.copies, earlier))
        found = msgspec.structs.replace(found, unspecified=doubts)
    if quota.are_read(world, namespace):
        return found
    (need,) = needs.deciding((quota.KIND,))
    return msgspec.structs.replace(found, quota=lacking(world.evidence, need, namespace))


def _creates_pods(world: ClusterState, trial: PodTrial) -> bool:
    """Whether a pod of the file comes into being: what its containers request is not that of a bare pod."""
    planned = trial.planned
    if trial.is_bare:
        return False
    return planned.kind != "Pod" or existing(world.inventory, planned) is None


def _creates(world: ClusterState, trial: PodTrial) -> bool:
    """Whether a pod or a claim comes into being."""
    planned = trial.planned
    if planned.kind not in _SINGLE or existing(world.inventory, planned) is None:
        return True
    return any(entry.resource_claim_template_name is not None for entry in trial.plan.pod.spec.resource_claims)
