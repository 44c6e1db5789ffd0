"""How a process ends that has read much: with its answer whole, its exit code, and what others had to do at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AS_LARGE = """
import atexit, sys
from kubectl_dra.__main__ import main
from kubectl_dra.commands.shared import cluster
cluster._MANY_OBJECTS = {many}
atexit.register(lambda: sys.stderr.write("cleaned up"))
class Traced:
    def __del__(self):
        sys.stderr.write("taken apart")
cluster.traced = Traced()
main()
"""


def ended(words: tuple[str, ...], many: int) -> tuple[int, bytes, str]:
    done = subprocess.run(
        [sys.executable, "-c", AS_LARGE.format(many=many), *words], cwd=ROOT, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode().replace("taken apart", "")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "words",
    [
        ("get", "pools", "--from", "demo"),
        ("why-pending", "pod", "no-such-pod", "--from", "demo"),
        ("why-pending", "pod", "trainer-0", "-n", "ml", "--from", "demo", "--exit-code"),
    ],
)
def test_a_large_cluster_ends_like_a_small_one(words: tuple[str, ...]) -> None:
    large, small = ended(words, 0), ended(words, 1_000_000)
    assert large == small
    assert large[2].endswith("cleaned up")


def test_what_was_read_is_not_taken_apart() -> None:
    words = ("get", "pools", "--from", "demo")
    seen = []
    for many in (0, 1_000_000):
        call = [sys.executable, "-c", AS_LARGE.format(many=many), *words]
        seen.append("taken apart" in subprocess.run(call, cwd=ROOT, capture_output=True, check=True).stderr.decode())
    assert seen == [False, True]
