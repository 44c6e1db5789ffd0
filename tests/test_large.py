"""Large files: what a command has in memory is bounded by what the objects need, whatever it prints.

The bound is what 10,000 slices and nodes take beyond one of each, as a multiple of the size of their file; the budgets
of 100,000 are measured by ``make bench``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import large
from tests.kit.sample import sampled

ROOT = Path(__file__).parents[1]
COUNT = 10_000
# Records of devices with unique texts take about three times their JSON; a copy of the file or of the answer is more.
RATIO = 4.0
COMMANDS = (
    "get devices",
    "get devices -o json",
    "get devices -o name",
    "get pools -o json",
    "snapshot",
    "snapshot -o {folder}/snapshot.json.gz",
    "why-pending -A",
    "test-selector device.attributes[\"gpu.example.com\"].model=='H100'",
    "convert -f {file} --to v1beta1 -o json",
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("large")
    one, many = folder / "one.json", folder / "many.json"
    large.write(one, 1)
    large.write(many, COUNT)
    return one, many


# A process of its own, because a child counts what its parent had in use when it was started.
METER = """
import os, subprocess, sys
with subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
print(process.returncode, used.ru_maxrss)
"""


def peak(command: str, file: Path) -> int:
    """The bytes of memory that a command needs at most."""
    words = command.format(folder=file.parent, file=file).split()
    source = [] if "{file}" in command else ["--from", str(file)]
    call = [sys.executable, "-m", "kubectl_dra", *words, *source]
    meter = [sys.executable, "-I", "-c", METER, *call]
    done = subprocess.run(meter, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    code, kilobytes = map(int, done.stdout.split())
    assert code == 0
    return kilobytes << 10


def test_the_generator_gives_the_same_bytes(files: tuple[Path, Path], tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    large.write(again, COUNT)
    assert again.read_bytes() == files[1].read_bytes()
    uuids = [word for word in again.read_text(encoding="ascii").split('"') if word.startswith("GPU-")]
    assert len(uuids) == len(set(uuids)) == COUNT * large.DEVICES


@pytest.mark.one_in(5)
@pytest.mark.parametrize("command", sampled(COMMANDS, 3))
def test_memory(command: str, files: tuple[Path, Path]) -> None:
    one, many = files
    needed = peak(command, many) - peak(command, one)
    assert needed / many.stat().st_size < RATIO
