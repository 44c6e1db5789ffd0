"""No process outlives its owner: not after a normal end, not after a signal that leaves no chance to clean up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.controlplane import ControlPlane, StartError, binaries
from tests.controlplane.process import Process

_ROOT = Path(__file__).parents[2]


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A dead process that nobody has waited for yet still has an id.
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def _wait_until_ended(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if _ended(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_child_ends_with_its_owner(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        "import signal, time; from pathlib import Path; from tests.controlplane.process import Process\n"
        # What a shell starts in the background ignores it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"child = Process('sleep', ['sleep', '60'], Path({str(tmp_path / 'log')!r}))\n"
        "print(child._child.pid, flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, encoding="utf-8", cwd=_ROOT)
    assert owner.stdout is not None
    child = int(owner.stdout.readline())
    assert not _ended(child)
    owner.send_signal(number)
    owner.wait()
    assert _wait_until_ended(child)


def test_a_program_that_ignores_sigterm_is_ended_with_its_group(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 60 & echo $!; wait"
    stubborn = Process("stubborn", ["sh", "-c", script], tmp_path / "log")
    while not stubborn.log_tail().endswith("\n"):
        time.sleep(0.02)
    grandchild = int(stubborn.log_tail())
    stubborn.stop()
    assert not stubborn.running()
    assert _wait_until_ended(grandchild)


def test_a_program_that_ends_at_once_is_reported_with_its_log(tmp_path: Path) -> None:
    for program in ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"):
        (tmp_path / program).write_text("#!/bin/sh\necho no such luck\nexit 3\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    plane = ControlPlane(tmp_path)
    with pytest.raises(StartError, match="no such luck"), plane:
        pass
    assert not plane.folder.exists()


@pytest.mark.controlplane
def test_two_control_planes_run_side_by_side() -> None:
    folder = binaries()
    with ControlPlane(folder) as one, ControlPlane(folder) as other:
        one.client().create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "only-here"}})
        assert one.client().get("Namespace", "only-here") is not None
        assert other.client().get("Namespace", "only-here") is None
        pids = [process._child.pid for plane in (one, other) for process in plane._processes]
        assert len(pids) == 8
    assert all(_ended(pid) for pid in pids)
