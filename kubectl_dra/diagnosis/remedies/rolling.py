"""Remedies for a rollout that waits for itself: its strategy lets old pods go before new ones are ready.

Which of several old pods goes first, the ReplicaSet decides: the pod has to fit after each of them. Else all go, as
they do where all replicas may be missing anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case
from kubectl_dra.diagnosis.remedies.freeing import devices_of, released_by
from kubectl_dra.diagnosis.remedies.records import RemedyKind
from kubectl_dra.diagnosis.remedies.trial import Trials
from kubectl_dra.diagnosis.rollouts import EditRollout, stuck_rollout
from kubectl_dra.model.inventory import key_of

_COST: Final = 18
_FEW: Final = 6


def candidates(case: Case, trials: Trials) -> Iterator[Candidate]:
    """One old pod less at a time, or else all of them at once."""
    inventory = case.state.inventory
    found = stuck_rollout(inventory, case.owners, case.pod)
    if found is None or any(key_of(pod.metadata) in case.keep for pod in found.old):
        return
    keys = [key_of(pod.metadata) for pod in found.old]
    held = {
        key: [device for claim in released_by(inventory, pod) for device in devices_of(claim)]
        for key, pod in zip(keys, found.old, strict=True)
    }
    holders = tuple(ObjectRef.of("Pod", key) for key in keys if held[key])
    if not holders:
        return
    frees = tuple(device for devices in held.values() for device in devices)
    where = dict.fromkeys(pod.spec.node_name for pod in found.old if pod.spec.node_name)
    only = tuple(dict.fromkeys((*where, *sorted(trials.near))))

    def way(unavailable: int, first: changes.Change, *instead: changes.Change) -> Candidate:
        action = EditRollout(found.workload, holders, frees, found.replicas, unavailable)
        return Candidate(RemedyKind.EDIT_ROLLOUT, (action,), _COST, (first,), only=only, instead=instead)

    every = way(0, changes.without_pods(keys))
    if found.unavailable and len(keys) <= _FEW:
        single = way(found.unavailable, *(changes.without_pods({key}) for key in keys))
        yield replace(single, steps=(every,) if len(keys) > 1 else ())
    else:
        yield every
