"""Sentences that used to be riddles: raw parser texts, nobody named, the same line twice."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.output.words import lasting
from tests.kit.clock import CLOCK
from tests.reports.clusters import DEMO, document, withheld

ROOT = Path(__file__).parents[2]
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: gpu.example.com
        selectors:
        - cel:
            expression: |
"""


def call(capfd: pytest.CaptureFixture[str], *words: str) -> str:
    run(words)
    out, err = capfd.readouterr()
    return " ".join((out + err).split())


def _claim(tmp_path, *lines: str) -> str:
    path = tmp_path / "claim.yaml"
    path.write_text(CLAIM + "".join(f"              {line}\n" for line in lines), encoding="utf-8")
    return str(path)


BROKEN = [
    (("device.driver ==", '"x" &&', "foo("), "line 4, column 1: syntax error: unexpected end of the expression"),
    (('device.driver == "x" and true',), 'line 1, column 22: syntax error: unexpected "and"'),
    (("device.nosuch == 1",), "line 1, column 7: undefined field 'nosuch'"),
    (("a == b",), "line 1, column 1: undeclared reference to 'a' (in container ''); line 1, column 6: undeclared"),
]


@pytest.mark.parametrize(("lines", "said"), BROKEN, ids=[lines[-1] for lines, _ in BROKEN])
@pytest.mark.parametrize("command", ["simulate", "convert"])
def test_a_refused_selector_in_words(capfd, tmp_path, command, lines, said) -> None:
    source = ("--from", "demo") if command == "simulate" else ()
    text = call(capfd, command, "-f", _claim(tmp_path, *lines), *source)
    assert f"selectors[0].cel.expression: does not compile: {said}" in text
    for raw in ("\\u{", "expecting", "<input>", "<EOF>", "Invalid value", "ERROR:"):
        assert raw not in text.partition("apiVersion")[0]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("kind: Pod\nmetadata: {name: a}\n", "apiVersion is missing; Pod has v1"),
        ("kind: Node\nmetadata: {name: a}\n", "it has no apiVersion; Node has v1"),
        ("kind: Pod\napiVersion: v7\nmetadata: {name: a}\n", "there is no Pod in v7; v1 has it"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "convert"])
def test_an_object_without_a_version(capfd, tmp_path, command, written, said) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(written, encoding="utf-8")
    source = ("--from", "demo") if command == "simulate" else ()
    assert said in call(capfd, command, "-f", str(path), *source)


@pytest.fixture
def deleted(tmp_path):
    """A claim that is being deleted, reserved for nobody, and kept by finalizers."""
    content = document(DEMO)
    claim = next(each for each in content["items"] if each["metadata"]["name"] == "leftover")
    claim["metadata"] |= {"deletionTimestamp": "2026-07-28T11:00:00Z", "finalizers": ["example.com/audit"]}
    path = tmp_path / "deleted.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_a_deletion_names_what_it_waits_for(capfd, deleted) -> None:
    text = call(capfd, "why-pending", "claim/leftover", "-n", "lab", "--from", deleted)
    assert "its deletion waits for the finalizer example.com/audit" in text
    assert "waits for ." not in text


def test_an_unknown_time_is_said_in_words() -> None:
    assert lasting(None, CLOCK.now()) == "for an unknown time"


def test_what_a_file_lacks_is_no_lack_of_rights(capfd, tmp_path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(withheld(document(DEMO), ("ResourceSlice",))), encoding="utf-8")
    text = call(capfd, "why-pending", "-A", "--from", str(path))
    assert "DRA-800" in text
    assert "not enough rights" not in text


def test_no_line_stands_once_per_request(capfd, tmp_path) -> None:
    path = tmp_path / "two.yaml"
    request = (
        "{name: %s, exactly: {deviceClassName: gpu.example.com, count: 9,"
        ' selectors: [{cel: {expression: \'device.attributes["gpu.example.com"].model == "H100"\'}}]}}'
    )
    requests = ", ".join(request % name for name in "rs")
    path.write_text(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: b}\n"
        f"spec: {{devices: {{requests: [{requests}]}}}}\n",
        encoding="utf-8",
    )
    run(("simulate", "-f", str(path), "--from", "demo"))
    lines = [line for line in capfd.readouterr().out.splitlines() if re.search(r"\w{4,} \w{2,} \w{2,}", line)]
    assert "ResourceClaim" in lines[0]
    assert [line for line in set(lines) if lines.count(line) > 1] == []


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a, namespace: ml}}
spec:
  containers:
  - name: main
    image: x
    resources: {{claims: [{{name: used}}]}}
  resourceClaims:
  - {{name: used, resourceClaimTemplateName: t}}
  - {{name: {name}, resourceClaimTemplateName: t}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: t, namespace: ml}}
spec: {{spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: {class_}}}}}]}}}}}}
"""
WARNING = "Warning: no container names gpus under resources.claims, so no container sees its devices"


@pytest.mark.parametrize("class_", ["gpu.example.com", "nosuch"])
def test_a_claim_that_no_container_uses_is_a_warning(capfd, tmp_path, class_) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(POD.format(name="gpus", class_=class_), encoding="utf-8")
    assert call(capfd, "simulate", "-f", str(path), "--from", "demo").count(WARNING) == 1
    run(("simulate", "-f", str(path), "--from", "demo", "-o", "json"))
    pods = json.loads(capfd.readouterr().out)["pods"]
    assert [each["unseen"] for each in pods] == [["gpus"]]


def test_why_pending_warns_of_a_claim_that_no_container_uses(capfd, tmp_path) -> None:
    content = document(DEMO)
    pod = next(each for each in content["items"] if each["metadata"]["name"] == "trainer-0")
    before = call(capfd, "why-pending", "trainer-0", "-n", "ml", "--from", "demo")
    for container in pod["spec"]["containers"]:
        del container["resources"]["claims"]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert WARNING not in before
    assert WARNING in call(capfd, "why-pending", "trainer-0", "-n", "ml", "--from", str(path))


def test_a_bare_pod_that_nobody_wrote_is_not_warned_of(capfd, tmp_path) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text(CLAIM + "              true\n", encoding="utf-8")
    assert "Warning" not in call(capfd, "simulate", "-f", str(path), "--from", "demo")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("device.driver == = 3", '"=" is not part of CEL.'),
        ("device.driver ==", "unexpected end of the expression (it is not finished)."),
        ("a b", 'unexpected "b".'),
        ('device.driver == "x', 'the string "x has no closing quote.'),
    ],
)
def test_what_the_parser_expects_is_not_listed(capfd, expression, said) -> None:
    text = call(capfd, "test-selector", expression, "--from", "demo")
    assert text.startswith(f"Does not compile: syntax error: {said}")
    assert "expecting" not in text


def test_what_is_left_of_an_object_is_not_the_object(capfd, tmp_path) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec:\n  toleration: [{key: d}]\n"
        "  containers: [{name: m, image: x}]\n",
        encoding="utf-8",
    )
    text = call(capfd, "simulate", "-f", str(path), "--from", "demo")
    assert text.startswith("Not as written: 1 unknown field")
    assert " What is left: Pod ml/a" in text
    assert "drop. Pod ml/a fits" not in text
    assert run(["simulate", "-f", str(path), "--from", "demo", "--exit-code"]) == 3


def test_a_list_of_taints_has_an_exit_code(capfd) -> None:
    assert run(["taint-device", "--list", "--from", "demo", "--exit-code"]) == 3
    assert run(["taint-device", "x/y/z", "a:NoSchedule", "--dry-run=client", "--from", "demo", "--exit-code"]) == 2
    assert "--exit-code is for --list" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["broken.json", "broken.yaml"])
@pytest.mark.parametrize("command", ["simulate", "convert", "lint"])
def test_a_broken_file_in_words(capfd, tmp_path, command, name) -> None:
    path = tmp_path / name
    path.write_text('{"a": [1,\n 2' if name.endswith("json") else "a: [\n  b", encoding="utf-8")
    text = call(capfd, command, "-f", str(path), *(("--from", "demo") if command == "simulate" else ()))
    assert any(words in text for words in ("is not closed", "a closing bracket is missing")), text
    assert not re.search("xpecting|xpected|delimiter|token", text), text


@pytest.mark.parametrize(
    "words",
    [
        "snapshot -f -",
        "top pods",
        "capacity --class gpu.example.com",
        "why-pending",
        "get claims",
        "describe-claim x",
        "describe-podgroup x",
    ],
)
def test_a_namespace_that_does_not_exist(capfd, words) -> None:
    assert run([*words.split(), "-n", "mll", "--from", "demo"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [
        'error: namespaces "mll" not found, did you mean "ml"?',
        "try:   kubectl dra get claims -A --from demo",
    ]


def test_a_sentence_goes_on_in_small_letters(capfd, tmp_path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(withheld(document(DEMO), ("ResourceSlice",))), encoding="utf-8")
    text = call(capfd, "capacity", "--class", "gpu.example.com", "--from", str(path))
    assert "How many times a pod that requests 1 × gpu.example.com fits is unknown" in text
    text = call(capfd, "simulate", "-f", str(ROOT / "docs/examples"), "--from", "demo")
    assert "What is left: a bare pod with ResourceClaim ml/one-gpu fits." in text
    assert "What is left: A" not in text


def test_what_two_files_hold_is_named_once(capfd) -> None:
    text = call(capfd, "simulate", "-f", str(ROOT / "docs/examples"), "--from", "demo")
    assert text.count("DeviceClass gpu.example.com exists already: here it is as the file says.") == 1


def test_a_namespace_without_devices_leads_to_all_namespaces(capfd) -> None:
    said = "No claim in namespace default holds a device. In all namespaces: kubectl dra top {} -A --from demo"
    for words, by in ((["pods"], "pods"), (["-n", "default"], "namespaces")):
        assert call(capfd, "top", *words, "--from", "demo") == said.format(by)


def test_pods_are_listed_elsewhere(capfd) -> None:
    text = call(capfd, "get", "pods", "-A", "--from", "demo")
    assert text == (
        "error: get has no list of pods try: kubectl dra why-pending -A --from demo lists those that wait for devices"
    )


def test_the_title_of_a_reason_fits_a_page(capfd) -> None:
    for code in ("DRA-206", "DRA-396", "DRA-398"):
        run(["explain", code])
        first, second, *_ = capfd.readouterr().out.splitlines()
        assert first.startswith(f"{code}  ")
        assert len(first) <= 80
        assert second.startswith(" " * 9)


def test_no_reason_sends_to_its_own_page(capfd) -> None:
    run(["explain", "-o", "name"])
    for code in capfd.readouterr().out.split():
        assert f"explain {code}" not in call(capfd, "explain", code), code


@pytest.fixture
def without(tmp_path):
    """The demo cluster as a snapshot that was taken without the right to list one kind."""

    def made(kind: str) -> str:
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps(withheld(document(DEMO), (kind,))), encoding="utf-8")
        return str(path)

    return made


@pytest.mark.parametrize("kind", ["ResourceClaim", "Pod"])
def test_what_holds_devices_is_not_nothing_where_it_was_not_read(capfd, without, kind) -> None:
    text = call(capfd, "capacity", "--class", "gpu.example.com", "--from", without(kind))
    assert "fits at most" in text
    assert "Whether restarting pods would bring more is unknown." in text
    assert "no pod holds such devices" not in text
    assert "none of the pods" not in text


def test_nodes_whose_devices_were_not_read_have_no_zeros(capfd, without) -> None:
    text = call(capfd, "capacity", "--class", "gpu.example.com", "--from", without("ResourceSlice"))
    assert "is unknown: data needed for a number could not be read." in text
    assert "NODES" not in text


def test_the_devices_of_a_node_carry_the_sign_of_what_was_not_read(capfd, without) -> None:
    words = ("describe-node", "cpu-2", "--from")
    assert "Node cpu-2 has at least 2 devices, which are in use" in call(capfd, *words, without("ResourceSlice"))
    assert "Node cpu-2 has 7 devices of its own: ≤7 free and ? in use." in call(capfd, *words, without("ResourceClaim"))
    assert "Node cpu-2 has 7 devices of its own: 3 free, 2 in use and 2 blocked." in call(capfd, *words, "demo")


def test_copies_that_share_devices_take_shares_of_them(capfd) -> None:
    text = call(capfd, "capacity", "--class", "nic.example.com", "--from", "demo")
    assert "4 devices match the request:" in text
    assert "18 shares taken by the 18 copies that fit" in text


def test_a_comment_stands_with_its_commands(capfd) -> None:
    run(["top", "--from", "demo"])
    lines = capfd.readouterr().out.splitlines()
    comment = next(number for number, line in enumerate(lines) if "# CONTEXT stands for" in line)
    assert lines[comment].startswith("  #")
    assert lines[comment + 1].startswith("  kubectl delete")


def test_a_dry_run_without_a_word_is_the_one_of_this_program(capfd) -> None:
    words = ("taint-device", "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0", "broken:NoExecute")
    text = call(capfd, *words, "--dry-run", "--from", "demo")
    assert text == call(capfd, *words, "--dry-run=client", "--from", "demo")
    assert text.endswith("Nothing was written: this was a dry run.")


def test_a_group_that_waits_leads_to_why(capfd) -> None:
    file = str(ROOT / "docs/examples/gang.yaml")
    text = call(capfd, "describe-podgroup", "train", "-n", "ml", "--from", file)
    assert f"Why: kubectl dra why-pending podgroup/train -n ml --from {shlex.quote(file)}" in text


def test_lint_says_what_happens_otherwise(capfd) -> None:
    text = call(capfd, "lint", "-f", str(ROOT / "docs/examples/mistakes.yaml"))
    assert "other clients silently drop it" in text
    assert "Name it under resources.claims of a container; without that, no container sees the device." in text
