"""The page of a pod that is placed with others, and that of its group: one diagnosis, told alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.diagnosis.gangs import as_file, gpus, group, member
from tests.kit import build

Printed = pytest.CaptureFixture[str]
WORDS = "0/2 nodes are available: 1 Insufficient cpu, 1 resourceclaim not available on the node."


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def said_on(pod: dict[str, Any]) -> dict[str, Any]:
    """The pod with the scheduler's words on it."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": WORDS,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {**pod, "status": {**pod["status"], "conditions": [condition]}}


def shared(*, by: tuple[str, ...] = (), words: bool = False) -> list[dict[str, Any]]:
    """Two pods with one claim that has its device on node-a, which has CPUs for one of them; node-b has for both."""
    pods = [
        build.pod(name, claims=["shared"], requests={"cpu": "3"}, schedulingGroup={"podGroupName": "train"})
        for name in ("train-0", "train-1")
    ]
    return [
        *gpus("node-a", 1, cpu="4"),
        *gpus("node-b", 1, cpu="16"),
        group(2),
        build.claim("shared", held=[("node-a", "gpu-0")], on="node-a", by=by),
        pods[0],
        said_on(pods[1]) if words else pods[1],
    ]


def printed(capfd: Printed, path: Path, objects: list[dict[str, Any]], *words: str) -> str:
    file = as_file(path / "cluster.json", *objects)
    run([*words, "-n", build.NAMESPACE, "--from", file])
    return capfd.readouterr().out


def told(*args: Any) -> str:
    return " ".join(printed(*args).split())


CAUSE = (
    "PodGroup {}train needs 2 pods at the same time, and only 1 finds a node. For train-1: its ResourceClaim shared is "
    "already allocated on node-a, but that node has only 1 of the 3 requested CPUs free."
)


@pytest.mark.parametrize("name", ["train-0", "train-1"])
def test_the_page_of_a_pod_has_the_whole_cause(capfd: Printed, tmp_path: Path, name: str) -> None:
    text = told(capfd, tmp_path, shared(), "why-pending", name)
    assert text.startswith(f"Pod ml/{name} is pending: {CAUSE.format('')}")
    assert ("train-1: It requests" in text) == (name == "train-0")


def test_the_page_of_the_group_has_the_same(capfd: Printed, tmp_path: Path) -> None:
    text = told(capfd, tmp_path, shared(), "why-pending", "podgroup/train")
    assert text.startswith(CAUSE.format("ml/"))
    assert "train-1 finds no node train-0 waits for train-1" in text


@pytest.mark.parametrize("name", ["train-0", "podgroup/train"])
def test_the_release_of_an_idle_claim_is_tried(capfd: Printed, tmp_path: Path, name: str) -> None:
    text = told(capfd, tmp_path, shared(), "why-pending", name)
    assert "1 wait for the scheduler's next attempt, after which claim shared node-b is released" in text
    # Nobody releases a claim that another pod uses.
    used = [*shared(by=("user",)), build.pod("user", claims=["shared"], node_name="node-a", phase="Running")]
    assert "is released" not in told(capfd, tmp_path, used, "why-pending", name)


def test_the_words_on_a_pod_are_words_on_its_group(capfd: Printed, tmp_path: Path) -> None:
    for name in ("podgroup/train", "train-0"):
        text = told(capfd, tmp_path, shared(words=True), "why-pending", name)
        assert ", on train-1: its message matches this diagnosis." in text
        assert "has written nothing" not in text
    assert "has written nothing yet" in told(capfd, tmp_path, shared(), "why-pending", "podgroup/train")


def test_describe_has_the_words_on_pods(capfd: Printed, tmp_path: Path) -> None:
    text = told(capfd, tmp_path, shared(words=True), "describe-podgroup", "train")
    assert f"Unschedulable: {WORDS}" in text
    assert "has written nothing" not in text
    assert "has written nothing about it yet" in told(capfd, tmp_path, shared(), "describe-podgroup", "train")


def test_where_pods_differ_the_requests_are_those_of_the_one_in_the_way(capfd: Printed, tmp_path: Path) -> None:
    """A leader needs CPU only; its page tells of the worker's devices."""
    leader = build.pod("train-0", requests={"cpu": "1"}, schedulingGroup={"podGroupName": "train"})
    objects = [*gpus("node-a", 1), group(2), leader, *member(1, devices=2)]
    text = told(capfd, tmp_path, objects, "why-pending", "train-0")
    assert "For train-1: no node has 2 gpu.example.com devices" in text
    assert "train-1: It requests 2 devices of class gpu.example.com" in text


def test_programs_get_the_group_once_for_a_pod(capfd: Printed, tmp_path: Path) -> None:
    one = json.loads(printed(capfd, tmp_path, shared(), "why-pending", "train-0", "-o", "json"))
    assert one["group"]["blocking"]["name"] == "train-1"
    assert [each["pod"]["name"] for each in one["group"]["members"]] == ["train-0", "train-1"]
    listed = json.loads(printed(capfd, tmp_path, shared(), "why-pending", "-o", "json"))["items"]
    assert [each["group"] for each in listed] == [None, None]


def test_where_some_run_already_the_others_are_what_is_told(capfd: Printed, tmp_path: Path) -> None:
    running = [
        build.pod(f"train-{i}", claims=[f"train-{i}"], schedulingGroup={"podGroupName": "train"}, node_name="node-a")
        for i in range(2)
    ]
    held = [build.claim(f"train-{i}", held=[("node-a", f"gpu-{i}")], by=[f"train-{i}"], on="node-a") for i in range(2)]
    objects = [*gpus("node-a", 2), group(3), *running, *held, *member(2, devices=1)]
    text = told(capfd, tmp_path, objects, "why-pending", "train-2")
    assert "PodGroup train needs 3 pods at the same time: 2 already have nodes, and no other finds one. For" in text


def test_a_pod_that_is_being_deleted_is_why_too_few_can_be_tried(capfd: Printed, tmp_path: Path) -> None:
    going, claim = member(1, devices=1)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    objects = [*gpus("node-a", 2), group(2), *member(0, devices=1), going, claim]
    text = told(capfd, tmp_path, objects, "why-pending", "train-0")
    assert "needs 2 pods at the same time, and only 1 can be tried: the others are being deleted." in text


def test_a_pod_in_the_way_that_requests_no_device_has_no_requests(capfd: Printed, tmp_path: Path) -> None:
    leader = build.pod("train-0", requests={"cpu": "40"}, schedulingGroup={"podGroupName": "train"})
    objects = [*gpus("node-a", 1), group(2), leader, *member(1, devices=1)]
    text = told(capfd, tmp_path, objects, "why-pending", "podgroup/train")
    assert "For train-0: node-a has only 4 CPUs in all (40 requested)." in text
    assert "train-1 waits for train-0 train-0:" not in text


def test_nodes_that_others_of_the_group_got_are_taken_by_these(capfd: Printed, tmp_path: Path) -> None:
    objects = [*gpus("node-a", 1), *gpus("node-b", 1), *gpus("node-c", 1), group(3)]
    objects += [each for number in range(3) for each in member(number, devices=1, requests={"cpu": "3"})]
    objects += [build.claim("held", held=[("node-c", "gpu-0")], on="node-c", by=("other",))]
    objects += [build.pod("other", claims=["held"], node_name="node-c", phase="Running")]
    objects = [build.device_class(), *objects]
    text = told(capfd, tmp_path, objects, "why-pending", "podgroup/train")
    assert "Ruled out earlier: node-a and node-b (taken by train-0, train-1)." in text
