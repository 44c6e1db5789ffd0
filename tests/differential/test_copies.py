"""Random whole clusters: copies of a pod go, one after the other, where the real scheduler would put each of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.model.ids import Key
from tests.differential.test_whole_clusters import seed_of_commit
from tests.differential.whole.cluster import whole_cluster
from tests.differential.whole.nodes import CARD
from tests.oracle.scheduler_oracle import Oracle, OracleError
from tests.scheduler.rows import snapshot_of

pytestmark = pytest.mark.go
Row = dict[str, Any]
CLUSTERS: Final = int(os.environ.get("DIFFERENTIAL_COPIES", "300"))
_COPIES: Final = 4


@pytest.fixture(scope="module")
def oracles() -> Iterator[tuple[Oracle, Oracle]]:
    with Oracle("admit") as admit, Oracle("schedule") as schedule:
        yield admit, schedule


def test_the_real_scheduler_agrees(oracles: tuple[Oracle, Oracle]) -> None:
    admit, schedule = oracles
    seed, placed, spread = seed_of_commit(), 0, 0
    for number in range(CLUSTERS):
        row = admit.ask(whole_cluster(f"{seed}-copies-{number}")[0])
        for pod in [each for each in row["pods"] if _is_alone(each)]:
            try:
                copies = _check(schedule, row, pod, f"{seed}-copies-{number}")
            except OracleError as error:
                # Two runs of the real code that differ decide nothing.
                if not str(error).startswith(("unstable:", "pod ")):
                    raise
                continue
            placed += copies
            spread += copies > 1 and bool(pod["spec"].get("topologySpreadConstraints"))
    assert placed > CLUSTERS
    assert spread > CLUSTERS / 20


def _is_alone(pod: Row) -> bool:
    """A pod that is tried at all and brings nothing along but itself."""
    spec = pod["spec"]
    if spec.get("nodeName") or spec.get("schedulingGates") or spec["schedulerName"] != "default-scheduler":
        return False
    if pod["metadata"].get("deletionTimestamp") or pod.get("status", {}).get("nominatedNodeName"):
        return False
    asked = json.dumps([each.get("resources", {}) for each in spec["containers"]])
    claims = CARD in asked or "deviceclass.resource" in asked
    brings = spec.get("resourceClaims") or any("persistentVolumeClaim" in v or "ephemeral" in v for v in _volumes(spec))
    return not brings and not claims


def _volumes(spec: Row) -> list[Row]:
    return spec.get("volumes") or []


def _check(schedule: Oracle, row: Row, pod: Row, seed: str) -> int:
    """How many copies fit; each goes to one of the nodes that the real scheduler calls best."""
    state = snapshot_of(row).state
    others = [each for each in row["pods"] if each is not pod]
    copies = [_copy(pod, number) for number in range(_COPIES)]
    keys = [Key(copy["metadata"]["namespace"], copy["metadata"]["name"]) for copy in copies]
    made = snapshot_of({"pods": copies}).inventory.pods
    without = {key: each for key, each in state.inventory.pods.items() if key.name != pod["metadata"]["name"]}
    found = place(state.changed(state.inventory.replace(pods=without)), [made[key] for key in keys])
    bound: list[Row] = []
    for copy, key in zip(copies, keys, strict=True):
        asked = {**row, "pods": [each for each in others if each["spec"].get("nodeName") or _nominated(each)]}
        asked["pods"] = [*asked["pods"], *bound, copy]
        answer = next(each for each in schedule.ask(asked)["expect"] if each["pod"] == str(key))
        if len(bound) == found.copies:
            assert answer["outcome"] != "fits", (seed, key)
            break
        node = found.state.inventory.pods[key].spec.node_name
        assert node in answer.get("best", ()), (seed, key, node, answer)
        bound.append({**copy, "spec": {**copy["spec"], "nodeName": node}})
    return found.copies


def _nominated(pod: Row) -> bool:
    return bool(pod.get("status", {}).get("nominatedNodeName"))


def _copy(pod: Row, number: int) -> Row:
    meta = {**pod["metadata"], "name": f"copy-{number}", "uid": f"33333333-0000-4000-8000-00000000000{number}"}
    return {**pod, "metadata": meta}
