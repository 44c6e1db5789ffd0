"""What is left out of pods that run beside the devices is read by no plugin: every one of them answers the same."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from kubectl_dra.api.kinds import KINDS
from kubectl_dra.api.lean import UNREAD_CONDITIONS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.features import features, known_gates
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.source.content import Content
from kubectl_dra.source.file import load_content
from tests.kit.clock import CLOCK
from tests.kit.decisions import decide
from tests.scheduler.rows import FILTERS
from tests.vectors.answer_sched import render
from tests.vectors.rows import rows

_TIME: Final = "2026-11-21T10:00:00Z"
# As every pod of a real cluster has them.
_CONDITIONS: Final = [
    {"type": name, "status": "True", "lastTransitionTime": _TIME} for name in (*sorted(UNREAD_CONDITIONS), "Other")
]
_SAMPLE: Final = 8


def as_served(pod: dict[str, Any]) -> dict[str, Any]:
    """A pod with what its kubelet and the service account controller add."""
    spec, status = pod["spec"], pod.get("status", {})
    token = {"name": f"kube-api-access-{pod['metadata']['name']}", "projected": {"sources": []}}
    volumes = [*spec.get("volumes", ()), token]
    conditions = [*status.get("conditions", ()), *_CONDITIONS]
    return {**pod, "spec": {**spec, "volumes": volumes}, "status": {**status, "conditions": conditions}}


def written(row: dict[str, Any]) -> bytes:
    items = []
    for kind in KINDS:
        for each in row.get(kind.plural, ()):
            content = as_served(each) if kind.name == "Pod" else each
            items.append({**content, "apiVersion": kind.api_version, "kind": kind.name})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def snapshot_of(row: dict[str, Any], *, whole: bool) -> Snapshot:
    inventory, evidence = load_content(Content.of(written(row), "row"), whole=whole)
    gates = {gate: on for gate, on in row.get("featureGates", {}).items() if gate in known_gates()}
    return Snapshot(ClusterState(inventory, evidence, features(37, gates), CLOCK))


def test_no_plugin_reads_what_is_left_out() -> None:
    refusing: Counter[str] = Counter()
    left_out = 0
    for row in rows("sched")[::_SAMPLE]:
        whole, lean = snapshot_of(row, whole=True), snapshot_of(row, whole=False)
        for key, pod in lean.inventory.pods.items():
            before = whole.inventory.pods[key]
            left_out += len(before.spec.volumes) - len(pod.spec.volumes)
            assert [each.type for each in pod.status.conditions] != [] or not pod.spec.node_name
        for each in row.get("pods", ()):
            key = Key(each["metadata"]["namespace"], each["metadata"]["name"])
            if not each["spec"].get("nodeName"):
                answers = [render(decide(snapshot, snapshot.inventory.pods[key])) for snapshot in (whole, lean)]
                assert answers[0] == answers[1], (row["id"], str(key))
                refusing.update(entry.get("plugin", "") for entry in answers[0].get("perNode", {}).values())
    assert left_out > 1_000
    # Each has had its say, so that none could have read it unnoticed; a pod that names its node does not wait.
    assert set(FILTERS) - set(refusing) == {"NodeName"}


def test_what_is_left_out_and_what_is_not() -> None:
    pods = [
        {"metadata": {"name": "runs", "namespace": "a"}, "spec": {"nodeName": "n"}},
        {"metadata": {"name": "waits", "namespace": "a"}, "spec": {}},
        {"metadata": {"name": "has", "namespace": "a"}, "spec": {"nodeName": "n", "resourceClaims": [{"name": "c"}]}},
    ]
    row = {"pods": pods}
    lean = snapshot_of(row, whole=False).inventory.pods
    kept = {key.name: [each.type for each in pod.status.conditions] for key, pod in lean.items()}
    assert kept["runs"] == ["Other"]
    assert len(kept["waits"]) == len(kept["has"]) == len(_CONDITIONS)
    assert [len(pod.spec.volumes) for pod in lean.values()] == [1, 0, 1]
