"""describe-pool, describe-claim, get and snapshot on a real cluster: as administrator, with exactly the role of
deploy/rbac for viewing, and as somebody who has that role in one namespace only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, object_path, wait_for
from tests.controlplane.cluster import run_kubectl
from tests.e2e.roles import grant
from tests.e2e.situations import Case, bound_to, bring_about, clear, create, node_object, pod_object

pytestmark = pytest.mark.controlplane

DRIVER: Final = "views.example.com"
SPACE: Final = "e2e-views"
OTHER: Final = "e2e-views-other"
VIEWER: Final = ("--as", "views-viewer")
GUEST: Final = ("--as", "views-guest")
ADMIN: Final[tuple[str, ...]] = ()
# What says when and how something was read, not what was found.
_CIRCUMSTANCES: Final = frozenset({"read", "asOf", "output"})
Dra = Callable[..., subprocess.CompletedProcess[str]]


def _slice(node: str, *devices: Object) -> Object:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": list(devices)}
    return {"kind": "ResourceSlice", "metadata": {"name": f"views-{node}"}, "spec": spec}


def _claim(name: str, count: int = 1) -> Object:
    request = {"name": "gpu", "exactly": {"deviceClassName": DRIVER, "count": count}}
    return {"kind": "ResourceClaim", "metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}


_CLASS: Final[Object] = {
    "kind": "DeviceClass",
    "metadata": {"name": DRIVER},
    "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]},
}
_RULE: Final[Object] = {
    "kind": "DeviceTaintRule",
    "metadata": {"name": "views-repair"},
    "spec": {
        "deviceSelector": {"driver": DRIVER, "pool": "node-2", "device": "gpu-1"},
        "taint": {"key": "example.com/repair", "effect": "NoSchedule"},
    },
}
CASE: Final = Case(
    name="views",
    nodes={"node-1": {}, "node-2": {}},
    objects=(
        _CLASS,
        _slice("node-1", {"name": "gpu-0"}, {"name": "gpu-1"}),
        _slice("node-2", {"name": "gpu-0"}, {"name": "gpu-1"}),
        _RULE,
        _claim("held"),
        _claim("spare"),
        _claim("greedy", 3),
    ),
    holders={"holder": {"claims": ("held",), "nodeSelector": {"kubernetes.io/hostname": "node-1"}}},
    pod={"claims": ("greedy",)},
    expect="Unschedulable",
)


@pytest.fixture(scope="module")
def cluster(plane: ControlPlane) -> Iterator[Client]:
    """Two pools of two devices, one device held in each of two namespaces of node-1, one tainted on node-2."""
    client = plane.client()
    bring_about(client, CASE)
    if client.get("Namespace", OTHER) is None:
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER}}, "")
    create(client, _claim("elsewhere"), OTHER)
    create(client, pod_object("elsewhere", ("elsewhere",), nodeSelector={"kubernetes.io/hostname": "node-1"}), OTHER)
    wait_for(lambda: bound_to(client, OTHER, "elsewhere"), "the other namespace's pod is bound")
    grant(client, "view", VIEWER[1])
    grant(client, "view", GUEST[1], namespace=SPACE)
    yield client
    clear(client)


@pytest.fixture(scope="module")
def dra(plane: ControlPlane, cluster: Client) -> Dra:
    """``kubectl dra ARGUMENTS``."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(plane.kubectl), "dra", *arguments]
        return subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=False)

    return run


def _report(dra: Dra, *arguments: str) -> Any:
    done = dra(*arguments, "-o", "json")
    assert done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def _findings(value: Any) -> Any:
    """A document without the circumstances of its reading."""
    if isinstance(value, dict):
        return {key: _findings(member) for key, member in value.items() if key not in _CIRCUMSTANCES}
    return [_findings(member) for member in value] if isinstance(value, list) else value


def _numbers(totals: dict[str, Any]) -> dict[str, tuple[int, str]]:
    return {name: (count["value"], count["bound"]) for name, count in totals.items()}


def _lacking(report: Any) -> set[tuple[str, str]]:
    return {(entry["rule"]["apiGroup"], entry["rule"]["resource"]) for entry in report["missing"]}


QUESTIONS: Final = (
    ("describe-pool",),
    ("describe-pool", f"{DRIVER}/node-1"),
    ("describe-pool", "node-2"),
    ("describe-claim", "held", "-n", SPACE),
    ("describe-claim", "greedy", "spare", "-n", SPACE),
    ("get", "pools"),
    ("get", "pools", "node-1"),
    ("get", "devices"),
    ("get", "devices", "--free"),
    ("get", "device", "node-1/gpu-0"),
    ("get", "devices", "--node", "node-2"),
    ("get", "claims", "-A"),
    ("get", "claims", "-n", SPACE),
    ("get", "claims", "-A", "--unused"),
    ("get", "class", DRIVER),
    ("get", "taints"),
    ("why-pending", "pod", "-n", SPACE),
    ("why-pending", "pod/pod", "-n", SPACE),
)


# --- as administrator ------------------------------------------------------------------------------------------------


def test_one_pool_is_read_alone_and_completely(dra: Dra) -> None:
    report = _report(dra, "describe-pool", f"{DRIVER}/node-1")
    assert [(read["coverage"]) for read in report["read"] if "ResourceSlice" in read["lists"]] == ["filtered"] * 2
    assert report["missing"] == []
    totals = _numbers(report["totals"])
    assert {bound for _, bound in totals.values()} == {"exact"}
    assert totals["devices"][0] == 2
    assert totals["inUse"][0] == 2
    holders = {each["claim"]: each for device in report["devices"] for each in device["holders"]}
    assert {name: each["namespace"] for name, each in holders.items()} == {"held": SPACE, "elsewhere": OTHER}
    assert [each["name"] for each in holders["elsewhere"]["consumers"]] == ["elsewhere"]
    assert holders["elsewhere"]["consumers"][0]["node"] == "node-1"


def test_a_taint_rule_is_counted_once(dra: Dra) -> None:
    (pool,) = _report(dra, "describe-pool", "node-2")["items"]
    totals = _numbers(pool["totals"])
    assert (totals["devices"], totals["free"], totals["tainted"]) == ((2, "exact"), (1, "exact"), (1, "exact"))


def test_a_claim_leads_to_its_pool_only(dra: Dra) -> None:
    report = _report(dra, "describe-claim", "held", "-n", SPACE)
    coverage = {kind: (read["coverage"], read["namespace"]) for read in report["read"] for kind in read["lists"]}
    assert coverage["ResourceSlice"] == ("filtered", "")
    assert coverage["ResourceClaim"] == coverage["Pod"] == ("complete", SPACE)
    assert report["missing"] == []
    assert [(result["pool"], result["published"]) for result in report["results"]] == [("node-1", True)]
    assert [each["name"] for each in report["reservedFor"]] == ["holder"]


def test_a_pool_that_does_not_exist_is_answered_with_what_comes_near(dra: Dra) -> None:
    done = dra("describe-pool", f"{DRIVER}/node-l")
    assert done.returncode == 1
    assert "did you mean" in done.stderr
    assert f'"{DRIVER}/node-1"' in done.stderr


# --- with the role of deploy/rbac ------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_the_viewers_role_suffices(dra: Dra, question: tuple[str, ...]) -> None:
    assert _findings(_report(dra, *question, *VIEWER)) == _findings(_report(dra, *question))


def test_a_viewer_may_not_write(plane: ControlPlane, cluster: Client) -> None:
    for verb in ("create", "patch", "delete"):
        with pytest.raises(subprocess.CalledProcessError):
            run_kubectl(plane, "auth", "can-i", verb, "devicetaintrules.resource.k8s.io", *VIEWER)


# --- with that role in one namespace ---------------------------------------------------------------------------------


def test_a_guest_sees_what_a_claim_of_the_namespace_holds(dra: Dra) -> None:
    report = _report(dra, "describe-claim", "held", "-n", SPACE, *GUEST)
    assert report["state"] == "Reserved"
    assert [(result["driver"], result["pool"], result["published"]) for result in report["results"]] == [
        (DRIVER, "node-1", None)
    ]
    assert [(each["name"], each["state"]) for each in report["reservedFor"]] == [("holder", "bound")]
    group = "resource.k8s.io"
    # What a claim holds does not depend on classes any more.
    expected = {(group, "resourceslices"), (group, "devicetaintrules"), ("", "nodes")}
    assert _lacking(report) == expected
    assert {entry["coverage"] for entry in report["missing"]} == {"forbidden"}
    page = " ".join(dra("describe-claim", "held", "-n", SPACE, *GUEST).stdout.split())
    assert "kubectl create clusterrole " in page
    assert "resourceslices.resource.k8s.io" in page


def test_a_guest_gets_the_claims_of_the_namespace_completely(dra: Dra) -> None:
    done = dra("get", "claims", "-n", SPACE, *GUEST)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["greedy", "held", "spare"]


def test_a_guest_learns_of_pools_only_which_right_is_lacking(dra: Dra) -> None:
    done = dra("get", "pools", "-n", SPACE, *GUEST)
    assert done.returncode == 1  # nothing could be answered
    assert done.stdout == ""
    assert "ResourceSlice" in done.stderr
    assert "--resource=resourceslices.resource.k8s.io," in done.stderr
    assert "No pools found" not in done.stderr
    done = dra("-n", SPACE, "describe-pool", f"{DRIVER}/node-1", *GUEST)
    assert done.returncode == 1
    assert "but ResourceSlices could not be read" in done.stderr


def test_a_guest_of_another_namespace_learns_who_may_not_read_what_there(dra: Dra) -> None:
    done = dra("get", "claims", "-n", OTHER, *GUEST)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"in namespace {OTHER}: forbidden for user " in " ".join(done.stderr.split())
    assert "could not be listed: forbidden for user " in done.stderr
    assert f" -n {OTHER}" in done.stderr


# --- snapshots -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [ADMIN, VIEWER], ids=["admin", "viewer"])
def test_a_snapshot_gives_the_same_answers(dra: Dra, tmp_path: Path, who: tuple[str, ...]) -> None:
    file = str(tmp_path / "cluster.json.gz")
    done = dra("snapshot", "-o", file, *who)
    assert done.returncode == 0, done.stderr
    for question in QUESTIONS:
        live, kept = _report(dra, *question, *who), _report(dra, *question, "--from", file)
        assert _findings(kept) == _findings(live), question


def test_a_guests_snapshot_says_what_it_lacks(dra: Dra, tmp_path: Path) -> None:
    file = tmp_path / "space.json"
    done = dra("snapshot", "-n", SPACE, "-o", str(file), *GUEST)
    assert done.returncode == 0, done.stderr
    assert "could be read; the snapshot says so" in done.stderr
    document = json.loads(file.read_bytes())
    coverage = {(read["kind"], read.get("namespace", "")): read["coverage"] for read in document["reads"]}
    assert coverage["ResourceSlice", ""] == coverage["Node", ""] == "forbidden"
    assert coverage["ResourceClaim", SPACE] == coverage["Pod", SPACE] == "complete"
    for question in (("describe-claim", "held", "-n", SPACE), ("why-pending", "pod/pod", "-n", SPACE)):
        live, kept = _report(dra, *question, *GUEST), _report(dra, *question, "--from", str(file))
        assert _findings(kept) == _findings(live), question


def test_the_header_says_which_events_were_read(dra: Dra) -> None:
    document = json.loads(dra("snapshot").stdout)
    notes = {read["kind"]: read.get("note", "") for read in document["reads"]}
    assert notes["Event"].startswith("only warnings, and what schedulers, autoscalers ")
    assert notes["Pod"] == ""


# --- following -------------------------------------------------------------------------------------------------------


def test_why_pending_follows_a_pod_until_it_runs(plane: ControlPlane, cluster: Client) -> None:
    command = [str(plane.kubectl), "dra", "why-pending", "pod/pod", "-n", SPACE, "-w", *VIEWER]
    process = subprocess.Popen(
        command, env=plane_environment(plane), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"Pod {SPACE}/pod ")
        create(cluster, _slice("node-3", *({"name": f"gpu-{n}"} for n in range(3))), "")
        create(cluster, node_object("node-3"), "")
        wait_for(lambda: bound_to(cluster, SPACE, "pod"), "the pod is bound after the fix", 40)
        assert process.poll() is None, "nobody has said yet that it runs"
        # There is no kubelet.
        path = f"{object_path('v1', 'Pod', SPACE, 'pod')}/status"
        cluster.request("PATCH", path, {"status": {"phase": "Running"}})
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")
    assert f"Pod {SPACE}/pod is not pending: it runs on node node-3." in out
