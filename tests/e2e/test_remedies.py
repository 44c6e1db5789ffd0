"""The first way out, carried out literally: its printed commands go to bash, and the real scheduler binds the pod."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.e2e.situations import bound_to, bring_about, cases

pytestmark = pytest.mark.controlplane

# Every case whose first way out is a command, and not a person's work on drivers, nodes or missing objects.
CARRIED_OUT = (
    "all-but-one-is-taken",
    "all-taken",
    "all-with-a-constraint",
    "attribute-with-another-spelling",
    "capacity-too-small",
    "claim-allocated-on-another-node",
    "counters-exhausted",
    "distinct-attribute",
    "extended-resource",
    "extended-resource-asks-for-too-many",
    "match-attribute",
    "no-alternative-fits",
    "node-cordoned",
    "node-selector-of-the-pod",
    "node-taint",
    "other-scheduler",
    "scheduling-gate",
    "selector-fails-on-one-of-two-nodes",
    "selector-of-another-type",
    "selector-with-another-spelling",
    "taint-of-the-driver",
    "taint-rule",
    "too-few-devices",
    "too-little-cpu",
    "two-requests-for-the-same-devices",
)


def printed_commands(page: str) -> str:
    """The commands of the first way out that has any, as they are printed for pasting."""
    blocks = re.split(r"^(?=# \d+ )", page, flags=re.MULTILINE)
    assert len(blocks) > 1, f"no commands:\n{page}"
    assert blocks[1].startswith("# 1 "), f"the first way out has no commands:\n{page}"
    return blocks[1]


@contextmanager
def kubelet(client: Client, namespace: str) -> Iterator[None]:
    """Hand-made nodes have none: something must confirm that deleted pods have ended."""
    ended = threading.Event()

    def confirm() -> None:
        while not ended.wait(0.2):
            for pod in client.list("v1", "Pod", namespace):
                if "deletionTimestamp" in pod["metadata"]:
                    client.delete("v1", "Pod", pod["metadata"]["name"], namespace)

    thread = threading.Thread(target=confirm)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_the_first_way_out_lets_the_pod_run(plane: ControlPlane, client: Client, name: str) -> None:
    case = cases()[name]
    bring_about(client, case)
    environment = plane_environment(plane, "admin")
    plugins = f"{plane.binaries}{os.pathsep}{sysconfig.get_path('scripts')}{os.pathsep}{environment.get('PATH', '')}"
    environment = {**environment, "PATH": plugins}
    asked = ["kubectl", "dra", "why-pending", "pod/pod", "-n", case.namespace, "--remedies"]
    page = subprocess.run(asked, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
    script = printed_commands(page)
    with kubelet(client, case.namespace):
        done = subprocess.run(
            ["bash", "-eu"],
            input=script,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        wait_for(lambda: bound_to(client, case.namespace, "pod"), f"the pod is bound after\n{script}", 40)


def test_there_are_enough_of_them() -> None:
    assert len(CARRIED_OUT) >= 15
    assert set(CARRIED_OUT) <= cases().keys()
