"""What strangers get: the built wheel in an environment of its own, and the archive where nothing is but a C library.

No kubeconfig, a home that nobody can write to (not even root), ``TERM=dumb``, standard input closed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubectl_dra.version import __version__
from tools import archive

pytestmark = pytest.mark.packaging
ROOT = Path(__file__).parents[1]
# Root may write everywhere but into the kernel's own trees.
READ_ONLY = "/sys"
SYSTEM = "/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"HOME": READ_ONLY, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
# What PyInstaller's program loads from the system.
LIBRARIES = re.compile(r"(/\S+)\s+\(0x")
LOADED_LATER = ("libm.so.6", "librt.so.1", "libutil.so.1")


@dataclass(frozen=True)
class Installed:
    """An installation: the folder on PATH, and what runs in its place (a chroot, or nothing)."""

    folder: str
    before: tuple[str, ...] = ()

    def run(self, *words: str, program: str = "kubectl-dra", **variables: str) -> subprocess.CompletedProcess[str]:
        command = [*self.before, f"{self.folder}/{program}", *words]
        return subprocess.run(
            command,
            env=ENVIRONMENT | {"PATH": f"{self.folder}:{SYSTEM}"} | variables,
            cwd="/",
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
            preexec_fn=lambda: os.close(0),
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel with the pinned versions of what it needs, as ``pip`` and ``pipx`` install it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    lock = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    pins = [line.removesuffix(" \\") for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    (folder / "pins.txt").write_text("\n".join(pins), encoding="utf-8")
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([folder / "venv/bin/python", *install, "-c", folder / "pins.txt", built], check=True)
    return Installed(str(folder / "venv" / "bin"))


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The archive: in a root folder that holds it and a C library and nothing else, if we may; else where it is."""
    if sys.platform != "linux":
        pytest.skip("the archive is built on Linux only")
    folder = tmp_path_factory.mktemp("archive")
    data = archive.packed(archive.built(folder, 0), 0)
    (folder / "archive.tar.gz").write_bytes(data)
    root = folder / "root"
    (root / "opt").mkdir(parents=True)
    subprocess.run(["tar", "-xzf", folder / "archive.tar.gz", "-C", root / "opt"], check=True)
    program = root / "opt" / "kubectl-dra"
    linked = subprocess.run(["ldd", program / "kubectl-dra"], capture_output=True, encoding="utf-8", check=True).stdout
    libraries = [Path(path) for path in LIBRARIES.findall(linked)]
    (libc,) = (path for path in libraries if path.name == "libc.so.6")
    later = (libc.with_name(name) for name in LOADED_LATER)
    for path in (*libraries, *(path for path in later if path.exists())):
        copy = root / path.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (root / "dev").mkdir()
    (root / "dev" / "null").touch()  # a file will do, and needs no right to make a device
    chroot = shutil.which("chroot", path=SYSTEM)
    bare = Installed("/opt/kubectl-dra", (chroot or "", str(root)))
    # 127: the root was changed, and there is no such program.
    changed = os.getuid() == 0 and chroot and subprocess.run([*bare.before, "/nosuch"], check=False).returncode == 127
    return bare if changed else Installed(str(program))


@pytest.fixture(params=["wheel", "unpacked"])
def installed(request: pytest.FixtureRequest) -> Installed:
    """Both, one after the other."""
    found: Installed = request.getfixturevalue(request.param)
    return found


ERRORS: list[tuple[Sequence[str], int, str, str]] = [
    (
        ("get", "pools", "-o", "bogus"),
        2,
        'error: unknown output format "bogus": this command has wide, json, yaml, name',
        "try:   use -o json and pick fields with jq",
    ),
    (
        ("why-pending", "nosuch", "--from", "demo"),
        1,
        'error: pods "nosuch" not found in namespace "default"',
        "try:   kubectl dra why-pending -A --from demo",
    ),
    (
        ("why-pending", "nosuch"),
        1,
        "error: no kubeconfig found",
        "try:   set KUBECONFIG or --kubeconfig, or read a file with --from",
    ),
    (("nosuch",), 2, 'error: unknown command "nosuch"', "try:   kubectl dra --help"),
    (
        ("tui", "--from", "demo"),
        1,
        "error: the terminal UI needs a terminal",
        "try:   kubectl dra why-pending -A --from demo",
    ),
    (
        ("snapshot", "--from", "demo", "-o", f"{READ_ONLY}/snapshot.json"),
        1,
        f"error: {READ_ONLY}/snapshot.json: ",
        "try:   name another file with -f, or none to write to stdout",
    ),
]


@pytest.mark.parametrize(("words", "code", "what", "next_step"), ERRORS, ids=lambda value: str(value)[:30])
def test_errors_are_one_line_and_a_next_step(
    installed: Installed, words: Sequence[str], code: int, what: str, next_step: str
) -> None:
    done = installed.run(*words)
    assert (done.returncode, done.stdout) == (code, "")
    first, second = done.stderr.splitlines()
    assert first.startswith(what)
    assert second == next_step


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("--help",), "Usage: kubectl dra "),
        (("why-pending", "--help"), "Usage: kubectl dra why-pending "),
        (("why-pending", "-A", "--from", "demo"), "21 pods with device claims are pending, for 15 reasons:\n"),
        (("why-pending", "trainer-0", "-n", "ml", "--from", "demo"), "Pod ml/trainer-0 is pending: "),
        (("test-selector", 'device.driver.matches("^gpu")', "--from", "demo"), ""),
        (("get", "pools", "--from", "demo", "-o", "yaml"), "apiVersion: kubectl-dra/v1alpha1\n"),
        (("completion", "bash"), "# bash completion for kubectl-dra"),
        (("version",), f"kubectl-dra {__version__} "),
    ],
    ids=lambda value: " ".join(value)[:30],
)
def test_answers(installed: Installed, words: Sequence[str], begins: str) -> None:
    done = installed.run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(begins)
    assert "\x1b" not in done.stdout
    assert done.stdout.endswith("\n")


def test_a_pipe_that_closes_is_silent(installed: Installed) -> None:
    program = " ".join([*installed.before, f"{installed.folder}/kubectl-dra"])
    script = f"{program} get devices -A --from demo -o yaml <&- | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], env=ENVIRONMENT | {"PATH": SYSTEM}, capture_output=True, encoding="utf-8"
    )
    assert (done.stdout, done.stderr) == ("apiVersion: kubectl-dra/v1alpha1\n0\n", "")


def test_completion_answers_without_a_home(installed: Installed) -> None:
    words = ("__complete", "why-pending", "--from", "demo", "-n", "ml", "trainer")
    done = installed.run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trainer-0\n:4\n", "")


def test_the_wheel_brings_what_kubectl_asks_for_completion(wheel: Installed) -> None:
    done = wheel.run("comp", program="kubectl_complete-dra")
    assert done.stdout == "completion\tCompletion for the shell: commands, flags, live names\n:4\n"
    again = wheel.run("completion", "--install")
    assert again.stdout == f"kubectl_complete-dra is installed already: {wheel.folder}/kubectl_complete-dra\n"
