"""One control plane for all end-to-end tests of a process, and the plugin as the real kubectl runs it."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import ADMIN, Client, ControlPlane, User, binaries
from tests.controlplane.__main__ import plane_environment

TENANT = User("tenant")
STRANGER = User("stranger")
OPERATOR = User("operator")
Explain = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """A running control plane."""
    with ControlPlane(binaries(), [TENANT, STRANGER, OPERATOR]) as running:
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Client:
    """The administrator's requests."""
    return plane.client()


@pytest.fixture(scope="session")
def explain(plane: ControlPlane) -> Explain:
    """``kubectl dra ARGUMENTS -o json`` as a user, decoded."""
    plugin = Path(sysconfig.get_path("scripts")) / "kubectl-dra"
    assert plugin.exists(), f"{plugin} is missing: install the project into this environment"

    def run(*arguments: str, user: str = ADMIN) -> dict[str, Any]:
        command = [str(plane.kubectl), "dra", *arguments, "-o", "json"]
        environment = plane_environment(plane, user)
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    return run
