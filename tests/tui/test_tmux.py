"""The real executable in a real terminal: starts, shows, is typed into, leaves the terminal as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.tmux, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]
_SECONDS = 40.0


class Terminal:
    """A tmux session of its own server."""

    def __init__(self, folder, size=(80, 24), **environment):
        self._command = ["tmux", "-S", str(folder / "socket"), "-f", "/dev/null"]
        width, height = size
        extra = [part for name, value in environment.items() for part in ("-e", f"{name}={value}")]
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), *extra, "PS1='$ ' sh")
        self.wait("$")

    def tmux(self, *arguments):
        done = subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=True, env=self._env())
        return done.stdout

    def _env(self):
        return {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self, *, escapes=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []))

    def wait(self, text, *, gone=False):
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if (text in self.screen()) is not gone:
                return self.screen()
            time.sleep(0.1)
        raise AssertionError(f"{text!r} {'stayed' if gone else 'never appeared'}:\n{self.screen()}")

    def close(self):
        subprocess.run([*self._command, "kill-server"], check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path):
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


def start(terminal, *arguments):
    terminal.type(f"{sys.executable} -m kubectl_dra tui --from demo {' '.join(arguments)}")
    terminal.keys("Enter")
    terminal.wait("Pending, by reason")


def test_looking_around(terminal):
    start(terminal)
    terminal.wait("devices in use")
    terminal.keys("4")
    terminal.wait("21 pods, 15 reasons")
    terminal.keys("/")
    terminal.type("trainer")
    terminal.wait("1 of 21 pods")
    terminal.keys("Enter")
    terminal.keys("Enter")
    terminal.wait("Pod ml/trainer-0 cannot be scheduled")
    terminal.keys("Escape")
    terminal.wait("1 of 21 pods")
    terminal.keys("5")
    terminal.wait("Write a condition")
    terminal.type("mod")
    terminal.wait("32 devices")
    terminal.keys("Tab")
    terminal.wait("Fails on all 32 devices")
    terminal.keys("C-c")
    # The selector that was being written is on the ordinary screen again.
    screen = terminal.wait("The selector that you were writing:")
    assert 'device.attributes["gpu.example.com"].model' in screen
    assert "Pending" not in screen
    terminal.type("echo as-$((1+1))-was; stty -a | grep -o ' echo '")
    terminal.keys("Enter")
    screen = terminal.wait("as-2-was")
    assert " echo" in screen


def test_resizing(terminal):
    start(terminal)
    terminal.tmux("resize-window", "-x", "140", "-y", "40")
    terminal.wait("Classes")
    terminal.tmux("resize-window", "-x", "60", "-y", "15")
    terminal.wait("Classes", gone=True)
    terminal.keys("q")
    terminal.wait("OVERVIEW", gone=True)


@pytest.mark.parametrize("settings", [{"NO_COLOR": "1"}, {"TERM": "screen"}, {"COLORTERM": "truecolor"}], ids=str)
def test_colours(tmp_path, settings):
    terminal = Terminal(tmp_path, **settings)
    try:
        start(terminal)
        terminal.wait("devices in use")
        terminal.keys("2")
        assert "rack-7" in terminal.wait("incomplete")
    finally:
        terminal.close()


def test_without_a_terminal():
    done = subprocess.run(
        [sys.executable, "-m", "kubectl_dra", "tui", "--from", "demo"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 1
    assert "needs a terminal" in done.stderr
    assert not done.stdout
