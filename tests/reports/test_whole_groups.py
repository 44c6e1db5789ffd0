"""How many whole groups fit of a LeaderWorkerSet, a JobSet and the like: not leaders and workers each by themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.features import features
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain as plain_text
from kubectl_dra.reports.capacity.capacity import CapacityReport, capacity_report
from kubectl_dra.reports.capacity.groups import GroupPart
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.reports.test_domains import LEADERS, job, job_set, leaders, racks
from tests.reports.test_simulated_files import pod_template, template, thing

CPU_ONLY = {"spec": {"containers": [{"name": "l", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}


def counted(body: dict[str, Any], world: ClusterState, *more: dict[str, Any]) -> CapacityReport:
    bodies = ({"apiVersion": "v1", **each} for each in (template("one"), *more, body))
    sources = [Source(json.dumps(each).encode()) for each in bodies]
    return capacity_report(world, read_all(sources, build.NAMESPACE), build.NAMESPACE)


def page(report: CapacityReport) -> str:
    return " ".join(" ".join(map(plain_text, capacity_page(report, HERE))).split())


def plain(groups: int, size: int, **more: Any) -> dict[str, Any]:
    body = leaders(groups, size, LEADERS, **more)
    body["metadata"].pop("annotations")
    return body


def test_groups_of_a_leader_and_workers() -> None:
    report = counted(plain(1, 3), racks(a=4, b=8))
    (found,) = report.groups
    assert (found.groups.value, found.groups.bound) == (6, Bound.EXACT)
    assert (
        "A group of LeaderWorkerSet ml/w (1 leader of 1 device, 2 workers of 1 device each) fits 6 more times now."
        in page(report)
    )


def test_where_leaders_and_workers_differ_another_order_may_place_more() -> None:
    """20 devices and 192 CPUs: a leader takes one device and 33 CPUs."""
    big = pod_template("one")
    big["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "33"}
    (found,) = counted(plain(1, 2, leaderTemplate=big), racks(a=4, b=8)).groups
    assert (found.groups.value, found.most) == (3, 3)


def test_a_leader_without_devices_leaves_them_to_the_workers() -> None:
    (found,) = counted(plain(1, 3, leaderTemplate=CPU_ONLY), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound, found.most) == (10, Bound.EXACT, 10)


def test_a_job_set_as_a_whole() -> None:
    (found,) = counted(job_set(2, 4), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (2, Bound.EXACT)
    (found,) = counted(job_set(6, 4), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (0, Bound.EXACT)
    assert "JobSet ml/w (24 pods of 1 device each) does not fit now: 20 of its 24 pods do." in page(
        counted(job_set(6, 4), racks(a=4, b=8))
    )


def test_what_keeps_groups_in_a_rack_may_allow_fewer() -> None:
    (found,) = counted(leaders(1, 3, LEADERS), racks(a=4, b=8)).groups
    assert (found.groups.value, found.groups.bound) == (6, Bound.AT_MOST)
    assert "fits at most 6 more times now; that its pods have to be in one domain" in page(
        counted(leaders(1, 3, LEADERS), racks(a=4, b=8))
    )


def test_pods_that_are_of_use_one_by_one_are_no_group() -> None:
    assert counted(job(4, pod_template("one")), racks(a=4)).groups == ()


def test_what_was_not_read_gives_no_number() -> None:
    assert counted(plain(1, 3), racks("Pod", a=4)).groups == ()


def train_job(nodes: int) -> list[dict[str, Any]]:
    """With its runtime, whose job that fetches data has ended before the trainer starts."""
    label = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    first = {"name": "data", "template": {"spec": {"template": CPU_ONLY}}}
    main = {
        "name": "node",
        "dependsOn": [{"name": "data", "status": "Complete"}],
        "template": {"metadata": label, "spec": {"template": pod_template("one")}},
    }
    spec = {"template": {"spec": {"replicatedJobs": [first, main]}}}
    runtime = {**thing("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime", spec), "metadata": {"name": "torch"}}
    job = thing(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": nodes}}
    )
    return [runtime, job]


def test_a_train_job_is_counted_as_a_whole_without_what_has_ended_before() -> None:
    runtime, job = train_job(6)
    report = counted(job, racks(a=4, b=8), runtime)
    (found,) = report.groups
    assert (found.groups.value, found.groups.bound) == (3, Bound.EXACT)
    assert page(report).startswith("TrainJob ml/w (6 pods of 1 device each) fits 3 more times now.")


def test_a_volcano_job_by_the_rules_of_the_default_scheduler() -> None:
    tasks = [{"name": "worker", "replicas": 9, "template": pod_template("one")}]
    report = counted(thing("batch.volcano.sh/v1alpha1", "Job", {"minAvailable": 4, "tasks": tasks}), racks(a=4, b=8))
    (found,) = report.groups
    assert (found.parts[0].pods, found.groups.value, found.scheduler) == (4, 5, "volcano")
    told = "Job ml/w (4 pods of 1 device each): scheduler volcano decides; by the rules of the default scheduler it "
    assert page(report).startswith(f"{told}would fit 5 more times now.")


def test_pods_that_name_a_pod_group_are_one_group() -> None:
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "ppo", "namespace": build.NAMESPACE},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
    }
    pods = []
    for number in range(4):
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"actor-{number}"}, **pod_template("one")}
        body["spec"] = {**body["spec"], "schedulingGroup": {"podGroupName": "ppo"}}
        pods.append(body)
    state = racks(a=4, b=8)
    gates = features(gates={"GenericWorkload": True})
    report = counted(pods[0], replace(state, features=gates), group, *pods[1:])
    assert [(each.subject.name, each.parts, each.groups.value) for each in report.groups] == [
        ("ppo", (GroupPart("", 3, 1),), 6)
    ]
    assert page(report).startswith("PodGroup ml/ppo (3 pods of 1 device each) fits 6 more times now.")


def indexed(ranks: int, cpu: str = "1", **more: Any) -> dict[str, Any]:
    """An Indexed Job whose pods take all devices of a node each."""
    pod = pod_template("every")
    pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": cpu}
    spec = {"completionMode": "Indexed", "completions": ranks, "parallelism": ranks, "template": pod, **more}
    return thing("batch/v1", "Job", spec)


def test_an_indexed_job_is_of_use_as_a_whole_if_all_of_its_indexes_run_at_once() -> None:
    every = template("every", allocationMode="All")
    told = page(counted(indexed(4), racks(a=4, b=8), every))
    assert "Job ml/w (4 pods) does not fit now: 3 of its 4 pods do." in told
    assert not counted(indexed(3, parallelism=2), racks(a=4, b=8), every).groups
    assert not counted(indexed(3, completionMode="NonIndexed"), racks(a=4, b=8), every).groups


def test_a_copy_that_takes_all_devices_of_a_node_leaves_none_of_them_over() -> None:
    """Whatever the next copy lacks there first, CPUs here."""
    report = counted(indexed(3, cpu="60"), racks(a=4, b=8), template("every", allocationMode="All"))
    shape = next(each for each in report.shapes if each.subject.kind == "Job")
    devices = shape.capacity.devices
    assert (devices.in_use, devices.taken, devices.left, devices.unusable) == (
        0,
        devices.matching,
        0,
        0,
    )
    assert {each.devices.left for each in shape.capacity.nodes} == {0}


def test_of_several_requests_the_one_that_lacks_devices_is_named() -> None:
    """GPUs are left over on the node, and its only channel is taken by the first copy."""
    gpus = [build.device(f"gpu-{number}") for number in range(4)]
    channel = build.slice_("node-a", build.device("channel-0"), pool="channels", driver="channel.example.com")
    channels = {"cel": {"expression": 'device.driver == "channel.example.com"'}}
    there = [
        build.namespace(),
        build.device_class(),
        {"kind": "DeviceClass", "metadata": {"name": "channel"}, "spec": {"selectors": [channels]}},
        build.node("node-a"),
        build.slice_("node-a", *gpus),
        channel,
    ]
    both = template("both")
    both["spec"]["spec"]["devices"]["requests"] = [
        build.request("gpus", count=2),
        build.request("channel", cls="channel"),
    ]
    body = thing("batch/v1", "Job", {"parallelism": 2, "template": pod_template("both")})
    told = page(counted(body, ClusterState(facts.inventory(there), facts.evidence(), features(), CLOCK), both))
    assert "none free for channel" in told
    assert "only 2 free here" not in told


def of_leaders(leader: dict[str, Any]) -> str:
    templates = {"size": 2, "leaderTemplate": leader, "workerTemplate": pod_template("one")}
    body = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"replicas": 1, "leaderWorkerTemplate": templates})
    return page(counted(body, racks(2, 2)))


def test_pods_that_are_alike_are_told_once() -> None:
    told = of_leaders(pod_template("one"))
    assert "A pod of LeaderWorkerSet ml/w (leader)" in told
    assert "A pod of LeaderWorkerSet ml/w (worker)" not in told
    assert "The same holds for worker." in told


def test_pods_without_devices_have_no_table_and_no_room_is_made_for_them() -> None:
    told = of_leaders(CPU_ONLY)
    assert told.index("(worker)") < told.index("(leader)")
    assert told.endswith("It requests no device.")
