"""The real executable in a real terminal: starts, shows, is typed into, leaves the terminal as it was."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tmux, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]
# Nothing is expected within this time: it only ends a test that will never succeed.
_SECONDS = 180.0
_TRUE = re.compile(r"\x1b\[[0-9;]*[34]8;2;")
_INDEXED = re.compile(r"\x1b\[[0-9;]*[34]8;5;")
_COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|4[0-7]|9[0-7]|38|48)[;m]")
RUN = f"{sys.executable} -m kubectl_dra"


class Terminal:
    """A tmux session of its own server."""

    def __init__(self, folder, size):
        # What the program remembers is the user's, not a test's.
        self._own = {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._command = ["tmux", "-S", str(folder / "s"), "-f", "/dev/null"]
        width, height = size
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), "PS1='$ ' sh")
        self.tmux("set-option", "-s", "set-clipboard", "on")
        self.wait("$")

    def tmux(self, *arguments):
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM", "TMUX")}
        environment = {**clean, **self._own, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, encoding="utf-8", check=True, env=environment
        )
        return done.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, line):
        self.type(line)
        self.keys("Enter")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def drawn(self):
        return self.tmux("capture-pane", "-p", "-e")

    def says(self, what):
        """A variable of tmux."""
        return self.tmux("display-message", "-p", f"#{{{what}}}").strip()

    def until(self, condition, what):
        end = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < end, f"{what}:\n{self.screen()}"
            time.sleep(0.1)

    def wait(self, text):
        self.until(lambda: text in self.screen(), f"{text!r} never appeared")

    def wait_gone(self, text):
        self.until(lambda: text not in self.screen(), f"{text!r} stayed")

    def close(self):
        subprocess.run([*self._command, "kill-server"], check=False, capture_output=True)


@contextmanager
def terminal(size=(80, 24)):
    # The path of a socket has little room.
    folder = Path(tempfile.mkdtemp(prefix="dra"))
    opened = Terminal(folder, size)
    try:
        yield opened
    finally:
        opened.close()
        shutil.rmtree(folder, ignore_errors=True)


def start(at, source="demo", **environment):
    # tmux sets TERM itself for what it starts.
    settings = " ".join(f"{name}={value}" for name, value in environment.items())
    at.run(f"{settings} {RUN} tui --from {source}")
    at.wait("Pending, by reason")
    at.wait("devices in use")


def check_left(at):
    """The terminal is as it was: the ordinary screen, a cursor, no mouse, echo."""
    at.until(lambda: at.says("alternate_on") == "0", "the other screen stayed")
    at.until(lambda: at.says("mouse_any_flag") == "0", "the mouse is still asked for")
    at.until(lambda: at.says("cursor_flag") == "1", "the cursor stayed hidden")
    at.run("echo found-$(stty -a | grep -c ' echo ')")
    at.wait("found-1")


def test_looking_around():
    with terminal() as at:
        start(at)
        at.keys("4")
        at.wait("21 pods, 15 reasons")
        # All at once, as somebody who knows the keys types them.
        at.type("/trainer")
        at.wait("1 of 21 pods")
        at.keys("Enter", "Enter")
        at.wait("Pod ml/trainer-0 is pending")
        at.keys("Escape")
        at.wait("1 of 21 pods")
        at.keys("2")
        at.wait("nic.example.com  rack-7")
        at.keys("c")
        at.until(
            lambda: "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq" in at.tmux("list-buffers"),
            "nothing came to the clipboard",
        )
        at.keys("5")
        at.wait("Write a condition")
        at.type("mod")
        at.wait("32 devices")
        at.keys("Tab")
        at.wait("Fails on all 32 devices")
        at.keys("C-c")
        # The selector that was being written is on the ordinary screen again.
        at.wait("The selector that you were writing:")
        at.wait('device.attributes["gpu.example.com"].model')
        check_left(at)


def test_keys_that_were_typed_while_the_program_started():
    """Until it has the terminal, enter becomes a line feed there."""
    with terminal() as at:
        at.run(f"{RUN} tui --from demo")
        at.type(":pod ml/trainer-0")
        at.keys("Enter")
        at.wait("Pod ml/trainer-0 is pending")


def test_resizing():
    with terminal() as at:
        start(at)
        at.tmux("resize-window", "-x", "140", "-y", "40")
        at.wait("Classes")
        at.tmux("resize-window", "-x", "60", "-y", "15")
        at.wait_gone("Classes")
        at.keys("q")
        at.wait_gone("OVERVIEW")
        check_left(at)


COLOURS = {
    "none": ({"NO_COLOR": "1"}, ()),
    "16": ({"TERM": "screen"}, (_COLOUR,)),
    "256": ({"TERM": "screen-256color"}, (_COLOUR, _INDEXED)),
    "true": ({"TERM": "tmux-direct"}, (_COLOUR, _TRUE)),
    "named": ({"TERM": "tmux-256color", "COLORTERM": "truecolor"}, (_COLOUR, _TRUE)),
}


@pytest.mark.parametrize("name", COLOURS)
def test_colours(name):
    environment, expected = COLOURS[name]
    with terminal() as at:
        start(at, **environment)
        at.keys("2")
        at.wait("2 POOLS")
        at.wait("nic.example.com  rack-7")
        drawn = at.drawn()
        assert [each for each in (_COLOUR, _INDEXED, _TRUE) if each.search(drawn)] == list(expected)
        # The row under the cursor can be told from the others in any case.
        at.until(lambda: has_cursor_row(at.drawn()), "no row stands out")
        at.keys("q")
        check_left(at)


def has_cursor_row(drawn):
    row, other = (
        line.partition("gke-")[0]
        for line in drawn.split("\n")
        if "gke-prod-h100-5f3a2b1c-k4tq" in line or "gke-prod-h100-5f3a2b1c-x9zk" in line
    )
    return "\x1b[" in row and row != other


def test_inline():
    with terminal((100, 30)) as at:
        at.run("echo what-was-$((1+1))")
        at.wait("what-was-2")
        at.run(f"{RUN} test-selector -i --from demo true")
        at.wait("All 47 devices match")
        assert "what-was-2" in at.screen()
        at.type(" && dev")
        at.wait("Does not compile")
        at.keys("C-c")
        at.wait("true && dev")
        check_left(at)


@pytest.mark.parametrize("command", ["tui --from demo", "test-selector -i --from demo true"])
def test_the_terminal_is_closed(command):
    with terminal((100, 30)) as at:
        at.run(f"exec {RUN} {command}")
        at.wait("47")
        at.wait("kubectl dra")
        process = Path("/proc") / at.says("pane_pid")
        assert process.exists()
        at.close()
        at.until(lambda: not process.exists(), "it runs on without a terminal")


def test_without_a_terminal():
    done = subprocess.run(
        [*RUN.split(), "tui", "--from", "demo"],
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 1
    assert "needs a terminal" in done.stderr
    assert not done.stdout


def test_what_cannot_be_read_ends_before_the_screen():
    with terminal((120, 24)) as at:
        at.run(f"{RUN} tui --from /nosuch.json; echo ended-$?")
        at.wait("ended-1")
        assert "error: /nosuch.json: No such file or directory" in at.screen()
        at.run(f"TERM=dumb {RUN} tui --from demo; echo ended-$?")
        at.wait("can't draw on TERM=dumb")


def test_keys_come_from_the_terminal_where_stdin_is_the_cluster():
    cluster = Path(__file__).parents[2] / "kubectl_dra" / "source" / "demo" / "cluster.json"
    with terminal((120, 24)) as at:
        at.run(f"cat {cluster} | {RUN} tui --from -; echo ended-$?")
        at.wait("devices in use")
        at.type("/trainer-0")
        at.wait("ml/trainer-0-gpus-x9grb")
        at.keys("C-c")
        at.wait("ended-130")
        check_left(at)
