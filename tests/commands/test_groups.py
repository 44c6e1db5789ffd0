"""PodGroups as commands tell of them: why-pending of one, of all, and in lists of pods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.why_pending.groups import not_served
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from tests.diagnosis.gangs import as_file, gpus, group, member, members
from tests.diagnosis.test_gangs import workload
from tests.kit import build


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def short(tmp_path: Path) -> str:
    """Three devices for four pods that need each other."""
    return as_file(
        tmp_path / "cluster.json",
        *gpus("node-a", 2),
        *gpus("node-b", 1),
        group(4, workloadRef={"workloadName": "job", "templateName": "workers"}),
        *members(4, devices=1),
    )


def call(capfd: pytest.CaptureFixture[str], file: str, *words: str) -> tuple[int, str, str]:
    code = run(["why-pending", *words, "-n", build.NAMESPACE, "--from", file])
    out, err = capfd.readouterr()
    return code, out, err


def unfolded(text: str) -> str:
    return " ".join(text.split())


def test_one_group(capfd: pytest.CaptureFixture[str], short: str) -> None:
    code, out, _ = call(capfd, short, "podgroup/train")
    assert code == 0
    # Commands are never broken.
    assert max(len(line) for line in out.splitlines() if not line.startswith(("# ", "kubectl "))) <= 80
    told = unfolded(out)
    head = "PodGroup ml/train needs 4 pods at the same time, and only 3 find a node. For train-3: no node has a free"
    assert told.startswith(f"{head} {build.DRIVER} device: on node-")
    assert "in use (train-" in told.partition(" minCount ")[0]
    assert (
        " minCount 4 pods at the same time made from Workload job (template workers) train-3 finds no node train-0"
        in told
    )
    assert " train-0 waits for train-3 train-1 waits for train-3 " in told
    assert "1 lower minCount of PodGroup train from 4 to 3" in told
    assert "No other choice of nodes for its pods lets enough of them fit either." in told
    assert "on node-a, both are in use (train-0 1, train-2 1); on node-b, the only one is in use (train-1)" in told
    assert "nobody" not in told
    assert told.endswith("DRA-440 group does not fit (also DRA-211) kubectl dra explain DRA-440")


def test_pods_of_a_workload_that_wait_for_their_group_are_one_page(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its words name the pod that finds no node, and those that have the devices: each of them is one of these."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "job", "controller": True}
    pods = members(4, devices=1)
    for each in pods:
        if each["kind"] == "Pod":
            each["metadata"]["ownerReferences"] = [owner]
    file = as_file(tmp_path / "cluster.json", *gpus("node-a", 2), *gpus("node-b", 1), group(4), *pods)
    code, out, _ = call(capfd, file, "job/train")
    assert code == 0
    assert unfolded(out).count("needs 4 pods at the same time, and only 3 find a node") == 1
    assert "The same holds for 3 other pods: train-1, train-2, train-3." in unfolded(out)


def test_its_commands(capfd: pytest.CaptureFixture[str], short: str) -> None:
    _, out, _ = call(capfd, short, "podgroup/train", "--remedies")
    patch = '[{"op": "add", "path": "/spec/schedulingPolicy/gang/minCount", "value": 3}]'
    assert f"kubectl patch podgroup.scheduling.k8s.io/train -n ml --type=json -p '{patch}'" in unfolded(out)


def test_as_json(capfd: pytest.CaptureFixture[str], short: str) -> None:
    _, out, _ = call(capfd, short, "podgroup/train", "-o", "json")
    report: dict[str, Any] = json.loads(out)
    assert (report["kind"], report["verdict"], report["minCount"], report["placed"]) == (
        *("GroupPendingReport", "Unschedulable"),
        *(4, 3),
    )
    assert report["blocking"]["name"] == "train-3"
    assert [cause["code"] for cause in report["causes"]] == ["DRA-440"]
    assert report["causes"][0]["detail"]["because"][0]["code"] == "DRA-211"
    assert report["otherAssignment"] == "notFound"
    assert report["summary"].startswith("PodGroup ml/train needs 4 pods")
    assert len(report["members"]) == 4


def test_in_a_list_of_pods(capfd: pytest.CaptureFixture[str], short: str) -> None:
    code, out, _ = call(capfd, short)
    assert code == 0
    assert "  DRA-440  group does not fit  4  train-0 … train-3" in out
    # Once, though the words name some of these pods as those that hold what another lacks.
    told = unfolded(out)
    assert told.count("train needs 4 pods at the same time, and only 3 find a node. For train-3: no node has a") == 1
    assert f"and only 3 find a node. For train-3: no node has a free {build.DRIVER} device" in told
    assert "other cause" not in told


def test_all_groups(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    running = build.pod("old-0", node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "old"})
    file = as_file(
        tmp_path / "cluster.json",
        build.node("node-a"),
        group(3),
        *members(2),
        group(1, name="fits"),
        *members(1, of="fits"),
        group(1, name="old"),
        running,
    )
    code, out, _ = call(capfd, file, "podgroups")
    assert code == 0
    assert "PodGroup ml/train needs 3 pods at the same time, and only 2 exist." in unfolded(out)
    assert "PodGroup ml/fits would be placed now: its pod finds a node." in unfolded(out)
    assert "ml/old" not in out
    _, listed, _ = call(capfd, file, "podgroups", "-o", "json")
    assert [each["group"]["name"] for each in json.loads(listed)["items"]] == ["fits", "train"]


@pytest.mark.parametrize(
    ("objects", "summary"),
    [
        ([group(1)], "PodGroup ml/train is not pending: 0 pods of it have a node."),
        (
            [group(None), *members(2, requests={"cpu": "3"})],
            "PodGroup ml/train would be placed now: 1 of 2 pods find a node. The others wait on.",
        ),
        (
            [group(1), *members(2, requests={"cpu": "3"})],
            "PodGroup ml/train would be placed now: 1 of 2 pods find a node, which is enough for minCount 1. "
            "The others wait on.",
        ),
        ([group(2), *members(2)], "PodGroup ml/train would be placed now: both pods find a node."),
        (
            [group(2), *members(1), *member(1, schedulingGates=[{"name": "quota"}])],
            "All pods of PodGroup ml/train wait for train-1: it has the scheduling gate quota",
        ),
        (
            [group(2), *members(1), *member(1, priority=7)],
            "PodGroup ml/train is refused as a whole: all of its pods need its priority 0, and train-1 has 7",
        ),
        (
            [group(2), *members(2, schedulerName="volcano")],
            "PodGroup ml/train waits, but not for the default scheduler: ",
        ),
    ],
)
def test_first_sentences(capfd: pytest.CaptureFixture[str], tmp_path: Path, objects: list[Any], summary: str) -> None:
    file = as_file(tmp_path / "cluster.json", build.node("node-a", cpu="4"), *objects)
    _, out, _ = call(capfd, file, "podgroup", "train", "-o", "json")
    assert json.loads(out)["summary"].startswith(summary)
    _, page, _ = call(capfd, file, "podgroup", "train")
    assert unfolded(page).startswith(summary)


def test_a_group_that_is_not_there(capfd: pytest.CaptureFixture[str], short: str) -> None:
    code, out, err = call(capfd, short, "podgroup/trian")
    assert (code, out) == (1, "")
    assert 'podgroups.scheduling.k8s.io "trian" not found in namespace "ml", did you mean "train"?' in err


# --- describe-podgroup ------------------------------------------------------------------------------------------------


@pytest.fixture
def running(tmp_path: Path) -> str:
    """A group with a shared claim: one pod runs with a device of its own, one waits, one has finished."""
    shared = {"name": "links", "resourceClaimTemplateName": "links"}
    conditions = [{"type": "PodGroupInitiallyScheduled", "status": "True", "reason": "Scheduled", "message": ""}]
    made = [{"name": "links", "resourceClaimName": "train-links"}]
    own, node = [("node-a", "gpu-0")], {"node_name": "node-a"}
    of = {"schedulingGroup": {"podGroupName": "train"}}
    return as_file(
        tmp_path / "cluster.json",
        *gpus("node-a", 2),
        group(
            1,
            status={"conditions": conditions, "resourceClaimStatuses": made},
            resourceClaims=[shared],
            workloadRef={"workloadName": "job", "templateName": "workers"},
            disruptionMode={"all": {}},
            priority=7,
            preemptionPolicy="Never",
        ),
        build.claim("own", build.request(), held=own, by=["train-0"]),
        build.claim("train-links", build.request(), held=[("node-a", "gpu-1")]),
        build.pod("train-0", claims=["own"], phase="Running", **node, **of),
        build.pod("train-1", **of),
        build.pod("train-2", phase="Succeeded", **node, **of),
    )


def described(capfd: pytest.CaptureFixture[str], file: str, *words: str) -> tuple[int, str, str]:
    code = run(["describe-podgroup", *words, "-n", build.NAMESPACE, "--from", file])
    out, err = capfd.readouterr()
    return code, out, err


def test_what_is_said_of_a_group(capfd: pytest.CaptureFixture[str], running: str) -> None:
    code, out, _ = described(capfd, running, "train")
    assert code == 0
    *page, why = out.splitlines()
    assert max(map(len, page)) <= 80
    # A command is one line, however long the path of its file.
    assert why == f"Why: kubectl dra why-pending podgroup/train -n ml --from {running}"
    told = unfolded("\n".join(page))
    assert told.startswith("PodGroup ml/train: 1 of 2 pods has a node; minCount is 1. made from Workload job")
    assert "(template workers)" in told
    assert "priority 7, evicts nobody evicted all pods or none" in told
    assert "train-0 runs node-a gpu.example.com/node-a/gpu-0 train-1 waits - - train-2 finished node-a -" in told
    assert "links: claim train-links (from template links), gpu.example.com/node-a/gpu-1" in told
    assert told.endswith("What was written about it: PodGroupInitiallyScheduled True (Scheduled)")


def test_what_is_said_of_a_group_to_programs(capfd: pytest.CaptureFixture[str], running: str) -> None:
    code, out, _ = described(capfd, running, "train", "-o", "json", "--exit-code")
    report = json.loads(out)
    assert (code, report["kind"], report["withNode"], report["waiting"]) == (3, "GroupReport", 1, 1)
    assert [(pod["pod"]["name"], pod["state"]) for pod in report["pods"]] == [
        *(("train-0", "running"), ("train-1", "pending")),
        ("train-2", "finished"),
    ]
    assert report["claims"][0]["devices"] == ["gpu.example.com/node-a/gpu-1"]


def test_one_of_several_groups_is_not_there(capfd: pytest.CaptureFixture[str], running: str) -> None:
    code, out, err = described(capfd, running, "train", "trian")
    assert (code, out.splitlines()[0][:17]) == (1, "PodGroup ml/train")
    assert 'podgroups.scheduling.k8s.io "trian" not found in namespace "ml", did you mean "train"?' in err


def test_a_cluster_that_takes_no_notice_of_groups(capfd: pytest.CaptureFixture[str], running: str) -> None:
    _, out, _ = described(capfd, running, "train", "--feature-gates", "GenericWorkload=false")
    assert "This cluster's scheduler takes no notice of groups: it places each pod by itself." in unfolded(out)


# --- simulate ---------------------------------------------------------------------------------------------------------

TEMPLATE = {
    "metadata": {"name": "two", "namespace": "ml"},
    "spec": {"spec": build.claim("x", build.request(count=2))["spec"]},
}


def job(parallelism: int) -> dict[str, Any]:
    pod = build.pod(templates=["two"], schedulingGroup={"podGroupName": "train"}, restartPolicy="Never")["spec"]
    pod["containers"][0] |= {"image": "registry.example.com/train", "resources": {"claims": [{"name": "two"}]}}
    spec = {"parallelism": parallelism, "completions": parallelism, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "ml"}, "spec": spec}


def files(tmp_path: Path, free: int, min_count: int, **spec: Any) -> list[str]:
    """A cluster with some devices, and a job of four pods that need two each and belong together."""
    cluster = as_file(tmp_path / "cluster.json", build.namespace(), *gpus("node-a", free))
    wanted = group(min_count, **spec)
    del wanted["metadata"]["uid"], wanted["metadata"]["resourceVersion"], wanted["status"]
    objects = [
        {"apiVersion": "scheduling.k8s.io/v1beta1", **wanted},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", **TEMPLATE},
        job(4),
    ]
    manifests = tmp_path / "job.json"
    manifests.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    return ["simulate", "-f", str(manifests), "--from", cluster]


def simulated(capfd: pytest.CaptureFixture[str], words: list[str]) -> dict[str, Any]:
    assert run([*words, "-o", "json"]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize(("free", "min_count", "copies"), [(6, 4, 0), (8, 4, 4), (6, 3, 3), (6, 1, 3)])
def test_pods_of_a_group_are_simulated_together(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, free: int, min_count: int, copies: int
) -> None:
    report = simulated(capfd, files(tmp_path, free, min_count))
    (pods,) = report["pods"]
    assert (pods["wanted"], pods["copies"]) == (4, copies)
    assert report["fits"] == ("Yes" if copies == 4 else "No")
    if not copies:
        assert pods["pending"]["causes"][0]["code"] == "DRA-440"


def test_without_the_feature_each_pod_is_simulated_alone(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = simulated(capfd, [*files(tmp_path, 6, 4), "--feature-gates", "GenericWorkload=false"])
    assert report["pods"][0]["copies"] == 3


def test_a_claim_of_the_group_is_made_once(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shared = [{"name": "two", "resourceClaimTemplateName": "two"}]
    report = simulated(capfd, files(tmp_path, 2, 4, resourceClaims=shared))
    assert (report["fits"], report["pods"][0]["copies"]) == ("Yes", 4)


@pytest.mark.parametrize(
    ("free", "least", "verdict"),
    [
        (6, 4, "PodGroup ml/train: 0 of 4 pods fit: PodGroup train needs 4 pods"),
        (8, 4, "PodGroup ml/train: all 4 pods fit."),
        (6, 3, "PodGroup ml/train: 3 of 4 pods fit; the next one does not: "),
    ],
)
def test_pods_of_a_group_are_one_answer(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, free: int, least: int, verdict: str
) -> None:
    words = files(tmp_path, free, least)
    path = Path(words[2])
    *objects, made = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    spec = made["spec"]["template"]["spec"]
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"train-{i}", "namespace": "ml"}, "spec": spec}
        for i in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, [*objects, *pods])), encoding="utf-8")
    report = simulated(capfd, words)
    assert [pod["group"] for pod in report["pods"]] == ["train"] * 4
    assert run([*words, "--color", "never"]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert text.startswith(verdict)
    assert text.count("kubectl dra explain") == (0 if free == 8 else 1)
    # One of another kind is told by itself.
    spec = {**spec, "nodeSelector": {"no": "such"}}
    path.write_text("\n".join(map(json.dumps, [*objects, *pods[:3], {**pods[3], "spec": spec}])), encoding="utf-8")
    assert simulated(capfd, words)["fits"] == "No"


def test_a_group_that_does_not_exist_comes_with_a_manifest(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cluster = as_file(tmp_path / "cluster.json", build.namespace(), *gpus("node-a", 8), *members(3))
    assert run(["why-pending", "train-0", "-n", "ml", "--from", cluster, "--remedy", "1", "--color", "never"]) == 0
    text = capfd.readouterr().out
    assert "kind: PodGroup" in text
    assert "minCount: 3" in text
    assert run(["why-pending", "train-0", "-n", "ml", "--from", cluster, "--color", "never"]) == 0
    assert "its manifest has minCount 3, the pods that name it so far" in " ".join(capfd.readouterr().out.split())
    # A controller makes it from a template: what is in there is not guessed.
    waits = as_file(tmp_path / "waits.json", build.namespace(), *gpus("node-a", 8), *members(3), workload(("w", 2)))
    assert run(["why-pending", "train-0", "-n", "ml", "--from", waits, "--color", "never"]) == 0
    assert "its manifest has minCount" not in " ".join(capfd.readouterr().out.split())


# --- get --------------------------------------------------------------------------------------------------------------


def listed(capfd: pytest.CaptureFixture[str], file: str, *words: str) -> str:
    assert run(["get", *words, "--from", file]) == 0
    return capfd.readouterr().out


@pytest.fixture
def several(tmp_path: Path) -> str:
    said = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable", "message": "too few"}
    shared = [{"name": "gpus", "resourceClaimTemplateName": "gpus"}]
    made = {"conditions": [said], "resourceClaimStatuses": [{"name": "gpus", "resourceClaimName": "train-gpus-x"}]}
    running = build.pod("old-0", node_name="node-a", phase="Running", schedulingGroup={"podGroupName": "old"})
    done = build.pod("old-1", node_name="node-a", phase="Succeeded", schedulingGroup={"podGroupName": "old"})
    topology = {"topology": [{"key": "rack"}]}
    return as_file(
        tmp_path / "cluster.json",
        build.node("node-a"),
        group(4, status=made, resourceClaims=shared, schedulingConstraints=topology),
        *members(3),
        group(None, name="old", workloadRef={"workloadName": "job", "templateName": "t"}),
        running,
        done,
    )


def test_the_list_of_groups(capfd: pytest.CaptureFixture[str], several: str) -> None:
    lines = [line.split() for line in listed(capfd, several, "podgroups", "-n", "ml").splitlines()]
    assert lines == [
        ["NAME", "POLICY", "PODS", "RUNNING", "STATE", "AGE"],
        ["old", "basic", "1", "1", "-", "<unknown>"],
        ["train", "gang", "4", "3", "0", "Unschedulable", "<unknown>"],
    ]
    wide = listed(capfd, several, "podgroups.scheduling.k8s.io", "-A", "-o", "wide").splitlines()
    assert wide[0].split() == [
        *("NAMESPACE", "NAME", "POLICY", "PODS", "RUNNING", "STATE", "TOPOLOGY", "CLAIMS", "WORKLOAD", "AGE"),
    ]
    assert wide[2].split()[-4:-1] == ["rack", "train-gpus-x", "-"]


def test_groups_are_printed_as_the_api_has_them(capfd: pytest.CaptureFixture[str], several: str) -> None:
    found = json.loads(listed(capfd, several, "podgroup", "train", "-n", "ml", "-o", "json"))
    assert (found["apiVersion"], found["kind"]) == ("scheduling.k8s.io/v1beta1", "PodGroup")
    assert found["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}
    names = listed(capfd, several, "podgroups", "-n", "ml", "-o", "name").split()
    assert names == ["podgroup.scheduling.k8s.io/old", "podgroup.scheduling.k8s.io/train"]
    assert run(["get", "podgroup/trian", "-n", "ml", "--from", several]) == 1
    assert (
        'podgroups.scheduling.k8s.io "trian" not found in namespace "ml", did you mean "train"?'
        in capfd.readouterr().err
    )


OLDER = "podgroups are only served as scheduling.k8s.io/v1alpha2, a shape that is not read"


@pytest.mark.parametrize(
    ("note", "told", "hint"),
    [
        (
            "",
            "the server does not serve podgroups.scheduling.k8s.io: pods are placed one by one",
            "kubectl dra why-pending -A",
        ),
        (OLDER, OLDER, "kubectl api-versions"),
    ],
)
def test_a_server_without_groups_is_named(note: str, told: str, hint: str) -> None:
    read = Read("PodGroup", coverage=Coverage.NOT_SERVED, note=note)
    problem = not_served(Evidence((read,), server_version=(1, 36)))
    assert problem is not None
    assert (problem.what, problem.hint) == (told, hint)
    assert not_served(Evidence((read,))) is None
    assert not_served(Evidence((Read("PodGroup"),), server_version=(1, 37))) is None


def with_scheduling(tmp_path: Path, free: int, *more: dict[str, Any], **scheduling: Any) -> list[str]:
    """A job whose four pods name no group, and say instead how they are to be placed."""
    written = job(4)
    del written["spec"]["template"]["spec"]["schedulingGroup"]
    written["spec"]["scheduling"] = scheduling
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", **TEMPLATE}
    manifests = tmp_path / "job.json"
    manifests.write_text("\n".join(map(json.dumps, (template, written, *more))), encoding="utf-8")
    cluster = as_file(tmp_path / "cluster.json", build.namespace(), *gpus("node-a", free))
    return ["simulate", "-f", str(manifests), "--from", cluster]


@pytest.mark.parametrize(
    ("policy", "copies"),
    [({"gang": {}}, 0), ({"gang": {"minCount": 3}}, 3), ({"gang": {"minCount": 4}}, 0), ({"basic": {}}, 3), ({}, 3)],
)
def test_a_job_that_makes_its_group(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, policy: dict[str, Any], copies: int
) -> None:
    """A gang without a number needs as many pods as run at the same time."""
    words = with_scheduling(tmp_path, 6, schedulingPolicy=policy)
    report = simulated(capfd, words)
    assert [(pods["wanted"], pods["copies"]) for pods in report["pods"]] == [(4, copies)]
    made = [each for each in report["manifests"] if each.get("madeBy")]
    assert [(each["object"]["name"], each["madeBy"]) for each in made] == [("train-pgt-0", "Job train")]
    off = simulated(capfd, [*words, "--feature-gates", "WorkloadWithJob=false"])
    assert [(pods["copies"], pods["wanted"]) for pods in off["pods"]] == [(3, 4)]
    assert not any(each.get("madeBy") for each in off["manifests"])


def test_a_workload_makes_no_pods(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    templates = [{"name": "workers", "schedulingPolicy": {"gang": {"minCount": 4}}}]
    metadata = {"name": "train", "namespace": "ml"}
    workload = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": metadata}
    written = {**workload, "spec": {"podGroupTemplates": templates}}
    words = with_scheduling(tmp_path, 8, written, schedulingPolicy={"gang": {}})
    report = simulated(capfd, words)
    assert report["fits"] == "Yes"
    assert [each["object"]["kind"] for each in report["manifests"] if each.get("ignored")] == ["Workload"]
    assert run(words) == 0
    assert "Not involved in scheduling devices: Workload ml/train." in unfolded(capfd.readouterr().out)


def test_a_supposed_cluster_is_said_to_be_one(capfd: pytest.CaptureFixture[str], short: str) -> None:
    code, out, _ = call(capfd, short, "podgroup/train", "--add-node", "like=node-a", "--exit-code")
    assert code == 0
    placed = "PodGroup ml/train would be placed now: all 4 pods find a node."
    assert unfolded(out).startswith(f"What if: 1 more node like node-a (node-a-new-1). {placed}")
    _, out, _ = call(capfd, short, "podgroup/train", "--add-node", "like=node-a", "-o", "json")
    report = json.loads(out)
    assert (report["whatIf"]["addedNodes"], report["observed"], report["agreement"]) == (
        ["node-a-new-1"],
        None,
        "unchecked",
    )
    _, out, _ = call(capfd, short, "podgroup/train", "-o", "json")
    assert json.loads(out)["whatIf"] is None


def test_where_groups_mean_nothing_each_pod_is_told_by_itself(
    capfd: pytest.CaptureFixture[str], short: str, tmp_path: Path
) -> None:
    off = ("--feature-gates", "GenericWorkload=false", "--exit-code")
    code, out, _ = call(capfd, short, "podgroup/train", *off)
    assert code == 0
    assert unfolded(out).startswith(
        "PodGroup ml/train means nothing to this cluster's scheduler, which places each pod by itself: 4 of 4 would "
        "find a node."
    )
    assert "waits" not in out
    large = as_file(tmp_path / "large.json", *gpus("node-a", 2), group(2), *member(0, devices=1), *member(1, devices=3))
    code, out, _ = call(capfd, large, "podgroup/train", *off)
    assert code == 3
    assert "1 of 2 would find a node." in unfolded(out)
    assert "train-1 no node has 3 devices" in unfolded(out)
    _, out, _ = call(capfd, large, "podgroup/train", *off, "-o", "json")
    report = json.loads(out)
    assert (report["placedTogether"], report["verdict"], report["causes"]) == (False, "Unschedulable", [])


def test_what_is_unread_finds_no_pod_without_a_node(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    blind = as_file(tmp_path / "blind.json", group(2), *member(0, devices=1), *member(1, devices=1))
    _, out, _ = call(capfd, blind, "podgroup/train", "--feature-gates", "GenericWorkload=false")
    assert "places each pod by itself: whether 2 pods would find a node is unknown." in unfolded(out)
    assert "would find a node by itself" not in unfolded(out)
    assert "0 of 2" not in unfolded(out)
