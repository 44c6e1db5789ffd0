"""Clusters of 1.30 with one object spoilt: what can't be read is named, and the rest is diagnosed without a crash."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_dra.api.decode import decode_any
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.features import features
from kubectl_dra.output.pending.page import pending_page
from kubectl_dra.reports.pending.pending import pending_report
from tests.api.test_hostile import VALUES, _paths, _replaced
from tests.diagnosis.classic import build
from tests.kit.clock import CLOCK
from tests.kit.state import build_inventory
from tests.reports.test_classic import OBJECTS

NOW = parse_time("2026-01-01T00:00:00Z")


@st.composite
def spoilt(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The cluster with one value of one object replaced."""
    number = draw(st.integers(0, len(OBJECTS) - 1))
    paths = [path for path in _paths(OBJECTS[number]) if path and path[0] not in ("apiVersion", "kind")]
    changed = _replaced(OBJECTS[number], draw(st.sampled_from(paths)), draw(VALUES))
    return [*OBJECTS[:number], changed, *OBJECTS[number + 1 :]]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt())
def test_nothing_makes_the_diagnosis_fail(objects: list[dict[str, Any]]) -> None:
    found = [decode_any(json.dumps(each).encode()) for each in objects]
    bad = [each for each in found if isinstance(each, BadObject)]
    assert len(bad) <= 1
    assert all(each.error for each in bad)
    inventory = build_inventory(each for each in found if isinstance(each, tuple))
    world = ClusterState(inventory, build.evidence(), features(30), CLOCK)
    for key in inventory.pods:
        diagnosis = Diagnoser(world).pod(key)
        assert NOW is not None
        pending_page(pending_report(diagnosis, world), NOW)
    for key in inventory.claims:
        assert Diagnoser(world).claim(key).claim.key == key
