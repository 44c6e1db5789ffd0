"""Nodes that share a search get what a search of their own would give them."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from kubectl_dra.allocation import Allocated, Answers, Cluster, Fatal, Unsatisfiable
from kubectl_dra.allocation.errors import UnsupportedNodeSelector
from kubectl_dra.model.features import features as default_features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.resource import (
    Counter,
    CounterConsumption,
    CounterSet,
    DerivedAttribute,
    DeviceAttribute,
    DeviceCapacity,
    DeviceConstraint,
    DeviceTaint,
    ResourceClaim,
)
from tests.allocation.clusters import (
    DRIVER,
    EVERYTHING,
    allocate,
    allocate_many,
    claim_of,
    class_of,
    cluster_of,
    device,
    exactly,
    holding,
    node_named,
    prepared,
    quantity,
    slice_of,
)
from tests.vectors.answer_alloc import decode, features, render
from tests.vectors.rows import rows

pytestmark = pytest.mark.one_in(4)


def _inputs(row: dict[str, Any], run: dict[str, Any], slices: list[Any]) -> tuple[Cluster, list[Any]]:
    held = decode(row.get("allocatedClaims") or [], "ResourceClaim")
    cluster = prepared(slices, decode(row["classes"], "DeviceClass"), held, features(run["features"]))
    return cluster, decode(row["claims"], "ResourceClaim")


@pytest.mark.parametrize("name", ["alloc_probes", "alloc", "alloc_mutated"])
def test_shared_answers_are_the_own_answers(name: str) -> None:
    groups = nodes_in_all = 0
    for row in rows(name)[:: 7 if name == "alloc" else 2]:
        nodes = decode(row["nodes"], "Node", "v1")
        for run in row["expect"]:
            cluster, claims = _inputs(row, run, decode(row["slices"], "ResourceSlice"))
            answers = allocate_many(cluster, nodes, claims)
            for node in nodes:
                own = render(allocate(cluster, node, claims))
                assert render(answers[node.metadata.name]) == own, (row["id"], run["name"], node.metadata.name)
            groups += len(answers.groups)
            nodes_in_all += len(nodes)
    assert groups < nodes_in_all


def test_the_order_of_slices_does_not_matter() -> None:
    # Except to the first implementation, whose order was random, and where slices of a pool disagree on their number.
    shuffle = random.Random(7).shuffle
    for row in rows("alloc")[::9]:
        if row.get("inconsistentSliceCount"):
            continue
        slices = decode(row["slices"], "ResourceSlice")
        shuffled = list(slices)
        shuffle(shuffled)
        for run in row["expect"]:
            cluster, claims = _inputs(row, run, slices)
            other, _ = _inputs(row, run, shuffled)
            for node in decode(row["nodes"], "Node", "v1"):
                assert render(allocate(other, node, claims)) == render(allocate(cluster, node, claims)), row["id"]


# --- what is alike, and what is not ---------------------------------------------------------------------------------

_NODES = [node_named(f"n{i}") for i in range(4)]


def _slices(*changes: dict[str, Any], count: int = 2) -> list[Any]:
    """Four nodes with two devices each, all with unique attributes; ``changes`` are to the first device of a node."""
    slices = []
    for i in range(4):
        devices = [
            device(f"d{j}", attributes={"uuid": f"{i}-{j}", "model": "a"}, capacity={"mem": "4"}) for j in range(count)
        ]
        if i < len(changes):
            devices[0] = msgspec.structs.replace(devices[0], **changes[i])
        slices.append(slice_of(devices, pool=f"n{i}", node=f"n{i}"))
    return slices


def _groups(answers: Answers) -> list[list[str]]:
    return [group.nodes for group in answers.groups]


def _ask(slices: list[Any], *claims: ResourceClaim, held: list[ResourceClaim] | None = None) -> Answers:
    return allocate_many(cluster_of(*slices, held=held or []), _NODES, claims)


TWO = claim_of(exactly("r", 2))
THREE = claim_of(exactly("r", 3))


def test_unread_attributes_and_names_do_not_separate_nodes() -> None:
    answers = _ask(_slices(), TWO)
    assert _groups(answers) == [["n0", "n1", "n2", "n3"]]
    outcome = answers["n3"]
    assert isinstance(outcome, Allocated)
    assert [(r.pool, r.device) for r in outcome.allocations[0].devices.results] == [("n3", "d0"), ("n3", "d1")]
    selector = outcome.allocations[0].node_selector
    assert selector is not None
    assert selector.node_selector_terms[0].match_fields[0].values == ("n3",)


def test_what_selectors_say_of_read_attributes_does() -> None:
    uuid = claim_of(exactly("r", 1, f'device.attributes["{DRIVER}"].uuid == "2-1"'))
    answers = _ask(_slices(), uuid)
    assert _groups(answers) == [["n0", "n1", "n3"], ["n2"]]
    assert [name for name, outcome in answers.items() if isinstance(outcome, Allocated)] == ["n2"]


def test_the_condition_that_says_no_does() -> None:
    uuid = f'device.attributes["{DRIVER}"].uuid'
    answers = _ask(_slices(), claim_of(exactly("r", 1, f'{uuid} != "2-1" && {uuid} == "nowhere"')))
    assert _groups(answers) == [["n0", "n1", "n3"], ["n2"]]
    assert {type(outcome) for outcome in answers.values()} == {Unsatisfiable}


def test_values_under_a_constraint_do() -> None:
    same = DeviceConstraint(("r",), match_attribute=f"{DRIVER}/uuid")
    answers = _ask(_slices(), claim_of(exactly("r", 2), constraints=[same]))
    assert _groups(answers) == [["n0"], ["n1"], ["n2"], ["n3"]]


@pytest.mark.parametrize(
    "change",
    [
        {"taints": (DeviceTaint("k", "v", "NoExecute"),)},
        {"allow_multiple_allocations": True, "capacity": {}},
        {"attributes": {}, "binds_to_node": True},
    ],
)
def test_what_the_search_can_see_does(change: dict[str, Any]) -> None:
    answers = _ask(_slices({}, change), THREE)
    assert _groups(answers) == [["n0", "n2", "n3"], ["n1"]]


def test_taints_without_consequence_do_not() -> None:
    answers = _ask(_slices({}, {"taints": (DeviceTaint("k", "v", "None"),)}, {"taints": ()}), THREE)
    steps = {outcome.steps for outcome in answers.values()}
    assert steps == {4}


def _drawing(available: dict[str, str]) -> list[Any]:
    """Four nodes with the same device that draws 2; ``available`` counters by node, 4 where none are named."""
    draws = (CounterConsumption("set", {"c": Counter(quantity("2"))}),)
    slices = []
    for node in _NODES:
        name = node.metadata.name
        counters = CounterSet("set", {"c": Counter(quantity(available.get(name, "4")))})
        slices.append(slice_of([device("d0", consumes_counters=draws)], pool=name, node=name, count=2))
        slices.append(slice_of(pool=name, node=name, name=f"{name}-counters", count=2, shared_counters=(counters,)))
    return slices


def test_what_is_left_of_counters_and_capacity_does() -> None:
    answers = _ask(_drawing({"n1": "1"}), claim_of(exactly("r", 1)))
    assert _groups(answers) == [["n0", "n2", "n3"], ["n1"]]
    assert [name for name, outcome in answers.items() if isinstance(outcome, Unsatisfiable)] == ["n1"]
    less = {"capacity": {"mem": DeviceCapacity(quantity("2"))}}
    answers = _ask(_slices({}, less, count=1), claim_of(exactly("r", 1, capacity={"mem": "3"})))
    assert _groups(answers) == [["n0", "n2", "n3"], ["n1"]]
    assert [name for name, outcome in answers.items() if isinstance(outcome, Unsatisfiable)] == ["n1"]
    # Nobody asks for an amount.
    assert len(_groups(_ask(_slices({}, less, count=1), claim_of(exactly("r", 1))))) == 1


def test_a_broken_attribute_does_whether_or_not_it_is_read() -> None:
    # Every expression on such a device fails.
    good, bad = ({"attributes": {"v": DeviceAttribute(version=text)}} for text in ("1.0.0", "1.x"))
    answers = _ask(_slices(good, bad, good, good), claim_of(exactly("r", 1, "device.driver != ''")))
    assert _groups(answers) == [["n0", "n2", "n3"], ["n1"]]
    assert [name for name, outcome in answers.items() if isinstance(outcome, Fatal)] == ["n1"]


def test_what_a_derived_attribute_reads_does_where_no_selector_reads_it() -> None:
    derived = DerivedAttribute("derived.example.com/same", f'device.attributes["{DRIVER}"].model')
    same = DeviceConstraint(("r",), match_attribute="derived.example.com/same")
    claim = claim_of(exactly("r", 2, derived_attributes=(derived,)), constraints=[same])
    other = {"attributes": {"uuid": DeviceAttribute(string="1-0"), "model": DeviceAttribute(string="b")}}
    cluster = cluster_of(*_slices({}, other), features=EVERYTHING)
    answers = allocate_many(cluster, _NODES, [claim])
    assert _groups(answers) == [["n0", "n2", "n3"], ["n1"]]
    assert [name for name, outcome in answers.items() if isinstance(outcome, Unsatisfiable)] == ["n1"]


def test_use_does_and_shows_who() -> None:
    answers = _ask(_slices(), TWO, held=[holding("d1", pool="n2", name="a"), holding("d1", pool="n3", name="b")])
    assert _groups(answers) == [["n0", "n1"], ["n2", "n3"]]
    assert answers["n2"] is answers["n3"]


def test_only_devices_that_the_search_came_to_matter() -> None:
    one = claim_of(exactly("r", 1))
    last = _slices(count=3)
    spec = msgspec.structs.replace(last[1].spec, devices=last[1].spec.devices[:1])
    last[1] = msgspec.structs.replace(last[1], spec=spec)
    assert _groups(_ask(last, one)) == [["n0", "n1", "n2", "n3"]]
    assert len(_groups(_ask(last, THREE))) == 2


def test_order_of_pools_matters_but_not_their_names() -> None:
    slices = []
    for i, (first, second) in enumerate([("a", "b"), ("c", "d"), ("a", "b"), ("d", "c")]):
        slices.append(
            slice_of([device("x", attributes={"model": "m"})], pool=f"{first}{i}", node=f"n{i}", name=f"s{i}x")
        )
        slices.append(
            slice_of([device("y", attributes={"model": "o"})], pool=f"{second}{i}", node=f"n{i}", name=f"s{i}y")
        )
    claim = claim_of(exactly("r", 1, f'device.attributes["{DRIVER}"].model == "m"'))
    assert _groups(_ask(slices, claim)) == [["n0", "n1", "n2"], ["n3"]]


def test_pools_that_some_nodes_share_are_not_mixed_up() -> None:
    # The first implementation makes the pools of each node anew.
    nodes = [node_named(f"n{i}", rack="ab"[i % 2]) for i in range(8)]
    slices = [_for_rack("a", 2), _for_rack("b", 1)]
    for minor in (33, 37):
        answers = allocate_many(cluster_of(*slices, features=default_features(minor, {})), nodes, [TWO])
        fitting = [name for name, outcome in answers.items() if isinstance(outcome, Allocated)]
        assert fitting == ["n0", "n2", "n4", "n6"]


def _for_rack(rack: str, count: int) -> Any:
    terms = (NodeSelectorTerm((NodeSelectorRequirement("rack", "In", (rack,)),)),)
    devices = [device(f"d{i}") for i in range(count)]
    return slice_of(devices, pool=rack, node=None, node_selector=NodeSelector(terms))


def test_incomplete_and_invalid_pools_of_other_drivers_separate() -> None:
    slices = _slices()
    slices.append(slice_of([device("z")], pool="other-1", node="n1", driver="other.example.com", count=2))
    slices.append(slice_of([device("z"), device("z")], pool="other-2", node="n2", driver="other.example.com"))
    answers = _ask(slices, THREE)
    assert _groups(answers) == [["n0", "n3"], ["n1"], ["n2"]]
    blamed = {name: o.invalid_pools for name, o in answers.items() if isinstance(o, Unsatisfiable)}
    assert blamed == {"n0": False, "n1": False, "n2": True, "n3": False}


def test_errors_name_the_devices_of_each_node() -> None:
    broken = claim_of(exactly("r", 1, f'device.attributes["{DRIVER}"].nope == 1'))
    answers = _ask(_slices(), broken)
    assert len(answers.groups) == 1
    for name, outcome in answers.items():
        assert isinstance(outcome, Fatal)
        assert outcome.error.device.pool == name  # type: ignore[attr-defined]
        assert outcome.steps == 1


def test_a_node_selector_that_can_not_be_made_is_the_error_of_every_node() -> None:
    terms = (NodeSelectorTerm(match_expressions=(NodeSelectorRequirement("zone", "Exists"),)),) * 2
    chosen = device("d0", node_selector=NodeSelector(terms))
    shared = slice_of([chosen], pool="rack", node=None, per_device_node_selection=True)
    nodes = [node_named(f"n{i}", zone="a") for i in range(2)]
    answers = allocate_many(cluster_of(shared), nodes, [claim_of(exactly())])
    assert _groups(answers) == [["n0", "n1"]]
    for outcome in answers.values():
        assert isinstance(outcome, Fatal)
        assert outcome.error == UnsupportedNodeSelector(Key("ns", "claim"), 2)


def test_errors_of_the_claims_are_one_answer_for_all() -> None:
    answers = allocate_many(cluster_of(*_slices(), classes=(class_of(name="x"),)), _NODES, [TWO])
    assert len(answers.groups) == 1
    assert {type(outcome) for outcome in answers.values()} == {Fatal}
    assert len(set(map(id, answers.values()))) == 1


def test_no_nodes_and_no_claims() -> None:
    assert dict(allocate_many(cluster_of(), [], [TWO])) == {}
    outcome = allocate_many(cluster_of(), _NODES, [])["n1"]
    assert isinstance(outcome, Allocated)
    assert (outcome.allocations, outcome.steps) == ((), 1)
