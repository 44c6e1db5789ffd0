"""One control plane of each older minor, running one after the other, and the plugin as the real kubectl runs it.

``MINORS`` in the environment chooses: ``MINORS="1.30 1.31"``. What is missing of a minor is built first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import OLD, Client, ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.matrix.cases import cases, minors

Explain = Callable[..., dict[str, Any]]


def chosen() -> list[str]:
    """The minors of this run."""
    return os.environ.get("MINORS", "").split() or minors()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests with a ``case`` run for every case of every chosen minor, those with only a ``minor`` once for each."""
    if "case" in metafunc.fixturenames:
        found = [case for minor in chosen() for case in cases(minor).values()]
        ids = [f"{case.minor}-{case.name}" for case in found]
        rows = [(case.minor, case) for case in found]
        metafunc.parametrize(("minor", "case"), rows, ids=ids, indirect=["minor"], scope="session")
    elif "minor" in metafunc.fixturenames:
        metafunc.parametrize("minor", chosen(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def minor(request: pytest.FixtureRequest) -> str:
    """The minor of the control plane."""
    value: str = request.param
    return value


@pytest.fixture(scope="session")
def plane(minor: str) -> Iterator[ControlPlane]:
    """Its running control plane."""
    with ControlPlane(binaries(minor), release=OLD[minor]) as running:
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Client:
    """The administrator's requests."""
    return plane.client()


@pytest.fixture
def explain(plane: ControlPlane) -> Explain:
    """``kubectl dra ARGUMENTS -o json``, decoded."""
    plugin = Path(sysconfig.get_path("scripts")) / "kubectl-dra"
    assert plugin.exists(), f"{plugin} is missing: install the project into this environment"

    def run(*arguments: str) -> dict[str, Any]:
        command = [str(plane.kubectl), "dra", *arguments, "-o", "json"]
        environment = plane_environment(plane)
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    return run
