"""What may not be read is never called none: every command, format and kind, from a live server and from a file.

The oracle is the same command on the whole demo cluster: an answer that differs from it must begin with what could not
be read, and one that says nothing of that must be the same.
"""

from __future__ import annotations

import csv
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
from kubectl_dra.commands.why_pending.node_groups import READ as AUTOSCALERS
from kubectl_dra.output.pending.node_groups import MAKING_GROUPS
from kubectl_dra.source.demo import CLUSTER
from tests.kit.clock import PassingClock
from tests.kit.fake_api import FakeApi, running, serve_cluster, write_kubeconfig
from tests.kit.sample import sampled
from tests.reports.clusters import withheld

pytestmark = pytest.mark.one_in(20)

KINDS = ("Pod", "Node", "ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
ALL = (*KINDS, "ResourceClaimTemplate", "PodGroup", "Event", "Namespace", "ResourceQuota")
#: Commands that read no cluster, or whose answer is what was read.
APART = {
    "convert": "files alone",
    "lint": "files alone; --devices: test_findings_that_depend_on_what_was_not_read_begin_with_it",
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
NODE = "gke-prod-h100-5f3a2b1c-k4tq"
#: Pages about one object, plans and what-ifs.
PAGES = (
    f"describe-pool gpu.example.com/{NODE}",
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
    "why-pending trainer-0 -n ml --node-groups cluster",
    "capacity --class gpu.example.com -n ml --count 4",
    "top",
    "top nodes",
    "top classes",
    "top pods -A",
    f"describe-node {NODE}",
    "describe-node cpu-1",
    "describe-podgroup ring -n ml",
    "why-pending podgroup/ring -n ml",
    "top namespaces",
    "test-selector 'device.driver == \"gpu.example.com\"' --class gpu.example.com",
    f"test-selector true --explain {NODE}/gpu-0",
    f"taint-device gpu.example.com/{NODE}/gpu-0 ecc:NoExecute --dry-run=client",
    f"taint-device gpu.example.com/{NODE}/gpu-7 ecc- --force --dry-run=client",
    f"simulate --drain {NODE}",
    "get class gpu.example.com",
    f"get pool {NODE}",
    "get claim serve-0-net -n ml",
    f"get device gpu.example.com/{NODE}/gpu-0",
    "get devices --class gpu.example.com",
)
#: How it is said that something was not read.
UNREAD = re.compile("could not be (read|listed)|could be read|can't be listed|is unknown")
#: How an answer begins that rests on less than all.
BEGINNINGS = ("This answer is incomplete", "error: ", "Whether ")
#: Or with what the scheduler found, who reads everything; why cannot be said.
HEARD = "according to the scheduler"
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

    @property
    def is_partial(self) -> bool:
        """Whether the first line says that the answer rests on less than all."""
        return self.first.startswith(BEGINNINGS) or HEARD in self.first


Ask = Callable[[str, tuple[str, ...]], Said]


SOURCES = ("file", "live")


@pytest.fixture(params=SOURCES)
def ask(request: Any, tmp_path: Path, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """A command, and the kinds that it may not read."""
    monkeypatch.setenv("NO_COLOR", "1")
    content = json.loads(CLUSTER.read_bytes())
    content["items"].append(GROUP)
    for item in content["items"]:
        if item["kind"] == "Node" and item["metadata"]["name"].startswith("gke-"):
            item["metadata"].setdefault("labels", {})["karpenter.sh/nodepool"] = "h100"
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
            # Who may not list pods may not get one by its name either.
            for meta in (each["metadata"] for each in content["items"] if each["kind"] == "Pod" and "Pod" in kinds):
                why = f'User "dev" cannot get resource "pods" in API group "" in the namespace "{meta["namespace"]}"'
                api.forbid(f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}", why)
            serve_autoscalers(api, kinds)
            return said(words)

        yield live


def serve_autoscalers(api: FakeApi, refused: tuple[str, ...]) -> None:
    """The kinds of which node groups are made: one NodePool, which the nodes and two NodeClaims name, and no other."""
    of_pool = {"labels": {"karpenter.sh/nodepool": "h100"}}
    made = {
        "NodePool": [{"metadata": {"name": "h100"}, "spec": {"template": {"spec": {"requirements": []}}}}],
        "NodeClaim": [{"metadata": {"name": f"h100-{number}", **of_pool}} for number in range(2)],
    }
    for group, kinds in AUTOSCALERS.items():
        lists = {plural: made.get(kind, []) for plural, kind in kinds.items()}
        api.serve_foreign(group, "v1", **lists)
        for plural in (plural for plural, kind in kinds.items() if kind in refused):
            words = f'User "dev" cannot list resource "{plural}" in API group "{group}" at the cluster scope'
            api.forbid(f"/apis/{group}/v1/{plural}", words)


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
    assert whole.code == 0
    assert all(line.startswith("note: pool nic.example.com/rack-7 lacks 1 of ") for line in whole.err.splitlines())
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
            assert found.first == f"This answer is incomplete: {kind} could not be read, see below.", (kind, found)
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
            assert stands or found.is_partial, (kind, found)
            assert "not found\n" not in found.err, (kind, found)


@pytest.mark.parametrize("kind", [*KINDS, "DaemonSet", "ResourceClaimTemplate", "PodGroup"])
@pytest.mark.parametrize("format_", ["", "json", "yaml"])
def test_of_node_groups_none_and_yes_are_said_only_of_what_was_read(ask: Ask, kind: str, format_: str) -> None:
    described = ask.__name__ == "live"
    call = f"why-pending trainer-0 -n ml --node-groups cluster{format_ and f' -o {format_}'}"
    whole, found = ask(call, ()), ask(call, (kind,))
    assert whole.code == 0
    if kind == "Pod":
        assert found.code == 1
        assert "could not be read" in found.err
        return
    cannot = kind in ("DaemonSet", "ResourceClaimTemplate", "PodGroup")
    if format_ in ("json", "yaml"):
        (group,), groups = (answers(each, format_)["nodeGroups"] for each in (whole, found))
        assert group["outcome"] == "Fits"
        # A live NodePool is described; from a file the groups are known by their nodes alone.
        gone = kind == "Node" and not described
        assert [each["outcome"] for each in groups] == (["Fits"] if cannot else [] if gone else ["Undecided"])
        missing = (json.loads if format_ == "json" else yaml.safe_load)(found.out)["missing"]
        assert kind in [each["kind"] for each in missing] or kind == "PodGroup"
        return
    text = " ".join(found.out.split())
    assert "A new node of 1 of 1 node group would take the pod" in " ".join(whole.out.split())
    assert "No group is described" not in text
    assert "No new node would take" not in text
    assert cannot or "A new node of" not in text
    told = "Whether a new node of 1 node group"
    if kind == "Node":
        told += " that could be read"
    told = "Which node groups there are" if kind == "Node" and not described else told
    assert "0 nodes running" not in text
    assert told in text or cannot
    assert kind in text or kind == "PodGroup"


@pytest.mark.parametrize("ask", ["live"], indirect=True)
@pytest.mark.parametrize("group", sorted(AUTOSCALERS))
def test_kinds_that_make_node_groups_are_asked_for_where_they_may_not_be_read(ask: Ask, group: str) -> None:
    """Which kind, for whom it is forbidden, and the command that permits it, as on every other page."""
    call = "why-pending trainer-0 -n ml --node-groups cluster"
    for plural, kind in (*AUTOSCALERS[group].items(), ("daemonsets", "DaemonSet")):
        text, document = ask(call, (kind,)), json.loads(ask(f"{call} -o json", (kind,)).out)
        assert [each["kind"] for each in document["missing"]] == [kind]
        assert f"{kind} in the whole cluster: forbidden for user dev" in " ".join(text.out.split())
        where = "apps" if kind == "DaemonSet" else group
        assert f"--resource={plural}.{where}" in text.out
        assert "--user=dev" in text.out
        one = "1 node group" if kind not in MAKING_GROUPS else "1 node group that could be read"
        assert "No group is described" not in text.out
        assert f"of {one} would take the pod" in " ".join(text.out.split())
        (found,) = document["nodeGroups"]
        assert kind != "NodeClaim" or found["size"] is None


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


#: What creates something: a quota may refuse it, however many devices are free.
CREATING = (
    ("simulate -f {} -n ml", "whether it fits is unknown"),
    ("simulate -f {} -n ml --copies 3", "at most 3 of 3 copies fit"),
    ("simulate -f {} -n ml --copies max", "fits at most "),
    ("capacity -f {} -n ml", "they may admit fewer"),
    ("capacity --class gpu.example.com -n ml", "they may admit fewer"),
)


@pytest.mark.parametrize(("words", "told"), CREATING)
def test_quotas_that_were_not_read_may_refuse_what_is_created(ask: Ask, words: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(POD), encoding="utf-8")
    call = words.format(file)
    whole = json.loads(ask(f"{call} -o json", ()).out)
    document = json.loads(ask(f"{call} -o json", ("ResourceQuota",)).out)
    if words.startswith("simulate"):
        assert (whole["fits"], document["fits"]) == ("Yes", "Unknown")
        assert [pod["bound"] for pod in document["pods"]] == ["atMost"]
    for found, expected in ((whole, []), (document, ["ResourceQuota"])):
        assert [each["kind"] for each in found["missing"] if each["decides"]] == expected
    text = ask(f"{call} --exit-code", ("ResourceQuota",))
    assert text.out.startswith("This answer is incomplete"), text
    assert told in " ".join(text.out.split()), text
    assert not any(line in text.out for line in NEVER)
    assert (ask(call, ("ResourceQuota",)).code, text.code) == (0, 4)


@pytest.mark.parametrize("ask", ["file"], indirect=True)
def test_quotas_do_not_decide_about_what_does_not_fit_or_exists(ask: Ask, tmp_path: Path) -> None:
    exists = next(
        item
        for item in json.loads(CLUSTER.read_bytes())["items"]
        if (item["kind"], item["metadata"]["name"]) == ("ResourceClaim", "gpu-pool-a")
    )
    many = json.loads(json.dumps(POD))
    many["items"][0]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 15
    new = json.loads(json.dumps(POD).replace('"namespace": "ml"', '"namespace": "brand-new"'))
    for content in (exists, many, new):
        file = tmp_path / "object.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        call = f"simulate -f {file}"
        found, whole = ask(call, ("ResourceQuota",)), ask(call, ())
        # What would help may create something.
        assert (found.code, found.first) == (whole.code, whole.first)
        assert found == whole or content is many


@pytest.mark.parametrize(("ask", "words"), sampled(CODES, 3, lambda case: case[0]), indirect=["ask"])
def test_exit_codes(ask: Ask, words: str) -> None:
    for kind in KINDS:
        plain, asked = ask(words, (kind,)), ask(f"{words} --exit-code", (kind,))
        told = plain.first.startswith(("This answer", "error"))
        assert plain.code == (1 if LISTS[words] == (kind,) else 0), (kind, plain)
        assert asked.code in ((3, 4) if told else (0, 3)), (kind, asked)


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize("kind", ["ResourceClaim", "DeviceTaintRule"])
def test_no_cell_says_free_or_nobody_of_what_was_not_read(ask: Ask, kind: str) -> None:
    """Row by row: each format says that a device may be less free than what was read, and who holds it is unknown."""
    users = kind == "ResourceClaim"
    for format_ in ("", "wide", "csv", "markdown"):
        call = f"get devices -o {format_}" if format_ else "get devices"
        whole, found = (rows_of(ask(call, kinds).out, format_) for kinds in ((), (kind,)))
        assert {"free", "partly used"} <= {row["STATE"] for row in whole}
        assert {"free?"} <= {row["STATE"] for row in found}
        assert {"free", "partly used"}.isdisjoint(row["STATE"] for row in found)
        assert ("?" in {row["USED BY"] for row in found}, "-" in {row["USED BY"] for row in found}) == (
            users,
            not users,
        )
        if format_ in ("wide", "csv") and not users:
            assert "-" not in {row["TAINTS"] for row in found}
    for device in json.loads(ask("get devices -o json", (kind,)).out)["items"]:
        record = device["device"]
        assert record["stateBound"] == ("exact" if record["state"] in _SURE[kind] else "atMost")
        assert record["holdersBound"] == ("atLeast" if users else "exact")
        assert record["taintsBound"] == ("exact" if users else "atLeast")
    bounds = {each["device"]["stateBound"] for each in json.loads(ask("get devices -o json", ()).out)["items"]}
    assert bounds == {"exact"}


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize(("kinds", "bound"), [((), "exact"), (("Pod",), "exact"), (("ResourceClaim",), "atLeast")])
def test_what_is_used_of_counters_is_as_sure_as_the_claims(ask: Ask, kinds: tuple[str, ...], bound: str) -> None:
    counters = json.loads(ask("describe-pool mig.example.com/cpu-2 -o json", kinds).out)["counters"]
    assert {each["usedBound"] for each in counters} == {bound}
    assert any(each["used"] != "0" for each in counters) is (bound == "exact")


def has_exit_code(words: str) -> bool:
    """Whether a command says what it found by its exit code; plans of taints do so with --list only."""
    found = LazyGroup().get_command(click.Context(click.Command("dra")), words.split()[0])
    assert found is not None
    flags = {flag for each in found.params for flag in each.opts}
    return "--exit-code" in flags and not words.startswith("taint-device")


GRADED = [(source, words) for source in SOURCES for words in PAGES if has_exit_code(words)]


@pytest.mark.parametrize(("ask", "words"), sampled(GRADED, 5, lambda case: case[0]), indirect=["ask"])
def test_exit_codes_of_pages(ask: Ask, words: str) -> None:
    """What begins with what was not read ends with 4, or 3 where a problem is certain; the rest as if all were read."""
    call = f"{words} --exit-code"
    whole = ask(call, ())
    for kind in (*KINDS, "ResourceClaimTemplate", "PodGroup"):
        found = ask(call, (kind,))
        if found.first.startswith("error: "):
            # A list of which nothing was read is the least that an answer can be.
            assert found.code == (4 if "could not be listed" in found.first else 1), (kind, found)
        elif found.is_partial:
            assert found.code in (3, 4), (kind, found)
            assert found.code == 4 or whole.code == 3, (kind, found)
        else:
            assert found.code == whole.code, (kind, found)


def rows_of(out: str, format_: str) -> list[dict[str, str]]:
    """The cells of a table by their titles."""
    if format_ == "csv":
        return list(csv.DictReader(out.splitlines()))
    lines = [line.strip("| ") for line in out.splitlines() if set(line) - set("|-")]
    apart = re.compile(r" +\| +" if format_ == "markdown" else "  +")
    titles, *rows = [apart.split(line) for line in lines]
    return [dict(zip(titles, row, strict=False)) for row in rows]


#: States that stay what they are, whatever the kind that was not read says.
_SURE = {"ResourceClaim": ("inUse",), "DeviceTaintRule": ("inUse", "tainted", "notOffered")}


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize("kind", ["ResourceClaim", "Pod", "DeviceTaintRule"])
def test_capacity_says_of_no_device_that_it_is_unused_or_left_where_that_was_not_read(ask: Ask, kind: str) -> None:
    call = "capacity --class gpu.example.com -n ml --count 4"
    text = ask(call, (kind,)).out
    assert "32 devices match the request; how many of them are left is unknown." in " ".join(text.split())
    assert "left over: too few" not in text
    titles = next(line for line in text.splitlines() if line.startswith("NODES"))
    cells = [(line[titles.index(" IN USE") :].split(), line) for line in text.splitlines() if line.startswith("gke-")]
    for (used, left, *_), line in cells:
        assert left == "?", line
        assert (used == "?") is (kind == "ResourceClaim"), line
        fits = line[: titles.index(" DEVICES")].split()[-1]
        assert fits in ("≤1", "≤2") or (fits == "0" and kind != "ResourceClaim"), line
    assert cells


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize("words", [page for page in ("describe-pool", *PAGES) if "--remedy" not in page])
def test_no_page_says_at_least_or_at_most_nothing(ask: Ask, words: str) -> None:
    for kind in KINDS:
        out = ask(words, (kind,)).out
        assert not re.search(r"\?\d|[≤≥]0(?!\d)", out), (kind, out)


@pytest.mark.parametrize("ask", ["file"], indirect=True)
def test_why_a_claim_waits_is_unknown_where_pods_were_not_read(ask: Ask) -> None:
    page = " ".join(ask("why-pending claim/nb-2-gpus -n dev", ("Pod",)).out.split())
    told = "has no devices yet, and whether a pod waits with it is unknown: Pod could not be read."
    assert f"ResourceClaim dev/nb-2-gpus {told}" in page
    rows = [line.split() for line in ask("why-pending claim -A", ("Pod",)).out.splitlines() if " dev/nb-2-gpus" in line]
    assert [row[0] for row in rows] == ["DRA-800"]


@pytest.mark.parametrize("ask", ["file"], indirect=True)
def test_counters_are_not_called_unused_where_claims_were_not_read(ask: Ask) -> None:
    assert "3 of 4" in ask("describe-pool mig.example.com/cpu-2", ()).out
    text = " ".join(ask("describe-pool mig.example.com/cpu-2", ("ResourceClaim",)).out.split())
    assert "compute ? of 4 ≤4 memory ? of 24Gi ≤24Gi" in text


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize("kinds", [("ResourceClaim",), ("ResourceClaim", "ResourceClaimTemplate")])
def test_no_pod_of_a_drain_stays_pending_for_claims_that_were_not_read(ask: Ask, kinds: tuple[str, ...]) -> None:
    fates = {
        each["pod"]["name"]: (each["fate"], each["because"])
        for each in json.loads(ask(f"simulate --drain {NODE} -o json", kinds).out)["whatIf"]["displaced"]
    }
    assert fates["serve-0"] == ("unknown", "notRead")
    assert "pending" not in {fate for fate, _ in fates.values()}


@pytest.mark.parametrize("ask", ["file"], indirect=True)
def test_pods_that_a_drain_would_move_are_unknown_where_pods_were_not_read(ask: Ask) -> None:
    call = f"simulate --drain {NODE}"
    found, document = ask(call, ("Pod",)), ask(f"{call} -o json", ("Pod",))
    assert (found.code, json.loads(document.out)["fits"]) == (1, "Unknown")
    assert f"Which pods are on {NODE} is unknown" in " ".join(found.out.split())
    assert "Nothing was tried" not in document.out


@pytest.mark.parametrize("ask", ["file"], indirect=True)
@pytest.mark.parametrize("words", ["get nodes", "get classes", "get pools", "get podgroups -A", "get claims -A"])
def test_what_is_unknown_has_one_sign(ask: Ask, words: str) -> None:
    """A question mark alone; a bound never says that there are at least or at most no devices."""
    for kind in ("ResourceClaim", "ResourceSlice", "Pod", "Node", "DeviceTaintRule", "DeviceClass"):
        for format_ in ("", "-o wide", "-o markdown", "-o csv"):
            out = ask(f"{words} {format_}", (kind,)).out
            assert not re.search(r"\?\d|[≤≥]0(?!\d)", out), (kind, out)


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


#: What a linted claim asks for, of which something is wrong.
LINTED = (("gpu.example.com", "modell"), ("gpu.exampel.com", "model"), ("nowhere.example.com", "model"))


@pytest.mark.parametrize(("class_", "attribute"), LINTED)
@pytest.mark.parametrize("format_", ["", "json", "yaml", "sarif", "github"])
def test_findings_that_depend_on_what_was_not_read_begin_with_it(
    class_: str, attribute: str, format_: str, tmp_path: Path, capfd: Any
) -> None:
    """``lint --devices``: what it cannot find for want of rights is not clean; what can't decide is not spoken of."""
    claim = json.loads(json.dumps(POD))["items"][0]
    exactly = claim["spec"]["devices"]["requests"][0]["exactly"]
    expression = f'device.attributes["gpu.example.com"].{attribute} == "H100"'
    exactly.update(deviceClassName=class_, selectors=[{"cel": {"expression": expression}}])
    (file := tmp_path / "claim.json").write_text(json.dumps(claim), encoding="utf-8")
    content = json.loads(CLUSTER.read_bytes())

    def lint(*kinds: str) -> Said:
        (path := tmp_path / "cluster.json").write_text(json.dumps(withheld(content, kinds)), encoding="utf-8")
        words = ["lint", str(file), "--devices", str(path), *(("-o", format_) if format_ else ())]
        return Said(run(words), *capfd.readouterr())

    whole = lint()
    assert whole.err == ""
    assert (attribute if attribute == "modell" else f'no DeviceClass "{class_}"') in whole.out.replace("\\", "")
    for kind in KINDS:
        found = lint(kind)
        decides = kind in ("ResourceSlice", "DeviceClass")
        assert decides or found == whole, (kind, found)
        assert found.err.startswith("warning: ") is decides, (kind, found)
        assert (kind in found.err) is decides, (kind, found)
        if format_ in ("json", "yaml"):
            document = json.loads(found.out) if format_ == "json" else yaml.safe_load(found.out)
            assert [each["kind"] for each in document["missing"]] == ([kind] if decides else [])
