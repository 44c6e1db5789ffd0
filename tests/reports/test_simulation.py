"""Simulating a recorded pod before it exists gives what the real scheduler then wrote about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import Planned, read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod import placing
from kubectl_dra.diagnosis.records import BeingBound, QuotaShortage, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import HERE
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.capacity.page import capacity_page, capacity_summary
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.output.simulation.page import simulation_page, simulation_summary
from kubectl_dra.reports.base import Bound, Fits
from kubectl_dra.reports.capacity.capacity import CapacityReport, CapacityRequest, capacity_report
from kubectl_dra.reports.simulation import Copies, PodSimulation, SimulationReport, simulation_report
from kubectl_dra.scheduler.fit_error import without_preemption
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.scenario_files import snapshot_items

WRITTEN = [name for name, (verdict, _) in EXPECTED.items() if verdict in ("Unschedulable", "SchedulerError")]


def before_the_pod(name: str) -> tuple[ClusterState, dict[str, object]]:
    """The recorded cluster without the pod in question, and the pod's manifest."""
    inventory, result = facts.scenario(name)
    key = Key(*result["pod"].split("/"))
    items = (item for item in snapshot_items(name) if item["kind"] == "Pod")
    body = dict(next(item for item in items if item["metadata"]["name"] == key.name))
    body["metadata"] = {"name": key.name, "namespace": key.namespace}
    body["apiVersion"] = "v1"
    body.pop("status")
    pods = {each: pod for each, pod in inventory.pods.items() if each != key}
    return ClusterState(inventory.replace(pods=pods), facts.evidence(), features(), CLOCK), body


def simulated(name: str, copies: Copies) -> PodSimulation:
    world, body = before_the_pod(name)
    report = simulation_report(world, [read_planned(Source(json.dumps(body).encode()), "default")], copies)
    return report.pods[0]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_scheduler_writes_what_was_foreseen(name: str) -> None:
    _, result = facts.scenario(name)
    if result["pod_scheduled"] is None or result["pod_scheduled"]["status"] != "False":
        pytest.skip("the scheduler wrote nothing")
    found = simulated(name, Copies())
    assert found.pending is not None
    verdict, code = EXPECTED[name]
    assert (found.pending.verdict, found.pending.causes[0].code) == (verdict, code)
    expected = without_preemption(result["pod_scheduled"]["message"])
    assert expected in (found.pending.message, *found.pending.alternatives)


def test_a_pod_that_was_bound_fits() -> None:
    found = simulated("00-ok-allocates-and-binds", Copies())
    assert found.fits is Fits.YES
    assert [node.node for node in found.nodes] == [facts.scenario("00-ok-allocates-and-binds")[1]["node"]]


@pytest.mark.parametrize(("nodes", "compared"), [(100, 0), (101, 100)])
def test_which_node_it_gets_is_open_where_the_scheduler_compares_only_some(nodes: int, compared: int) -> None:
    names = [f"node-{number}" for number in range(nodes)]
    offered = [each for name in names for each in (build.node(name), build.slice_(name, build.device("gpu-0")))]
    there = [build.device_class(), build.namespace(), build.claim(), *offered]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    body = {"apiVersion": "v1", **build.pod(claims=["claim"])}
    body["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1"}]
    del body["status"]
    report = simulation_report(world, [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE)], Copies())
    (found,) = report.pods
    assert (found.fits, found.nodes_compared) == (Fits.YES, compared)
    text = " ".join(plain(Safe(" ").join(simulation_page(report, CLOCK.now()))).split())
    assert ("the scheduler compares only some of the nodes that fit" in text) is bool(compared)


@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize(("effort", "example"), [(6, False), (5, True)])
def test_nodes_of_copies_are_an_example_where_not_all_were_tried_for_each(
    monkeypatch: pytest.MonkeyPatch, effort: int, example: bool, hard: bool
) -> None:
    """Each of three copies takes a trial of both nodes."""
    monkeypatch.setattr(placing, "_EFFORT", effort)
    spread = {
        "topologyKey": "zone",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    pod = pod_with(topologySpreadConstraints=[spread])
    pod["metadata"]["labels"] = {"app": "x"}
    there = [build.namespace(), *(build.node(f"node-{zone}", labels={"zone": zone}, cpu="64") for zone in "ab")]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    report = simulation_report(world, planned(pod), Copies(3))
    assert (report.fits, report.pods[0].nodes_are_example) == (Fits.YES, example and hard)
    text = " ".join(" ".join(simulation_page(report, CLOCK.now())).split())
    assert ("These nodes are one example" in text) is (example and hard)


@pytest.mark.parametrize("kind", ["Service", "Event"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_which_node_it_gets_is_open_where_services_were_not_read(kind: str, nodes: int) -> None:
    """It fits all the same."""
    names = [f"node-{number}" for number in range(nodes)]
    offered = [each for name in names for each in (build.node(name), build.slice_(name, build.device("gpu-0")))]
    there = [build.device_class(), build.namespace(), build.claim(), *offered]
    world = ClusterState(facts.inventory(there), facts.evidence(kind), features(), CLOCK)
    body = {"apiVersion": "v1", **build.pod(claims=["claim"])}
    body["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1"}]
    del body["status"]
    report = simulation_report(world, [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE)], Copies())
    (pod,) = report.pods
    unread = kind == "Service" and nodes > 1
    assert pod.fits is Fits.YES
    assert (pod.choice.kind if pod.choice is not None else "") == ("Service" if unread else "")
    page = " ".join(plain(Safe(" ").join(simulation_page(report, CLOCK.now()))).split())
    assert ("not all of these could be read" in page) is unread


@pytest.mark.parametrize(
    ("priority", "more", "copies", "fits", "told"),
    [
        # Both nodes have room, one of them only if the other pod waits.
        (-1, {"claims": ["other"]}, 2, Fits.UNKNOWN, "both copies fit unless ml/low is being bound"),
        (-1, {"claims": ["other"]}, 1, Fits.YES, ""),
        # Nothing is written for it before it is bound; of equal priority it counts.
        (-1, {}, 2, Fits.YES, ""),
        (0, {"claims": ["other"]}, 2, Fits.NO, ""),
    ],
)
def test_a_pod_of_lower_priority_may_be_being_bound_where_a_copy_fits(
    priority: int, more: dict[str, Any], copies: int, fits: Fits, told: str
) -> None:
    low = build.pod("low", requests={"cpu": "4"}, priority=priority, **more)
    low["status"]["nominatedNodeName"] = "node-1"
    there = [build.namespace(), build.claim("other"), low, build.node(), build.node("node-2")]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    body = {"apiVersion": "v1", **build.pod()}
    resources = {"requests": {"cpu": "3"}}
    body["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1", "resources": resources}]
    del body["status"]
    planned = [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE)]
    report = simulation_report(world, planned, Copies(copies))
    (pod,) = report.pods
    assert pod.fits is fits
    assert pod.being_bound == (BeingBound(("ml/low",), 1) if told else None)
    if told:
        assert pod.bound is Bound.AT_MOST
        page = " ".join(plain(Safe(" ").join(simulation_page(report, CLOCK.now()))).split())
        assert told in page
        assert "ml/low, with a lower priority, is nominated for the node: if the scheduler is binding it" in page


# --- quota ----------------------------------------------------------------------------------------------------------

QUOTA = {
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": build.NAMESPACE},
    "status": {"hard": {"count/resourceclaims.resource.k8s.io": "2"}},
}


def with_quota(*bodies: dict[str, Any], copies: Copies) -> SimulationReport:
    devices = [build.device(f"gpu-{number}") for number in range(8)]
    namespace = {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}}
    there = [QUOTA, namespace, build.device_class(), build.node(), build.slice_("node-1", *devices)]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    planned = [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE) for body in bodies]
    return simulation_report(world, planned, copies)


def test_copies_beyond_the_quota_of_claims_are_not_counted() -> None:
    pod = {"apiVersion": "v1", **build.pod(templates=["one"])}
    pod["spec"]["containers"][0]["image"] = "example.com/app:1"
    del pod["status"]
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": build.NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [build.request()]}}},
    }
    (found,) = with_quota(template, pod, copies=Copies(as_many_as_fit=True)).pods
    assert found.subject.kind == "Pod"
    assert (found.copies, found.capped) == (2, False)
    assert found.pending is not None
    assert found.pending.code is Code.QUOTA_EXCEEDED


def test_a_pod_beyond_the_quota_of_an_extended_resource_would_be_refused() -> None:
    """The second of two."""
    resource, pods = "example.com/gpu", []
    for name in ("a", "b"):
        pod = {"apiVersion": "v1", **build.pod(name)}
        resources = {"requests": {"cpu": "1"}, "limits": {resource: "2"}}
        pod["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1", "resources": resources}]
        del pod["status"]
        pods.append(pod)
    limits = {f"requests.{resource}": "3", "requests.cpu": "2"}
    there = [
        {**QUOTA, "status": {"hard": limits}},
        {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}},
        build.device_class(extendedResourceName=resource),
        build.node(),
        build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(8))),
    ]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    planned = [read_planned(Source(json.dumps(body).encode()), build.NAMESPACE) for body in pods]
    found = simulation_report(world, planned, Copies())
    name = f"requests.{resource}"
    over = f"exceeded quota: few, requested: {name}=2, used: {name}=2, limited: {name}=3"
    assert [manifest.refused for manifest in found.manifests] == [(), (f'pods "b" is forbidden: {over}',)]
    assert [(pod.subject.name, pod.copies) for pod in found.pods] == [("a", 1)]


ASKS = {"requests": {"cpu": "1500m", "memory": "2Gi"}, "limits": {"cpu": "2", "memory": "3Gi"}}
ASKS_NOTHING = {"name": "main", "image": "example.com/app:1"}
PRIORITY = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}


@pytest.mark.parametrize(
    ("limit", "hard", "used", "told"),
    [
        ("pods", "4", "4", "1"),
        ("count/pods", "4", "4", "1"),
        ("cpu", "3", "1501m", "1500m"),
        ("requests.cpu", "1", "0", "1500m"),
        ("limits.cpu", "2", "1m", "2"),
        ("memory", "4Gi", "3Gi", "2Gi"),
        ("requests.memory", "1Gi", "0", "2Gi"),
        ("limits.memory", "3000Mi", "0", "3Gi"),
    ],
)
def test_a_pod_beyond_a_quota_of_what_every_pod_takes_would_be_refused(
    limit: str, hard: str, used: str, told: str
) -> None:
    """However many devices are free; exactly as much as is left is enough. Upstream: podComputeUsageHelper."""
    found = alone(pod_with(), {"status": {"hard": {limit: hard}, "used": {limit: used}}})
    over = f"exceeded quota: few, requested: {limit}={told}, used: {limit}={used}, limited: {limit}={hard}"
    assert found.manifests[0].refused == (f'pods "p" is forbidden: {over}',)
    assert found.fits is Fits.NO
    enough = str(Quantity.parse(used).add(Quantity.parse(told)))
    assert alone(pod_with(), {"status": {"hard": {limit: enough}, "used": {limit: used}}}).fits is Fits.YES


@pytest.mark.parametrize(
    ("spec", "pod", "refused"),
    [
        ({"scopes": ["BestEffort"]}, {}, False),
        ({"scopes": ["NotBestEffort"]}, {}, True),
        ({"scopes": ["Terminating"]}, {}, False),
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 60}, True),
        ({"scopes": ["NotTerminating", "NotBestEffort"]}, {}, True),
        ({"scopes": ["NotTerminating", "BestEffort"]}, {}, False),
        ({"scopeSelector": {"matchExpressions": [PRIORITY]}}, {}, False),
        ({"scopeSelector": {"matchExpressions": [PRIORITY]}}, {"priorityClassName": "high", "priority": 5}, True),
        ({"scopeSelector": {"matchExpressions": [{**PRIORITY, "operator": "NotIn"}]}}, {}, True),
        ({"scopeSelector": {"matchExpressions": [{**PRIORITY, "operator": "DoesNotExist"}]}}, {}, True),
        ({"scopes": ["PriorityClass"]}, {}, False),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {}, False),
        ({"scopes": ["Unheard"]}, {}, False),
    ],
)
def test_a_quota_with_scopes_is_about_some_pods(spec: dict[str, Any], pod: dict[str, Any], refused: bool) -> None:
    """Upstream: podMatchesScopeFunc."""
    found = alone(pod_with(**pod), {"spec": spec, "status": {"hard": {"pods": "0"}}})
    assert bool(found.manifests[0].refused) is refused
    assert found.fits is (Fits.NO if refused else Fits.YES)


@pytest.mark.parametrize(
    ("scope", "used", "copies", "doubts"),
    [
        ("BestEffort", {"pods": "4"}, 1, ["pods"]),
        ("NotBestEffort", {"pods": "4"}, 1, ["pods"]),
        ("NotBestEffort", {"pods": "3", "requests.cpu": "8"}, 1, ["requests.cpu"]),
        ("BestEffort", {"pods": "3"}, 1, []),
        ("BestEffort", {"pods": "3"}, 2, ["pods"]),
        ("NotBestEffort", {"pods": "3"}, 1, []),
    ],
)
def test_whether_a_new_pod_is_best_effort_is_open_where_a_limit_range_may_set_requests(
    scope: str, used: dict[str, str], copies: int, doubts: list[str]
) -> None:
    """Upstream: plugin/pkg/admission/limitranger sets requests before quotas are looked at."""
    hard = {"pods": "4"} if scope == "BestEffort" else {"pods": "4", "requests.cpu": "8"}
    few = {"spec": {"scopes": [scope]}, "status": {"hard": hard, "used": used}}
    pod = pod_with(containers=[ASKS_NOTHING])
    found = alone(pod, few, Copies(copies), limits=False)
    assert found.manifests[0].refused == ()
    assert [(each.resource, each.scope) for each in found.pods[0].unspecified] == [(each, scope) for each in doubts]
    assert found.fits is Fits.UNKNOWN
    # Where there is no LimitRange it is known.
    over = scope == "BestEffort" and bool(doubts)
    assert alone(pod, few, Copies(copies)).fits is (Fits.NO if over else Fits.YES)
    if doubts:
        page = " ".join(" ".join(simulation_page(found, CLOCK.now())).split())
        case = "none does" if scope == "BestEffort" else "one does"
        left = f"{used[doubts[0]]} of {hard[doubts[0]]}"
        assert f"a LimitRange of the namespace (not read) may set requests; if {case}, the pod is counted by" in page
        assert (
            f'ResourceQuota "few" (scope {scope}), whose limit of {doubts[0]} ({left} used) would be exceeded' in page
        )
        assert 'ResourceQuota "few" may refuse it' in page or copies > 1
        assert set(doubts) <= {each.resource for each in room(pod, few, limits=False).shapes[0].unspecified}
    # A pod that requests something keeps what it requests.
    assert room(pod_with(), few, limits=False).shapes[0].unspecified == ()


@pytest.mark.parametrize("scope", ["BestEffort", "NotBestEffort"])
def test_what_a_file_makes_before_counts_for_quotas_that_a_limit_range_decides_about(scope: str) -> None:
    few = {"spec": {"scopes": [scope]}, "status": {"hard": {"pods": "4"}, "used": {"pods": "3"}}}
    bodies = [pod_with(containers=[ASKS_NOTHING]), pod_with(containers=[ASKS_NOTHING])]
    bodies[1]["metadata"] = {**bodies[1]["metadata"], "name": "q", "uid": "q"}
    objects = [each for body in bodies for each in planned(body)]
    found = simulation_report(one_node(few, limits=False), objects, Copies())
    assert [[each.quota for each in pod.unspecified] for pod in found.pods] == [[], ["few"]]
    known = simulation_report(one_node(few), objects, Copies())
    assert [each.object.name for each in known.manifests if each.refused] == (["q"] if scope == "BestEffort" else [])


def test_copies_beyond_a_quota_of_pods_are_not_counted() -> None:
    most = Copies(as_many_as_fit=True)
    assert alone(pod_with(), {"status": {"hard": {"cpu": "100"}}}, most).pods[0].copies == 2
    found = alone(pod_with(), {"status": {"hard": {"pods": "5"}, "used": {"pods": "4"}}}, most).pods[0]
    assert found.copies == 1
    assert found.pending is not None
    assert found.pending.code is Code.QUOTA_EXCEEDED


@pytest.mark.parametrize(
    ("limits", "spec", "missing"),
    [
        (("cpu", "pods"), {}, [("cpu", ("init", "main"))]),
        (
            ("limits.memory", "requests.cpu"),
            {},
            [("limits.memory", ("init", "main")), ("requests.cpu", ("init", "main"))],
        ),
        (("requests.ephemeral-storage", "hugepages-2Mi", "pods"), {}, []),
        (("cpu",), {"resources": {"requests": {"cpu": "1"}}}, []),
    ],
)
def test_a_quota_of_cpu_or_memory_that_a_container_does_not_request_may_refuse_the_pod(
    limits: tuple[str, ...], spec: dict[str, Any], missing: list[tuple[str, tuple[str, ...]]]
) -> None:
    """A LimitRange, which is not read, may give what is missing. Upstream: Constraints of pkg/quota's pods.go."""
    containers = {"containers": [ASKS_NOTHING], "initContainers": [{**ASKS_NOTHING, "name": "init"}]}
    quota = {"status": {"hard": dict.fromkeys(limits, "100")}}
    found = alone(pod_with(**containers, **spec), quota, limits=False)
    assert [(each.resource, each.containers) for pod in found.pods for each in pod.unspecified] == missing
    assert (found.fits, found.partial) == (Fits.UNKNOWN, True)
    # Where there is no LimitRange it does.
    words = "; ".join(f"{resource} for: {','.join(names)}" for resource, names in missing)
    told = [f'pods "p" is forbidden: failed quota: few: must specify {words}'] if missing else []
    known = alone(pod_with(**containers, **spec), quota)
    assert list(known.manifests[0].refused) == told
    assert known.fits is (Fits.NO if missing else Fits.YES)


def test_what_a_quota_requires_is_told_with_what_to_write() -> None:
    """Scopes narrow it; a limit without a request is a request too."""
    hard = {"status": {"hard": {"requests.cpu": "100", "limits.memory": "1Ti"}}}
    limited = {**ASKS_NOTHING, "resources": {"limits": {"cpu": "1"}}}
    found = alone(pod_with(containers=[limited]), hard, limits=False)
    page = " ".join(" ".join(simulation_page(found, CLOCK.now())).split())
    assert 'without the default of a LimitRange (not read), ResourceQuota "few" refuses the pod' in page
    assert "must specify limits.memory for: main;" in page
    assert "write resources.limits.memory for each of these containers" in page
    unless = 'ResourceQuota "few" refuses it unless a LimitRange has a default; whether it fits is unknown.'
    assert simulation_summary(found) == f"Pod ml/p: {unless}"
    many = alone(pod_with(containers=[limited]), hard, Copies(as_many_as_fit=True), limits=False)
    unless = 'ResourceQuota "few" refuses it unless a LimitRange has a default; with one, at most 4 fit.'
    assert simulation_summary(many) == f"Pod ml/p: {unless}"
    terminating = {**hard, "spec": {"scopes": ["Terminating"]}}
    assert alone(pod_with(containers=[limited]), terminating).fits is Fits.YES
    assert alone(pod_with(containers=[limited], activeDeadlineSeconds=60), terminating).fits is Fits.NO


def test_capacity_has_the_same_doubt() -> None:
    """A bare pod of a class stands for any pod, so that nothing is said of what it requests."""
    required = {"status": {"hard": {"requests.cpu": "100"}}}
    unless = 'ResourceQuota "few" refuses it unless a LimitRange has a default'
    found = room(pod_with(containers=[ASKS_NOTHING]), required, limits=False)
    assert capacity_summary(found) == f"A pod like ml/p: {unless}; with one, it fits at most 110 more times now."
    page = " ".join(" ".join(capacity_page(found, HERE)).split())
    assert "must specify requests.cpu for: main; write resources.requests.cpu for each" in page
    assert found.partial
    assert [(each.resource, each.containers) for each in found.shapes[0].unspecified] == [("requests.cpu", ("main",))]
    found = room(pod_with(), required)
    assert (capacity_summary(found), found.partial) == ("A pod like ml/p fits 2 more times now.", False)
    assert not room(CapacityRequest("gpu.example.com"), required).shapes[0].unspecified


def pod_with(**spec: Any) -> dict[str, Any]:
    pod: dict[str, Any] = {"apiVersion": "v1", **build.pod("p")}
    del pod["status"]
    pod["spec"]["containers"] = [{"name": "main", "image": "example.com/app:1", "resources": ASKS}]
    pod["spec"].update(spec)
    return pod


def alone(
    pod: dict[str, Any], quota: dict[str, Any], copies: Copies | None = None, *, limits: bool = True
) -> SimulationReport:
    """One pod in a namespace with one quota, on a node that has room for it; ``limits``: LimitRanges were read."""
    return simulation_report(one_node(quota, limits=limits), planned(pod), copies or Copies())


def room(pod: dict[str, Any] | CapacityRequest, quota: dict[str, Any], *, limits: bool = True) -> CapacityReport:
    """How many more of that pod fit there."""
    shapes = pod if isinstance(pod, CapacityRequest) else planned(pod)
    return capacity_report(one_node(quota, limits=limits), shapes, build.NAMESPACE)


def planned(pod: dict[str, Any]) -> list[Planned]:
    return [read_planned(Source(json.dumps(pod).encode()), build.NAMESPACE)]


def one_node(quota: dict[str, Any], *, limits: bool = True) -> ClusterState:
    high = {"kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    there = [{**QUOTA, **quota}, {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}}, build.node(), high]
    evidence = facts.evidence() if limits else facts.evidence("LimitRange")
    return ClusterState(facts.inventory(there), evidence, features(), CLOCK)


def deployment(replicas: int, resource: str) -> dict[str, Any]:
    """Each of its pods has one device by that extended resource."""
    container = {"name": "main", "image": "example.com/app:1", "resources": {"limits": {resource: "1"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    metadata = {"name": "web", "namespace": build.NAMESPACE}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("limit", "copies", "fit", "verdict"),
    [
        ("requests.example.com/gpu", Copies(), 3, Verdict.GATED),
        ("requests.example.com/gpu", Copies(as_many_as_fit=True), 3, Verdict.GATED),
        ("requests.example.com/gpu", Copies(2), 2, None),
        # What the scheduler makes for them is charged as well, when they are bound.
        (f"{build.DRIVER}.deviceclass.resource.k8s.io/devices", Copies(), 3, Verdict.SCHEDULER_ERROR),
    ],
)
def test_pods_of_a_workload_beyond_the_quota_of_an_extended_resource(
    limit: str, copies: Copies, fit: int, verdict: Verdict | None
) -> None:
    there = [
        {**QUOTA, "status": {"hard": {limit: "4"}, "used": {limit: "1"}}},
        {"kind": "Namespace", "metadata": {"name": build.NAMESPACE}},
        build.device_class(extendedResourceName="example.com/gpu"),
        build.node(),
        build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(8))),
    ]
    world = ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK)
    planned = [read_planned(Source(json.dumps(deployment(5, "example.com/gpu")).encode()), build.NAMESPACE)]
    found = simulation_report(world, planned, copies).pods[0]
    assert (found.copies, found.fits) == (fit, Fits.NO if verdict and not copies.as_many_as_fit else Fits.YES)
    if verdict is None:
        assert found.pending is None
    else:
        assert found.pending is not None
        assert (found.pending.verdict, found.pending.code) == (verdict, Code.QUOTA_EXCEEDED)
        shortage = found.pending.causes[0].detail
        assert isinstance(shortage, QuotaShortage)
        assert shortage.kind == ("Pod" if verdict is Verdict.GATED else "ResourceClaim")


def test_a_claim_beyond_the_quota_would_be_refused() -> None:
    claims = [{"apiVersion": "resource.k8s.io/v1", **build.claim(name)} for name in ("a", "b", "c")]
    for claim in claims:
        claim.pop("status", None)
    name = "count/resourceclaims.resource.k8s.io"
    words = f"exceeded quota: few, requested: {name}=1, used: {name}=2, limited: {name}=2"
    found = with_quota(*claims, copies=Copies())
    assert [manifest.refused for manifest in found.manifests] == [
        (),
        (),
        (f'resourceclaims.resource.k8s.io "c" is forbidden: {words}',),
    ]
    assert [pod.subject.name for pod in found.pods] == ["a", "b"]
