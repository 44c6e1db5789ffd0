"""Copies of a pod that does not exist yet, each taking what the one before left."""

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.placing import MAX_COPIES, PlacedCopies, place
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import features
from kubectl_dra.model.inventory import key_of
from tests.kit import build, facts
from tests.kit.clock import CLOCK

CLASS = build.device_class()
TEMPLATE = {
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "one", "namespace": build.NAMESPACE},
    "spec": {"spec": {"devices": {"requests": [build.request()]}}},
}


def placed(copies: int, objects: list[dict[str, Any]], **pod: Any) -> PlacedCopies:
    inventory = facts.inventory([CLASS, TEMPLATE, *objects])
    made = facts.inventory([build.pod(f"copy-{i}", **pod) for i in range(copies)])
    return place(ClusterState(inventory, facts.evidence(), features(), CLOCK), made.pods.values())


def two_nodes(cpu: str = "64") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, count in (("n1", 3), ("n2", 2)):
        found += [build.node(name, cpu=cpu), build.slice_(name, *(build.device(f"gpu-{i}") for i in range(count)))]
    return found


def test_each_copy_takes_devices_and_they_spread() -> None:
    done = placed(4, two_nodes(), templates=["one"])
    assert (done.copies, done.nodes, done.failed) == (4, {"n1": 2, "n2": 2}, None)
    held = [c for c in done.state.inventory.claims.values() if c.status.allocation is not None]
    taken = {(r.pool, r.device) for c in held if c.status.allocation for r in c.status.allocation.devices.results}
    assert len(taken) == 4


def test_all_nodes_of_a_cluster_with_up_to_a_hundred_are_compared() -> None:
    """As the scheduler does."""
    of_nodes = [build.node(f"n{number:03}", cpu="16" if number == 99 else "4") for number in range(100)]
    assert placed(1, of_nodes, requests={"cpu": "1"}).nodes == {"n099": 1}


def test_so_are_those_of_a_larger_one_where_no_more_fit_than_the_scheduler_compares() -> None:
    of_nodes = [build.node(f"n{number:03}", cpu="16" if number == 99 else "4") for number in range(100)]
    small = [build.node(f"small-{number}", cpu="500m") for number in range(50)]
    done = placed(1, [*of_nodes, *small], requests={"cpu": "1"})
    assert (done.nodes, done.compared) == ({"n099": 1}, 0)


def test_of_more_nodes_some_are_compared_and_whether_copies_fit_stays_exact() -> None:
    done = placed(110, [build.node(f"n{number:03}", cpu="1") for number in range(108)], requests={"cpu": "1"})
    assert (done.copies, done.compared) == (108, 100)
    assert done.failed is not None
    assert done.failed.verdict is Verdict.UNSCHEDULABLE


def test_a_node_that_fits_again_is_compared_again() -> None:
    """Once a copy is in the other zone the better node is within maxSkew again."""
    spread = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    of_nodes = [build.node("large", labels={"zone": "a"}, cpu="64"), build.node("small", labels={"zone": "b"}, cpu="4")]
    copies = [build.pod(f"copy-{i}", requests={"cpu": "1"}, topologySpreadConstraints=[spread]) for i in range(3)]
    for copy in copies:
        copy["metadata"]["labels"] = {"app": "x"}
    world = ClusterState(facts.inventory(of_nodes), facts.evidence(), features(), CLOCK)
    assert place(world, facts.inventory(copies).pods.values()).nodes == {"large": 2, "small": 1}


def test_the_first_that_does_not_fit_is_diagnosed_among_the_others() -> None:
    done = placed(9, two_nodes(), templates=["one"])
    assert (done.copies, done.nodes) == (5, {"n1": 3, "n2": 2})
    assert done.failed is not None
    assert done.failed.pod.name == "copy-5"
    assert (done.failed.verdict, done.failed.causes[0].code) == (Verdict.UNSCHEDULABLE, "DRA-211")


def test_those_that_fit_are_bound_in_the_world_that_results() -> None:
    done = placed(5, two_nodes(), templates=["one"])
    diagnoser = Diagnoser(done.state)
    verdicts = {diagnoser.pod(key).verdict for key in done.state.inventory.pods}
    assert verdicts == {Verdict.PREPARING}


def test_cpu_and_ports_are_taken_too() -> None:
    assert placed(9, two_nodes(cpu="2"), templates=["one"], requests={"cpu": "1"}).nodes == {"n1": 2, "n2": 2}
    container = {"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}
    assert placed(9, two_nodes(), containers=[container]).nodes == {"n1": 1, "n2": 1}


def test_a_claim_that_all_copies_name_is_shared() -> None:
    done = placed(7, [*two_nodes(), build.claim("shared")], claims=["shared"])
    assert done.copies == 7
    assert len(done.nodes) == 1
    consumers = next(iter(done.state.inventory.claims.values())).status.reserved_for
    assert len(consumers) == 7


def test_extended_resources_take_devices() -> None:
    served = build.device_class("served", extendedResourceName="example.com/gpu")
    done = placed(9, [*two_nodes(), served], requests={"example.com/gpu": "2"})
    assert done.nodes == {"n1": 1, "n2": 1}


def test_shares_of_a_device() -> None:
    memory = {"value": "40Gi", "requestPolicy": {"default": "10Gi", "validRange": {"min": "10Gi", "step": "10Gi"}}}
    device = build.device("shared", allowMultipleAllocations=True, capacity={"memory": memory})
    assert placed(9, [build.node("n1", cpu="64"), build.slice_("n1", device)], templates=["one"]).nodes == {"n1": 4}


def test_without_its_template_nothing_is_tried() -> None:
    done = placed(2, two_nodes(), templates=["nosuch"])
    assert done.copies == 0
    assert done.failed is not None
    assert (done.failed.verdict, done.failed.causes[0].code) == (Verdict.GATED, "DRA-112")


def test_no_more_than_a_number_is_counted() -> None:
    done = placed(MAX_COPIES + 1, [build.node("n1", pods="100000")])
    assert (done.copies, done.capped) == (MAX_COPIES, True)


def test_nothing_is_changed_in_the_inventory() -> None:
    inventory = facts.inventory([CLASS, TEMPLATE, *two_nodes()])
    before = (dict(inventory.pods), dict(inventory.claims), dict(inventory.usage))
    pods: list[Pod] = list(facts.inventory([build.pod("copy", templates=["one"])]).pods.values())
    done = place(ClusterState(inventory, facts.evidence(), features(), CLOCK), pods)
    assert key_of(pods[0].metadata) in done.state.inventory.pods
    assert (dict(inventory.pods), dict(inventory.claims), dict(inventory.usage)) == before
