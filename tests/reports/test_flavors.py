"""Work that waits in a queue of Kueue, in simulate: its pods get node labels and tolerations of the queue's flavor."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.queues import with_files
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.queues import QueueConfig
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.capacity.capacity import capacity_report
from kubectl_dra.reports.simulation import Copies, SimulationReport, simulation_report
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, pod_template, template, thing

NS = build.NAMESPACE
KUEUE = "kueue.x-k8s.io/v1beta2"
CONFIG = QueueConfig(known=True, only_declared=True, device_resources={build.DRIVER: "gpus"})


def flavor(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": name}
    return {
        "apiVersion": KUEUE,
        "kind": "ResourceFlavor",
        "metadata": meta,
        "spec": {"nodeLabels": labels or {}, **spec},
    }


def queue(*names: str, covers: str = "cpu") -> list[dict[str, Any]]:
    """A queue with quota of ``covers`` and of devices."""
    covered = list(dict.fromkeys((covers, "gpus")))
    resources = [{"name": each, "nominalQuota": 99} for each in covered]
    flavors = [{"name": name, "resources": resources} for name in names]
    spec = {"resourceGroups": [{"coveredResources": covered, "flavors": flavors}]}
    of_all = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": spec}
    return [of_all, thing(KUEUE, "LocalQueue", {"clusterQueue": "all"}, name="team")]


def tried(*bodies: dict[str, Any], **fields: Any) -> SimulationReport:
    world, objects = set_up(*bodies, **fields)
    return simulation_report(world, objects, Copies())


def a_job() -> dict[str, Any]:
    body = pod_template("one")
    body["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    return thing("batch/v1", "Job", {"template": body}, labels={"kueue.x-k8s.io/queue-name": "team"})


def set_up(
    *bodies: dict[str, Any],
    labels: dict[str, str],
    taints: list[dict[str, Any]] | None = None,
    config: QueueConfig = CONFIG,
    complete: frozenset[str] = frozenset(),
) -> tuple[ClusterState, list[Planned]]:
    """A job of one pod in queue ``team``; the only node has ``labels`` and ``taints``."""
    node = build.node(cpu="64", labels=labels)
    node["spec"] = {"taints": taints or []}
    world, files = cluster(node), [template("one"), a_job(), *bodies]
    sources = [Source(json.dumps(each).encode(), each["apiVersion"], each["kind"]) for each in files]
    queues = replace(with_files(world.inventory.queues, sources), config=config, complete=complete)
    world = world.changed(world.inventory.replace(queues=queues))
    return world, read_all(sources, NS)


def test_capacity_counts_the_nodes_of_the_flavor() -> None:
    def room(pool: str) -> int | None:
        world, objects = set_up(*queue("h100"), flavor("h100", {"pool": "h100"}), labels={"pool": pool})
        (shape,) = capacity_report(world, objects, NS).shapes
        return shape.capacity.copies.value

    assert (room("h100"), room("l4")) == (4, 0)


def test_the_only_flavor_selects_the_nodes() -> None:
    bodies = [*queue("h100"), flavor("h100", {"pool": "h100"})]
    report = tried(*bodies, labels={"pool": "l4"})
    assert report.fits is Fits.NO
    assert "with the node labels of Kueue's flavor h100" in page(report)
    assert "pool=h100" in page(report)
    assert "Not involved in scheduling devices" not in page(report)
    assert "from the pod's node selector" not in page(report)
    assert tried(*bodies, labels={"pool": "h100"}).fits is Fits.YES


def test_a_flavor_has_tolerations() -> None:
    taint = {"key": "gpu", "value": "x", "effect": "NoSchedule"}
    bears = {"key": "gpu", "operator": "Exists"}
    assert tried(*queue("f"), flavor("f"), labels={}, taints=[taint]).fits is Fits.NO
    assert tried(*queue("f"), flavor("f", tolerations=[bears]), labels={}, taints=[taint]).fits is Fits.YES


@pytest.mark.parametrize(
    ("bodies", "config"),
    [
        ([*queue("a", "b"), flavor("a", {"pool": "a"}), flavor("b", {"pool": "b"})], QueueConfig()),
        (queue("a"), CONFIG),
        (queue("a", "b"), CONFIG),
        ([*queue("a", covers="gpus"), flavor("a", {"pool": "a"})], QueueConfig()),
    ],
)
def test_which_flavor_is_open(bodies: list[dict[str, Any]], config: QueueConfig) -> None:
    """One of several, as it is not known how devices count; those not read; one for what may be the pod's devices."""
    report = tried(*bodies, labels={"pool": "a"}, config=config)
    assert report.fits is Fits.UNKNOWN
    assert "not simulated, and may allow less: Kueue's choice of a flavor (ResourceFlavor a" in page(report)


def quotas(**by_flavor: int) -> list[dict[str, Any]]:
    """A queue with flavors ``a`` and ``b``, each for a pool of its name, with so many devices of each."""
    cpu = {"name": "cpu", "nominalQuota": 99}
    group = [
        {"name": name, "resources": [cpu, {"name": "gpus", "nominalQuota": number}]}
        for name, number in by_flavor.items()
    ]
    of_all, local = queue()
    of_all["spec"]["resourceGroups"] = [{"coveredResources": ["cpu", "gpus"], "flavors": group}]
    return [of_all, local, *(flavor(name, {"pool": name}) for name in by_flavor)]


@pytest.mark.parametrize(
    ("given", "chosen"), [({"a": 1, "b": 1}, "a"), ({"b": 1, "a": 1}, "b"), ({"a": 0, "b": 1}, "b")]
)
def test_the_first_flavor_with_room_is_taken(given: dict[str, int], chosen: str) -> None:
    report = tried(*quotas(**given), labels={"pool": "a"})
    assert [pod.flavors for pod in report.pods] == [(chosen,)]
    assert report.fits is (Fits.YES if chosen == "a" else Fits.NO)


def test_a_flavor_that_must_borrow_may_come_later() -> None:
    bodies = quotas(a=0, b=1)
    bodies[0]["spec"] |= {"cohortName": "all"}
    spec = {**quotas(a=5)[0]["spec"], "cohortName": "all"}
    lends = {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "lends"}, "spec": spec}
    cohort = {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "all"}, "spec": {}}
    known: dict[str, Any] = {"labels": {"pool": "a"}, "complete": frozenset({"ClusterQueue", "Cohort"})}
    assert tried(*bodies, lends, cohort, **known).fits is Fits.YES
    bodies[0]["spec"] |= {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}
    assert [pod.flavors for pod in tried(*bodies, lends, cohort, **known).pods] == [("b",)]


def test_earlier_work_of_the_files_takes_quota_first() -> None:
    later = {**a_job(), "metadata": {**a_job()["metadata"], "name": "later"}}
    found = tried(*quotas(a=1, b=1), later, labels={"pool": "a"})
    assert [pod.flavors for pod in found.pods] == [("a",), ("b",)]
