"""Pods of one workload that wait for the same are told on one page."""

from __future__ import annotations

import json

from kubectl_dra.commands.app import run
from tests.kit import build

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "llm", "uid": "rs", "controller": True}
VERSIONS = {"Node": "v1", "Pod": "v1", "Namespace": "v1"}


def replica(name, count):
    pod = build.pod(name, claims=[f"{name}-gpu"])
    pod["metadata"]["ownerReferences"] = [OWNER]
    return [pod, build.claim(f"{name}-gpu", build.request(count=count))]


def answer(tmp_path, capfd, *arguments):
    slices = build.slice_("node-1", build.device("gpu-0"))
    pods = [*replica("llm-a", 2), *replica("llm-long-name", 2), *replica("llm-c", 3)]
    objects = [build.namespace(), build.node(), build.device_class(), slices, *pods]
    items = [each | {"apiVersion": VERSIONS.get(each["kind"], "resource.k8s.io/v1")} for each in objects]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    assert run(["why-pending", "rs/llm", "-n", "ml", "--from", str(path), *arguments]) == 0
    return capfd.readouterr().out


def test_one_page_names_the_others(tmp_path, capfd):
    out = answer(tmp_path, capfd)
    assert [line.split()[1] for line in out.splitlines() if " is pending:" in line] == ["ml/llm-a", "ml/llm-c"]
    assert "The same holds for 1 other pod: llm-long-name." in out


def test_documents_and_commands_have_each_of_them(tmp_path, capfd):
    assert len(json.loads(answer(tmp_path, capfd, "-o", "json"))["items"]) == 3
    out = answer(tmp_path, capfd, "--remedies")
    assert "The same holds" not in out
    assert "llm-long-name is pending" in out
