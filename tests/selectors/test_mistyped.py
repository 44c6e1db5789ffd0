"""Which known name a written one may be meant for: typing errors, and never the neighbours of a numbered name."""

from __future__ import annotations

import pytest

from kubectl_dra.selectors.mistyped import KnownNames


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("gpu0", "gpu-0"),
        ("GPU-0", "gpu-0"),
        ("gpu-00", "gpu-0"),
        ("nod-a", "node-a"),
        ("gpu-ndoe-a", "gpu-node-a"),
        ("node-gpu-a", "gpu-node-a"),
        ("gpu.nvidia.con", "gpu.nvidia.com"),
        ("gpus.nvidia.com", "gpu.nvidia.com"),
        ("gpu.nvidia", "gpu.nvidia.com"),
        ("gpu-node-12", "gpunode12"),
    ],
)
def test_a_typing_error_is_told_from_a_name_of_its_own(written: str, known: str) -> None:
    assert KnownNames([known, "quite-another"]).meant(written) == (known,)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("gpu-1", "gpu-0"),
        ("gpu-10", "gpu-1"),
        ("gpu-node-c", "gpu-node-a"),
        ("gpu-node-a-x", "gpu-node-b-x"),
        ("gpu-node-1", "gpu-node-a"),
        ("ip-10-0-1-5.ec2.internal", "ip-10-0-1-6.ec2.internal"),
        ("gke-prod-pool-5f3a2b1c-x9zk", "gke-prod-pool-5f3a2b1c-k9tq"),
        ("pool-a100", "pool-h100"),
        ("big-cpu-node", "big-gpu-node"),
        ("gpunode1", "gpu-node-2"),
        ("gpu-0", "gpu-0"),
    ],
)
def test_a_neighbour_is_not_meant(written: str, known: str) -> None:
    assert KnownNames([known]).meant(written) == ()


def test_names_of_others_are_right_as_they_are() -> None:
    assert KnownNames(["node-a"]).meant("nodes-a") == ("node-a",)
    assert KnownNames(["node-a"], {"nodes-a"}).meant("nodes-a") == ()
