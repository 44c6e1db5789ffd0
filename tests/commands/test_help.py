"""Commands that the documents name are understood, and the examples of ``--help`` answer."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import click
import pytest

from kubectl_dra.commands.app import COMMANDS, app, run

ROOT = Path(__file__).parents[2]
EXPR = 'device.driver == "gpu.example.com"'
NODE = "gke-prod-h100-5f3a2b1c-x9zk"
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md"))
)
PLACEHOLDERS = {"DRIVER/POOL/DEVICE": "d.example.com/pool/gpu-0", "EXPRESSION": EXPR, "EXPR": EXPR}
# What the demo cluster can't answer, or answers with no.
REFUSED = {
    "why-pending trainer-0 -n ml -w": (2, "-w follows a live cluster"),
    "get claims -w": (2, "-w follows a live cluster"),
    "taint-device nic.example.com/rack-1/nic-0 link:NoExecute --wait": (2, "a rule, which a dry run does not make"),
    "taint-device nic.example.com/rack-1/nic-0 a:NoExecute --observe": (2, "a rule, which a dry run does not make"),
    "taint-device nic.example.com/rack-1/nic-0 link-": (1, 'has no taint "link"'),
    "tui": (1, "the terminal UI needs a terminal"),
    "tui -n ml": (1, "the terminal UI needs a terminal"),
    "tui --from demo": (1, "the terminal UI needs a terminal"),
    "tui --from cluster.json.gz": (1, "the terminal UI needs a terminal"),
}


def help_of(name: str) -> str:
    command = app if not name else app.get_command(click.Context(app), name)
    assert command is not None
    parent = click.Context(app, info_name="kubectl dra", terminal_width=80)
    return command.get_help(click.Context(command, info_name=name, parent=parent) if name else parent)


def examples(name: str) -> list[str]:
    """The commands that the examples show, without what a shell or jq does with them."""
    (block,) = re.findall(r"^  Examples:\n((?:    .*\n)+)", help_of(name), re.MULTILINE)
    lines = (re.sub(r" +# .*| \| jq .*| > .*", "", line.strip()) for line in block.splitlines())
    return [re.sub(r"^source <\((.*)\)$", r"\1", line).removeprefix("kubectl").lstrip(" -")[4:] for line in lines]


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_begins_with_a_sentence_and_examples(name: str) -> None:
    usage, sentence, rest = help_of(name).split("\n\n", 2)
    assert usage.startswith("Usage: kubectl dra ")
    assert sentence.strip().endswith(".")
    assert rest.startswith("  Examples:\n")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "example"), [(name, line) for name in ["", *COMMANDS] for line in examples(name)])
def test_examples_of_help_answer_on_the_demo_cluster(
    name: str, example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("trainer.yaml", "all.yaml"):
        shutil.copy(ROOT / "docs/examples/two-gpus.yaml", file)
    for file in ("claim.yaml", "old.yaml", "manifests.yaml"):
        shutil.copy(ROOT / "docs/examples/old-claim.yaml", file)
    if "--from cluster" in example:
        assert run(["snapshot", "-o", "cluster.json.gz", "--from", "demo"]) == 0
    if "--install" in example:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))
        (tmp_path / "kubectl-dra").symlink_to(sys.executable)
    for placeholder, value in {"EXPR": shlex.quote(EXPR), "NODE": NODE, "POOL/DEVICE": f"{NODE}/gpu-0"}.items():
        example = example.replace(placeholder, value)
    words = shlex.split(example)
    if "<" in words:
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(words.pop()).read_bytes()), encoding="utf-8")
        )
        words.remove("<")
    cluster = ROOT / "docs/examples/gang.yaml" if "podgroup" in example else "demo"
    words += ["--from", str(cluster)] if "--from" not in words else []
    words += ["--dry-run=client"] if "taint-device" in words and "--list" not in words else []
    if words[0] == "lint":
        for file in ("claim.yaml", "old.yaml", "manifests.yaml"):
            Path(file).unlink()
    code, error = REFUSED.get(example, (0, ""))
    assert run(words) == code
    out, err = capfd.readouterr()
    assert error in err
    assert out or error or "-f" in words or "-o" in words


def commands_in(text: str) -> set[str]:
    """Commands in blocks, indented lines and backticks."""
    lines = re.findall(r"^(?:    )?(?:\$ )?(kubectl[ -]dra [a-z-].*)$", text, re.MULTILINE)
    quoted = re.findall(r"`(?:source <\()?(kubectl[ -]dra [a-z-][^`\n]*?)\)?`", text)
    usage = re.compile(r" \[OPTIONS\]")
    written = (line for line in (*lines, *quoted) if not usage.search(line))
    return {re.sub(r" +# .*| [|<>] .*", "", line)[len("kubectl dra ") :] for line in written}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_in_the_documents_are_understood(document: str) -> None:
    """A command without arguments may only be spoken of."""
    for name, *words in map(shlex.split, commands_in((ROOT / document).read_text(encoding="utf-8"))):
        command = app.get_command(click.Context(app), name)
        if name.startswith("-"):
            assert [name, *words] == ["--help"]
        elif words:
            assert command is not None
            command.parse_args(click.Context(command), [PLACEHOLDERS.get(word, word) for word in words])
        else:
            assert name in COMMANDS
