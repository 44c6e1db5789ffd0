"""One cause in simulate is one section, whoever it hits: other kinds, other requests, other roles of one object."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import build
from tests.reports.test_simulated_files import a_pod, cluster, page, pod_template, template, thing
from tests.reports.test_strangers import simulated


def job(name: str, template_name: str) -> dict[str, Any]:
    body = thing("batch/v1", "Job", {"template": pod_template(template_name)})
    return {**body, "metadata": {**body["metadata"], "name": name}}


def pod(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", **a_pod(name, **fields)}


def leader_worker_set(*, workers: int = 1) -> dict[str, Any]:
    role = pod_template("one")
    del role["spec"]["restartPolicy"]
    sizes = {
        "replicas": 1,
        "leaderWorkerTemplate": {"size": workers + 1, "leaderTemplate": role, "workerTemplate": role},
    }
    return thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", sizes)


def tainted() -> dict[str, Any]:
    node = build.node(cpu="64")
    node["spec"]["taints"] = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    return node


def test_a_class_that_is_missing_has_one_section() -> None:
    """Of several kinds, with other numbers of devices; who lacks another class has a section of its own."""
    files = [template(f"t{number}", number, deviceClassName="absent") for number in (1, 2, 3)]
    files += [template("other", deviceClassName="gone"), pod("a", templates=["t1"]), job("b", "t2"), job("c", "t3")]
    told = page(simulated(*files, pod("d", templates=["other"])))
    assert told.count('create the DeviceClass "absent"') == 1
    assert told.count('create the DeviceClass "gone"') == 1
    assert "The same applies, with other names, to 2 others: Job ml/b, Job ml/c." in told
    assert told.count("kubectl dra explain DRA-") == 2


def test_one_taint_in_the_way_of_leader_and_workers_has_one_section() -> None:
    told = page(simulated(template("one"), leader_worker_set(workers=2), world=cluster(tainted())))
    assert "No pod of LeaderWorkerSet ml/w fits, all for the same reason:" in told
    assert told.count("tolerate the node taint gpu=yes:NoSchedule") == 1
    assert "The same applies to worker, in spec.leaderWorkerTemplate.workerTemplate.spec.tolerations." in told
    assert "spec.leaderWorkerTemplate.leaderTemplate.spec.tolerations" in told


def test_with_the_manifests_each_role_has_its_own() -> None:
    from kubectl_dra.output.simulation.page import simulation_page
    from tests.kit.clock import CLOCK

    report = simulated(template("one"), leader_worker_set(), world=cluster(tainted()))
    told = " ".join(" ".join(simulation_page(report, CLOCK.now(), steps=True)).split())
    for role in ("leaderTemplate", "workerTemplate"):
        assert f"spec.leaderWorkerTemplate.{role}.spec.tolerations" in told
    assert told.count("- key: gpu") == 2


def test_where_nothing_helps_the_reason_tells_who_belongs_together() -> None:
    """All devices are held by the first object of the files, for whom others ask in vain: pods and jobs alike."""
    first = thing("batch/v1", "Job", {"parallelism": 4, "completions": 4, "template": pod_template("one")})
    told = page(simulated(template("one"), template("two", 2), first, pod("a", templates=["one"]), job("b", "one")))
    assert told.count("all 4 are in use") == 1
    assert "The same applies, with other names, to 1 other: Job ml/b." in told


def test_some_of_whom_fit_are_told_apart() -> None:
    first = thing("batch/v1", "Job", {"parallelism": 6, "completions": 6, "template": pod_template("one")})
    told = page(simulated(template("one"), first, job("b", "one")))
    assert "The same applies" not in told
    assert told.count("kubectl dra explain DRA-") == 2


def test_a_selector_that_fails_on_devices_in_use_is_told_as_that() -> None:
    """The scheduler does not try it on them; once they are free it fails, so that waiting for them is no way out."""
    selector = {"cel": {"expression": 'device.attributes["other.example.com"].model == "A100"'}}
    holder = thing("batch/v1", "Job", {"parallelism": 4, "completions": 4, "template": pod_template("one")})
    wrong = template("wrong", selectors=[selector])
    report = simulated(template("one"), wrong, holder, job("b", "wrong"))
    (_, waiting) = report.pods
    assert waiting.pending is not None
    assert str(waiting.pending.code) == "DRA-205"
    assert "a selector needs the attribute other.example.com/model, which none of the 4 devices" in page(report)


@pytest.mark.parametrize(("requests", "code"), [([], "DRA-220"), (["gpu"], "DRA-220"), (["other"], "DRA-211")])
def test_a_constraint_that_devices_in_use_never_satisfy_is_told_as_that(requests: list[str], code: str) -> None:
    """Of other requests of the claim it says nothing."""
    holder = thing("batch/v1", "Job", {"parallelism": 4, "completions": 4, "template": pod_template("one")})
    wrong = template("wrong")
    devices = wrong["spec"]["spec"]["devices"]
    gpu, other = ({**build.request(), "name": name} for name in ("gpu", "other"))
    devices["requests"] = [gpu, other] if requests == ["other"] else [gpu]
    devices["constraints"] = [{"matchAttribute": f"{build.DRIVER}/nosuch", "requests": requests}]
    (_, waiting) = simulated(template("one"), wrong, holder, job("b", "wrong")).pods
    assert waiting.pending is not None
    assert str(waiting.pending.causes[0].code) == code


def test_two_changes_in_another_order_are_one_way_out() -> None:
    """Dropping a request leaves a claim with one, of which the next change is told in other words."""
    wrong = template("wrong")
    devices = wrong["spec"]["spec"]["devices"]
    absent = {"name": "nic", "exactly": {"deviceClassName": "nics", "allocationMode": "ExactCount", "count": 1}}
    devices["requests"] = [{**build.request(), "name": "gpu"}, absent]
    devices["constraints"] = [{"matchAttribute": f"{build.DRIVER}/nosuch"}]
    nics = build.device_class("nics")
    nics["spec"]["selectors"] = [{"cel": {"expression": 'device.driver == "nics.example.com"'}}]
    (pod,) = simulated(wrong, job("b", "wrong"), world=cluster(nics)).pods
    assert pod.pending is not None
    pairs = [sorted(action.field for action in way.actions) for way in pod.pending.remedies]  # type: ignore[union-attr]
    assert pairs == [["constraints[0]", "requests"]]
