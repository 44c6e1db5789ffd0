"""The diagnosis of a pod: which verdict is due, in the order in which things happen to a pod.

``Diagnoser`` shares everything between pods of one state of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.claim import claim_verdicts
from kubectl_dra.diagnosis.pod.equivalence import Examiner, examined
from kubectl_dra.diagnosis.pod.pod_case import PodCase
from kubectl_dra.model.ids import Key

# Of the pods that wait for one claim the first few tell why.
_WAITING_ASKED: Final = 3


class NotFound(LookupError):
    """Raised where a pod or claim is not in the Inventory."""

    def __init__(self, kind: str, key: Key) -> None:
        super().__init__(f"{kind} {key}")
        self.kind = kind
        self.key = key


class Diagnoser:
    """Diagnoses many pods and claims of one ClusterState."""

    def __init__(self, state: ClusterState, examiner: Examiner | None = None) -> None:
        self.state = state
        self._examiner = examiner or Examiner(state)

    def pod(self, key: Key) -> records.PodDiagnosis:
        """Why a pod is where it is. Raises :class:`NotFound`."""
        pod = self.state.inventory.pods.get(key)
        if pod is None:
            raise NotFound("Pod", key)
        return PodCase(self.state, pod, self._examiner).diagnosis()

    def claim(self, key: Key) -> records.ClaimDiagnosis:
        """The state of a claim. Raises :class:`NotFound`."""
        claim = self.state.inventory.claims.get(key)
        if claim is None:
            raise NotFound("ResourceClaim", key)
        state = self.state
        found = claim_verdicts.diagnose(state.inventory, state.evidence, state.features, claim)
        if found.causes or found.verdict is not records.ClaimVerdict.PENDING:
            return found
        causes = tuple(dict.fromkeys(self._main_causes(found)))
        return msgspec.structs.replace(found, causes=causes)

    def _main_causes(self, found: records.ClaimDiagnosis) -> Iterator[records.Cause]:
        """What keeps the pods from running that wait for a claim; rather about this claim than about another one."""
        for ref in found.waiting_pods[:_WAITING_ASKED]:
            causes = self.pod(ref.key).causes
            if causes:
                own = (cause for cause in causes if cause.claim == found.claim)
                yield causes[0] if causes[0].claim is None else next(own, causes[0])


def diagnoser(state: ClusterState) -> Diagnoser:
    """A Diagnoser of a state; what any of them learns from one pod serves the others."""
    return Diagnoser(state, Examiner(state, examined(state)))
