"""A seeded sample of ways out on the real control plane, with kwok; ``python -m tests.ways_out`` does many of them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.client import wait_for
from tests.controlplane.helpers import DRIVER_NAME, run_driver, run_kwok
from tests.e2e.situations import create, node_object
from tests.ways_out.clusters import CAUSES, random_cluster
from tests.ways_out.table import shortcomings
from tests.ways_out.trial import Taken, all_ways, clear, take

pytestmark = pytest.mark.controlplane
#: Clusters in CI; all of them take an hour.
_SAMPLE: Final = 4
#: Where one of them decides a share of so few ways out, as many as this are asked before it is judged.
_MOST: Final = 12


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(binaries(), backoff_seconds=1) as running:
        run_kwok(running)
        yield running


def seeds(number: int = _SAMPLE) -> list[int]:
    """Others with every commit; neighbours, so that the causes differ."""
    folder = Path(__file__).parents[2]
    words = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    first = int(done.stdout[:8] or "0", 16) % 100_000
    return [first + 3 * each for each in range(number)]


def test_the_sample_has_different_causes() -> None:
    assert len({random_cluster(seed).cause for seed in seeds()}) == _SAMPLE <= len(CAUSES)


def test_ways_out_end_as_they_say(plane: ControlPlane) -> None:
    """Bound on a promised node, or taken by the pod that was named; no command fails."""
    taken: list[Taken] = []
    for asked, seed in enumerate(seeds(_MOST)):
        if asked >= _SAMPLE and not shortcomings(taken):
            break
        cluster = random_cluster(seed)
        taken += all_ways(lambda number, cluster=cluster: take(plane, cluster, number))  # type: ignore[misc]
        bad = [each for each in taken if each.outcome in ("not", "elsewhere", "failed")]
        assert not bad, "\n".join(each.as_json() for each in bad)
    assert shortcomings(taken) == []


def test_upstreams_own_driver_publishes_what_is_diagnosed(plane: ControlPlane) -> None:
    """Two nodes with devices that upstream's driver published, not we."""
    client = plane.client()
    clear(client)
    nodes = ("driver-1", "driver-2")
    for node in nodes:
        create(client, node_object(node, cpu="8"), "")
    drivers = [run_driver(plane, node, 2) for node in nodes]
    try:
        published = wait_for(lambda: _published(client), "both drivers have published their devices", 60)
        assert sorted(published) == list(nodes)
        clients_answer = subprocess.run(
            [str(plane.kubectl), "dra", "get", "pools", "-o", "name"],
            env=_environment(plane),
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        assert all(f"{DRIVER_NAME}/{node}" in clients_answer for node in nodes)
    finally:
        for driver in drivers:
            driver.stop()


def _published(client: Client) -> list[str]:
    slices = client.list("resource.k8s.io/v1", "ResourceSlice")
    found = [each["spec"].get("nodeName", "") for each in slices if each["spec"]["driver"] == DRIVER_NAME]
    return found if len(found) == 2 else []


def _environment(plane: ControlPlane) -> dict[str, str]:
    from tests.controlplane.__main__ import plane_environment

    return plane_environment(plane)
