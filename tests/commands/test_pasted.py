"""What is printed to be pasted reaches the cluster that it is about: it is pasted, and a stand-in for kubectl tells.

Every way out of the demo and of all recorded clusters runs in bash with a kubectl that only writes down what arrives;
what this program says to try next is run by itself.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from kubectl_dra.api.kinds import kind_for_word
from kubectl_dra.commands.app import run
from kubectl_dra.source.demo import CLUSTER
from tests import scenario_files
from tests.commands.test_unread import LISTS, NODE, PAGES
from tests.kit.fake_api import FakeApi, running, serve_cluster
from tests.kit.sample import sampled

SOURCES = Path(__file__).parents[2] / "kubectl_dra"
# As clouds name them, with what a shell would read otherwise.
CONTEXT = "arn:aws:eks:eu-west-1:42:cluster/it's $HOME"
SERVER = "https://10.0.0.1:6443"
_STUB = """#!/bin/bash
name="$CALLS/$(date +%s%N)-$$"
printf '%s\\0' "$@" > "$name.args"
for word in "$@"; do
  if [ "$word" = -o ]; then printf 'apiVersion: v1\\nkind: Pod\\nmetadata: {name: patched}\\n'; fi
  if [ "$word" = -f ]; then cat > "$name.stdin"; fi
done
"""
_CHANGES = ("delete", "patch", "replace", "label", "uncordon", "create", "apply", "rollout", "annotate")


class Call(NamedTuple):
    """What one run of kubectl got."""

    words: list[str]
    stdin: Any


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def said(capfd: Any, *words: str) -> tuple[int, str, str]:
    code = run(words)
    return (code, *capfd.readouterr())


def scripts(page: str) -> Iterator[str]:
    """What stands below the pages of ``--remedies`` for a shell."""
    for part in re.split(r"\n\n(?=Pod |Whether pod |Could not be read, |# )", page):
        if part.startswith("# "):
            yield part


def pasted(script: str, folder: Path) -> list[Call]:
    """The script in a shell that ends with the first error; what kubectl was called with."""
    calls = folder / "calls"
    calls.mkdir(exist_ok=True)
    for old in calls.iterdir():
        old.unlink()
    stub = folder / "bin" / "kubectl"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(_STUB, encoding="utf-8")
    stub.chmod(0o755)
    environment = {**os.environ, "PATH": f"{stub.parent}:{os.environ['PATH']}", "CALLS": str(calls)}
    done = subprocess.run(
        ["bash", "-eu"], input=script, capture_output=True, encoding="utf-8", env=environment, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    return [
        Call(each.read_bytes().decode().split("\0")[:-1], _document(each.with_suffix(".stdin")))
        for each in sorted(calls.glob("*.args"))
    ]


def _document(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


def check(call: Call, context: str, items: list[Mapping[str, Any]]) -> None:
    """One command that changes something: where, and what."""
    words = call.words
    assert words[0] in _CHANGES, words
    assert words.count("--context") == 1, words
    assert words[words.index("--context") + 1] == context
    named = [word for word in words[1:] if re.fullmatch(r"[a-z]+/[a-z0-9.-]+", word)]
    if words[0] not in ("replace", "create", "apply"):
        assert len(named) == 1, words
        namespace = words[words.index("-n") + 1] if "-n" in words else ""
        assert _exists(named[0], namespace, items), words
    if "-f" in words:
        assert call.stdin["kind"]
        assert call.stdin["metadata"]["name"]


def _exists(word: str, namespace: str, items: list[Mapping[str, Any]]) -> bool:
    type_, name = word.split("/")
    kind = kind_for_word(type_)
    assert kind is not None, word
    if kind.name in ("Namespace", "Node") or kind.workload:
        return True
    return any(
        (item["kind"], item["metadata"]["name"], item["metadata"].get("namespace", "")) == (kind.name, name, namespace)
        for item in items
    )


# --- ways out -------------------------------------------------------------------------------------------------------


CLUSTERS = {"demo": CLUSTER, **{name: scenario_files.snapshot_path(name) for name in scenario_files.NAMES}}


@pytest.mark.parametrize("name", sampled(CLUSTERS, 6))
def test_ways_out_reach_the_recorded_cluster_and_nothing_else(name: str, capfd: Any, tmp_path: Path) -> None:
    content = json.loads(CLUSTERS[name].read_bytes())
    items = content["items"]
    recorded = tmp_path / "it's a file.json"
    header = content if content.get("reads") else {**content, "kind": "Snapshot", "reads": _all_read(items)}
    header |= {"apiVersion": "kubectl-dra/v1alpha1", "context": CONTEXT, "server": {"version": "v1.37", "url": SERVER}}
    recorded.write_text(json.dumps(header), encoding="utf-8")
    unknown = "demo" if name == "demo" else str(CLUSTERS[name])
    for source, context, first in (
        (str(recorded), CONTEXT, f"# recorded from {CONTEXT} ({SERVER})"),
        (unknown, "CONTEXT", f"# CONTEXT stands for the context of the cluster, which {unknown} does not name"),
    ):
        for script in scripts(said(capfd, "why-pending", "-A", "--remedies", "--from", source)[1]):
            assert script.splitlines()[0] == first
            for call in pasted(script, tmp_path):
                check(call, context, items)


def _all_read(items: list[Mapping[str, Any]]) -> list[dict[str, str]]:
    decisive = ("Pod", "Node", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass")
    return [{"kind": kind, "coverage": "complete"} for kind in {*decisive, *(item["kind"] for item in items)}]


def test_the_demo_has_ways_out_to_paste(capfd: Any, tmp_path: Path) -> None:
    found = list(scripts(said(capfd, "why-pending", "-A", "--remedies", "--from", "demo")[1]))
    calls = [call.words[0] for script in found for call in pasted(script, tmp_path)]
    assert {"delete", "patch", "replace"} <= set(calls)
    assert len(calls) > 20


# --- a live cluster with two contexts -------------------------------------------------------------------------------


@pytest.fixture
def two_contexts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A kubeconfig whose current context is another than the one that is asked."""
    with running(FakeApi()) as api:
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"])
        contexts = {"now": "https://127.0.0.1:1", "other one": api.url}
        config = {
            "current-context": "now",
            "clusters": [{"name": name, "cluster": {"server": url}} for name, url in contexts.items()],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": "me"}} for name in contexts],
        }
        path = tmp_path / "kube config"
        path.write_text(json.dumps(config), encoding="utf-8")
        monkeypatch.delenv("KUBECONFIG", raising=False)
        yield path


def flags(path: Path) -> list[str]:
    return ["--context", "other one", "--kubeconfig", str(path), "--as", "o'neill", "--as-group", "a", "--as-group=b"]


def test_commands_keep_the_flags_that_were_given(two_contexts: Path, capfd: Any, tmp_path: Path) -> None:
    given = flags(two_contexts)
    page = said(capfd, "why-pending", "-n", "ml", "trainer-0", "--remedies", *given)[1]
    (script,) = scripts(page)
    assert "# recorded" not in script
    calls = pasted(script, tmp_path)
    assert len(calls) > 3
    meant = [*given[:-1], "--as-group", "b"]
    for call in calls:
        assert call.words[-len(meant) :] == meant
    code, out, _ = said(capfd, "why-pending", "-n", "ml", *given)
    assert code == 0
    words = shlex.split(out.rpartition("more: ")[2].splitlines()[0])
    assert words[:2] == ["kubectl", "dra"]
    assert words[-len(meant) :] == meant
    assert said(capfd, *words[2:])[0] == 0


def test_the_current_context_is_named_where_something_changes(
    two_contexts: Path, capfd: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading and pasting somebody may have switched to another one."""
    content = json.loads(two_contexts.read_text(encoding="utf-8"))
    two_contexts.write_text(json.dumps({**content, "current-context": "other one"}), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(two_contexts))
    (script,) = scripts(said(capfd, "why-pending", "-n", "ml", "trainer-0", "--remedies")[1])
    for call in pasted(script, tmp_path):
        assert call.words[-2:] == ["--context", "other one"]
    # What only reads does not need it.
    more = said(capfd, "why-pending", "-n", "ml")[1].rpartition("more: ")[2].splitlines()[0]
    assert more.endswith(" -n ml")


# --- what to try next -----------------------------------------------------------------------------------------------

WRONG = (
    "why-pending trainer-0",
    "why-pending trainr-0 -n ml",
    "why-pending claim/nope -n ml",
    "why-pending trainer-0 -n ml --remedy 99",
    "describe-claim serve-0-net",
    "describe-claim nope -n ml",
    "describe-pool nope",
    "get classes nope",
    "get pools nope",
    "get devices nope",
    "get devices --class nope",
    "get pools --free",
    "test-selector",
    "test-selector true --class nope",
    "test-selector true --driver nope",
    "taint-device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/nope a:NoSchedule --dry-run=client",
    "taint-device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0 nope- --dry-run=client",
)


@pytest.mark.parametrize("words", WRONG)
def test_what_to_try_next_means_the_same_file(words: str, capfd: Any, tmp_path: Path) -> None:
    path = tmp_path / "it's one.json"
    path.write_bytes(CLUSTER.read_bytes())
    gates = ["--feature-gates", "DRAPartitionableDevices=true"]
    code, _, err = said(capfd, *shlex.split(words), "--from", str(path), *gates)
    assert code in (1, 2)
    hint = err.splitlines()[-1].removeprefix("try:   ")
    assert hint.startswith("kubectl dra "), err
    command = shlex.split(hint.partition(", or ")[0])[2:]
    assert command[-4:] == ["--from", str(path), *gates]
    assert said(capfd, *(word.replace("EXPR", "true") for word in command))[0] == 0


#: Every page and list of the demo, and what a stranger runs first on each recorded cluster.
PRINTED = [
    *(("demo", words) for words in (*PAGES, *LISTS, f"simulate --drain {NODE} --remedies")),
    *((name, words) for name in scenario_files.NAMES for words in ("why-pending -A", "top", "get nodes")),
]
_PRINTED = re.compile(r"kubectl (?:dra )?[a-z].*$", re.MULTILINE)


@pytest.mark.parametrize(("name", "words"), sampled(PRINTED, 6))
def test_every_command_on_a_page_means_the_same_cluster(name: str, words: str, capfd: Any, tmp_path: Path) -> None:
    """Those of this program are run and answer; those that change something name a context that fails when pasted."""
    path = tmp_path / "it's one.json"
    path.write_bytes(CLUSTERS[name].read_bytes())
    _, out, err = said(capfd, *shlex.split(words), "--from", str(path))
    for command in sorted(set(commands_of(out + err))):
        line = shlex.join(command)
        if command[:3] == ("kubectl", "dra", "explain"):
            assert len(command) == 4, line
            assert said(capfd, *command[2:])[0] == 0, line
        elif command[1] == "dra":
            assert command[-2:] == ("--from", str(path)), line
            assert said(capfd, *command[2:])[0] == 0, line
        elif command[1] in _CHANGES:
            (call,) = pasted(f"{line} >/dev/null", tmp_path)
            assert [call.words[at + 1] for at, word in enumerate(call.words) if word == "--context"] == ["CONTEXT"]


def commands_of(text: str) -> Iterator[tuple[str, ...]]:
    """The words of every command that a page prints, as a shell reads them."""
    for line in _PRINTED.findall(text):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|()<>;")
        lexer.whitespace_split = True
        words = [*lexer, ";"]
        ends = [at for at, word in enumerate(words) if word and set(word) <= set("|()<>;")]
        for start, end in itertools.pairwise([-1, *ends]):
            if words[start + 1 : start + 2] == ["kubectl"]:
                yield tuple(words[start + 1 : end])


@pytest.mark.parametrize("words", ["get classes nope", "why-pending trainer-0", "test-selector"])
def test_what_to_try_next_means_the_same_cluster(words: str, two_contexts: Path, capfd: Any) -> None:
    err = said(capfd, *shlex.split(words), *flags(two_contexts))[2]
    hint = shlex.split(err.splitlines()[-1].removeprefix("try:   ").partition(", or ")[0])
    assert hint[:2] == ["kubectl", "dra"]
    assert hint[-10:] == [*flags(two_contexts)[:-1], "--as-group", "b"]


def test_no_command_is_printed_that_has_no_flags() -> None:
    """Only what stands in help, or needs no cluster, is a plain text."""
    plain = re.compile(
        r"kubectl (?!dra$|dra (snapshot|convert|completion|explain|lint)|get NAME|get -o|get nodes,pods|kustomize)[a-z]"
    )
    modules = [
        module for folder in ("commands", "source", "output", "tui") for module in (SOURCES / folder).rglob("*.py")
    ]
    found = [
        f"{module.relative_to(SOURCES)}:{text.lineno}: {text.value}"
        for module in modules
        for text in _texts(module.read_text(encoding="utf-8"))
        if plain.match(str(text.value))
    ]
    assert found == []


def _texts(source: str) -> Iterator[ast.Constant]:
    """The texts that are arguments of calls."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call):
            for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each
