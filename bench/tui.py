"""The terminal UI as a person meets it: a process on a pseudo-terminal, from the key to the frame that it changes.

A cluster of 80,000 devices that changes a thousand times a second is served by a process of its own
(``bench.churning``); some of its pods wait, so that diagnoses are always under way. What is measured: the first screen
after the data, keys in the long list, letters in its filter; at rest, while everything changes, and during a relist;
and the memory. In the end the cluster holds still, and every line on the screen must be what a terminal UI says that
was started only then, and has nothing but lists.

``python bench/tui.py [NODES [SECONDS]]`` prints the figures.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import pty
import re
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import server, world  # noqa: E402
from bench.frame import Budget, Cost, Measure, Row, WrongAnswerError  # noqa: E402

NODES, RATE, SECONDS = 10_000, 1_000, 60
DEVICES = NODES * world.DEVICES
KEYS = ("down", "down", "pagedown", "down", "up", "pagedown", "down", "up") * 5
LETTERS = "node-0001"
WAITING = world.WAITING_KINDS
_CODES = {
    "down": b"\x1b[B",
    "up": b"\x1b[A",
    "pagedown": b"\x1b[6~",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "escape": b"\x1b",
    "enter": b"\r",
}
_SIZE = (40, 140)
_PATIENCE = 300.0
# A key that was not drawn after so many seconds is missed.
_KEY_PATIENCE = 10.0
_PAUSE = 0.1
_TRIES = 30
# What is compared in the end: the keys that lead there from wherever one is.
_PLACES = (
    (":", "devices", "enter", "home"),
    ("end",),
    (":", "claims", "enter", "home"),
    ("end",),
    (":", "pending", "enter", "home"),
    (":", "overview", "enter"),
)
_SETTLING = 120.0
# Claims that the budget of their tab is for: of more it may take longer in proportion.
_CLAIMS = 5_000
# Milliseconds; those of a key are the others'.
_BUDGETS = {"first screen": 1000, "claims tab": 300}
# At rest all that the process does is for what was pressed: that counts, and not what else the machine does.
_AT_REST = frozenset({"claims tab", "key, at rest"})
# The row under the cursor up to the pool, in bold; the driver stands there only where there are several.
_CURSOR = rb"\x1b\[1;[0-9;]*m (?:" + re.escape(world.GPU).encode() + rb" +)?"
_TOKEN = re.compile(
    r"\x1b\[(\d*);?(\d*)H|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|([^\x1b\x00-\x1f]+)|.", re.S
)


class Screen:
    """A process on a pseudo-terminal, and all that it wrote."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
        command = [sys.executable, "-m", "kubectl_dra", "tui"]
        more = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, **more},
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(slave)
        self.text = bytearray()

    def press(self, key: str) -> None:
        """A key, by its name or as the text that it writes."""
        os.write(self.master, _CODES.get(key, key.encode()))

    def until(self, pattern: bytes, start: int = 0, patience: float = _PATIENCE) -> float:
        """When ``pattern`` was drawn behind ``start``."""
        wanted, deadline = re.compile(pattern), time.perf_counter() + patience
        while not wanted.search(self.text, start):
            if time.perf_counter() > deadline:
                raise TimeoutError(f"never drawn: {pattern!r}")
            self.read(deadline)
        return time.perf_counter()

    def read(self, deadline: float) -> None:
        """Take what the process writes."""
        ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.perf_counter()))
        if ready:
            self.text += os.read(self.master, 1 << 16)

    def lines(self) -> list[str]:
        """What stands on the screen now."""
        rows = [[" "] * _SIZE[1] for _ in range(_SIZE[0])]
        row = column = 0
        for token in _TOKEN.finditer(self.text.decode(errors="replace")):
            if token[0].endswith("H") and token[0].startswith("\x1b["):
                row, column = int(token[1] or 1) - 1, int(token[2] or 1) - 1
            elif token[0] == "\r":
                column = 0
            elif token[0] == "\n":
                row += 1
            elif token[3] and 0 <= row < _SIZE[0]:
                rows[row][column : column + len(token[3])] = token[3]
                column += len(token[3])
        return ["".join(each).rstrip() for each in rows]

    def rest(self, seconds: float) -> None:
        """Look, and press nothing."""
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            self.read(deadline)

    def cpu(self) -> float:
        """Processor seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """Megabytes at the most."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        """Leave."""
        self.process.terminate()
        # Who does not read what it still writes waits for ever; the line is cut when it ends.
        with suppress(OSError):
            while self.process.poll() is None:
                self.rest(_PAUSE)
        self.process.wait()
        os.close(self.master)


@contextmanager
def changing(nodes: int) -> Iterator[tuple[dict[str, str], Callable[[int], None]]]:
    """A cluster that is served; the environment of its clients, and how to set the number of events a second."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gpus = (world.gpu_slice(number) for number in range(nodes))
        cluster = {"nodes": world.nodes(nodes), "resourceslices": gpus, "deviceclasses": world.classes()}
        pairs = [world.waiting(number) for number in range(WAITING)]
        claims = [*world.held(nodes), *(claim for _, claim in pairs)]
        server.record(
            folder, {**cluster, "resourceclaims": claims, "pods": [*world.running(nodes), *(p for p, _ in pairs)]}
        )
        command = [sys.executable, "-m", "bench.churning", name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", cwd=ROOT) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            try:
                yield {**os.environ, "KUBECONFIG": str(_kubeconfig(folder, url))}, lambda rate: _set_rate(url, rate)
            finally:
                process.terminate()


def _kubeconfig(folder: Path, url: str) -> Path:
    path = folder / "kubeconfig"
    cluster = {"name": "bench", "cluster": {"server": url}}
    context = {"name": "bench", "context": {"cluster": "bench", "user": "bench"}}
    users = [{"name": "bench", "user": {}}]
    content = {"current-context": "bench", "clusters": [cluster], "users": users, "contexts": [context]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _set_rate(url: str, rate: int) -> None:
    with urllib.request.urlopen(f"{url}/bench/rate/{rate}", timeout=30) as answer:
        answer.read()


# --- measuring ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Seconds from each key to its frame, and processor seconds per key, all that went on beside it included.

    A key that was never drawn took infinitely long.
    """

    each: tuple[float, ...]
    cpu: float

    def __add__(self, other: Times) -> Times:
        count = len(self.each) + len(other.each)
        cpu = (self.cpu * len(self.each) + other.cpu * len(other.each)) / count if count else 0.0
        return Times(self.each + other.each, cpu)


def keys(screen: Screen, page: int) -> Times:
    """From each key to the frame in which the cursor stands in its new row."""
    row, times, cpu = _go_home(screen), [], screen.cpu()
    for key in KEYS:
        row = max(0, row + {"down": 1, "up": -1, "pagedown": page}[key])
        times.append(_drawn(screen, key, _under_cursor(row)))
        if times[-1] == math.inf:
            row = _go_home(screen)
        screen.rest(_PAUSE)
    return Times(tuple(times), (screen.cpu() - cpu) / len(times))


def _go_home(screen: Screen) -> int:
    """To the first row, from wherever the cursor is.

    On a busy machine two keys may share a frame, in which nothing moves and nothing is drawn: then once more.
    """
    for _ in range(_TRIES):
        _drawn(screen, "down", _CURSOR, _PAUSE)
        if _drawn(screen, "home", _under_cursor(0)) < math.inf:
            return 0
    raise TimeoutError("the first row is never drawn")


def _drawn(screen: Screen, key: str, pattern: bytes, patience: float = _KEY_PATIENCE) -> float:
    """Seconds until a key is drawn, infinitely many where that takes longer than ``patience``."""
    start, began = len(screen.text), time.perf_counter()
    screen.press(key)
    try:
        return screen.until(pattern, start, patience) - began
    except TimeoutError:
        return math.inf


def _under_cursor(row: int) -> bytes:
    """Text in bold up to the device's name: nothing but the cursor's row begins so."""
    node, device = divmod(row, world.DEVICES)
    return _CURSOR + f"{world.node_name(node)} +gpu-{device} ".encode()


def page_of(screen: Screen) -> int:
    """How many rows a page moves the cursor: found out once, at rest."""
    _go_home(screen)
    start, wanted = len(screen.text), _CURSOR + rb"node-([0-9]+) +gpu-([0-9]) "
    screen.press("pagedown")
    screen.until(wanted, start)
    found = re.compile(wanted).search(screen.text, start)
    assert found is not None
    return int(found[1]) * world.DEVICES + int(found[2])


def letters(screen: Screen) -> Times:
    """From each letter of a filter to the frame that shows it."""
    start = len(screen.text)
    screen.press("/")
    screen.until(rb"/ *\x1b", start)
    times, cpu = [], screen.cpu()
    for end in range(1, len(LETTERS) + 1):
        times.append(_drawn(screen, LETTERS[end - 1], re.escape(LETTERS[:end].encode())))
        screen.rest(_PAUSE)
    took = Times(tuple(times), (screen.cpu() - cpu) / len(times))
    screen.press("escape")
    screen.rest(1.0)
    return took


def _claims_tab(screen: Screen) -> Times:
    """From the key to the first frame with claims."""
    cpu = screen.cpu()
    took = _drawn(screen, "3", rb" (?:serve|train)-[0-9]+-(?:0-)?gpus")
    return Times((took,), screen.cpu() - cpu)


def _settle(screen: Screen, patience: float = 120) -> None:
    """Until the process has nothing to do."""
    deadline = time.perf_counter() + patience
    while time.perf_counter() < deadline:
        before = screen.cpu()
        screen.rest(1.0)
        if screen.cpu() - before < 0.2:
            return


Figure = tuple[str, Times | float]


def figures(nodes: int = NODES, seconds: float = SECONDS) -> Iterator[Figure]:
    """Everything in one run of the process, as it is found; seconds, and megabytes."""
    with changing(nodes) as (environment, set_rate):
        screen = Screen(environment)
        try:
            began = time.perf_counter()
            screen.until("● live".encode())
            yield "all lists", time.perf_counter() - began
            yield "all lists, processor", screen.cpu()
            yield from _first_screen(screen)
            _settle(screen)
            yield "claims tab", _claims_tab(screen)
            page = _open_devices(screen)
            yield "key, at rest", keys(screen, page)
            yield "letter, at rest", letters(screen)
            set_rate(RATE)
            screen.rest(5)
            until = time.perf_counter() + seconds
            busy = typed = Times((), 0.0)
            while not busy.each or time.perf_counter() < until:
                busy += keys(screen, page)
                typed += letters(screen)
            yield "key, 1000 events/s", busy
            yield "letter, 1000 events/s", typed
            screen.press("r")
            yield "key, during a relist", keys(screen, page)
            set_rate(0)
            yield "the same as a fresh list", same_as_fresh(screen, environment)
            yield "peak", screen.peak()
        finally:
            screen.close()


def same_as_fresh(screen: Screen, environment: dict[str, str]) -> float:
    """Seconds until a screen that has seen everything change says what a fresh one says.

    Raises :class:`WrongAnswerError` if it never does.
    """
    fresh, began = Screen(environment), time.perf_counter()
    try:
        fresh.until("● live".encode())
        for place in _PLACES:
            for key in place:
                for each in (screen, fresh):
                    each.press(key)
                    each.rest(0.5)
            _await_same(screen, fresh, " ".join(place))
        return time.perf_counter() - began
    finally:
        fresh.close()


def _await_same(screen: Screen, fresh: Screen, place: str) -> None:
    deadline = time.perf_counter() + _SETTLING
    while True:
        screen.rest(0.5)
        fresh.rest(0.5)
        # Without the header, which tells since when the connection is alive.
        pairs = list(zip(screen.lines()[1:], fresh.lines()[1:], strict=True))
        if all(ours == theirs for ours, theirs in pairs) and not any("reading" in ours for ours, _ in pairs):
            return
        if time.perf_counter() > deadline:
            wrong = [f"  {ours}\n  {theirs}" for ours, theirs in pairs if ours != theirs]
            raise WrongAnswerError("\n".join([f"at {place} the screen is not what a fresh one says:", *wrong]))


def _first_screen(screen: Screen) -> Iterator[Figure]:
    began = time.perf_counter()
    yield "first screen", screen.until(rb"gpu\.example\.com") - began


def _open_devices(screen: Screen) -> int:
    _settle(screen)
    # Key by key, as somebody types it who looks: on a busy machine the line comes later than the next key.
    for part, shown in ((":", rb":"), ("devices", rb"devices"), ("\r", rb"")):
        start = len(screen.text)
        screen.press(part)
        screen.until(shown, start)
        screen.rest(0.5)
    screen.until(rb"node-00000 +gpu-0 ")
    _settle(screen)
    return page_of(screen)


def rows() -> Iterator[Row]:
    """The budgets."""
    found = dict(figures())
    size = f"{DEVICES} devices"
    for each in ("all lists", "all lists, processor", "the same as a fresh list"):
        del found[each]
    peak = found.pop("peak")
    assert isinstance(peak, float)
    claims = sum(1 for _ in world.held(NODES)) + WAITING
    for what, seconds in found.items():
        most = _BUDGETS.get(what, 50)
        budget = Budget(Measure.TIME, round(most * claims / _CLAIMS) if what == "claims tab" else most, peak=450)
        if isinstance(seconds, Times):
            clock = statistics.median(seconds.each)
            # While everything changes, the processor's time is not that of the keys.
            cost = Cost(seconds.cpu if what in _AT_REST and clock < math.inf else clock, clock, peak)
        else:
            cost = Cost(seconds, seconds, peak)
        yield Row(f"TUI: {what}", f"{claims} claims" if what == "claims tab" else size, cost, budget=budget)


def main(arguments: Sequence[str]) -> None:
    """Print the figures."""
    nodes = int(arguments[0]) if arguments else NODES
    for what, seconds in figures(nodes, float(arguments[1]) if len(arguments) > 1 else SECONDS):
        if isinstance(seconds, Times):
            middle, worst = statistics.median(seconds.each) * 1000, max(seconds.each) * 1000
            missed = sum(each == math.inf for each in seconds.each)
            what += f" ({missed} never drawn)" if missed else ""
            words = f"median {middle:7.1f} ms   worst {worst:7.1f} ms   processor {seconds.cpu * 1000:6.1f} ms a key"
            print(f"{what:<28} {words}   of {len(seconds.each)}", flush=True)
        elif what == "peak":
            print(f"{'peak memory':<28} {seconds:.0f} MB")
        else:
            print(f"{what:<28} {seconds * 1000:.0f} ms", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
