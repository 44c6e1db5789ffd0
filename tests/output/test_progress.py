"""Progress on a terminal: late, in one line, gone before anything else is written, and nowhere but on a terminal."""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from bench import large
from kubectl_dra import __main__
from kubectl_dra.output.progress import Progress

pytestmark = pytest.mark.one_in(3)

ROOT = Path(__file__).parents[2]
ERASE = b"\r\x1b[K"


@contextmanager
def terminal() -> Iterator[tuple[int, io.TextIOWrapper]]:
    """What a person sees of a terminal, and the stream that writes to it."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        yield master, stream
    os.close(master)


def seen(master: int, until: bytes) -> bytes:
    data = b""
    while until not in data:
        data += os.read(master, 4096)
    return data


def test_the_line_comes_and_goes() -> None:
    with terminal() as (master, stream):
        progress = Progress(patience=0, interval=0.001)
        progress.begin(stream)
        progress.say("Reading a\u202eb", 0.25)
        assert ERASE + rb"Reading a\u{202e}b ... 25%" in seen(master, b"25%")
        progress.say("Comparing")
        assert b"Comparing ... " in seen(master, b"... 1 s")
        with progress.aside():
            os.write(stream.fileno(), b"note\n")
        assert ERASE + b"note\r\n" in seen(master, b"note\r\n")
        seen(master, b"Comparing")
        progress.end()
        os.write(stream.fileno(), b"end\n")
        assert seen(master, b"end\r\n").endswith(ERASE + b"end\r\n")
        assert progress.leftover() == b""


def test_nothing_before_its_time() -> None:
    with terminal() as (master, stream):
        progress = Progress(patience=1000)
        progress.begin(stream)
        progress.say("Reading", 0.5)
        progress.end()
        os.write(stream.fileno(), b"end\n")
        assert seen(master, b"end\r\n") == b"end\r\n"


def test_a_name_fits_into_a_line() -> None:
    with terminal() as (master, stream):
        progress = Progress(patience=0, interval=0.001)
        progress.begin(stream)
        progress.say("x" * 500)
        line = seen(master, b" s").split(ERASE)[1]
        assert len(line) < 80
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
    with terminal() as (master, stream):
        with started("get", "pools", "-o", "json", "--from", str(file), stderr=stream.fileno()) as process:
            assert process.stdout is not None
            shown = threading.Thread(target=lambda: said.append(seen(master, b"taken as if")), daemon=True)
            said: list[bytes] = []
            shown.start()
            answer = process.stdout.read()
            assert process.wait() == 0
        shown.join()
        with started("get", "pools", "-o", "json", "--from", str(file), stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            assert process.stdout.read() == answer
        assert b"Reading " in said[0]
        # What was shown is erased before the note.
        assert said[0].rpartition(b"note: ")[0].endswith(ERASE)


def test_an_interruption_leaves_no_line_behind(file: Path) -> None:
    with terminal() as (master, stream):
        with started("get", "devices", "--from", str(file), stderr=stream.fileno()) as process:
            before = seen(master, b"%")
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
        os.write(stream.fileno(), b"end\n")
        # The line may have been erased together with the last that was seen of it.
        assert (before + seen(master, b"end\r\n")).rpartition(ERASE)[2] == b"\r\nend\r\n"


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
