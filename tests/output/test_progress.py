"""Progress on a terminal: late, in one line, gone before anything else is written, and nowhere but on a terminal."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

from bench import large
from kubectl_dra import __main__
from kubectl_dra.output.progress import Progress
from tests.kit.pseudo_terminal import pseudo_terminal

pytestmark = pytest.mark.one_in(5)

ROOT = Path(__file__).parents[2]
ERASE = b"\r\x1b[K"


def test_the_line_comes_and_goes() -> None:
    with pseudo_terminal() as (screen, stream):
        progress = Progress(patience=0, interval=0.001)
        progress.begin(stream)
        progress.say("Reading a\u202eb", 0.25)
        assert ERASE + rb"Reading a\u{202e}b ... 25%" in screen.until(b"25%")
        progress.say("Comparing")
        assert b"Comparing ... " in screen.until(b"... 1 s")
        with progress.aside():
            os.write(stream.fileno(), b"note\n")
        assert ERASE + b"note\r\n" in screen.until(b"note\r\n")
        screen.until(b"Comparing")
        progress.end()
        os.write(stream.fileno(), b"end\n")
        assert screen.until(b"end\r\n").endswith(ERASE + b"end\r\n")
        assert progress.leftover() == b""


def test_nothing_before_its_time() -> None:
    with pseudo_terminal() as (screen, stream):
        progress = Progress(patience=1000)
        progress.begin(stream)
        progress.say("Reading", 0.5)
        progress.end()
        os.write(stream.fileno(), b"end\n")
        assert screen.until(b"end\r\n") == b"end\r\n"


def test_a_name_fits_into_a_line() -> None:
    with pseudo_terminal() as (screen, stream):
        progress = Progress(patience=0, interval=0.001)
        progress.begin(stream)
        progress.say("x" * 500)
        line = screen.until(b" s").split(ERASE)[1]
        assert len(line) < 80
        progress.end()


def test_a_line_that_is_being_written_is_removed_and_is_the_last() -> None:
    writing = threading.Event()

    class Slow(Progress):
        def _put(self, data: bytes) -> None:
            super()._put(data)
            writing.set()
            time.sleep(0.05)

    with pseudo_terminal() as (screen, stream):
        progress = Slow(patience=0, interval=0.001)
        progress.begin(stream)
        progress.say("Reading")
        assert writing.wait(10)
        os.write(stream.fileno(), progress.leave() + b"left\n")
        time.sleep(0.01)
        assert screen.rest(stream).endswith(ERASE + b"left\r\n")
        assert progress._lock is not None
        progress._lock.release()
        progress.end()


def test_nothing_where_no_terminal_is() -> None:
    before = threading.active_count()
    progress = Progress(patience=0)
    progress.begin(io.StringIO())
    progress.say("Reading", 0.5)
    with progress.aside():
        assert threading.active_count() == before
    progress.end()


# --- the program ----------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
from kubectl_dra.output.progress import PROGRESS
PROGRESS._patience, PROGRESS._interval = 0.0, 0.001
from kubectl_dra.__main__ import main
sys.argv = ["kubectl-dra", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("progress") / "cluster.json"
    large.write(path, 2000)
    return path


def started(*arguments: str, stderr: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr)


def test_a_command_shows_it_on_the_terminal_and_nothing_in_the_answer(file: Path) -> None:
    with pseudo_terminal() as (screen, stream):
        with started("get", "pools", "-o", "json", "--from", str(file), stderr=stream.fileno()) as process:
            assert process.stdout is not None
            answer = process.stdout.read()
            assert process.wait() == 0
        said = screen.until(b"taken as if")
        with started("get", "pools", "-o", "json", "--from", str(file), stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            assert process.stdout.read() == answer
        assert b"Reading " in said
        # What was shown is erased before the note.
        assert said.rpartition(b"note: ")[0].endswith(ERASE)


def test_an_interruption_leaves_no_line_behind(file: Path) -> None:
    with pseudo_terminal() as (screen, stream):
        with started("get", "devices", "--from", str(file), stderr=stream.fileno()) as process:
            before = screen.until(b"%")
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
        os.write(stream.fileno(), b"end\n")
        # The line may have been erased together with the last that was seen of it.
        assert (before + screen.until(b"end\r\n")).rpartition(ERASE)[2] == b"\r\nend\r\n"


@pytest.mark.parametrize("loaded", [None, ModuleType("kubectl_dra.output.progress")])
def test_an_interruption_while_the_program_is_imported_ends_it_at_once(
    loaded: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, codes = list[bytes](), list[int]()
    monkeypatch.setitem(sys.modules, "kubectl_dra.output.progress", loaded)
    monkeypatch.setattr("os.write", lambda _stream, text: written.append(text))
    monkeypatch.setattr("os._exit", codes.append)
    __main__._leave(2, None)
    assert (written, codes) == ([b"\n"], [130])
