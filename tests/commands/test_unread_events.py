"""Rights that are missing: what nobody could read is not said to be absent, and who could permit it is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.reports.clusters import withheld


def said(
    capfd: pytest.CaptureFixture[str],
    folder: Path,
    kinds: tuple[str, ...],
    *words: str,
    more: Sequence[dict[str, Any]] = (),
) -> tuple[str, str]:
    pod = build.pod("web", claims=["web"], node_name="node-1")
    claim = build.claim("web", held=[("node-1", "gpu-0")], by=["web"], on="node-1")
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    items: list[dict[str, Any]] = [build.node(), build.device_class(), slice_, pod, claim]
    items.append(build.event("other", "Pulled", "an image"))
    items += more
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps(withheld({"kind": "List", "items": items}, kinds)), encoding="utf-8")
    run(["why-pending", *words, "--from", str(path), "--color", "never"], PassingClock())
    out, err = capfd.readouterr()
    return " ".join(out.split()), " ".join(err.split())


def test_without_events_nobody_knows_whether_something_failed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, _ = said(capfd, tmp_path, ("Event",), "web", "-n", "ml")
    assert "whether a failure was reported is unknown, as Event could not be read" in text
    assert "no failure was reported" not in text
    below = "Could not be read, and may change the answer: Event in namespace ml: forbidden"
    assert text.index("kubectl describe pod/web") < text.index(below)
    assert "--resource=events -n ml" in text
    text, _ = said(capfd, tmp_path, (), "web", "-n", "ml")
    assert "Its containers have not started yet, and no failure was reported." in text
    assert "--resource=events" not in text


def test_a_pod_that_nobody_could_look_for_says_which_right_is_missing(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, err = said(capfd, tmp_path, ("Pod",), "web", "-n", "ml")
    assert 'pods "web" could not be read in namespace "ml"' in err
    assert "kubectl create role kubectl-dra-reader" in err
    assert "--resource=pods -n ml" in err


@pytest.mark.parametrize(("kind", "between"), [("Deployment", "ReplicaSet"), ("CronJob", "Job")])
def test_a_workload_without_what_stands_between_has_no_known_pods(
    kind: str, between: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    group = "apps/v1" if between == "ReplicaSet" else "batch/v1"
    pod = build.pod("made-x", claims=["web"])
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": group, "kind": between, "name": "made", "uid": "m", "controller": True}
    ]
    top = {"kind": kind, "metadata": {"name": "top", "namespace": "ml", "uid": "t"}, "spec": {}}
    _, err = said(capfd, tmp_path, (between,), f"{kind.lower()}/top", "-n", "ml", more=[top, pod])
    assert f"which pods {kind} ml/top has is unknown: {between} could not be read" in err
    assert "kubectl create role kubectl-dra-reader" in err
    assert "no pending pods" not in err
