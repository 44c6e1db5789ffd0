"""Where nodes may not be read, the scheduler's own message says why a pod waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.records import HeardReason
from kubectl_dra.output.pending.heard_words import predicate
from kubectl_dra.scheduler.reasons import _EXACT, PluginSubject, kind_of
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.reports.clusters import withheld

SEEN = "2026-01-01T00:00:00Z"
CPU = {"cpu": "60", "memory": "1Gi"}


def pod(name: str, message: str, **fields: Any) -> dict[str, Any]:
    found = build.pod(name, claims=[name], requests=CPU, **fields)
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    found["status"]["conditions"] = [{**condition, "lastTransitionTime": SEEN}]
    return found


def said(
    capfd: pytest.CaptureFixture[str],
    folder: Path,
    pods: dict[str, str],
    *words: str,
    kinds: tuple[str, ...] = ("Node",),
) -> str:
    items = [build.node(), build.device_class(), build.slice_("node-1", build.device("gpu-0"))]
    items += [part for name, message in pods.items() for part in (pod(name, message), build.claim(name))]
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps(withheld({"kind": "List", "items": items}, kinds)), encoding="utf-8")
    assert run(["why-pending", *words, "--from", str(path), "--color", "never"], PassingClock()) == 0
    return " ".join(capfd.readouterr().out.split())


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "0/12 nodes are available: 12 Insufficient cpu. no new claims to deallocate",
            "no node has the 60 free CPUs it requests (12 of 12 nodes, according to the scheduler); "
            "devices were not checked "
            "on these nodes.",
        ),
        (
            "0/12 nodes are available: 8 cannot allocate all claims, 4 node(s) had untolerated taint {dedicated: web}.",
            "no node fits, according to the scheduler: of 12 nodes, 8 have no free gpu.example.com "
            "device that satisfies "
            "its claim and 4 have the taint dedicated: web, which it does not tolerate.",
        ),
        (
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory, 2 Insufficient cpu.",
            "no node fits, according to the scheduler: of 3 nodes, 2 do not have 60 free CPUs, 2 do not "
            "have 1Gi of free "
            "memory and 1 is cordoned; devices were not checked on these nodes.",
        ),
        (
            "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector. preemption: 0/5 nodes are "
            "available: 5 Preemption is not helpful for scheduling.",
            "no node fits, according to the scheduler: all 5 do not match its node selector or affinity; "
            "devices were not "
            "checked on these nodes.",
        ),
        (
            "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
            "the only node has taints that it does not tolerate, according to the scheduler; devices "
            "were not checked on these "
            "nodes.",
        ),
        (
            # A plugin's devices are devices.
            "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
            "no node has the free nvidia.com/gpu it requests (2 of 2 nodes, according to the scheduler). "
            "The exact cause is unknown: "
            "Node",
        ),
        (
            "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
            'it can run on no node, according to the scheduler: "pod has unbound immediate '
            'PersistentVolumeClaims". The exact',
        ),
        (
            "0/2 nodes are available: 2 node(s) are on fire.",
            'no node fits, according to the scheduler: all 2 are rejected: "are on fire". The exact cause is unknown',
        ),
        ("something else", "the scheduler found no node for it (something else). The exact cause is unknown"),
    ],
)
def test_the_first_line_has_the_schedulers_reasons(
    message: str, told: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = said(capfd, tmp_path, {"a": message}, "a", "-n", "ml")
    assert text.startswith(f"Pod ml/a is pending: {told}")
    assert "The scheduler, which reads everything, wrote" in text


def test_a_page_says_what_to_do_about_what_most_nodes_lack(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capfd, tmp_path, {"a": "0/12 nodes are available: 12 Insufficient cpu."}, "a", "-n", "ml")
    assert "What usually helps: Lower the cpu request of its containers" in text
    assert "devices were not checked on these nodes" in text
    text = said(capfd, tmp_path, {"a": "0/9 nodes are available: 9 cannot allocate all claims."}, "a", "-n", "ml")
    assert "What usually helps: Wait until pods that hold such devices end" in text


def test_a_list_has_the_schedulers_words_of_each_pod(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    devices = "0/12 nodes are available: 4 node(s) had untolerated taint(s), 8 cannot allocate all claims."
    pods = {"a": "0/12 nodes are available: 12 Insufficient cpu.", "b": devices, "c": devices}
    text = said(capfd, tmp_path, pods, "-A")
    lines = (
        "DRA-800 data not read 3 ml/a, ml/b, ml/c ml/b, ml/c: no node fits, according to the "
        "scheduler: of 12 nodes, 8 have"
    )
    assert lines in text
    assert (
        "ml/a: no node has the 60 free CPUs it requests (12 of 12 nodes, according to the scheduler); devices were"
        in text
    )
    text = said(capfd, tmp_path, pods, "-A", "-o", "wide")
    assert "no node has the 60 free CPUs it requests (12 of 12 nodes, according to the scheduler)" in text
    assert "could not be read" not in text


def test_every_reason_about_a_node_has_plain_words() -> None:
    """Those of the whole pod, and those of other programs, are quoted."""
    about = (PluginSubject.NODES, PluginSubject.VOLUMES, PluginSubject.TOPOLOGY)
    quoted = {
        text
        for text, plugin in _EXACT.items()
        if kind_of(plugin) in about and '"' in predicate(HeardReason(text, 2, plugin))
    }
    assert quoted == {
        "pod affinity terms conflict",
        "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
        "pod has unbound immediate PersistentVolumeClaims",
        "invalid resource pools were encountered",
        "cannot schedule extended resource claim",
        "cannot fit resource",
    }


def test_what_was_read_of_devices_is_offered(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = {"a": "0/9 nodes are available: 9 cannot allocate all claims."}
    text = said(capfd, tmp_path, message, "a", "-n", "ml")
    assert "Who holds which, as far as it could be read: kubectl dra get devices" in text
    text = said(capfd, tmp_path, message, "a", "-n", "ml", kinds=("Node", "ResourceSlice"))
    assert "Who holds which" not in text
