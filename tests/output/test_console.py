"""The one writer: colours, streams, errors."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.output.console import ColorMode, Console, prepare_streams
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.safe import Safe, Style, styled

pytestmark = pytest.mark.one_in(3)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("mode", "stream", "no_color", "coloured"),
    [
        (ColorMode.AUTO, Terminal(), "", True),
        (ColorMode.AUTO, Terminal(), "1", False),
        (ColorMode.AUTO, io.StringIO(), "", False),
        (ColorMode.ALWAYS, io.StringIO(), "1", True),
        (ColorMode.NEVER, Terminal(), "", False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch, mode: ColorMode, stream: io.StringIO, no_color: str, coloured: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_color)
    assert Console(mode).colors(stream) is coloured
    monkeypatch.setattr(sys, "stdout", stream)
    Console(mode).out(styled(Safe("x"), Style.BAD))
    assert ("\x1b" in stream.getvalue()) is coloured


def test_a_dumb_terminal_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert not Console().colors(Terminal())


def test_errors_are_two_safe_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    Console().error('pods "a\x1b[2J" not found\nx', "kubectl dra why-pending -A")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == 'error: pods "a\\u{1b}[2J" not found\\u{a}x\ntry:   kubectl dra why-pending -A\n'


def test_a_stream_that_can_not_show_a_character_gets_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    prepare_streams()
    Console().out(Safe("a … b"))
    sys.stdout.flush()
    assert raw.getvalue() == b"a \\u2026 b\n"


def test_exit_codes() -> None:
    assert finding_code(asked=False, bad=True, partial=True) is ExitCode.OK
    assert finding_code(asked=True, bad=True, partial=True) is ExitCode.FINDING
    assert finding_code(asked=True, bad=False, partial=True) is ExitCode.PARTIAL
    assert finding_code(asked=True, bad=False) is ExitCode.OK
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "ERROR": 1,
        "USAGE": 2,
        "FINDING": 3,
        "PARTIAL": 4,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize("words", ["version", "--help", "why-pending -A --from demo", "get pools --from demo -o json"])
def test_a_full_disk_is_an_error_in_two_lines(words: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = _run(words, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == ExitCode.ERROR
    assert done.stderr == (
        "error: the answer could not be written: No space left on device\n"
        "try:   free some space, or write it elsewhere\n"
    )


def test_nowhere_to_complain_is_no_crash() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert _run("version", stdout=full, stderr=full).returncode == ExitCode.ERROR


@pytest.mark.parametrize(
    ("closing", "code"), [("demo >&-", 0), ("demo 2>&-", 0), ("demo >&- 2>&- <&-", 0), ("- <&-", 1)]
)
def test_closed_streams_are_no_crash(closing: str, code: int) -> None:
    words = ["sh", "-c", f"exec {sys.executable} -m kubectl_dra get pools --from {closing}"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def _run(words: str, **streams: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubectl_dra", *words.split()]
    return subprocess.run(command, encoding="utf-8", check=False, **streams)


class Crowded(io.StringIO):
    """Notices when somebody writes while another is at it."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.most, self.second = 0, 0, threading.Event()

    def write(self, text: str) -> int:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside > 1:
            self.second.set()
        self.second.wait(0.1)
        self.inside -= 1
        return super().write(text)


def test_threads_write_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Crowded()
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console(ColorMode.NEVER)
    writers = [threading.Thread(target=console.note, args=(Safe(f"note {number}"),)) for number in range(2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert stream.most == 1
    assert sorted(stream.getvalue().splitlines()) == ["note 0", "note 1"]
