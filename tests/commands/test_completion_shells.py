"""Completion in real shells on a terminal: what stands on the line after a TAB, as the shell itself reads it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubectl_dra.commands.completion.scripts import FILES, SCRIPTS
from tests.terminal import Terminal, terminal

pytestmark = pytest.mark.shells
ROOT = Path(__file__).parents[2]
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
PREPARE = {
    "bash": "bind 'set enable-bracketed-paste off'; source completions/kubectl-dra.bash",
    "zsh": "unsetopt PROMPT_SP; bindkey -e; autoload -U compinit; compinit -u -D; source completions/_kubectl-dra",
}
# What is typed before the TAB, and the last word after it.
LINES = [
    ("why-p", "why-pending"),
    ("get pools --no-h", "--no-headers"),
    ("get pools -o ya", "yaml"),
    ("get pools --color=alw", "--color=always"),
    ("why-pending --from demo -n ml trainer", "trainer-0"),
    ("why-pending -n=ml --from=demo trainer", "trainer-0"),
    (
        "describe-pool --from demo gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq",
        "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq",
    ),
    (
        "get --from demo devices gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-1",
        "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-1",
    ),
    ("taint-device --from demo gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-1 ecc:NoS", "ecc:NoSchedule"),
    ("convert -f LICEN", "LICENSE"),
    (
        'test-selector --from demo \'device.attributes["gpu.example.com"].mod',
        'device.attributes["gpu.example.com"].model',
    ),
    (
        'test-selector --from demo \'device.driver == "gpu.example.com" && device.allowM',
        'device.driver == "gpu.example.com" && device.allowMultipleAllocations',
    ),
]


def environment(home: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return {"PATH": path, "HOME": str(home), "TERM": "dumb", "KUBECONFIG": "/nonexistent", "LC_ALL": "C.UTF-8"}


@dataclass
class Session:
    """A running shell."""

    name: str
    terminal: Terminal


@pytest.fixture(scope="module", params=START)
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A shell that is ready, with a function that shows its words."""
    home = tmp_path_factory.mktemp("home")
    with terminal(START[request.param], environment(home)) as running:
        running.type(f"cd {ROOT}; PS1='$ '; show() {{ printf '<%s>' \"$@\"; echo sho''wn; }}")
        running.type(f"{PREPARE[request.param]}; echo read''y")
        running.until("ready")
        yield Session(request.param, running)


def test_the_shells_are_there() -> None:
    assert [shell for shell in SCRIPTS if shutil.which(shell) is None] == [], "install zsh and fish"


@pytest.mark.parametrize(("typed", "expected"), LINES)
def test_a_tab_completes_the_last_word(session: Session, typed: str, expected: str) -> None:
    # TAB, then the cursor goes to the beginning of the line: its words are shown and not run.
    # zsh leaves the quotes open where more may follow, readline closes them.
    closing = "'" if "'" in typed and session.name == "zsh" else ""
    session.terminal.type(f"kubectl-dra {typed}\t{closing}\x01show ")
    words = re.findall(r"<([^>]*)>", session.terminal.until("shown"))
    assert words[-1] == expected


@pytest.mark.parametrize(("typed", "expected"), LINES)
def test_fish_offers_it(typed: str, expected: str, tmp_path: Path) -> None:
    script = f"source {ROOT}/completions/kubectl-dra.fish; complete -C $argv[1]"
    command = ["fish", "--no-config", "-c", script, f"kubectl-dra {typed}"]
    done = subprocess.run(
        command, env=environment(tmp_path), cwd=ROOT, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert expected in [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert done.stderr == ""


@pytest.mark.parametrize("shell", SCRIPTS)
def test_what_is_typed_wrongly_offers_nothing_and_says_nothing(shell: str, tmp_path: Path) -> None:
    words = ["kubectl-dra", "nosuch", "--nope", "x"]
    command = [sys.executable, "-m", "kubectl_dra", "__complete", *words[1:]]
    done = subprocess.run(
        command, env=environment(tmp_path), cwd=ROOT, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == (":4\n", "")
    assert (ROOT / "completions" / FILES[shell]).read_text(encoding="utf-8") == SCRIPTS[shell]
