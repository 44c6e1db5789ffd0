"""One machine under two names, whose devices are counted for both; and devices that are held for nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import plain
from kubectl_dra.output.top.page import top_page
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from kubectl_dra.reports.top import By, top_report
from tests.commands.test_few_rights import said, unfolded
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import state_of

TOLD = "new-1 and old-1 publish the same devices (by their uuid), which are counted for each of these nodes."


def published(node: str, uuid: str) -> list[dict[str, Any]]:
    return [build.node(node), build.slice_(node, build.device("gpu-0", attributes={"uuid": uuid}))]


def world(*uuids: tuple[str, str]) -> Any:
    parts = (each for node, uuid in uuids for each in published(node, uuid))
    return state_of(facts.inventory([build.device_class(), *parts]), facts.evidence())


@pytest.mark.parametrize("by", list(By))
def test_top_says_whose_devices_are_counted_twice(by: By) -> None:
    twice = world(("old-1", "GPU-1"), ("new-1", "GPU-1"), ("other", "GPU-2"))
    report = top_report(twice, by, "")
    told = " ".join(map(plain, top_page(report, CLOCK.now(), HERE)))
    assert (TOLD in " ".join(told.split())) is (by in (By.NODES, By.CLASSES))
    assert ("kubectl dra describe-node new-1" in told) is (by in (By.NODES, By.CLASSES))
    apart = top_report(world(("old-1", "GPU-1"), ("new-1", "GPU-2")), by, "")
    assert "counted for each" not in " ".join(map(plain, top_page(apart, CLOCK.now(), HERE)))


def test_capacity_says_so_too() -> None:
    for uuid, said_ in (("GPU-1", True), ("GPU-2", False)):
        report = capacity_report(world(("old-1", "GPU-1"), ("new-1", uuid)), CapacityRequest(build.DRIVER), "ml")
        assert report.shapes[0].capacity.copies.value == 2
        told = " ".join(" ".join(map(plain, capacity_page(report, HERE))).split())
        assert (TOLD in told) is said_


def test_of_many_machines_the_first_are_named() -> None:
    pairs = [(f"{side}-{number}", f"GPU-{number}") for number in range(5) for side in ("a", "b")]
    told = " ".join(map(plain, top_page(top_report(world(*pairs), By.NODES, ""), CLOCK.now(), HERE)))
    assert told.count("publish the same devices") == 3
    assert "So it is with 2 other sets." in told


# --- devices that nobody uses, in the list of pods that wait ----------------------------------------------------------


def written(tmp_path: Path, *more: dict[str, Any], count: int = 2) -> str:
    """One device of two is kept by a claim without a pod, and a pod of namespace ml wants ``count``."""
    gpus = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    kept = build.claim("kept", held=[("node-1", "gpu-0")], on="node-1")
    pod, claim = build.pod(claims=["claim"]), build.claim("claim", build.request(count=count))
    items = [build.namespace(), build.device_class(), build.node(), gpus, kept, pod, claim, *more]
    items = [{"apiVersion": BY_NAME[each["kind"]].api_version, **each} for each in items]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def listed(capfd: Any, path: str, *words: str) -> str:
    return unfolded(said(capfd, "why-pending", *words, "--from", path)[1])


def test_the_list_of_pods_tells_of_devices_that_are_held_for_nobody(capfd: Any, tmp_path: Path) -> None:
    path = written(tmp_path)
    for words in (("-A",), ("-n", "ml"), ("-n", "ml", "pods")):
        told = listed(capfd, path, *words)
        assert "1 device is held for nobody, by a claim that no pod uses." in told, words
        assert f"Which: kubectl dra top -A --from {path}" in told


def test_nothing_is_said_of_them_where_no_pod_lacks_devices(capfd: Any, tmp_path: Path) -> None:
    assert "held for nobody" not in listed(capfd, written(tmp_path, count=1), "-A")
