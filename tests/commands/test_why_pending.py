"""why-pending on the demo cluster: pages as a person reads them, documents as a script does, errors."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
import yaml

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.source.demo import load_demo
from tests.golden_files import check_golden
from tests.kit.state import state_of

pytestmark = pytest.mark.one_in(6)


INVENTORY, EVIDENCE = load_demo()
PENDING = [(key.namespace, key.name) for key in pending_pods(state_of(INVENTORY, EVIDENCE))]


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")


def call(capfd, *arguments):
    code = run(["why-pending", *arguments, "--from", "demo"])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize(("namespace", "name"), PENDING)
def test_page(capfd, namespace, name):
    code, out, err = call(capfd, name, "-n", namespace)
    assert (code, err) == (0, "")
    # Prose is wrapped; selectors and commands are code, which is never broken.
    prose = [line for line in out.splitlines() if "device." not in line and "kubectl " not in line]
    assert max(map(len, prose)) <= 80
    assert "\x1b" not in out
    assert out.startswith((f"Pod {namespace}/{name} ", f"Whether pod {namespace}/{name} "))
    check_golden(f"why-pending/{namespace}-{name}.txt", out)


def test_a_pod_that_runs_names_its_claims_and_devices(capfd):
    code, out, err = call(capfd, "serve-0", "-n", "ml")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert words.startswith("Pod ml/serve-0 is not pending: it runs on node gke-prod-h100-5f3a2b1c-k4tq.")
    assert "Claims: serve-0-net, serve-0-gpus-ppjs4" in words
    says = "nic.example.com/rack-1/nic-0 takes bandwidth 80G Ready True (LinkUp), for 3d network: interface net1"
    assert says in words
    assert "gpu-1 takes" not in words
    document = json.loads(call(capfd, "serve-0", "-n", "ml", "-o", "json")[1])
    assert [each["device"] for each in document["held"]] == ["nic.example.com/rack-1/nic-0"]
    assert document["held"][0]["networkData"]["ips"] == ["10.8.1.20/16"]
    assert "nic.example.com/rack-1/nic-0, gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0," in words


def test_overview_counts_every_pending_pod_once(capfd):
    code, out, err = call(capfd, "-A")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith("  DRA-")]
    numbers = [int(next(word for word in row[1:] if word.isdecimal())) for row in rows]
    assert sum(numbers) == len(PENDING)
    assert out.startswith(f"{len(PENDING)} pods with device claims are pending, for {len(rows)} reasons:")
    check_golden("why-pending/all.txt", out)


def test_overview_of_claims_counts_every_one_once(capfd):
    code, out, err = call(capfd, "claim", "-A")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith("  DRA-")]
    numbers = [int(next(word for word in row[1:] if word.isdecimal())) for row in rows]
    items = json.loads(call(capfd, "claim", "-A", "-o", "json")[1])["items"]
    assert sum(numbers) == len(items)
    assert all(item["causes"] for item in items)
    assert out.startswith(f"{len(items)} ResourceClaims need attention, for {len(rows)} reasons:")
    check_golden("why-pending/claims.txt", out)


def test_every_form_of_words(capfd):
    forms = (["trainer-0"], ["pod/trainer-0"], ["pod", "trainer-0"], ["pods", "trainer-0"], ["po/trainer-0"])
    pages = {call(capfd, *words, "-n", "ml")[1] for words in forms}
    assert len(pages) == 1
    assert call(capfd, "pod", "-A")[1] == call(capfd, "-A")[1]


def test_documents(capfd):
    _, text, _ = call(capfd, "trainer-0", "-n", "ml", "-o", "json")
    report = json.loads(text)
    assert (report["apiVersion"], report["kind"]) == ("kubectl-dra/v1alpha1", "PendingReport")
    assert report["pod"] == {"kind": "Pod", "namespace": "ml", "name": "trainer-0"}
    assert report["verdict"] == report["reason"] == "Unschedulable"
    assert report["agreement"] == "agrees"
    assert report["causes"][0]["code"] == "DRA-220"
    assert sum(group["count"] for group in report["nodes"]) == len(INVENTORY.nodes)
    told = json.loads(call(capfd, "trainer-0", "-n", "ml", "-o", "json", "--text")[1])
    assert told.pop("output") == {"text": call(capfd, "trainer-0", "-n", "ml")[1].rstrip("\n")}
    assert told == report
    assert yaml.safe_load(call(capfd, "trainer-0", "-n", "ml", "-o", "yaml")[1]) == report


def test_several_names_give_a_list_and_one_missing_name_hides_none(capfd):
    code, text, err = call(capfd, "trainer-0", "nosuch", "-n", "ml", "-o", "json")
    listed = json.loads(text)
    assert (code, listed["kind"]) == (1, "PendingReportList")
    assert [item["pod"]["name"] for item in listed["items"]] == ["trainer-0"]
    assert 'pods "nosuch" not found in namespace "ml"' in err


def test_one_node(capfd):
    report = json.loads(
        call(capfd, "trainer-0", "-n", "ml", "--node", "ip-192-168-171-24.ec2.internal", "-o", "json")[1]
    )
    assert [(group["names"], group["count"]) for group in report["nodes"]] == [(["ip-192-168-171-24.ec2.internal"], 1)]


def test_claim(capfd):
    code, out, _ = call(capfd, "claim/infer-7c9f8d6b54-kcqfk-gpu-dm4t4", "-n", "ml")
    assert code == 0
    assert out.startswith("ResourceClaim ml/infer-7c9f8d6b54-kcqfk-gpu-dm4t4 has no devices yet")
    assert "wanted by Pod infer-7c9f8d6b54-kcqfk" in out
    assert "\nPod ml/infer-7c9f8d6b54-kcqfk is pending, although it would fit on" in out


def test_workload_stands_for_its_pending_pods(capfd):
    owned = [
        (key, owner)
        for key in pending_pods(state_of(INVENTORY, EVIDENCE))
        for owner in INVENTORY.pods[key].metadata.owner_references
    ]
    assert owned, "the demo cluster has a pending pod with an owner"
    key, owner = owned[0]
    _, text, _ = call(capfd, f"{owner.kind.lower()}/{owner.name}", "-n", key.namespace, "-o", "json")
    assert key.name in [item["pod"]["name"] for item in json.loads(text)["items"]]


@pytest.mark.parametrize("words", [["-A"], ["claims", "-A"], ["-n", "ml"]])
def test_labels_that_select_nothing_are_not_told_as_nothing_pending(capfd, words):
    code, out, _ = call(capfd, *words, "-l", "app=nobody")
    assert code == 0
    assert re.fullmatch(r"No .*(pod|ResourceClaim)\b.* has labels that\s+match\s+app=nobody\.\n", out, re.DOTALL)


@pytest.mark.parametrize(
    ("arguments", "code", "what", "hint"),
    [
        (["trainr-0", "-n", "ml"], 1, 'pods "trainr-0" not found in namespace "ml", did you mean "trainer-0"', ""),
        (["trainer-0"], 1, 'pods "trainer-0" not found in namespace "default"', "trainer-0 -n ml"),
        (["claim/nope", "-n", "ml"], 1, '"nope" not found', "kubectl dra get claims -A --from demo"),
        (["trainer-0", "-A"], 2, "all namespaces", "-n NAMESPACE trainer-0"),
        (["trainer-0", "-l", "a=b"], 2, "cannot be combined", ""),
        (["-l", "a in"], 2, "label selector", ""),
        (["-o", "go-template"], 2, 'unknown output format "go-template"', "jq"),
        (["-o", "jsonpath"], 2, "-o jsonpath: no text stands behind =", "jsonpath='{.items[*].kind}'"),
        (["nodes"], 2, "", ""),
        (
            ["trainer-0", "-n", "ml", "--node", "node-z"],
            1,
            'nodes "node-z" not found; the cluster has ',
            "kubectl dra get nodes",
        ),
        (["pod/a/b"], 2, "more than one slash", ""),
    ],
)
def test_wrong_words_get_one_line_what_and_one_line_what_to_do(capfd, arguments, code, what, hint):
    got, out, err = call(capfd, *arguments)
    assert (got, out) == (code, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) <= 2
    assert what in err
    assert hint in err


@pytest.mark.parametrize(("arguments", "code"), [(["trainer-0", "-n", "ml"], 3), (["nb-2", "-n", "dev"], 0)])
def test_exit_code(capfd, arguments, code):
    assert call(capfd, *arguments, "--exit-code")[0] == code
    assert call(capfd, *arguments)[0] == 0


def test_remedies_are_in_the_document_with_their_steps(capfd):
    report = json.loads(call(capfd, "trainer-0", "-n", "ml", "-o", "json", "--remedies")[1])
    first, *_ = report["remedies"]
    assert (first["kind"], first["verified"], first["nodes"]) == (
        "editClaim",
        True,
        ["gke-prod-h100-5f3a2b1c-x9zk"],
    )
    assert first["steps"][0]["manifest"]["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] == 3
    assert first["steps"][0]["commands"] == [["kubectl", "replace", "--force", "-f", "-", "--context", "CONTEXT"]]
    assert {remedy["kind"] for remedy in report["remedies"]} == {"editClaim", "freeDevices"}
    assert {addition["kind"] for addition in report["additions"]} == {"addDevices"}
    brief = json.loads(call(capfd, "trainer-0", "-n", "ml", "-o", "json")[1])
    assert brief["remedies"] == [{**remedy, "steps": []} for remedy in report["remedies"]]


def test_printed_commands_are_shell(capfd, tmp_path):
    """What ``--remedies`` prints below the page runs in bash; a stand-in for kubectl shows what arrives there."""
    out = call(capfd, "trainer-0", "-n", "ml", "--remedies")[1]
    script = out[out.index("# 1 ") :]
    stub = tmp_path / "kubectl"
    stub.write_text(
        '#!/bin/bash\necho "$@"\nif [ "$3" = -f ] || [ "$4" = - ]; then cat >> "$LOG"; fi\n', encoding="utf-8"
    )
    stub.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(tmp_path / "log")}
    done = subprocess.run(
        ["bash", "-eu"], input=script, capture_output=True, encoding="utf-8", env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "delete pod/trainer-0 -n ml --ignore-not-found" in done.stdout
    manifest = yaml.safe_load(
        (tmp_path / "log").read_text(encoding="utf-8").split("apiVersion:", 2)[1].join(["apiVersion:", ""])
    )
    assert manifest["kind"] == "ResourceClaimTemplate"
    assert "uid" not in manifest["metadata"]


def test_what_is_created_anew_carries_nothing_of_the_server(capfd, tmp_path):
    """Objects of a live cluster have managedFields, which a manifest for another one has no use for."""
    path = tmp_path / "cluster.json"
    assert run(["snapshot", "-o", str(path), "--from", "demo"]) == 0
    recorded = json.loads(path.read_text(encoding="utf-8"))
    for item in recorded["items"]:
        item["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2026-11-01T00:00:00Z"}]
    path.write_text(json.dumps(recorded), encoding="utf-8")
    capfd.readouterr()
    assert run(["why-pending", "trainer-0", "-n", "ml", "--remedies", "--from", str(path)]) == 0
    out = capfd.readouterr().out
    assert "ResourceClaimTemplate" in out
    assert "managedFields" not in out


def test_lists_have_remedies_only_when_asked(capfd):
    report = json.loads(call(capfd, "-n", "ml", "-o", "json")[1])
    assert {len(item["remedies"]) for item in report["items"]} == {0}
    report = json.loads(call(capfd, "-n", "ml", "-o", "json", "--remedies")[1])
    assert any(item["remedies"] for item in report["items"])


def test_one_way_out_and_nothing_else(capfd):
    """``--remedy N`` is what ``--remedies`` prints for that number, and the list has the same numbers."""
    whole = call(capfd, "trainer-0", "-n", "ml", "--remedies")[1]
    page, note, script = re.split(r"(?m)^(# CONTEXT .*\n)", whole)
    parts = re.split(r"(?m)^(?=# \d+ )", script)[1:]
    assert len(parts) > 2
    for part in parts:
        number, words = re.match(r"# (\d+) (\w+ \w+)", part).groups()
        assert re.search(rf"(?m)^    {number}  ({words}|the same with )", page), words
        code, out, err = call(capfd, "trainer-0", "-n", "ml", "--remedy", number)
        assert (code, out, err) == (0, note + part, "")


def test_what_could_help_is_numbered_after_what_was_tried():
    world = state_of(INVENTORY, EVIDENCE)
    for namespace, name in PENDING:
        found = find_remedies(world, Diagnoser(world).pod(Key(namespace, name))).remedies
        assert [each.verified for each in found] == sorted((each.verified for each in found), reverse=True)


@pytest.mark.parametrize(
    ("arguments", "code", "what", "hint"),
    [
        (
            ["trainer-0", "-n", "ml", "--remedy", "9"],
            1,
            "pod ml/trainer-0 has 4 ways out, not 9",
            "",
        ),
        (
            ["nb-2", "-n", "dev", "--remedy", "1"],
            1,
            "way out 1 of pod dev/nb-2 has no command: wait for",
            "pod/nb-2 -n dev",
        ),
        (["trainer-0", "-n", "ml", "--remedy", "0"], 2, "--remedy: 0 is less than 1", ""),
        (["-n", "ml", "--remedy", "1"], 2, "--remedy is about one pod", "POD --remedy N"),
        (["claim/infer-7c9f8d6b54-kcqfk-gpu-dm4t4", "-n", "ml", "--remedy", "1"], 2, "--remedy is about one pod", ""),
        (
            ["infer-7c9f8d6b54-kcqfk", "infer-7c9f8d6b54-mlk25", "-n", "ml", "--remedy", "1"],
            2,
            "--remedy is about one pod",
            "",
        ),
        (["trainer-0", "-n", "ml", "--remedy", "1", "-o", "json"], 2, "-o json cannot be combined", ".remedies"),
        (["trainer-0", "-n", "ml", "--remedy", "1", "--remedies"], 2, "cannot be combined", "leave out --remedies"),
        (["trainer-0", "-n", "ml", "--remedy", "1", "-w"], 2, "cannot be combined", "leave out -w"),
    ],
)
def test_a_way_out_that_there_is_not(capfd, arguments, code, what, hint):
    got, out, err = call(capfd, *arguments)
    assert (got, out) == (code, "")
    assert err.startswith("error: ")
    assert what in err
    assert hint in err


def test_a_search_that_ended_early_says_so(capfd, monkeypatch):
    """What was tried is counted; that there was more to try is no secret."""
    monkeypatch.setattr("kubectl_dra.diagnosis.remedies.trial._MOST", 1)
    monkeypatch.setattr("kubectl_dra.diagnosis.remedies.trial._LEAST", 1)
    pages = [call(capfd, name, "-n", namespace)[1] for namespace, name in PENDING]
    ended = [" ".join(page.split()) for page in pages if "No change was found" in page]
    assert ended
    assert all("checked; the search was ended there, and others may help." in page for page in ended)


@pytest.mark.parametrize("flags", [["-o", "wide"], ["--sort-by", "age"]])
def test_a_list_without_the_line_of_titles(capfd, flags):
    _, whole, _ = call(capfd, "-A", *flags)
    code, lines, err = call(capfd, "-A", *flags, "--no-headers")
    assert (code, err) == (0, "")
    assert lines.splitlines() == whole.splitlines()[1:]
    assert lines


def test_titles_of_a_page_are_no_titles(capfd):
    assert call(capfd, "probe", "-n", "lab", "-o", "wide", "--no-headers")[0] == 2


@pytest.mark.parametrize("arguments", [["-A"], ["-A", "-o", "name"], ["-A", "-o", "json"], ["-A", "-o", "csv"]])
def test_titles_are_left_out_only_of_a_list_that_has_them(capfd, arguments):
    code, out, err = call(capfd, *arguments, "--no-headers")
    assert (code, out) == (2, "")
    assert "add -o wide" in err
