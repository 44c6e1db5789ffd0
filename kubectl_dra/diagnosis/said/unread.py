"""That data which decides could not be read, with what is known all the same: the scheduler's word, devices in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, Missing, MissingEvidence, Observed
from kubectl_dra.diagnosis.said import heard
from kubectl_dra.diagnosis.said.allocated import allocated
from kubectl_dra.diagnosis.said.own_holders import own_holders
from kubectl_dra.model.core import Pod
from kubectl_dra.model.resource import ResourceClaim


def cause(
    world: ClusterState, pod: Pod, missing: Iterable[Missing], seen: Observed | None, claims: Sequence[ResourceClaim]
) -> Cause:
    decisive = tuple(each for each in missing if each.decides)
    used = allocated(world, pod.metadata.namespace, (claim.spec for claim in claims))
    said = MissingEvidence(decisive, *heard.reasons(pod, seen), used, own_holders(world, pod, claims))
    return Cause(Code.EVIDENCE_MISSING, said)
