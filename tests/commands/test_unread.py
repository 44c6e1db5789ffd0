"""What may not be read is never called none: every command, format and kind, from a live server and from a file.

The oracle is the same command on the whole demo cluster: an answer that differs from it must begin with what could not
be read, and one that says nothing of that must be the same.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
import yaml

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import COMMANDS, LazyGroup, run
from kubectl_dra.commands.get.query import TYPES
from kubectl_dra.source.demo import CLUSTER
from tests.kit.clock import PassingClock
from tests.kit.fake_api import FakeApi, running, serve_cluster, write_kubeconfig
from tests.kit.sample import sampled
from tests.reports.clusters import withheld

pytestmark = pytest.mark.one_in(3)

KINDS = ("Pod", "Node", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
ALL = (*KINDS, "ResourceClaimTemplate", "PodGroup", "Event", "Namespace", "ResourceQuota")
#: Commands that read no cluster, or whose answer is what was read.
APART = {
    "convert": "files alone",
    "lint": "files alone; --devices: test_lint.py",
    "explain": "words of the program",
    "completion": "words of the program",
    "version": "words of the program",
    "snapshot": "says of each kind whether it was read: test_snapshot.py",
    "tui": "tests/tui/test_states.py",
}
#: Each command with the kinds without any of which it has nothing to say.
LISTS: dict[str, tuple[str, ...]] = {
    "why-pending -A": ("Pod",),
    "why-pending -A --remedies": ("Pod",),
    "why-pending statefulset -A": ("Pod",),
    "why-pending claim -A": ("ResourceClaim",),
    "describe-pool": ("ResourceSlice",),
    "get pools": ("ResourceSlice",),
    "get devices": ("ResourceSlice",),
    "get devices --used": ("ResourceSlice",),
    "get devices --free --node gke-prod-h100-5f3a2b1c-k4tq": ("ResourceSlice",),
    "get devices --tainted": ("ResourceSlice",),
    "get claims -A": ("ResourceClaim",),
    "get claims -n ml --unused": ("ResourceClaim",),
    "get classes": ("DeviceClass",),
    "get taints": ("DeviceTaintRule", "ResourceSlice"),
    "taint-device --list": ("DeviceTaintRule", "ResourceSlice"),
    "get nodes": ("Node", "ResourceSlice"),
    "get templates -A": ("ResourceClaimTemplate",),
    "get slices": ("ResourceSlice",),
    "get podgroups -A": ("PodGroup",),
    "why-pending podgroups -A": ("PodGroup",),
}
_NODE = "gke-prod-h100-5f3a2b1c-k4tq"
#: Pages about one object, plans and what-ifs.
PAGES = (
    f"describe-pool gpu.example.com/{_NODE}",
    "describe-pool nic.example.com/rack-1",
    "describe-claim serve-0-net -n ml",
    "describe-claim serve-0-gpus-ppjs4 -n ml",
    "describe-claim trainer-0-gpus-x9grb -n ml",
    "describe-claim leftover -n lab",
    "why-pending trainer-0 -n ml",
    "why-pending nb-2 -n dev",
    "why-pending train-x -n ml",
    "why-pending claim/trainer-0-gpus-x9grb -n ml",
    "why-pending claim/leftover -n lab",
    "why-pending trainer-0 -n ml --remedy 1",
    "capacity --class gpu.example.com -n ml --count 4",
    "top",
    "top nodes",
    "top classes",
    "top pods -A",
    f"describe-node {_NODE}",
    "describe-node cpu-1",
    "describe-podgroup ring -n ml",
    "why-pending podgroup/ring -n ml",
    "top namespaces",
    "test-selector 'device.driver == \"gpu.example.com\"' --class gpu.example.com",
    f"test-selector true --explain {_NODE}/gpu-0",
    f"taint-device gpu.example.com/{_NODE}/gpu-0 ecc:NoExecute --dry-run=client",
    f"taint-device gpu.example.com/{_NODE}/gpu-7 ecc- --force --dry-run=client",
    f"simulate --drain {_NODE}",
    "get class gpu.example.com",
    f"get pool {_NODE}",
    "get claim serve-0-net -n ml",
    f"get device gpu.example.com/{_NODE}/gpu-0",
    "get devices --class gpu.example.com",
)
#: How it is said that something was not read.
UNREAD = re.compile("could not be (read|listed)|could be read|can't be listed|is unknown")
#: How an answer begins that rests on less than all.
BEGINNINGS = ("This answer is incomplete", "error: ", "Whether ")
#: What only holds where everything was read.
NEVER = (
    "No pod with device claims is pending",
    "No driver has published",
    "No device is tainted",
    "No ResourceClaim waits",
    "found.",
    "There are no devices",
    "does not fit",
    " fits.",
)
#: Fields that tell what was read, which of course differ.
TELLING = frozenset({"missing", "read", "output", "assumed", "certainty"})


POD = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "new", "namespace": "ml"},
            "spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "new", "namespace": "ml"},
            "spec": {
                "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "d"}]}}],
                "resourceClaims": [{"name": "d", "resourceClaimName": "new"}],
            },
        },
    ],
}


GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "ring", "namespace": "ml", "uid": "ring", "creationTimestamp": "2026-11-02T07:00:00Z"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def first(self) -> str:
        """The first line that somebody reads in a terminal."""
        notes = [line for line in self.err.splitlines() if not line.startswith("note: this server")]
        return next(iter([*notes, *self.out.splitlines()]), "")


Ask = Callable[[str, tuple[str, ...]], Said]


SOURCES = ("file", "live")


@pytest.fixture(params=SOURCES)
def ask(request: Any, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """A command, and the kinds that it may not read."""
    monkeypatch.setenv("NO_COLOR", "1")
    content = json.loads(CLUSTER.read_bytes())
    content["items"].append(GROUP)
    clock = PassingClock()
    clock.slept = 300.0

    def said(words: str, *more: str) -> Said:
        code = run([*shlex.split(words), *more], clock)
        return Said(code, *capfd.readouterr())

    def from_file(words: str, kinds: tuple[str, ...]) -> Said:
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps(withheld(content, kinds)), encoding="utf-8")
        return said(words, "--from", str(path))

    if request.param == "file":
        yield from_file
        return
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))

        def live(words: str, kinds: tuple[str, ...]) -> Said:
            api.routes.clear()
            api.routes.update(FakeApi().routes)
            serve_cluster(api, content["items"], kinds)
            return said(words)

        yield live


def answers(said: Said, format_: str) -> Any:
    """What was answered, without what tells how."""
    if format_ not in ("json", "yaml"):
        return said.out
    return _plain(json.loads(said.out) if format_ == "json" else yaml.safe_load(said.out))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if key not in TELLING}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def formats(words: str) -> Iterator[str]:
    """The page and every format that the command itself says it has; a template needs a text of its own."""
    yield ""
    for name in parameter(words.split()[0], "-o").help.partition(": ")[2].rstrip(".").split(", "):
        of_pods = words in ("why-pending -A", "why-pending -A --remedies") or not words.startswith("why-pending")
        if name not in ("jsonpath", "custom-columns") and (of_pods or name not in ("name", "markdown", "csv")):
            yield name


def parameter(command: str, flag: str) -> Any:
    """One option of a command, from the click tree."""
    found = LazyGroup().get_command(click.Context(click.Command("dra")), command)
    assert found is not None
    return next(each for each in found.params if flag in each.opts)


CASES = [(source, words, format_) for source in SOURCES for words in LISTS for format_ in formats(words)]
CODES = [(source, words) for source in SOURCES for words in LISTS if "--list" not in words]


def test_every_command_and_type_is_asked() -> None:
    """Derived from the program: a new command, type or level that is not asked here fails."""
    calls = (*LISTS, *PAGES, "simulate")
    asked = {words.split()[0] for words in calls}
    assert asked.isdisjoint(APART)
    assert asked | set(APART) == set(COMMANDS)
    assert {words.split()[1] for words in LISTS if words.startswith("get ")} == set(TYPES)
    assert {words.split()[1] for words in PAGES if words.startswith("top ")} == set(parameter("top", "by").type.choices)


EVERYTHING = [(source, words) for source in SOURCES for words in (*LISTS, *PAGES)]


@pytest.mark.parametrize(("ask", "words"), sampled(EVERYTHING, 10, lambda case: case[0]), indirect=["ask"])
def test_where_nothing_may_be_read_nothing_is_answered(ask: Ask, words: str) -> None:
    """Exit 1, which kinds are lacking, and JSON that says so where there is a document."""
    if words.startswith("test-selector 'device"):
        pytest.skip("whether an expression compiles needs no cluster")
    for format_ in ("", *(() if "--remedy" in words else ("json",))):
        found = ask(f"{words} -o {format_}" if format_ else words, ALL)
        assert found.code == 1, found
        assert UNREAD.search(found.out + found.err), found
        assert not any(line in found.out + found.err for line in NEVER), found
        if format_ and (found.out or words in LISTS):
            assert json.loads(found.out)["missing"], found
            assert len(found.err.splitlines()) == len(set(found.err.splitlines())), found


@pytest.mark.parametrize(("ask", "words", "format_"), sampled(CASES, 8, lambda case: case[:2]), indirect=["ask"])
def test_what_differs_begins_with_what_was_not_read(ask: Ask, words: str, format_: str) -> None:
    call = f"{words} -o {format_}" if format_ else words
    whole = ask(call, ())
    assert (whole.code, whole.err) == (0, "")
    for kind in KINDS:
        found = ask(call, (kind,))
        document = json.loads(found.out) if format_ == "json" else {}
        named = [each["kind"] for each in document.get("missing", ())]
        told = kind in found.out + found.err or BY_NAME[kind].resource in found.err
        assert not any(line in found.out + found.err for line in NEVER), (kind, found)
        assert kind != "ResourceSlice" or "none is free" not in found.out, found
        if not found.out or answers(found, format_) != answers(whole, format_):
            assert told, (kind, found)
        if LISTS[words] == (kind,):
            _nothing(found, kind, format_)
        elif told and format_ in ("", "wide", "markdown", "csv"):
            assert found.first == "This answer is incomplete: some objects could not be read.", (kind, found)
        if format_ == "json" and document["kind"] != "List":
            assert (kind in named) == told, (kind, named)


PAGE_CASES = [(source, words) for source in SOURCES for words in PAGES]


@pytest.mark.parametrize(("ask", "words"), sampled(PAGE_CASES, 5, lambda case: case[0]), indirect=["ask"])
def test_a_page_that_differs_begins_with_what_was_not_read(ask: Ask, words: str) -> None:
    whole = ask(words, ())
    for kind in (*KINDS, "ResourceClaimTemplate", "PodGroup"):
        found = ask(words, (kind,))
        said = found.out + found.err
        told = kind in said or BY_NAME[kind].resource.partition(".")[0] in said
        # A pod's verdict that stands whatever was not read comes before what is said of the ways out.
        stands = words.startswith("why-pending") and found.out.startswith(("Pod ", "ResourceClaim "))
        if found.out != whole.out and not (stands and words.startswith("why-pending train-x")):
            assert told, (kind, found)
            assert stands or found.first.startswith(BEGINNINGS), (kind, found)
            assert "not found\n" not in found.err, (kind, found)


def _nothing(found: Said, kind: str, format_: str) -> None:
    """Nothing could be answered."""
    assert found.code == 1, found
    assert f"{BY_NAME[kind].resource} could not be listed: forbidden" in found.err
    if format_ in ("json", "yaml"):
        assert answers(found, format_)["items"] == []
    else:
        # A table for another program may have its titles.
        assert len(found.out.splitlines()) <= {"markdown": 2, "csv": 1}.get(format_, 0), found


def test_a_simulation_begins_with_what_decides_and_was_not_read(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(POD), encoding="utf-8")
    words = f"simulate -f {file} -n ml"
    assert answers(ask(f"{words} -o json", ()), "json")["fits"] == "Yes"
    for kind in ("Node", "ResourceClaim", "ResourceSlice", "DeviceClass"):
        text, document = ask(words, (kind,)), ask(f"{words} -o json", (kind,))
        assert answers(document, "json")["fits"] == "Unknown", kind
        assert kind in [each["kind"] for each in json.loads(document.out)["missing"]]
        assert text.out.startswith("This answer is incomplete"), text
        assert "Whether Pod ml/new fits is unknown" in text.out
        assert not any(line in text.out for line in NEVER)
        assert (text.code, document.code, ask(f"{words} --exit-code", (kind,)).code) == (1, 1, 4)


@pytest.mark.parametrize(("ask", "words"), sampled(CODES, 3, lambda case: case[0]), indirect=["ask"])
def test_exit_codes(ask: Ask, words: str) -> None:
    for kind in KINDS:
        plain, asked = ask(words, (kind,)), ask(f"{words} --exit-code", (kind,))
        told = plain.first.startswith(("This answer", "error"))
        assert plain.code == (1 if LISTS[words] == (kind,) else 0), (kind, plain)
        assert asked.code in ((3, 4) if told else (0, 3)), (kind, asked)


def test_with_both_kinds_that_make_taints_nothing_is_known(ask: Ask) -> None:
    for words in ("get taints", "taint-device --list"):
        found = ask(words, LISTS[words])
        assert found.code == 1
        assert "devicetaintrules.resource.k8s.io and resourceslices.resource.k8s.io could not be listed" in found.err


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("describe-pool", "Pod"),  # names no holder
        ("get pools", "DeviceClass"),
        ("get taints", "Node"),
        ("get claims -A", "ResourceSlice"),
        ("why-pending claim -A", "Event"),
        ("get class gpu.example.com", "Pod"),
    ],
)
def test_of_what_cannot_decide_nothing_is_said(ask: Ask, words: str, kind: str) -> None:
    assert ask(words, (kind,)) == ask(words, ())


def test_a_file_of_claims_alone_says_nothing_of_who_uses_them(tmp_path: Path, capfd: Any) -> None:
    """Absence in a plain list is no zero: a file without any pod may just leave them out."""
    items = [item for item in json.loads(CLUSTER.read_bytes())["items"] if item["kind"] == "ResourceClaim"]
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    for words in ("get claims -A", "get claims -A -o wide", "describe-claim serve-0-net -n ml", "why-pending claim -A"):
        assert run([*words.split(), "--from", str(path)]) == 0
        out = capfd.readouterr().out
        assert "gone" not in out, words
        assert "finished" not in out, words
        assert "waits for a pod" not in out, words
    assert run(["get", "claims", "-A", "--unused", "--from", str(path)]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "of which it is not known" in err
