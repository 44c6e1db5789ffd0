"""What ``kubectl dra simulate`` foresees of a pod is what the real scheduler writes once the pod is created."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tests.controlplane import Client
from tests.e2e.conftest import Explain
from tests.e2e.situations import bring_about, cases, pod_object, without_preemption

pytestmark = pytest.mark.controlplane

FORESEEN = ("too-few-devices", "selector-with-another-spelling", "every-node-has-another-reason", "extended-resource")


@pytest.mark.parametrize("name", FORESEEN)
def test_the_scheduler_writes_what_was_foreseen(client: Client, explain: Explain, tmp_path: Path, name: str) -> None:
    case = cases()[name]
    # The situation with a pod that nobody schedules; the one in question is simulated and then created.
    bring_about(client, dataclasses.replace(case, pod={"schedulerName": "nobody"}, silent=True))
    body = pod_object("foreseen", **case.pod)
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    report = explain("simulate", "-f", str(path), "-n", case.namespace)
    pending = report["pods"][0]["pending"]
    assert (report["fits"], pending["verdict"]) == ("No", case.expect)
    condition = bring_about(client, case)
    assert condition is not None
    assert pending["message"].replace("/foreseen", "/pod") == without_preemption(condition["message"])
