"""Nodes, slices and templates: their lists, and describe-node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run

DEMO = ("--from", "demo")


def said(capfd: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run([*words, *DEMO]) == code
    out, err = capfd.readouterr()
    return out if code == 0 else err


def rows(text: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in text.splitlines()[1:]}


def test_every_node_has_a_line_with_the_devices_of_all_its_drivers(capfd: pytest.CaptureFixture[str]) -> None:
    found = rows(said(capfd, "get", "nodes"))
    top = rows(said(capfd, "top", "nodes").partition("\n\n")[0])
    assert found["cpu-1"][2:8] == ["0", "0", "0", "0", "0", "-"]
    for name in ("gke-prod-h100-5f3a2b1c-k4tq", "gke-prod-h100-5f3a2b1c-x9zk", "cpu-2"):
        devices, free, used = found[name][2:5]
        assert [devices, free, used] == [*top[name][1:3], top[name][4]]
    assert found["cpu-2"][7] == "mig.example.com"


def test_a_wide_line_has_the_devices_of_each_driver(capfd: pytest.CaptureFixture[str]) -> None:
    """Of devices that a node shares with others, too: the sums are those of get devices."""
    wide = rows(said(capfd, "get", "nodes", "-o", "wide"))
    assert "mig.example.com=3/7" in wide["cpu-2"]
    name = "gke-prod-h100-5f3a2b1c-k4tq"
    listed = [line.split() for line in said(capfd, "get", "devices", "--node", name, "--no-headers").splitlines()]
    drivers = sorted({each[0] for each in listed})
    sums = [(sum(e[0] == d and e[3] == "free" for e in listed), sum(e[0] == d for e in listed)) for d in drivers]
    assert len(drivers) > 1
    cell = ",".join(f"{driver}={free}/{all_}" for driver, (free, all_) in zip(drivers, sums, strict=True))
    assert cell in wide[name]


def test_nodes_are_sorted_filtered_named_and_labelled(capfd: pytest.CaptureFixture[str]) -> None:
    free = [int(row[3]) for row in rows(said(capfd, "get", "nodes", "--sort-by", "free")).values()]
    assert free == sorted(free)
    assert len(set(free)) > 1
    assert said(
        capfd, "get", "no", "gke-prod-h100-5f3a2b1c-x9zk", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "name"
    ).split() == ["node/gke-prod-h100-5f3a2b1c-x9zk", "node/gke-prod-h100-5f3a2b1c-k4tq"]
    labelled = said(capfd, "get", "nodes", "--show-labels")
    assert labelled.splitlines()[0].endswith("LABELS")
    rack = next(line for line in labelled.splitlines() if line.startswith("gke-prod-h100-5f3a2b1c-k4tq "))
    assert "topology.example.com/rack=rack-1" in rack
    chosen = said(capfd, "get", "nodes", "-l", "topology.example.com/rack=rack-1", "-o", "name").split()
    assert chosen == ["node/gke-prod-h100-5f3a2b1c-k4tq", "node/gke-prod-h100-5f3a2b1c-x9zk"]


@pytest.mark.parametrize(
    "words", [("get", "nodes", "gke-prod-h100-5f3a2b1c-k4tx"), ("describe-node", "gke-prod-h100-5f3a2b1c-k4tx")]
)
def test_a_node_that_does_not_exist(capfd: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    err = said(capfd, *words, code=1)
    assert 'nodes "gke-prod-h100-5f3a2b1c-k4tx" not found, did you mean' in err
    assert "get nodes" in err


def test_a_nodes_page_has_its_devices_with_their_users_and_those_it_shares(capfd: pytest.CaptureFixture[str]) -> None:
    page = said(capfd, "describe-node", "gke-prod-h100-5f3a2b1c-k4tq")
    first = " ".join(page.partition("\n\n")[0].split())
    told = "8 devices of its own: 4 free, 3 in use and 1 tainted; 4 it shares"
    assert first.startswith(f"Node gke-prod-h100-5f3a2b1c-k4tq has {told}")
    assert "gpu-7   tainted (ecc:NoSchedule)" in page
    assert "pod dev/nb, claim nb-gpu" in page
    assert "nic.example.com/rack-1 (shared with" in page
    report = json.loads(said(capfd, "describe-node", "gke-prod-h100-5f3a2b1c-k4tq", "-o", "json"))
    assert (report["kind"], report["name"], len(report["devices"])) == ("NodeReport", "gke-prod-h100-5f3a2b1c-k4tq", 12)


def test_a_node_of_a_pool_that_is_not_used_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    page = said(capfd, "describe-node", "ip-192-168-153-160.ec2.internal")
    assert "Pool nic.example.com/rack-7 is incomplete." in page


def test_a_node_that_only_slices_name_has_no_status(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    slice_ = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d.example.com",
            "nodeName": "n",
            "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "x"}],
        },
    }
    file = tmp_path / "slices.json"
    file.write_text(json.dumps(slice_), encoding="utf-8")
    assert run(["get", "nodes", "--from", str(file)]) == 0
    line = capfd.readouterr().out.splitlines()[1].split()
    assert line[:3] == ["n", "?", "1"]
    assert run(["describe", "node", "n", "--from", str(file)]) == 0
    assert "Its Node object was not read" in capfd.readouterr().out


def test_slices_and_templates(capfd: pytest.CaptureFixture[str]) -> None:
    slices = said(capfd, "get", "slices")
    assert slices.split()[:4] == ["NAME", "DRIVER", "POOL", "NODES"]
    name = said(capfd, "get", "slices", "-o", "name").split()[0]
    assert name.startswith("resourceslice.resource.k8s.io/")
    assert json.loads(said(capfd, "get", name, "-o", "json"))["kind"] == "ResourceSlice"
    templates = rows(said(capfd, "get", "templates", "-n", "ml"))
    assert templates["gpus"] == ["gpus", "4", "×", "gpu.example.com", "1", "20d"]
    assert json.loads(said(capfd, "get", "template/gpus", "-n", "ml", "-o", "json"))["kind"] == "ResourceClaimTemplate"
    assert 'resourceclaimtemplates.resource.k8s.io "gpu" not found in namespace "ml", did you mean "gpus"' in said(
        capfd, "get", "templates", "gpu", "-n", "ml", code=1
    )


def test_several_types_are_separated_by_commas(capfd: pytest.CaptureFixture[str]) -> None:
    both = said(capfd, "get", "pools,claims", "-n", "ml")
    assert both == said(capfd, "get", "pools") + "\n" + said(capfd, "get", "claims", "-n", "ml")
    assert "pools and devices have no labels" in said(capfd, "get", "pools,claims", "--show-labels", code=2)


def test_a_pending_claim_leads_on_to_the_pod_that_waits(capfd: pytest.CaptureFixture[str]) -> None:
    page = said(capfd, "describe-claim", "nb-2-gpus", "-n", "dev")
    lines = page.splitlines()
    why = lines.index("Why: kubectl dra why-pending pod/nb-2 -n dev --from demo")
    assert why < lines.index("It requests (claim nb-2-gpus)")
    assert "Why:" not in said(capfd, "describe-claim", "nb-gpu", "-n", "dev")
