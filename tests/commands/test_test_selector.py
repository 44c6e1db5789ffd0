"""test-selector on the demo cluster: pages as a person reads them, documents as a script does, errors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import yaml

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.selector.page import selector_page
from kubectl_dra.reports.selector import expression_question, selector_report
from kubectl_dra.reports.selector.scoping import all_devices
from kubectl_dra.source.demo import load_demo
from tests.golden_files import FOLDER, check_golden
from tests.kit.facts import without
from tests.kit.state import state_of

pytestmark = pytest.mark.one_in(6)


GPU = 'device.attributes["gpu.example.com"]'
MEMORY = 'device.capacity["gpu.example.com"].memory'
H100 = f'{GPU}.model == "H100"'
PAGES = {
    "match": (f'{H100} &&\n    {GPU}.driverVersion.isGreaterThan(semver("560.0.0"))',),
    "all": ("true",),
    "none": (f'{GPU}.model == "h100"',),
    "typo": (f'{GPU}.modle == "H100"',),
    "domain": ('device.attributes["gpu.exampel.com"].model == "H100"',),
    "partial": (f"{GPU}.nvlinkGeneration >= 4",),
    "partial-class": (f"{GPU}.nvlinkGeneration >= 4", "--class", "gpu.example.com"),
    "partial-node": (
        f"{GPU}.nvlinkGeneration >= 4",
        "--class",
        "gpu.example.com",
        "--node",
        "gke-prod-h100-5f3a2b1c-x9zk",
    ),
    "field": ('device.drivr == "gpu.example.com"',),
    "quantity": (f'{MEMORY} >= quantity("64Gi")',),
    "version": (f'{GPU}.driverVersion == "570.12.0"',),
    "syntax": (f'{H100} and {MEMORY} > "40Gi"',),
    "capacity-as-attribute": (f'{GPU}.memory >= "40Gi"',),
    "too-complex": (f"{H100} && type(device.driver) == string",),
    "stored-only": (f'{GPU}.model.includes("H100")',),
    "expensive": (f'{GPU}.uuid != "" && lists.range(150000).all(i, i >= 0)',),
    "pool": (H100, "--pool", "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq"),
    "driver": ("device.allowMultipleAllocations", "--driver", "nic.example.com"),
    "explain": (
        f"{GPU}.?nvlinkGeneration.orValue(0) >= 4 || {H100}",
        "--explain",
        "gpu.example.com/ip-192-168-153-160.ec2.internal/gpu-1",
    ),
    "explain-class": (
        f'{H100} && {GPU}.exists(name, name.startsWith("nv"))',
        "--class",
        "gpu.example.com",
        "--explain",
        "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",
    ),
    "wide": (H100, "-o", "wide"),
}
MANIFEST = f"""
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: gpus, namespace: ml}}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        firstAvailable:
        - name: big
          deviceClassName: gpu.example.com
          count: 2
          selectors:
          - cel: {{expression: '{GPU}.nvlinkGeneration >= 4'}}
        - name: small
          deviceClassName: small-gpu
          selectors:
          - cel: {{expression: '{MEMORY} >= quantity("40Gi")'}}
      - name: nic
        exactly: {{deviceClassName: nic.example.co, allocationMode: All, count: 3}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: small-gpu}}
spec:
  selectors:
  - cel: {{expression: '{GPU}.model == "L40"'}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: other}}
"""


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def call(capfd, *arguments, source="demo"):
    code = run(["test-selector", *arguments, "--from", source])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "gpus.yaml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "gpus.yaml"


@pytest.mark.parametrize("name", PAGES)
def test_page(capfd, name):
    code, out, err = call(capfd, *PAGES[name])
    assert (code, err) == (0, "")
    assert name == "wide" or max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert not re.search(r" $", out, re.MULTILINE)
    check_golden(f"test-selector/{name}.txt", out)


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("explain")])
def test_headline_numbers_are_sums_of_the_tables(name):
    """Of the pages that are compared above."""
    out = (FOLDER / "test-selector" / f"{name}.txt").read_text(encoding="utf-8")
    first = out.partition("\nCompiles")[0].replace("\n", " ")
    matches = re.match(r"≥?(\d+) of (\d+) devices|All (\d+) devices", first)
    if matches is None:
        return
    rows = re.findall(r"^  \S+\.com +\S+ +(\d+) +(\d+)(?:  |$)", out, re.MULTILINE)
    assert sum(int(match) for match, _ in rows) == int(matches[1] or matches[3])
    free = re.search(r"\(≥?(\d+|none) of them free(?:, ≥?\d+ in part)?\)", first)
    assert free is not None
    assert sum(int(free) for _, free in rows) == int(free[1].replace("none", "0"))
    refused = re.search(r", ≥?(\d+) do", first)
    removed = re.findall(r"removes +(\d+)", out)
    assert sum(map(int, removed)) == int(refused[1] if refused else 0)


def test_manifest(capfd, manifest):
    code, out, err = call(capfd, "-f", manifest)
    assert code == 0
    assert err == "note: gpus.yaml: 1 object of kind ConfigMap has no selectors\n"
    assert max(map(len, out.splitlines())) <= 80
    check_golden("test-selector/manifest.txt", out)


def test_documents(capfd):
    _, text, _ = call(capfd, *PAGES["partial"], "-o", "json")
    report = json.loads(text)
    assert (report["apiVersion"], report["kind"]) == ("kubectl-dra/v1alpha1", "SelectorReport")
    assert report["totals"]["matches"] == {"value": 16, "bound": "exact"}
    assert report["failures"][0]["key"] == "nvlinkGeneration"
    assert report["rewrites"][0]["changes"] == ["guard"]
    assert report["orders"][0]["node"] == "ip-192-168-153-160.ec2.internal"
    told = json.loads(call(capfd, *PAGES["partial"], "-o", "json", "--text")[1])
    assert told.pop("output") == {"text": call(capfd, *PAGES["partial"])[1].rstrip("\n")}
    assert told == report
    assert yaml.safe_load(call(capfd, *PAGES["partial"], "-o", "yaml")[1]) == report


def test_a_file_gives_a_list(capfd, manifest):
    _, text, _ = call(capfd, "-f", manifest, "-o", "json")
    document = json.loads(text)
    assert document["kind"] == "SelectorReportList"
    assert [(item["kind"], item["subject"]["request"], item["deviceClass"]) for item in document["items"]] == [
        ("SelectorReport", "", ""),
        ("SelectorReport", "gpu/big", "gpu.example.com"),
        ("SelectorReport", "gpu/small", "small-gpu"),
        ("SelectorReport", "nic", "nic.example.co"),
    ]


def test_broken_objects_cost_only_themselves(capfd, tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text(
        MANIFEST + "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: [1]}\n", encoding="utf-8"
    )
    code, out, err = call(capfd, "-f", str(path))
    assert code == 1
    assert "metadata.name: expected a string, got a list" in err
    assert out.startswith("DeviceClass small-gpu:")


def test_the_length_is_looked_at_first_as_by_admission(capfd):
    out = call(capfd, " " * 10_241)[1]
    assert out.startswith("The API server refuses it: Too long: may not be more than 10240 bytes.\nIt does not compile")
    assert call(capfd, " " * 10_240)[1].startswith("Does not compile: syntax error")


@pytest.mark.parametrize(
    ("arguments", "code", "what", "hint"),
    [
        ([], 2, "no expression", "-f FILE"),
        (["true", "false"], 2, "2 expressions", "quotes"),
        (["true", "-f", "x"], 2, "cannot be combined", ""),
        (["-f", "x", "--class", "gpu.example.com"], 2, "cannot be combined", ""),
        (["-f", "nosuch.yaml"], 1, "nosuch.yaml", ""),
        (["true", "--class", "gpu.exampl.com"], 1, '"gpu.exampl.com" not found, did you mean "gpu.example.com"', "get"),
        (["true", "--driver", "nic.exampl.com"], 1, 'did you mean "nic.example.com"', "get pools"),
        (["true", "--pool", "node-z"], 1, 'pool "node-z" not found', "get pools"),
        (["true", "--node", "node-z"], 1, 'nodes "node-z" not found; the cluster has ', "kubectl dra get nodes"),
        (
            ["true", "--explain", "gke-prod-h100-5f3a2b1c-k4tq/gpu-99"],
            1,
            'device "gke-prod-h100-5f3a2b1c-k4tq/gpu-99" not found',
            "get devices",
        ),
        (
            ["true", "--explain", "gpu-0"],
            1,
            "may be any of 4 devices",
            "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",
        ),
        (["true", "-o", "name"], 2, "unknown output format", ""),
    ],
)
def test_wrong_words_get_one_line_what_and_one_line_what_to_do(capfd, arguments, code, what, hint):
    got, out, err = call(capfd, *arguments)
    assert (got, out) == (code, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) <= 2
    assert what in err
    assert hint in err


@pytest.mark.parametrize(
    ("name", "code"),
    [("match", 0), ("all", 0), ("none", 3), ("partial", 3), ("field", 3), ("too-complex", 3), ("expensive", 4)],
)
def test_exit_code(capfd, name, code):
    """Without the flag it is 0, as above."""
    assert call(capfd, *PAGES[name], "--exit-code")[0] == code


def test_partial_evidence(capfd, tmp_path):
    """A snapshot whose claims and nodes were forbidden: free is an upper bound, searches can't be tried."""
    from tests.reports.clusters import DEMO, document, withheld

    path = tmp_path / "blind.json"
    path.write_text(json.dumps(withheld(document(DEMO), ("ResourceClaim", "Node"))), encoding="utf-8")
    code, out, _ = call(capfd, *PAGES["match"], "--exit-code", source=str(path))
    assert code == 4
    assert out.startswith("This answer is incomplete")
    assert "\n8 of 32 devices match (≤7 of them free), 24 don't, none fails.\n" in out
    assert "ResourceClaim and Node in the whole cluster" in " ".join(out.split())
    _, out, _ = call(capfd, *PAGES["partial"], source=str(path))
    assert "Nodes could not be read" in out
    assert "abort scheduling:" not in out


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("DeviceClass", "it fails on them; whether a class keeps them away is unknown."),
        ("Node", "not kept away by any-device; whether a search reaches them is unknown."),
    ],
)
def test_what_keeps_failing_devices_away_is_unknown_where_it_was_not_read(capfd, tmp_path, kind, told):
    from tests.reports.clusters import DEMO, document, withheld

    path = tmp_path / "blind.json"
    path.write_text(json.dumps(withheld(document(DEMO), (kind,))), encoding="utf-8")
    _, out, _ = call(capfd, 'device.attributes["gpu.example.com"].model == "H100"', source=str(path))
    assert told in " ".join(out.split())


def test_what_does_not_compile_is_wrong_whatever_was_read(capfd, tmp_path):
    from tests.reports.clusters import DEMO, document, withheld

    path = tmp_path / "blind.json"
    path.write_text(json.dumps(withheld(document(DEMO), ("ResourceSlice", "Node"))), encoding="utf-8")
    _, out, _ = call(capfd, "device.drivr == 1", source=str(path))
    assert out.startswith("Does not compile")
    assert "could not be read" not in out.lower()


def test_no_device_is_called_free_where_claims_were_not_read() -> None:
    inventory, evidence = load_demo()
    reads = tuple(
        msgspec.structs.replace(r, coverage=Coverage.FORBIDDEN) if r.kind == "ResourceClaim" else r
        for r in evidence.reads
    )
    world = state_of(without(inventory, "ResourceClaim"), replace(evidence, reads=reads))
    report = selector_report(expression_question('device.driver == "gpu.example.com"', None), all_devices(world))
    assert {(pool.bound, pool.free_bound) for pool in report.pools} == {(Bound.EXACT, Bound.AT_MOST)}
    page = [" ".join(line.split()) for line in selector_page(report, wide=True, address=HERE)]
    assert "gpu.example.com gke-prod-h100-5f3a2b1c-x9zk 8 ≤8 gpu-0 … gpu-7 ?" in page
