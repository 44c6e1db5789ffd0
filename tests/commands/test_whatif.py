"""The switches of simulate and why-pending: what is supposed is said first, and mistakes name what there is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kubectl_dra.commands.app import run
from tests.kit.clock import CLOCK

TRAINER = ("why-pending", "trainer-0", "-n", "ml")


class Result(NamedTuple):
    code: int
    out: str
    err: str


Ask = Callable[..., Result]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("NO_COLOR", "1")

    def answer(*arguments: str) -> Result:
        code = run([*arguments, *(() if "--from" in arguments else ("--from", "demo"))], CLOCK)
        return Result(code, *capsys.readouterr())

    return answer


def test_a_node_more_lets_a_pending_pod_fit(ask: Ask) -> None:
    found = ask(*TRAINER, "--add-node", "like=gke-prod-h100-5f3a2b1c-x9zk,count=2,free")
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0].startswith("What if: 2 more nodes like gke-prod-h100-5f3a2b1c-x9zk")
    assert "gke-prod-h100-5f3a2b1c-x9zk-new-1 and gke-prod-h100-5f3a2b1c-x9zk-new-2" in " ".join(lines[:3])
    assert "would fit now on gke-prod-h100-5f3a2b1c-x9zk-new-1" in " ".join(lines)
    report = json.loads(ask(*TRAINER, "--add-node", "like=gke-prod-h100-5f3a2b1c-x9zk,count=2,free", "-o", "json").out)
    assert report["verdict"] == "Schedulable"
    assert report["observed"] is None
    assert report["whatIf"]["addedNodes"] == [
        "gke-prod-h100-5f3a2b1c-x9zk-new-1",
        "gke-prod-h100-5f3a2b1c-x9zk-new-2",
    ]
    assert report["whatIf"]["switches"] == [
        {"type": "AddNode", "like": "gke-prod-h100-5f3a2b1c-x9zk", "count": 2, "free": True, "clique": ""}
    ]
    assert json.loads(ask(*TRAINER, "-o", "json").out)["whatIf"] is None


def test_a_drain_says_where_each_pod_goes(ask: Ask) -> None:
    found = ask("simulate", "--drain", "gke-prod-h100-5f3a2b1c-k4tq", "--exit-code")
    assert found.code == 3
    assert "What if: node gke-prod-h100-5f3a2b1c-k4tq is drained." in found.out
    assert "Of 5 pods on gke-prod-h100-5f3a2b1c-k4tq:" in found.out
    assert "ml/serve-0 stays pending: 0/6 nodes are available" in found.out
    first = " ".join(found.out.split("\n\n")[0].split())
    assert first.startswith("ml/serve-0 would find no other node: no node has ")
    assert "gke-prod-h100-5f3a2b1c-k4tq has the devices" not in first
    report = json.loads(ask("simulate", "--drain", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "json").out)
    moved = next(each for each in report["whatIf"]["displaced"] if each["fate"] == "moves")
    assert moved["node"]
    assert moved["devices"]


def test_pods_without_a_place_are_in_a_document_with_the_reason(ask: Ask) -> None:
    report = json.loads(ask("simulate", "--drain", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "json").out)
    stay = [each["pod"] for each in report["whatIf"]["displaced"] if each["fate"] == "pending"]
    assert [pod for each in report["withoutPlace"] for pod in each["pods"]] == stay
    assert report["withoutPlace"][0]["pending"]["causes"][0]["code"] == "DRA-211"


def test_events_that_were_not_read_are_not_missing_of_pods_that_nobody_has_seen(ask: Ask, tmp_path: Path) -> None:
    assert run(["snapshot", "--from", "demo", "-o", str(tmp_path / "all.json")], CLOCK) == 0
    objects = json.loads((tmp_path / "all.json").read_bytes())
    objects["reads"] = [each for each in objects["reads"] if each["kind"] != "Event"]
    objects["items"] = [each for each in objects["items"] if each["kind"] != "Event"]
    (tmp_path / "no-events.json").write_text(json.dumps(objects), encoding="utf-8")
    words = ("simulate", "--drain", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "json")
    (less,) = json.loads(ask(*words, "--from", str(tmp_path / "no-events.json")).out)["withoutPlace"]
    (more,) = json.loads(ask(*words).out)["withoutPlace"]
    assert less | {"pending": less["pending"] | {"read": None}} == more | {"pending": more["pending"] | {"read": None}}
    assert less["pending"]["missing"] == []


def test_a_node_that_is_not_there_has_others_named(ask: Ask) -> None:
    assert 'did you mean "cpu-1"' in ask("simulate", "--drain", "cpu1").err
    assert "the cluster has cpu-1, cpu-2, gke-prod-h100-5f3a2b1c-k4tq and 3 more" in ask("simulate", "--drain", "x").err


def test_the_order_of_switches_plays_no_part(ask: Ask) -> None:
    switches = (
        ("--drain", "gke-prod-h100-5f3a2b1c-k4tq"),
        ("--add-node", "like=ip-192-168-153-160.ec2.internal"),
        ("--untaint", "cpu-1,maintenance"),
    )
    answers = {
        ask(*TRAINER, *(word for switch in order for word in switch)).out for order in itertools.permutations(switches)
    }
    assert len(answers) == 1
    assert "cpu-1 no longer has the taint maintenance" in " ".join(answers.pop().split())


def test_a_file_and_switches_count_together(ask: Ask, tmp_path: Path) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "eight", "namespace": "ml"},
        "spec": {
            "devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com", "count": 8}}]}
        },
    }
    file = tmp_path / "claim.json"
    file.write_text(json.dumps(claim), encoding="utf-8")
    before = ask("simulate", "-f", str(file))
    after = ask("simulate", "-f", str(file), "--add-node", "like=gke-prod-h100-5f3a2b1c-x9zk,free")
    assert "does not fit" in before.out
    assert "on gke-prod-h100-5f3a2b1c-x9zk-new-1" in after.out


@pytest.mark.parametrize(
    ("switch", "code", "said", "hint"),
    [
        (
            ("--add-node", "gke-prod-h100-5f3a2b1c-x9zk"),
            2,
            '"gke-prod-h100-5f3a2b1c-x9zk" is not a part of --add-node',
            "--add-node like=gke-prod-h100-5f3a2b1c-x9zk",
        ),
        (("--add-node", "count=2"), 2, "does not say what the new ones are like", "like=NODE"),
        (("--add-node", "like=gke-prod-h100-5f3a2b1c-x9zk,count=0"), 2, "is not a number from 1 to 1000", "like=NODE"),
        (
            ("--add-node", "like=gke-prod-h100-5f3a2b1c-x9zk,count=1001"),
            2,
            "is not a number from 1 to 1000",
            "like=NODE",
        ),
        (
            ("--add-node", "like=gke-prod-h100-5f3a2b1c-k4tx"),
            1,
            'nodes "gke-prod-h100-5f3a2b1c-k4tx" not found, did you mean',
            "demo",
        ),
        (
            ("--drain", "gke-prod-h100-5f3a2b1c-k4tg"),
            1,
            'nodes "gke-prod-h100-5f3a2b1c-k4tg" not found, did you mean "gke-prod-h100-5f3a2b1c-k4tq"',
            "demo",
        ),
        (("--add-devices", "like=gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-x"), 1, "not found", "demo"),
        (("--taint", "gke-prod-h100-5f3a2b1c-k4tq,k"), 2, "is not a taint", "EFFECT"),
        (
            ("--taint", "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq,k:PreferNoSchedule"),
            2,
            "is not a taint",
            "NoSchedule or NoExecute",
        ),
        (("--untaint", "gke-prod-h100-5f3a2b1c-k4tq"), 2, "does not name a taint", "KEY"),
        (("-w", "--drain", "gke-prod-h100-5f3a2b1c-k4tq"), 2, "cannot be combined", "leave out -w"),
        (("-w", "--node-groups", "cluster"), 2, "cannot be combined", "leave out -w"),
    ],
)
def test_mistakes_say_what_is_wrong_and_what_to_do(
    ask: Ask, switch: tuple[str, ...], code: int, said: str, hint: str
) -> None:
    found = ask(*TRAINER, *switch)
    assert found.code == code, found.err
    assert said in found.err
    assert hint in found.err
    assert not found.out


def test_node_groups_of_a_file_are_judged_one_by_one(ask: Ask, tmp_path: Path) -> None:
    prefix = "capacity.cluster-autoscaler.kubernetes.io"
    annotations = {f"{prefix}/cpu": "16", f"{prefix}/memory": "128Gi"}
    group = {"kind": "MachineDeployment", "metadata": {"name": "cpu-only", "annotations": annotations}, "spec": {}}
    file = tmp_path / "groups.json"
    file.write_text(json.dumps({"apiVersion": "cluster.x-k8s.io/v1beta1", **group}), encoding="utf-8")
    found = ask(*TRAINER, "--node-groups", str(file))
    assert "No new node would take the pod (1 node group tried):" in found.out
    assert "no  MachineDeployment cpu-only" in found.out
    assert "the group describes no devices" in " ".join(found.out.split())
    report = json.loads(ask(*TRAINER, "--node-groups", str(file), "-o", "json").out)
    assert [each["doubts"] for each in report["nodeGroups"]] == [["noDevices"]]
    bare = {**group, "metadata": {"name": "bare"}}
    file.write_text(json.dumps({"apiVersion": "cluster.x-k8s.io/v1beta1", **bare}), encoding="utf-8")
    report = json.loads(ask(*TRAINER, "--node-groups", str(file), "-o", "json").out)
    assert "capacityUnknown" in report["nodeGroups"][0]["doubts"]
    # With enough of them the answer would be no all the same.
    assert "taken to be enough" not in ask(*TRAINER, "--node-groups", str(file)).out
    unasked = json.loads(ask(*TRAINER, "-o", "json").out)
    assert (report["nodeGroupsJudged"], unasked["nodeGroups"], unasked["nodeGroupsJudged"]) == (True, [], False)
    assert "No group is described" in " ".join(ask(*TRAINER, "--node-groups", "cluster").out.split())
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}), encoding="utf-8")
    nothing = ask(*TRAINER, "--node-groups", str(file))
    assert nothing.code == 1
    assert "no MachineDeployment, MachineSet" in nothing.err


@pytest.mark.parametrize("words", [("-A",), ("claims", "-A"), ("podgroups", "-A")])
def test_a_list_says_once_that_its_cluster_is_supposed(ask: Ask, words: tuple[str, ...]) -> None:
    found = ask("why-pending", *words, "--drain", "cpu-2")
    assert found.out.startswith("What if: node cpu-2 is drained.\n")
    assert found.out.count("What if:") == 1
    assert "What if:" not in ask("why-pending", *words).out


def test_rows_are_not_mixed_with_what_is_supposed(ask: Ask) -> None:
    found = ask("why-pending", "-A", "-o", "wide", "--drain", "cpu-2")
    assert found.out.startswith("NAMESPACE")
    assert found.err.count("What if: node cpu-2 is drained.") == 1
