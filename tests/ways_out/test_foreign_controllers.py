"""JobSet, LeaderWorkerSet, MPIJob, RayCluster with their real controllers: after the printed commands new pods run.

By hand (`make e2e-controllers`): each controller is built once, which takes a quarter of an hour for all of them.
"""

from __future__ import annotations

import pytest

from tests.controlplane import ControlPlane, binaries
from tests.controlplane.foreign import CONTROLLERS, run_controller
from tests.controlplane.helpers import run_kwok
from tests.ways_out.clusters import CAUSES, random_cluster
from tests.ways_out.trial import Taken, all_ways, take

pytestmark = pytest.mark.controllers
#: A template of claims that is too strict, one of pods that selects no node, one without a toleration.
_SEEDS = tuple(map(CAUSES.index, ("selector-typo", "node-selector", "node-taint")))


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_new_pods_of_the_controller_are_bound(kind: str) -> None:
    """On a promised node, whatever the pod waited for; no command fails, and none is missing."""
    taken: list[Taken] = []
    with ControlPlane(binaries(), backoff_seconds=1) as plane:
        run_kwok(plane)
        run_controller(plane, kind)
        for seed in _SEEDS:
            cluster = random_cluster(seed, [kind])
            taken += all_ways(lambda number, cluster=cluster: take(plane, cluster, number))  # type: ignore[misc]
    assert len(taken) >= len(_SEEDS)
    assert {each.outcome for each in taken} == {"bound"}, "\n".join(each.as_json() for each in taken)
