"""A state that goes on from the one before says the same as one that is made from nothing."""

from __future__ import annotations

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.queries import ALL_CLASSES, ALL_POOLS, ALL_TAINTS, PENDING_KEYS, Claims, DevicesQuery, PodQuery
from tests.kit.clock import CLOCK
from tests.tui.support import with_features

pytestmark = pytest.mark.one_in(4)

QUERIES = (ALL_POOLS, Claims(), ALL_CLASSES, ALL_TAINTS, PENDING_KEYS)
FIELDS = ("slices", "claims", "classes", "taint_rules", "pods", "nodes", "usage", "templates", "namespaces")


def without_some(inventory, field):
    """Every third object of a kind is gone."""
    objects = getattr(inventory, field)
    gone = {key for number, key in enumerate(objects) if number % 3 == 1}
    return inventory.replace(**{field: {key: value for key, value in objects.items() if key not in gone}})


def said(state):
    """What queries say; devices by what a row shows, because their rows hold the indexes themselves."""
    rows = [(row.id, row.state, row.text) for row in DevicesQuery().compute(state)]
    pods = PENDING_KEYS.compute(state)
    return [query.compute(state) for query in QUERIES], rows, [PodQuery(key).compute(state) for key in pods[:6]]


@pytest.fixture(scope="module")
def loaded():
    return with_features(load_demo())


@pytest.mark.parametrize("field", FIELDS)
def test_later_is_as_if_new(loaded, field):
    inventory, evidence, features = loaded
    before = ClusterState(inventory, evidence, features, CLOCK, keeps=True)
    said(before)
    changed = (without_some(inventory, field), evidence, features)
    later, fresh = before.later(*changed), ClusterState(*changed, CLOCK)
    assert said(later) == said(fresh)
    assert (later.pools is before.pools) is (field != "slices")
    indexes = [state.devices.index for state in (before, later)]
    assert (indexes[0] is indexes[1]) is (field not in ("slices", "taint_rules"))
    # And from there back, over a state that nobody looked at.
    assert said(later.later(*loaded).later(*loaded)) == said(before)


def test_other_evidence_counts(loaded):
    inventory, evidence, features = loaded
    before = ClusterState(inventory, evidence, features, CLOCK, keeps=True)
    said(before)
    less = type(evidence)(tuple(read for read in evidence.reads if read.kind != "Pod"))
    changed = (inventory, less, features)
    assert said(before.later(*changed)) == said(ClusterState(*changed, CLOCK))
    assert before.later(*changed).usage is None
