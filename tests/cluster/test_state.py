"""A state of the cluster: what follows from it is made once, and kept by later states while its parts are the same."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.cluster.derived import ALL
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import Inventory
from tests.kit.clock import CLOCK
from tests.kit.state import state_of

MADE: Counter[str] = Counter()


@derived("claims", "pods")
def of_claims_and_pods(_state: ClusterState) -> object:
    MADE["claims and pods"] += 1
    return object()


@derived("nodes", read=True)
def of_what_was_read(_state: ClusterState) -> object:
    MADE["read"] += 1
    return object()


@derived()
def of_everything(_state: ClusterState) -> object:
    MADE["everything"] += 1
    return object()


@derived(later=lambda fact, _before, _after: None if len(fact) > 2 else [*fact, len(fact)])
def a_history(_state: ClusterState) -> list[int]:
    MADE["history"] += 1
    return [0]


@pytest.fixture(autouse=True)
def _fresh():
    known = len(ALL)
    MADE.clear()
    yield
    assert len(ALL) == known


def later(state: ClusterState, *parts: str, evidence: Evidence | None = None) -> ClusterState:
    """A later state in which some parts are other objects, with the same content."""
    inventory = Inventory(
        **{
            name: dict(value) if name in parts else value
            for name, value in vars(state.inventory).items()
            if name in Inventory.__dataclass_fields__
        }
    )
    return state.later(inventory, state.evidence if evidence is None else evidence)


def test_a_fact_is_made_once():
    state = state_of(Inventory())
    assert of_claims_and_pods(state) is of_claims_and_pods(state)
    assert MADE == {"claims and pods": 1}


@pytest.mark.parametrize(("part", "kept"), [("nodes", True), ("slices", True), ("claims", False), ("pods", False)])
def test_a_later_state_keeps_it_while_its_parts_are_the_same(part, kept):
    state = state_of(Inventory(nodes={}, slices={}, claims={}, pods={}))
    before = of_claims_and_pods(state)
    assert (of_claims_and_pods(later(state, part)) is before) is kept


def test_facts_of_everything_are_never_kept():
    state = state_of(Inventory())
    assert of_everything(later(state)) is not of_everything(state)


def test_what_depends_on_how_completely_kinds_were_read_is_made_anew_where_that_changed():
    whole = Evidence((Read("Node"),))
    state = state_of(Inventory(), whole)
    before = of_what_was_read(state)
    assert of_what_was_read(later(state, evidence=Evidence((Read("Node", time="2026-01-01T00:00:00Z"),)))) is before
    less = Evidence((Read("Node", coverage=Coverage.FORBIDDEN),))
    assert of_what_was_read(later(state, evidence=less)) is not before


def test_a_fact_may_follow_from_that_of_the_state_before():
    state = state_of(Inventory())
    found = []
    for _ in range(4):
        found.append(a_history(state))
        state = later(state)
    assert found == [[0], [0, 1], [0, 1, 2], [0]]
    assert MADE["history"] == 2


def test_a_state_that_nobody_looked_at_hands_on_what_the_one_before_knew():
    state = state_of(Inventory())
    before = of_claims_and_pods(state)
    assert of_claims_and_pods(later(later(later(state)))) is before


def test_former_states_are_let_go():
    state = state_of(Inventory())
    of_claims_and_pods(state)
    following = later(state)
    of_everything(following)
    assert following._former is None


def test_other_features_keep_nothing():
    state = state_of(Inventory())
    before = of_claims_and_pods(state)
    other = state.later(state.inventory, state.evidence, Features(device_taints=False))
    assert of_claims_and_pods(other) is not before


def test_revisions_grow_and_changes_that_are_tried_are_of_the_same():
    state = state_of(Inventory(), revision=7)
    assert later(state).revision == 8
    assert state.changed(Inventory()).revision == 7
    assert later(state).clock is CLOCK


def test_the_time_is_that_of_the_evidence_or_else_the_clocks():
    read = Evidence((Read("Pod", time="2026-01-01T00:00:00Z"), Read("Node", time="2026-01-01T02:00:00+01:00")))
    assert state_of(Inventory(), read).now == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert state_of(Inventory(), read).as_of == "2026-01-01T02:00:00+01:00"
    plain = state_of(Inventory())
    assert (plain.as_of, plain.observed_at, plain.now) == ("", None, CLOCK.now())
