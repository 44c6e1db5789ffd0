"""The process as a whole: signals at any time, readers that go away, full disks, read-only homes, runs side by side."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.fake_rules import FakeCluster
from tests.kit.recording_proxy import Fault, recording
from tests.kit.sample import sampled
from tests.terminal import Terminal, terminal

pytestmark = pytest.mark.one_in(8)

PROGRAM = (sys.executable, "-m", "kubectl_dra")
# Every command that prints, with an answer that is longer than a pipe or shorter.
PRINTING = (
    ("why-pending", "-A", "-o", "json"),
    ("why-pending", "trainer-0", "-n", "ml"),
    ("describe-pool",),
    ("describe-claim", "serve-0-net", "-n", "ml"),
    ("test-selector", "true"),
    ("get", "devices", "-o", "yaml"),
    ("taint-device", "--list"),
    ("snapshot",),
    ("completion", "bash"),
    ("--help",),
)


def start(*words: str, **how: Any) -> subprocess.Popen[bytes]:
    """A run on the demo cluster; a bare ``--help`` or completion needs none."""
    source = () if words[0] in ("completion", "--help") else ("--from", "demo")
    how.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([*PROGRAM, *words, *source], stderr=subprocess.PIPE, **how)


def outcome(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Exit code and stderr."""
    _, err = process.communicate(timeout=60)
    return process.returncode, err.decode()


# --- readers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", sampled(map(" ".join, PRINTING), 6))
def test_a_reader_that_is_gone_is_no_error(line: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(*line.split(), stdout=writing)
    os.close(writing)
    code, err = outcome(process)
    assert (code, [line for line in err.splitlines() if not line.startswith("note:")]) == (0, [])


def test_closed_streams(tmp_path: Path) -> None:
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$@" {closed}', "sh", *PROGRAM, "get", "classes", "--from", "demo"],
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), closed


# --- full disks -----------------------------------------------------------------------------------------------------


def test_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "wb") as full:
        code, err = outcome(start("get", "devices", stdout=full))
    assert code == 1
    assert err.splitlines() == [
        "error: the answer could not be written: No space left on device",
        "try:   free some space, or write it elsewhere",
    ]


#: Else the byte code of a module that is imported first here would be cut off as well, and be kept.
NO_BYTE_CODE = {"PYTHONDONTWRITEBYTECODE": "1"}


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))


def test_a_snapshot_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "cluster.json"
    target.write_text("what was there", encoding="utf-8")
    environment = {**os.environ, **NO_BYTE_CODE}
    code, err = outcome(start("snapshot", "-o", str(target), preexec_fn=_small_files, env=environment))
    assert code == 1
    assert err.splitlines()[0] == f"error: {target}: File too large"
    assert err.splitlines()[1].startswith("try: ")
    assert target.read_text(encoding="utf-8") == "what was there"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_file_that_gets_too_large(tmp_path: Path, unbuffered: str) -> None:
    environment = {**os.environ, **NO_BYTE_CODE, "PYTHONUNBUFFERED": unbuffered}
    with (tmp_path / "out").open("wb") as file:
        code, err = outcome(start("snapshot", stdout=file, preexec_fn=_small_files, env=environment))
    assert code == 1
    assert err.startswith("error: the answer could not be written: File too large\n")


# --- homes and neighbours -------------------------------------------------------------------------------------------


def test_a_home_that_cannot_be_written_to(tmp_path: Path) -> None:
    # Not by permissions: the tests may run as root.
    (tmp_path / "file").write_text("", encoding="utf-8")
    for home in (tmp_path / "file", tmp_path / "missing"):
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
        for words in (("get", "classes"), ("__complete", "get", "pools", "")):
            process = start(*words, stdout=subprocess.DEVNULL, env=environment)
            assert outcome(process) == (0, ""), (home, words)


def test_runs_side_by_side(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    target = tmp_path / "cluster.json"
    words = [("__complete", "get", "pools", ""), ("snapshot", "-o", str(target))] * 3
    processes = [start(*each, stdout=subprocess.DEVNULL, env=environment) for each in words]
    assert [outcome(process)[0] for process in processes] == [0] * 6
    assert json.loads(target.read_text(encoding="utf-8"))["kind"] == "Snapshot"
    assert [path.name for path in tmp_path.iterdir() if "cluster" in path.name] == [target.name]


# --- signals --------------------------------------------------------------------------------------------------------


# What comes before, the start of Python itself, is not ours; a byte tells that it is over.
_BEGUN = (
    "import kubectl_dra.__main__ as m, os, signal; signal.signal(signal.SIGINT, m._leave); os.write(1, b'.'); m.main()"
)


def test_an_interrupt_at_any_time_is_no_traceback() -> None:
    chance = random.Random(12)
    for number in range(8):
        words = (*PRINTING[number % 8], "--from", "demo")
        process = subprocess.Popen(
            [sys.executable, "-c", _BEGUN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        time.sleep(chance.uniform(0, 0.6))
        process.send_signal(signal.SIGINT)
        code, err = outcome(process)
        # Python gives the signal back as it ends; a shell says 130 for what the signal itself ended as well.
        assert code in (0, 130, -signal.SIGINT), err
        assert "Traceback" not in err
        if code:
            assert err.strip("\n") == ""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeCluster()) as server:
        assert isinstance(server, FakeCluster)
        yield server


Asking = Callable[..., Terminal]
OBSERVE = ("nic.example.com/rack-1/nic-3", "example.com/link:NoExecute")


@pytest.fixture
def kubeconfig(cluster: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write_kubeconfig(tmp_path, cluster.url)
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.mark.usefixtures("kubeconfig")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_observation_that_is_ended_leaves_no_rule(cluster: FakeCluster, number: signal.Signals) -> None:
    before = set(cluster.rules)
    with terminal([*PROGRAM, "taint-device", *OBSERVE, "--observe"], os.environ) as at:
        at.until("[y/N]")
        at.type("y")
        _until(lambda: set(cluster.rules) - before)
        at.send(number)
        code, _, shown = at.end()
    assert code == -number
    assert set(cluster.rules) == before
    assert "Traceback" not in shown


@pytest.mark.usefixtures("kubeconfig")
def test_the_first_of_two_steps_is_told_when_the_second_is_not_waited_for(cluster: FakeCluster) -> None:
    before = set(cluster.rules)
    with terminal([*PROGRAM, "taint-device", *OBSERVE], os.environ) as at:
        at.until("[t]wo steps, [a]ll at once, [N]othing?")
        at.type("t")
        at.until("[y/N]")
        at.send(signal.SIGTERM)
        code, _, shown = at.end()
    assert code == -signal.SIGTERM
    assert len(set(cluster.rules) - before) == 1
    assert "Nobody is evicted. NoSchedule stays on 1 device" in shown


def test_a_write_without_an_answer_is_told_when_it_is_not_waited_for(
    cluster: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording(cluster.url) as proxy:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, proxy.url)))
        with terminal([*PROGRAM, "taint-device", OBSERVE[0], "example.com/link:NoSchedule"], os.environ) as at:
            at.until("[y/N]")
            proxy.confirmed()
            proxy.fault = Fault.SILENT_AFTER
            at.type("y")
            _until(lambda: proxy.writes)
            at.send(signal.SIGTERM)
            code, _, shown = at.end()
    assert code == -signal.SIGTERM
    assert "Interrupted: 0 of 1 rule written; whether rule" in shown


@pytest.mark.usefixtures("kubeconfig")
def test_an_interrupt_leaves_the_terminal_as_it_was(cluster: FakeCluster) -> None:
    cases = [
        (("taint-device", OBSERVE[0], "example.com/link:NoSchedule"), "[y/N]", signal.SIGINT, 130),
        (("get", "claims", "-A", "-w"), "monitor-nics", signal.SIGINT, 130),
        (("tui",), "● live", signal.SIGINT, 130),
        (("tui",), "● live", signal.SIGTERM, 143),
    ]
    for words, shown, number, code in cases:
        with terminal([*PROGRAM, *words], {**os.environ, "TERM": "xterm-256color"}) as at:
            before = at.settings()
            at.until(shown)
            if words == ("tui",):
                assert at.settings() != before
            at.send(number)
            ended, _, everything = at.end()
            assert ended == code, words
            assert at.settings() == before, words
            assert everything.count("\x1b[?1049h") == everything.count("\x1b[?1049l"), words
            assert everything.rfind("\x1b[?25h") >= everything.rfind("\x1b[?25l"), words


# What leaves Python no time for anything.
DEADLY = [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL]


def _no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


ON_TERMINALS = ("tui --from demo", "test-selector -i --from demo")


@pytest.mark.parametrize(("line", "number"), sampled(product(ON_TERMINALS, DEADLY), 4, lambda case: case[0]))
def test_what_ends_at_once_leaves_the_terminal_as_it_was(line: str, number: signal.Signals) -> None:
    _no_core()
    if number == signal.SIGQUIT:
        # Whoever runs the tests in the background of a shell has it ignored, which children inherit.
        signal.signal(number, signal.SIG_DFL)
    with terminal([*PROGRAM, *line.split()], {**os.environ, "TERM": "xterm-256color"}) as at:
        before = at.settings()
        at.until("\x1b[?2004h")
        _until(lambda: at.settings() != before)
        at.send(number)
        ended, _, everything = at.end()
        assert ended == -number
        assert at.settings() == before
        for mode in ("1049", "1000", "1003", "1006", "2004"):
            on, off = everything.rfind(f"\x1b[?{mode}h"), everything.rfind(f"\x1b[?{mode}l")
            assert off >= on, mode
        assert everything.rfind("\x1b[?25h") > everything.rfind("\x1b[?25l")


def test_the_settings_of_whoever_is_back_stay(tmp_path: Path) -> None:
    """A shell that has taken over the terminal meanwhile wants its own settings."""
    with terminal([*PROGRAM, "tui", "--from", "demo"], {**os.environ, "TERM": "xterm-256color"}) as at:
        before = at.settings()
        at.until("\x1b[?2004h")
        _until(lambda: at.settings() != before)
        theirs = list(before)
        theirs[3] = int(theirs[3]) & ~termios.ECHO  # type: ignore[call-overload]
        at.change(theirs)
        at.send(signal.SIGKILL)
        at.end()
        assert at.settings() == theirs


def _until(test: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not test():
        assert time.monotonic() < deadline
        time.sleep(0.02)
