"""Small parts of reports: attribute texts, ids of health reports, scopes, states of claims, largest sets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.core import ContainerStatus, Pod, PodStatus, ResourceHealth, ResourceStatus
from kubectl_dra.model.features import Features
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from kubectl_dra.reports.claims.health import health_by_device
from kubectl_dra.reports.devices.attributes import common_values, device_values, varying_names
from kubectl_dra.reports.devices.partitions import fits_together, largest_set
from kubectl_dra.reports.scope import ScopeKind, claim_scope, selector_text, usable_on
from tests.kit.clock import CLOCK
from tests.reports.clusters import SMALL, document, facts, withheld


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (DeviceAttribute(string=""), ""),
        (DeviceAttribute(int_value=0), "0"),
        (DeviceAttribute(bool_value=False), "false"),
        (DeviceAttribute(version="1.0.0"), "1.0.0"),
        (DeviceAttribute(bools=(True, False)), "[true, false]"),
        (DeviceAttribute(strings=("a", "b")), "[a, b]"),
        (DeviceAttribute(ints=()), "[]"),
        (DeviceAttribute(), "?"),
    ],
)
def test_attribute_text(attribute, text):
    assert attribute_text(attribute) == text


def test_names_lose_the_drivers_domain_unless_they_would_collide():
    one = DeviceAttribute(string="one")
    device = Device("d", {"a": one, "drv/a": one, "drv/b": one, "other/c": one}, {"drv/b": DeviceCapacity(Quantity(1))})
    assert list(device_values(device, "drv")) == ["a", "drv/a", "b", "other/c", "b capacity"]


def test_common_and_differing_values():
    rows = [{"a": "1", "b": "x", "u": "1"}, {"a": "1", "b": "x", "u": "2"}, {"a": "1", "b": "y", "u": "3"}, {"a": "1"}]
    common = common_values(rows)
    assert common == {"a": "1"}
    assert varying_names(rows, common) == ("b", "u")
    assert common_values([]) == {}


@pytest.mark.parametrize(
    ("resource_id", "device"),
    [
        ("drv/pool/dev", DeviceId("drv", "pool", "dev")),
        ("drv/a/b/dev", DeviceId("drv", "a/b", "dev")),
        ("drv/dev", None),
        ("nvidia0", None),
        # A CDI device, of a claim that was not read.
        ("vendor.example.com/gpu=dev", None),
    ],
)
def test_ids_of_health_reports(resource_id, device):
    said = ResourceStatus("claim:gpu", (ResourceHealth(resource_id, "Unhealthy"),))
    container = ContainerStatus("main", allocated_resources_status=(said,))
    pod = Pod(metadata=ObjectMeta("user", "ml"), status=PodStatus(container_statuses=(container,)))
    base = facts()
    inventory = base.inventory.replace(pods={Key("ml", "user"): pod})
    told = health_by_device(ClusterState(inventory, base.evidence, Features(), CLOCK))
    assert list(told) == ([] if device is None else [device])


def requirement(operator, *values, key="k"):
    return NodeSelectorRequirement(key, operator, values)


@pytest.mark.parametrize(
    ("requirements", "text"),
    [
        ([requirement("In", "a")], "k=a"),
        ([requirement("In", "a", "b")], "k in (a,b)"),
        ([requirement("NotIn", "a")], "k!=a"),
        ([requirement("NotIn", "a", "b")], "k notin (a,b)"),
        ([requirement("Exists"), requirement("DoesNotExist", key="l")], "k,!l"),
        ([requirement("Gt", "3")], "k > 3"),
        ([], "nothing"),
    ],
)
def test_selectors_in_kubectls_notation(requirements, text):
    assert selector_text(NodeSelector((NodeSelectorTerm(tuple(requirements)),))) == text


def test_terms_are_alternatives():
    terms = tuple(NodeSelectorTerm((requirement("In", value),)) for value in "ab")
    assert selector_text(NodeSelector(terms)) == "k=a or k=b"


def test_a_selector_that_names_a_node_is_that_node():
    field = NodeSelectorRequirement("metadata.name", "In", ("node-a",))
    scope = claim_scope(NodeSelector((NodeSelectorTerm((), (field,)),)), facts())
    assert (scope.kind, scope.node, scope.nodes) == (ScopeKind.NODE, "node-a", 1)


def test_no_selector_is_every_node_and_unread_nodes_are_not_counted():
    assert claim_scope(None, facts()).nodes == 4
    blind = facts(withheld(document(SMALL), ("Node",)))
    scope = claim_scope(None, blind)
    assert (scope.kind, scope.nodes) == (ScopeKind.ALL, None)


def test_where_a_scope_can_be_used():
    cluster = facts()
    rack = claim_scope(NodeSelector((NodeSelectorTerm((requirement("In", "1", key="rack"),)),)), cluster)
    assert [usable_on(node, rack, cluster) for node in ("node-a", "node-c")] == [False, True]
    assert usable_on("node-a", claim_scope(None, cluster), cluster)


# --- largest sets ---------------------------------------------------------------------------------------------------

CONSUMPTION = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=3, unique_by=lambda pair: pair[0]
).map(tuple)


def brute_force(consumptions, available):
    sizes = range(len(consumptions), -1, -1)
    return next(n for n in sizes if any(fits_together(c, available) for c in itertools.combinations(consumptions, n)))


@given(st.lists(CONSUMPTION, max_size=8), st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_the_largest_set_is_that_of_trying_all(consumptions, available):
    assert largest_set(consumptions, available) == (brute_force(consumptions, available), True)


def test_an_overdrawn_counter_leaves_nothing():
    assert largest_set([((0, 1),)], [5, -1]) == (0, True)


def test_a_budget_ends_the_search_with_at_least():
    consumptions = [((n % 7, 3 + n % 5), ((n + 3) % 7, 2 + n % 3), ((n + 5) % 7, 1 + n % 4)) for n in range(120)]
    size, exact = largest_set(consumptions, [17] * 7)
    assert not exact
    assert size >= 10
