"""Writes on a bad way to the server: each is sent once at most, and what is said to be true is true."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.fake_rules import FakeCluster
from tests.kit.faulty_proxy import BODY, INSTEAD, Call, Fault, Faults, faulty

pytestmark = [pytest.mark.usefixtures("impatient"), pytest.mark.one_in(3)]
DEVICE = "nic.example.com/rack-1/nic-3"
Write = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with running(FakeCluster()) as server:
        assert isinstance(server, FakeCluster)
        yield server


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def taint(
    cluster: FakeCluster,
    faults: Faults,
    certificate: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Write]:
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(faulty(cluster.url, faults, None, *certificate))
        path = write_kubeconfig(tmp_path, url, cluster={"certificate-authority": str(certificate[0])})
        monkeypatch.setenv("KUBECONFIG", str(path))

        def call(*words: str) -> tuple[int, str, str]:
            code = run(["taint-device", *words, "-y"])
            return (code, *capfd.readouterr())

        yield call


def writes(call: Call) -> bool:
    """A request that changes something; a dry run does not."""
    return call.method in ("POST", "PATCH") and "dryRun" not in call.query


@pytest.mark.parametrize("fault", sorted((INSTEAD | BODY) - {Fault.GONE}))
def test_a_write_is_sent_once_and_the_truth_is_told(
    cluster: FakeCluster, faults: Faults, taint: Write, fault: Fault
) -> None:
    faults.order(fault, writes)
    before = set(cluster.rules)
    code, out, err = taint(DEVICE, "example.com/link:NoSchedule")
    made = sorted(set(cluster.rules) - before)
    assert sum(map(writes, faults.calls)) == 1, "never twice"
    assert faults.counts[fault] == 1
    if fault in BODY:
        # The server has done it, only its answer did not come.
        assert len(made) == 1
        assert (code, made[0] in out) == (0, True)
        assert ("but it was done" in err) is (fault is not Fault.SLOW)
    else:
        assert (code, made) == (1, [])
        assert "does not exist" in err
        assert "try: " in err
