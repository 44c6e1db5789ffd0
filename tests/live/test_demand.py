"""Kinds that are read only when pods make them matter: in one reading, and while a cluster is followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_dra.api.kinds import BY_NAME, GROUPS, STORAGE
from kubectl_dra.commands.shared.whatif_options import kinds_demanded, kinds_everywhere
from kubectl_dra.diagnosis.pod import needs as wanted
from kubectl_dra.diagnosis.whatif import Drain
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.live.demand import PRIORITY
from kubectl_dra.source.live.feed import Feed
from kubectl_dra.source.spec import Connection
from tests.kit.fake_api import FakeApi, connection_to
from tests.live.test_feed import Script, Seen, follow, impatient, seen

__all__ = ["follow", "impatient", "seen"]

VOLUMES: Final = frozenset(kind.name for kind in STORAGE)
PRIORITIES: Final = frozenset(kind.name for kind in PRIORITY)
TOGETHER: Final = frozenset(kind.name for kind in GROUPS)
ON_DEMAND: Final = VOLUMES | PRIORITIES | TOGETHER
KINDS: Final = frozenset({"Pod", *ON_DEMAND})
GROUP: Final = "/apis/scheduling.k8s.io"
CLAIMED: Final = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}


@pytest.fixture
def connection(tmp_path: Path, api: FakeApi) -> Connection:
    return connection_to(tmp_path, api)


@pytest.fixture(autouse=True)
def served(api: FakeApi) -> None:
    for name in ON_DEMAND:
        api.serve(name, [], BY_NAME[name].api_version)
    beta = [BY_NAME[name].plural for name in ("PodGroup", "Workload")]
    api.serve_groups({"v1": ["priorityclasses"], "v1beta1": beta, "v1alpha3": [*beta, "compositepodgroups"]})


def pod(name: str, namespace: str = "ml", phase: str = "Pending", **spec: Any) -> dict[str, Any]:
    """A pod with a claim for devices, which alone makes it matter."""
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    return {
        "metadata": {"name": name, "namespace": namespace, "resourceVersion": "5"},
        "spec": {"resourceClaims": claims, "containers": [], **spec},
        "status": {"phase": phase},
    }


def listed(api: FakeApi) -> set[str]:
    """The kinds that were asked for."""
    plurals = {request.path.rpartition("/")[2] for request in api.requests if "limit" in request.query}
    return {name for name in ON_DEMAND if BY_NAME[name].plural in plurals}


@pytest.mark.parametrize(
    ("pods", "read_"),
    [
        ([pod("p")], True),
        ([pod("p", topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone"}])], False),
        ([pod("p", nodeName="n")], False),
        ([pod("p", namespace="other")], False),
        ([], False),
    ],
)
def test_services_are_read_where_a_pod_does_not_say_how_it_is_spread(
    connection: Connection, api: FakeApi, pods: list[Any], read_: bool
) -> None:
    api.serve("Service", [], "v1")
    api.serve("Pod", pods)
    read(connection, Needs(frozenset({"Pod", "Service"}), namespaces=("ml",)))
    asked = {request.path for request in api.requests if request.path.endswith("/services")}
    assert asked == ({"/api/v1/namespaces/ml/services"} if read_ else set())


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize(
    ("resources", "spec", "read_"),
    [
        ({"requests": {"cpu": "1"}}, {}, True),
        ({"limits": {"memory": "1Gi"}}, {}, True),
        ({"claims": [{"name": "gpu"}]}, {}, False),
        ({"requests": {"cpu": "1"}}, {"nodeName": "n"}, False),
    ],
)
def test_limit_ranges_are_read_where_a_pod_asks_for_amounts(
    connection: Connection, api: FakeApi, field: str, resources: dict[str, Any], spec: dict[str, Any], read_: bool
) -> None:
    """One that is made anew with other amounts may be refused."""
    api.serve("LimitRange", [], "v1")
    api.serve("Pod", [pod("p", **{field: [{"name": "main", "resources": resources}]}, **spec)])
    read(connection, Needs(frozenset({"Pod", "LimitRange"}), namespaces=("ml",)))
    asked = {request.path for request in api.requests if request.path.endswith("/limitranges")}
    assert asked == ({"/api/v1/namespaces/ml/limitranges"} if read_ else set())


def test_services_of_all_namespaces_are_read_for_pods_that_leave_their_nodes(
    connection: Connection, api: FakeApi
) -> None:
    """Whoever waits: which node they get instead depends on them."""
    api.serve("Service", [], "v1")
    api.serve("Pod", [])
    for switches, expected in (((), set[str]()), ((Drain("n"),), {"/api/v1/services"})):
        demanded, everywhere = map(frozenset, (kinds_demanded(switches), kinds_everywhere(switches)))
        read(connection, Needs(frozenset({"Pod", "Service"}), ("ml",), demanded=demanded, everywhere=everywhere))
        asked = {request.path for request in api.requests if request.path.endswith("/services")}
        assert asked == expected


@pytest.mark.parametrize(
    ("pods", "options", "expected"),
    [
        ([pod("p")], {}, frozenset()),
        ([pod("p", volumes=[{"name": "tmp", "iscsi": {"iqn": "x"}}])], {}, frozenset()),
        ([pod("p", volumes=[CLAIMED])], {}, VOLUMES),
        ([pod("p", volumes=[{"name": "e", "ephemeral": {}}])], {}, VOLUMES),
        ([pod("p", volumes=[{"name": "d", "gcePersistentDisk": {"pdName": "d"}}])], {}, VOLUMES),
        ([pod("p", volumes=[CLAIMED], nodeName="n")], {}, frozenset()),
        ([pod("p", volumes=[CLAIMED], phase="Succeeded")], {}, frozenset()),
        ([pod("p", volumes=[CLAIMED], namespace="other")], {"namespaces": ("ml",)}, frozenset()),
        ([pod("p", volumes=[CLAIMED])], {"namespaces": ("ml",)}, VOLUMES),
        ([pod("p", priority=5), pod("q", priority=5, nodeName="n")], {}, frozenset()),
        ([pod("p", priority=5), pod("q", priority=4, nodeName="n")], {}, PRIORITIES),
        ([pod("p"), pod("q", priority=-1, nodeName="n")], {}, PRIORITIES),
        ([pod("p", priority=5, preemptionPolicy="Never"), pod("q", nodeName="n")], {}, frozenset()),
        ([pod("p", schedulingGroup={"podGroupName": "g"})], {}, TOGETHER),
        # A running pod is evicted as its group says, whoever waits.
        ([pod("p", schedulingGroup={"podGroupName": "g"}, nodeName="n")], {}, TOGETHER),
        ([pod("p", schedulingGroup={"podGroupName": "g"}, phase="Failed")], {}, frozenset()),
        ([], {"demanded": VOLUMES}, VOLUMES),
    ],
)
def test_only_what_pods_make_matter_is_read(
    connection: Connection, api: FakeApi, pods: list[Any], options: dict[str, Any], expected: frozenset[str]
) -> None:
    api.serve("Pod", pods)
    _, evidence = read(connection, Needs(KINDS, **options))
    assert listed(api) == expected
    assert {each.kind for each in evidence.reads} == {"Pod", *expected}
    for name in ON_DEMAND - expected:
        assert evidence.coverage(name) is Coverage.NOT_READ


def test_who_reads_everything_reads_these_too(connection: Connection, api: FakeApi) -> None:
    read(connection, Needs())
    assert listed(api) == ON_DEMAND


GROUPED: Final = pod("p", schedulingGroup={"podGroupName": "g"})


def group(name: str, namespace: str = "ml") -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"schedulingPolicy": {"basic": {}}}}


def test_groups_of_all_namespaces_protect_pods(connection: Connection, api: FakeApi) -> None:
    api.serve("Pod", [GROUPED])
    api.serve("PodGroup", [group("g"), group("h", "other")], "scheduling.k8s.io/v1beta1")
    inventory, _ = read(connection, Needs(KINDS, ("ml",)))
    assert set(inventory.groups.pod_groups) == {Key("ml", "g"), Key("other", "h")}


def test_members_without_devices_are_kept(connection: Connection, api: FakeApi) -> None:
    without = {"metadata": {"name": "q", "namespace": "ml"}, "spec": {"schedulingGroup": {"podGroupName": "g"}}}
    api.serve("Pod", [without])
    inventory, _ = read(connection, Needs(KINDS))
    assert set(inventory.pods) == {Key("ml", "q")}


@pytest.mark.parametrize(
    ("versions", "coverage", "note"),
    [
        ({"v1": [], "v1alpha3": ["podgroups"]}, Coverage.COMPLETE, ""),
        ({"v1": ["priorityclasses"]}, Coverage.NOT_SERVED, ""),
        (
            {"v1": [], "v1alpha2": ["podgroups"]},
            Coverage.NOT_SERVED,
            "podgroups are only served as scheduling.k8s.io/v1alpha2, a shape that is not read",
        ),
    ],
    ids=["alpha", "off", "older"],
)
def test_groups_are_read_in_the_version_that_is_served(
    connection: Connection, api: FakeApi, versions: dict[str, list[str]], coverage: Coverage, note: str
) -> None:
    api.serve("Pod", [GROUPED])
    api.serve_groups(versions)
    api.serve("PodGroup", [group("g")], "scheduling.k8s.io/v1alpha3")
    inventory, evidence = read(connection, Needs(KINDS))
    assert evidence.coverage("PodGroup") is coverage
    assert bool(inventory.groups.pod_groups) == (coverage is Coverage.COMPLETE)
    assert {each.note for each in evidence.reads if each.kind == "PodGroup"} == {note}


def test_a_group_that_comes_later_is_followed(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Pod", [pod("first")])
    follow(*KINDS)
    seen.until(lambda published: Key("ml", "first") in published.inventory.pods)
    assert listed(api) == frozenset()
    script.send("ADDED", "later", 9, "ml", spec=GROUPED["spec"], status=GROUPED["status"])
    seen.until(lambda published: all(published.evidence.complete(name) for name in TOGETHER))


def test_claims_of_all_namespaces_matter(connection: Connection, api: FakeApi) -> None:
    api.serve("Pod", [pod("p", volumes=[CLAIMED])])
    claims = [{"metadata": {"name": "data", "namespace": "other"}}]
    api.serve("PersistentVolumeClaim", claims)
    inventory, _ = read(connection, Needs(KINDS, ("ml",)))
    assert set(inventory.storage.claims) == {Key("other", "data")}


def test_what_may_not_be_read_is_told(connection: Connection, api: FakeApi) -> None:
    api.serve("Pod", [pod("p", volumes=[CLAIMED])])
    api.forbid("/api/v1/persistentvolumes")
    _, evidence = read(connection, Needs(KINDS))
    assert evidence.coverage("PersistentVolume") is Coverage.FORBIDDEN


def test_a_pod_that_comes_later_makes_them_followed(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Pod", [pod("first")])
    follow(*KINDS)
    seen.until(lambda published: Key("ml", "first") in published.inventory.pods)
    assert listed(api) == frozenset()
    later = pod("later", volumes=[CLAIMED])
    script.send("ADDED", "later", 9, "ml", spec=later["spec"], status=later["status"])
    seen.until(lambda published: all(published.evidence.complete(name) for name in VOLUMES))
    assert listed(api) == VOLUMES
    script.send("ADDED", "low", 10, "ml", spec={**later["spec"], "priority": -3, "nodeName": "n"})
    seen.until(lambda published: all(published.evidence.complete(name) for name in PRIORITIES))
    lists = [request for request in api.asked("/api/v1/persistentvolumes") if "watch" not in request.query]
    assert len(lists) == 1


def test_every_kind_on_demand_is_named_as_a_need() -> None:
    assert {need.kind for need in (*wanted.STORAGE, *wanted.PRIORITY, *wanted.GROUPS)} == ON_DEMAND
