"""The program as a process: what it loads, its exit codes, errors, closed pipes and interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from kubectl_dra.commands import app
from kubectl_dra.commands.app import COMMANDS
from kubectl_dra.version import __version__
from tests.e2e.calls import ELSEWHERE, calls_of
from tests.kit.sample import sampled

pytestmark = pytest.mark.one_in(5)

HEAVY = ("textual", "kubernetes", "urllib3", "lark", "celpy", "re2", "rich", "yaml")
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "KUBECONFIG": "/nonexistent"}


def run(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    # As bytes, because the tests may run in a locale that has none for some of them.
    words = [argument.encode("utf-8") for argument in arguments]
    command = [sys.executable, "-m", "kubectl_dra", *words]
    environment = {**ENVIRONMENT, **variables}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", input=stdin, env=environment, check=False, timeout=60
    )


def loaded(*arguments: str) -> set[str]:
    """The top-level packages and our own modules that a call leaves in ``sys.modules``."""
    code = (
        "import sys, json\n"
        "from kubectl_dra.commands.app import run\n"
        "try:\n    run(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "names = {m if m.startswith('kubectl_dra') else m.partition('.')[0] for m in sys.modules}\n"
        "print('\\n' + json.dumps(sorted(names)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, encoding="utf-8", env=ENVIRONMENT, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        (),
        ("why-pending", "--help"),
        ("why-pending", "--nope"),
        ("why-pending", "-o", "jsonpath"),
        ("nope",),
        ("version",),
        ("version", "-o", "json"),
    ],
)
def test_help_and_usage_errors_load_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert modules.isdisjoint(HEAVY)
    if "version" not in arguments:
        assert modules.isdisjoint({"msgspec", "kubectl_dra.model.resource", "kubectl_dra.diagnosis"})


def test_an_offline_answer_loads_neither_the_client_nor_the_tui() -> None:
    modules = loaded("why-pending", "-A", "--from", "demo")
    assert modules.isdisjoint({"textual", "kubernetes", "urllib3", "lark", "celpy", "yaml"})
    assert not any(name.startswith("kubectl_dra.source.live") for name in modules)
    # What reads manifests of workloads, checks and converts them is for other commands.
    assert modules.isdisjoint({"kubectl_dra.api.planned", "kubectl_dra.api.lint", "kubectl_dra.api.convert"})


def test_a_command_loads_no_other_command() -> None:
    assert "kubectl_dra.commands.why_pending.command" not in loaded("version")


def test_help_is_the_programs_own() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("Usage: kubectl dra ")
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.index("Examples:") < done.stdout.index("Commands:")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert run("-h").stdout == done.stdout == run().stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run([name, "--help"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out.startswith(f"Usage: kubectl dra {name} ")
    assert "Options of all commands:" in out
    assert out.index("Examples:") < out.index("Options:")
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "what", "hint"),
    [
        (("claims",), 2, 'error: unknown command "claims"', "kubectl dra get claims"),
        (("class", "x"), 2, 'error: unknown command "class"', "kubectl dra get class"),
        (("pods",), 2, 'error: unknown command "pods"', "kubectl dra why-pending -A"),
        (("free",), 2, 'error: unknown command "free"', "kubectl dra get devices --free"),
        (("get", "pools", "-o", "yml"), 2, 'error: unknown output format "yml"', "-o yaml"),
        (("verison",), 2, 'error: unknown command "verison", did you mean "version"?', "kubectl dra --help"),
        (("version", "--nope"), 2, 'error: unknown option "--nope"', "kubectl dra version --help"),
        (("get", "pools", "--form", "x"), 2, 'error: unknown option "--form", did you mean "--from"', "get --help"),
        (("top", "claims"), 2, 'error: "claims" is not one of nodes, classes, namespaces and pods', "top --help"),
        (("top", "--color", "alway"), 2, 'error: --color: "alway" is not one of auto, always and never, did', "help"),
        (("capacity", "--count", "two"), 2, 'error: --count: "two" is not a whole number', "capacity --help"),
        (("capacity", "--count", "0"), 2, "error: --count: 0 is not between 1 and 32", "capacity --help"),
        (("why-pending", "-A", "--remedy", "0"), 2, "error: --remedy: 0 is less than 1", "why-pending --help"),
        (("version", "x"), 2, "error: got unexpected extra argument (x)", "kubectl dra version --help"),
        (("version", "-o", "xml"), 2, 'error: unknown output format "xml"', "jq"),
        (("why-pending", "a", "-A", "--from", "demo"), 2, 'error: the name "a" can\'t be looked up', "-n NAMESPACE a"),
        (("why-pending", "--from", "/no/such"), 1, "error: /no/such: No such file or directory", "demo"),
        (
            ("why-pending", "--from", "demo", "--feature-gates", "X=true"),
            2,
            'error: unknown feature gate "X"',
            "gates:",
        ),
    ],
)
def test_errors_are_one_line_what_and_one_line_what_to_do(
    arguments: tuple[str, ...], code: int, what: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.run(arguments) == code
    out, err = capfd.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first.startswith(what)
    assert second.startswith("try:   ")
    assert hint in second


def test_hostile_arguments_are_shown_and_not_obeyed() -> None:
    words = ("why-pending", "--from", "/no/\x1b[2J\u202esuch")
    done = run(*words, PYTHONUTF8="1")
    assert "\x1b" not in done.stderr
    assert "\\u{1b}[2J\\u{202e}such" in done.stderr
    posix = run(*words, PYTHONUTF8="0", LC_ALL="C")
    assert posix.returncode == 1
    assert posix.stderr.isascii()
    assert "\\u{1b}[2J\\u{dce2}" in posix.stderr


def test_version() -> None:
    assert run("version").stdout.startswith(f"kubectl-dra {__version__} ")
    value = json.loads(run("version", "-o", "json").stdout)
    assert (value["apiVersion"], value["kind"], value["version"]) == ("kubectl-dra/v1alpha1", "Version", __version__)


def test_notes_go_to_stderr_and_data_to_stdout() -> None:
    manifest = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
    done = run("why-pending", "-o", "json", "--from", "-", stdin=manifest)
    assert json.loads(done.stdout)["items"] == []
    assert "taken as if the cluster had none" in done.stderr


def test_colour_only_where_it_is_asked_for() -> None:
    assert "\x1b[" not in run("why-pending", "-A", "--from", "demo").stdout
    assert "\x1b[" in run("version", "--nope", "--color=always").stderr
    assert "\x1b[" not in run("version", "--nope", "--color", "never").stderr


@pytest.mark.parametrize("arguments", [("--help",), ("why-pending", "-A", "--from", "demo"), ("version", "-o", "json")])
def test_a_closed_pipe_is_silent(arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "kubectl_dra", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, encoding="utf-8", env=ENVIRONMENT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    fifo = tmp_path / "slow"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "kubectl_dra", "why-pending", "--from", str(fifo)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=ENVIRONMENT
    )
    with fifo.open("w", encoding="utf-8"):  # opens once the program reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.strip()) == (130, "", "")


@pytest.mark.parametrize(("locale", "unbuffered"), sampled(product(("C", "POSIX"), ("", "1")), 2))
def test_a_locale_without_characters_gets_what_kubectl_would_write(locale: str, unbuffered: str) -> None:
    words = ("why-pending", "-A", "--from", "demo")
    posix = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONUNBUFFERED": unbuffered, "PYTHONIOENCODING": ""}
    shown = run(*words, **posix)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\\u" not in shown.stdout
    assert "…" in shown.stdout
    assert shown.stdout == run(*words, PYTHONUTF8="1").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("test-selector", "device.driver != 'über'", "--from", "demo", "-o", "json"),
        ("get", "devices", "--match", "device.driver == 'gpu.example.com' && 'ü'.size() == 1", "--from", "demo"),
    ],
)
def test_an_expression_is_read_in_a_locale_without_characters_as_in_any_other(words: tuple[str, ...]) -> None:
    here, there = run(*words, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING=""), run(*words, PYTHONUTF8="1")
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)
    assert here.returncode == 0


def test_an_ascii_terminal_gets_escapes() -> None:
    done = run("why-pending", "-A", "--from", "demo", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "sweep-3" in done.stdout


def test_every_command_is_compared_with_its_snapshot_or_has_a_reason_not_to_be() -> None:
    compared = {*calls_of("n", (), ()), "snapshot"}
    assert compared.isdisjoint(ELSEWHERE)
    assert compared | set(ELSEWHERE) == set(COMMANDS)
