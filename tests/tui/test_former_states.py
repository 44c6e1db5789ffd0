"""What was known before a change is gone when nothing shows it any more, without the help of the garbage collector."""

from __future__ import annotations

import gc
import weakref

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features
from kubectl_dra.source import load
from kubectl_dra.source.spec import DEMO, SourceSpec
from kubectl_dra.tui import queries
from tests.kit.clock import CLOCK

LISTS = (
    *(queries.ALL_POOLS, queries.DevicesQuery(), queries.Claims(), queries.CLAIM_COUNTS, queries.ALL_CLASSES),
    *(queries.Groups(), queries.ALL_TAINTS, queries.LISTED_TAINTS, queries.RecentChanges()),
)


def test_a_state_goes_with_its_last_answer() -> None:
    inventory, evidence = load(SourceSpec(file=DEMO))
    state = ClusterState(inventory, evidence, features(), CLOCK, keeps=True, revision=1)
    gc.disable()
    try:
        former = weakref.ref(state)
        pods = queries.PENDING_KEYS.compute(state)
        shown: list[object] = [queries.PodQuery(key).compute(state) for key in pods]
        shown.append(queries.PodQuery(pods[0], remedies=True).compute(state))
        shown += [queries.ClaimQuery(key).compute(state) for key in list(inventory.claims)[:5]]
        shown += [each.compute(state) for each in LISTS]
        state = state.later(inventory.replace(pods=dict(inventory.pods)), evidence)
        queries.PENDING_KEYS.compute(state)
        queries.ALL_POOLS.compute(state)
        assert shown
        shown.clear()
        assert former() is None
    finally:
        gc.enable()
