"""Completion as the real kubectl asks for it, with names that a real server gives."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment

pytestmark = pytest.mark.controlplane
NAMESPACE = "completion"
DRIVER = "tab.example.com"
API = "/apis/resource.k8s.io/v1"
OBJECTS = [
    ("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
    (
        f"{API}/deviceclasses",
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {}},
    ),
    (
        f"{API}/resourceslices",
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "tab-slice"},
            "spec": {
                "driver": DRIVER,
                "pool": {"name": "shelf", "generation": 1, "resourceSliceCount": 1},
                "allNodes": True,
                "devices": [{"name": f"gpu-{n}", "attributes": {"model": {"string": "M1"}}} for n in range(2)],
            },
        },
    ),
    (
        f"{API}/namespaces/{NAMESPACE}/resourceclaims",
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "mine", "namespace": NAMESPACE},
            "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": DRIVER}}]}},
        },
    ),
    (
        f"/api/v1/namespaces/{NAMESPACE}/pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "waiting", "namespace": NAMESPACE},
            "spec": {
                "schedulerName": "nobody",
                "containers": [{"name": "c", "image": "i"}],
            },
        },
    ),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def words_of(plane: ControlPlane, cache: Path) -> Iterator[object]:
    """``kubectl __complete dra WORDS`` with an own cache, and the objects to be named."""
    client: Client = plane.client()
    for path, body in OBJECTS:
        client.request("POST", path, body)
    # Made once: answers are kept as long as the kubeconfig stays as it is.
    environment = plane_environment(plane) | {"XDG_CACHE_HOME": str(cache)}

    def complete(*words: str) -> list[str]:
        command = [str(plane.kubectl), "__complete", "dra", *words]
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True, timeout=60)
        # What kubectl itself writes there, shells throw away; we add nothing.
        assert all(line.startswith(("[Debug] ", "Completion ended")) for line in done.stderr.splitlines())
        return done.stdout.splitlines()

    # The first call of a kubectl asks the server for all its types and may take longer than completion waits.
    subprocess.run([str(plane.kubectl), "get", "resourceslices"], env=environment, check=True, capture_output=True)
    yield complete
    for path, body in reversed(OBJECTS[1:]):
        client.request("DELETE", f"{path}/{body['metadata']['name']}")  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("why-p",), ["why-pending\tWhy pods and claims wait for devices, and what would make them fit", ":4"]),
        (("get", "pools", "-o", "ya"), ["yaml", ":4"]),
        (("--context", ""), ["test", ":4"]),
        (("-n", "complet"), [NAMESPACE, ":4"]),
        (("-n", NAMESPACE, "why-pending", "wai"), ["waiting\tPending", ":4"]),
        (("describe-claim", "-n", NAMESPACE, "m"), ["mine\tpending", ":4"]),
        (("get", "classes", "tab"), [DRIVER, ":4"]),
        (("describe-pool", "tab"), [f"{DRIVER}/shelf", ":4"]),
        (("taint-device", "tab"), [f"{DRIVER}/shelf/", ":6"]),
        (("taint-device", f"{DRIVER}/shelf/gpu-1"), [f"{DRIVER}/shelf/gpu-1\tM1", ":4"]),
        (
            ("test-selector", f'device.attributes["{DRIVER}"].'),
            [f'device.attributes["{DRIVER}"].model\tseen: M1', ":6"],
        ),
        (("convert", "-f", ""), [":0"]),
    ],
)
def test_candidates(words_of, words: tuple[str, ...], expected: list[str]) -> None:
    assert words_of(*words) == expected


def test_a_kept_answer_is_given_again(words_of, client: Client, cache: Path) -> None:
    """Answers are kept for ten seconds, which one call may take on a busy machine: one of several tries has to do."""
    question = ("get", "claim", "-n", "default", "k")
    body = OBJECTS[3][1] | {"metadata": {"name": "kept", "namespace": "default"}}
    path = f"{API}/namespaces/default/resourceclaims"
    for _ in range(5):
        client.request("POST", path, body)
        for file in cache.rglob("*.json"):
            file.unlink()
        assert words_of(*question) == ["kept\tpending", ":4"]
        client.request("DELETE", f"{path}/kept")
        for file in cache.rglob("*.json"):
            os.utime(file)
        if words_of(*question) == ["kept\tpending", ":4"]:
            return
    pytest.fail("asked again at once")


# --- what the README says about kubectl itself ----------------------------------------------------------------------


def test_without_the_plugin_the_name_leads_to_drain(plane: ControlPlane) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    command = [str(plane.kubectl), "__complete", "dra"]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == ["drain", ":4"]


def test_kubectl_refuses_flags_before_the_plugin(plane: ControlPlane) -> None:
    command = [str(plane.kubectl), "--context", "test", "dra", "version"]
    environment = plane_environment(plane)
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "flags cannot be placed before plugin name" in done.stderr
