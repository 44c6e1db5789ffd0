"""describe-pool and describe-claim on the demo cluster: pages as a person reads them, documents, errors, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.model.features import Features
from kubectl_dra.source.demo import CLUSTER, load_demo
from tests.golden_files import check_golden
from tests.kit.clock import CLOCK
from tests.reports.clusters import SMALL, document, withheld

pytestmark = pytest.mark.one_in(3)


INVENTORY, EVIDENCE = load_demo()
FACTS = ClusterState(INVENTORY, EVIDENCE, Features(), CLOCK)
POOLS = [str(pool) for pool in FACTS.pools]
CLAIMS = sorted((key.namespace, key.name) for key in INVENTORY.claims)
NUMBER = re.compile(r"(\d+) (free|partly used|in use|tainted|blocked|not offered)")


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")


def call(capfd, *arguments, source="demo"):
    code = run([*arguments, "--from", str(source)], CLOCK)
    out, err = capfd.readouterr()
    return code, out, err


def check_page(name, out):
    # Prose is wrapped; selectors are code, which is never broken.
    assert [line for line in out.splitlines() if len(line) > 80 and "device." not in line] == []
    assert "\x1b" not in out
    check_golden(f"{name}.txt", out)


@pytest.mark.parametrize("pool", POOLS)
def test_pool_page(capfd, pool):
    code, out, err = call(capfd, "describe-pool", pool)
    assert (code, err) == (0, "")
    check_page(f"describe-pool/{pool.replace('/', '-')}", out)


def test_all_pools(capfd):
    code, out, err = call(capfd, "describe-pool")
    assert (code, err) == (0, "")
    check_page("describe-pool/all", out)


def test_wide_pages(capfd):
    check_golden(
        "describe-pool/gke-prod-h100-5f3a2b1c-k4tq-wide.txt",
        call(capfd, "describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "wide")[1],
    )
    check_golden("describe-pool/all-wide.txt", call(capfd, "describe-pool", "-o", "wide")[1])


def test_documents_of_a_pool(capfd):
    text = call(capfd, "describe-pool", "mig.example.com/cpu-2", "-o", "json")[1]
    report = json.loads(text)
    told = json.loads(call(capfd, "describe-pool", "mig.example.com/cpu-2", "-o", "json", "--text")[1])
    assert (report["apiVersion"], report["kind"]) == ("kubectl-dra/v1alpha1", "PoolReport")
    assert told.pop("output") == {"text": call(capfd, "describe-pool", "cpu-2")[1].rstrip("\n")}
    assert told == report
    assert yaml.safe_load(call(capfd, "describe-pool", "mig.example.com/cpu-2", "-o", "yaml")[1]) == report
    check_golden("describe-pool/cpu-2.json", text)


def test_several_pools_give_a_list(capfd):
    listed = json.loads(call(capfd, "describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "rack-7", "-o", "json")[1])
    assert (listed["kind"], [item["kind"] for item in listed["items"]]) == ("PoolReportList", ["PoolReport"] * 2)
    everything = json.loads(call(capfd, "describe-pool", "-o", "json")[1])
    assert [item["kind"] for item in everything["items"]] == ["PoolSummary"] * len(POOLS)


def test_every_number_of_a_headline_is_a_number_of_rows(capfd):
    for pool in POOLS:
        report = json.loads(call(capfd, "describe-pool", pool, "-o", "json", "--text")[1])
        headline = " ".join(report["output"]["text"].splitlines()[:6])
        words = {"in use": "inUse", "partly used": "partly", "not offered": "notOffered"}
        told = {words.get(word, word): int(number) for number, word in NUMBER.findall(headline)}
        states = [device["state"] for device in report["devices"]]
        assert told == {state: states.count(state) for state in set(states)}


def test_numbers_of_the_list_are_sums_of_its_columns(capfd):
    text = call(capfd, "describe-pool")[1]
    headline = " ".join(text.split("\n\n")[0].split())
    total = {word: int(number) for number, word in NUMBER.findall(headline)}
    drivers = [line for line in text.splitlines() if re.match(r"[a-z.]+: \d+ pools?,", line)]
    sums: dict[str, int] = {}
    for line in drivers:
        for number, word in NUMBER.findall(line):
            sums[word] = sums.get(word, 0) + int(number)
    assert sums == total
    assert headline.startswith(f"{len(POOLS)} pools of {len(drivers)} drivers")


def test_a_pool_that_is_not_found(capfd):
    code, out, err = call(capfd, "describe-pool", "ip-192-168-171-42.ec2.internal")
    assert (code, out) == (1, "")
    assert err.splitlines()[0].startswith('error: pool "ip-192-168-171-42.ec2.internal" not found, did you mean "ip-')
    assert len(err.splitlines()) == 2


def test_one_missing_name_hides_no_other(capfd):
    code, out, err = call(capfd, "describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "nosuch")
    assert code == 1
    assert out.startswith("Pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq")
    assert 'pool "nosuch" not found' in err


@pytest.mark.parametrize(("pool", "code"), [("gke-prod-h100-5f3a2b1c-k4tq", 0), ("rack-7", 3)])
def test_exit_codes_tell_a_pool_that_is_not_ready(capfd, pool, code):
    assert call(capfd, "describe-pool", pool, "--exit-code")[0] == code
    assert call(capfd, "describe-pool", pool)[0] == 0


# --- too few rights -------------------------------------------------------------------------------------------------


def blind(tmp_path: Path, *kinds: str) -> Path:
    path = tmp_path / "blind.json"
    path.write_text(json.dumps(withheld(document(SMALL), kinds)), encoding="utf-8")
    return path


def test_counts_carry_signs_where_rights_are_missing(capfd, tmp_path):
    code, out, _ = call(
        capfd,
        "describe-pool",
        "gpu.example.com/node-a",
        source=blind(tmp_path, "ResourceClaim"),
    )
    assert code == 0
    assert out.startswith("This answer is incomplete")
    assert "\n4 devices: ≤1 free, ? in use, ≤3 tainted" in out
    assert "--verb=get,list,watch --resource=resourceclaims.resource.k8s.io --context CONTEXT" in out
    check_golden("describe-pool/without-claims.txt", out)


def test_partial_evidence_has_its_exit_code(capfd, tmp_path):
    path = blind(tmp_path, "ResourceClaim")
    assert call(capfd, "describe-pool", "gpu.example.com/node-a", "--exit-code", source=path)[0] == 4


def test_slices_that_can_t_be_read_are_no_missing_pools(capfd, tmp_path):
    code, _, err = call(capfd, "describe-pool", "node-a", source=blind(tmp_path, "ResourceSlice"))
    assert code == 1
    assert "ResourceSlices could not be read" in err


# --- claims ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("namespace", "name"), CLAIMS)
def test_claim_page(capfd, namespace, name):
    code, out, err = call(capfd, "describe-claim", name, "-n", namespace)
    assert (code, err) == (0, "")
    assert out.startswith(f"ResourceClaim {namespace}/{name} ")
    check_page(f"describe-claim/{namespace}-{name}", out)


def test_documents_of_a_claim(capfd):
    arguments = ("describe-claim", "monitor-nics", "-n", "ops")
    text = call(capfd, *arguments, "-o", "json")[1]
    report = json.loads(text)
    assert report["kind"] == "ClaimReport"
    assert yaml.safe_load(call(capfd, *arguments, "-o", "yaml")[1]) == report
    check_golden("describe-claim/ops-monitor-nics.json", text)


def test_a_claim_that_lives_elsewhere(capfd):
    code, _, err = call(capfd, "describe-claim", "monitor-nics", "-n", "ml")
    assert code == 1
    assert err.endswith("try:   kubectl dra describe-claim claim/monitor-nics -n ops --from demo\n")


@pytest.mark.parametrize("words", [["monitor-nics", "-A"], ["pod/x"], []], ids=["name and -A", "other type", "no name"])
def test_usage_errors(capfd, words):
    code, out, err = call(capfd, "describe-claim", *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_claims_that_may_not_be_read(capfd, tmp_path):
    code, _, err = call(capfd, "describe-claim", "idle", "-n", "dev", source=blind(tmp_path, "ResourceClaim"))
    assert code == 1
    assert "could not be read" in err


def test_objects_that_are_called_like_a_type(capfd, tmp_path):
    """A command of one type reads no word as a type; TYPE/NAME is what its hints print."""
    content = json.loads(CLUSTER.read_bytes())
    renamed = {"serve-0-net": "claim", "gke-prod-h100-5f3a2b1c-k4tq": "pool"}
    for item in content["items"]:
        meta = item["metadata"]
        if item["kind"] == "ResourceClaim" and meta["namespace"] == "ml":
            meta["name"] = renamed.get(meta["name"], meta["name"])
        if item["kind"] == "ResourceSlice" and item["spec"]["driver"] == "gpu.example.com":
            item["spec"]["pool"]["name"] = renamed.get(item["spec"]["pool"]["name"], item["spec"]["pool"]["name"])
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(content), encoding="utf-8")

    def asked(*words):
        code = run([*words, "--from", str(path)])
        return code, capfd.readouterr().out

    first = asked("describe-claim", "claim", "-n", "ml")
    assert first[0] == 0
    assert first[1].startswith("ResourceClaim ml/claim")
    assert asked("describe-claim", "claim/claim", "-n", "ml") == first
    assert asked("describe-claim", "resourceclaim/claim", "-n", "ml") == first
    assert asked("describe-claim", "claim", "claim/claim", "-n", "ml")[0] == 0
    pool = asked("describe-pool", "pool")
    assert pool[0] == 0
    assert "gpu.example.com/pool" in pool[1].splitlines()[0]
    assert asked("describe-pool", "pool/pool") == pool
    assert asked("describe-pool", "pool/gpu.example.com/pool") == pool
    assert asked("get", "device", "device/pool/gpu-0") == asked("get", "device", "gpu.example.com/pool/gpu-0")
