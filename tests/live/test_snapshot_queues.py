"""Kueue's objects in a snapshot: written, read again, hidden, and named where they could not be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from tests.kit.fake_api import FakeApi, chunk_of, serve_cluster, write_kubeconfig

EXAMPLE = "docs/examples/queue.yaml"
GROUP = "kueue.x-k8s.io"
KINDS = {"Workload", "LocalQueue", "ClusterQueue"}
ANSWER = ["why-pending", "job/train", "-n", "ml", "-o", "json"]


def taken(capfd: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["snapshot", *words]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def answered(capfd: pytest.CaptureFixture[str], words: list[str], code: int = 0) -> dict[str, Any]:
    assert run(words) == code
    (found,) = json.loads(capfd.readouterr().out)["items"]
    return found  # type: ignore[no-any-return]


def of_kueue(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in snapshot["items"] if item["apiVersion"].startswith(GROUP)]


def saved(tmp_path: Path, snapshot: dict[str, Any]) -> str:
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    return str(path)


def test_a_snapshot_of_a_file_gives_the_same_answer(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = taken(capfd, "--from", EXAMPLE)
    assert {item["kind"] for item in of_kueue(found)} == KINDS
    path = saved(tmp_path, found)
    before, after = answered(capfd, [*ANSWER, "--from", EXAMPLE]), answered(capfd, [*ANSWER, "--from", path])
    assert (after["queue"], after["fits"], after["node"]) == (before["queue"], before["fits"], before["node"])
    assert taken(capfd, "--from", path) == found


def test_a_redacted_one_too(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = taken(capfd, "--redact", "--from", EXAMPLE)
    text = json.dumps(found)
    assert not [word for word in ("team-a", "research", "h100", "example.com/gpu", "train") if word in text]
    (job,) = (item for item in found["items"] if item["kind"] == "Job")
    name = job["metadata"]["name"]
    words = ["why-pending", f"job/{name}", "-n", job["metadata"]["namespace"], "-o", "json"]
    after = answered(capfd, [*words, "--from", saved(tmp_path, found)])
    before = answered(capfd, [*ANSWER, "--from", EXAMPLE])
    assert (after["verdict"], after["fits"]) == (before["verdict"], before["fits"])
    assert (after["queue"]["heldBy"], after["queue"]["pending"]) == (
        before["queue"]["heldBy"],
        before["queue"]["pending"],
    )
    amounts = [(each["nominal"], each["reserved"]) for each in after["queue"]["quota"]]
    assert amounts == [(each["nominal"], each["reserved"]) for each in before["queue"]["quota"]]
    assert "insufficient unused quota" in after["queue"]["message"]


@pytest.mark.parametrize(
    ("message", "held"),
    [
        (
            "couldn't assign flavors to pod set main: insufficient unused quota for a/b in flavor c, 1 more needed",
            "Quota",
        ),
        (
            "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor d, request > maximum",
            "QuotaTooSmall",
        ),
        ("DeviceClass x is not mapped in DRA configuration for workload w", "Devices"),
        ("Workload namespace doesn't match ClusterQueue selector", "Namespace"),
        ("flavor f doesn't match node affinity", "Flavor"),
        ("untolerated taint {a b NoSchedule} in flavor f", "Flavor"),
        ("ClusterQueue q doesn't exist", "NoQueue"),
        ("ClusterQueue q is inactive", "Stopped"),
    ],
)
def test_the_words_of_kueue_keep_their_meaning(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, message: str, held: str
) -> None:
    found = taken(capfd, "--from", EXAMPLE)
    (work,) = (item for item in of_kueue(found) if item["kind"] == "Workload")
    (told,) = (each for each in work["status"]["conditions"] if each["type"] == "QuotaReserved")
    told.update(message=message, reason="Pending")
    path = saved(tmp_path, found)
    assert answered(capfd, [*ANSWER, "--from", path])["queue"]["heldBy"] == held
    hidden = taken(capfd, "--redact", "--from", path)
    (job,) = (item for item in hidden["items"] if item["kind"] == "Job")
    words = ["why-pending", f"job/{job['metadata']['name']}", "-n", job["metadata"]["namespace"], "-o", "json"]
    assert answered(capfd, [*words, "--from", saved(tmp_path, hidden)])["queue"]["heldBy"] == held


def test_of_one_namespace(capfd: pytest.CaptureFixture[str]) -> None:
    found = taken(capfd, "-n", "ml", "--from", EXAMPLE)
    assert {item["kind"] for item in of_kueue(found)} == KINDS
    reads = {each["kind"]: each.get("namespace", "") for each in found["reads"] if each["kind"].endswith(GROUP)}
    assert reads in ({}, {f"Workload.{GROUP}": "ml", f"LocalQueue.{GROUP}": "ml", f"ClusterQueue.{GROUP}": ""})


# --- live -------------------------------------------------------------------------------------------------------------


def live(api: FakeApi, tmp_path: Path) -> list[str]:
    from kubectl_dra.source.manifests import read_written

    items = [json.loads(each.data) for each in read_written(Path(EXAMPLE).read_bytes(), EXAMPLE)]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    serve_cluster(api, [namespace, *(each for each in items if not each["apiVersion"].startswith(GROUP))])
    jobs = [each for each in items if each["kind"] == "Job"]
    for namespaces in ("", "/namespaces/ml"):
        api.routes[f"/apis/batch/v1{namespaces}/jobs"] = lambda request: chunk_of(request, "Job", jobs, "batch/v1")
    mine = [each for each in items if each["apiVersion"].startswith(GROUP)]
    by_plural = {f"{kind.lower()}s": [each for each in mine if each["kind"] == kind] for kind in KINDS}
    api.serve_foreign(GROUP, "v1beta2", **by_plural, resourceflavors=[], cohorts=[])
    for plural in ("workloads", "localqueues"):
        path = f"/apis/{GROUP}/v1beta2"
        api.routes[f"{path}/namespaces/ml/{plural}"] = api.routes[f"{path}/{plural}"]
    return ["--kubeconfig", str(write_kubeconfig(tmp_path, api.url))]


def test_a_live_snapshot_has_them(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = live(api, tmp_path)
    found = taken(capfd, *flags)
    assert {item["kind"] for item in of_kueue(found)} == KINDS
    reads = {each["kind"]: each["coverage"] for each in found["reads"] if each["kind"].endswith(GROUP)}
    assert reads == {f"{kind}.{GROUP}": "complete" for kind in (*KINDS, "ResourceFlavor", "Cohort")}
    after = answered(capfd, [*ANSWER, "--from", saved(tmp_path, found)])
    assert (after["queue"]["heldBy"], after["queue"]["unread"]) == ("Quota", [])


def test_without_the_right_it_says_so(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = live(api, tmp_path)
    for plural in ("workloads", "clusterqueues"):
        api.forbid(f"/apis/{GROUP}/v1beta2/{plural}")
        api.forbid(f"/apis/{GROUP}/v1beta2/namespaces/ml/{plural}")
    assert run(["snapshot", *flags]) == 0
    out, err = capfd.readouterr()
    assert f"not all of Workload.{GROUP} and ClusterQueue.{GROUP} could be read" in err
    path = saved(tmp_path, json.loads(out))
    for words in ([*ANSWER, "--from", path], [*ANSWER, *flags]):
        found = answered(capfd, words)
        missing = {each["kind"]: each for each in found["missing"]}
        assert set(missing) >= {f"Workload.{GROUP}", f"ClusterQueue.{GROUP}"}
        assert missing[f"Workload.{GROUP}"]["coverage"] == "forbidden"
        rule = missing[f"ClusterQueue.{GROUP}"]["rule"]
        assert (rule["apiGroup"], rule["resource"]) == (GROUP, "clusterqueues")
        assert missing[f"Workload.{GROUP}"]["decides"] is True


def test_a_cluster_without_kueue(api: FakeApi, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flags = live(api, tmp_path)
    del api.routes[f"/apis/{GROUP}"]
    found = taken(capfd, *flags)
    assert not of_kueue(found)
    reads = {each["coverage"] for each in found["reads"] if each["kind"].endswith(GROUP)}
    assert reads == {"notServed"}
    assert answered(capfd, [*ANSWER, "--from", saved(tmp_path, found)])["queue"]["heldBy"] == "NoKueue"
