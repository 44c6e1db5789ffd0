"""What fails again and again, or is under way, on the real control plane: the verdict, in JSON and exit code too."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import wait_for
from tests.e2e.conftest import Explain
from tests.e2e.situations import Case, bound_to, bring_about, clear, create

pytestmark = pytest.mark.controlplane
_DRIVER: Final = "gpu.example.com"
_RESOURCE: Final = "example.com/gpu"
_ONE: Final = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": _DRIVER}}]}}
_CLUSTER: Final = (
    {"kind": "DeviceClass", "metadata": {"name": _DRIVER}, "spec": {"extendedResourceName": _RESOURCE}},
    {
        "kind": "ResourceSlice",
        "metadata": {"name": "node-1-gpu"},
        "spec": {
            "driver": _DRIVER,
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
        },
    },
    {"kind": "ResourceClaim", "metadata": {"name": "claim"}, "spec": _ONE},
)
_QUOTA: Final = f"{_DRIVER}.deviceclass.resource.k8s.io/devices"


def _case(name: str, pod: dict[str, Any], *more: dict[str, Any], **fields: Any) -> Case:
    return Case(name, {"node-1": {}}, pod, "", (*_CLUSTER, *more), **fields)


def test_a_quota_on_devices_that_forbids_the_schedulers_own_claim(
    plane: ControlPlane, client: Client, explain: Explain, tmp_path: Path
) -> None:
    """Known before the scheduler has tried, its verdict afterwards, and no more once the quota allows it."""
    quota = {"kind": "ResourceQuota", "metadata": {"name": "devices"}, "spec": {"hard": {_QUOTA: "0"}}}
    case = _case("quota-on-extended", {"limits": {_RESOURCE: "1"}}, quota)
    condition = bring_about(client, case)
    assert condition is not None
    assert condition["reason"] == "SchedulerError"
    assert "exceeded quota" in condition["message"]
    told = explain("why-pending", "pod/pod", "-n", case.namespace)
    predicted = explain("why-pending", "pod/pod", "-n", case.namespace, "--from", str(_unspoken(plane, tmp_path)))
    for report in (told, predicted):
        assert (report["verdict"], report["causes"][0]["code"]) == ("SchedulerError", "DRA-114")
    assert (told["agreement"], predicted["agreement"]) == ("agrees", "unobserved")
    assert told["message"] == told["observed"]["message"]
    assert [way["kind"] for way in told["remedies"]] == ["raiseQuota"]
    assert _exit_code(plane, "why-pending", "pod/pod", "-n", case.namespace) == 3

    raised = {"spec": {"hard": {_QUOTA: "5"}}}
    client.request("PATCH", f"/api/v1/namespaces/{case.namespace}/resourcequotas/devices", raised)
    wait_for(lambda: bound_to(client, case.namespace, "pod"), "the scheduler has tried again", 40)


def test_a_claim_whose_status_cannot_be_written(
    plane: ControlPlane, client: Client, explain: Explain, closed: None
) -> None:
    case = _case("status-refused", {"claims": ["claim"]})
    condition = bring_about(client, case)
    assert condition is not None
    assert condition["reason"] == "SchedulerError"
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert (report["verdict"], report["causes"][0]["code"]) == ("SchedulerError", "DRA-392")
    assert "no status today" in json.dumps(report["causes"][0])
    assert _exit_code(plane, "why-pending", "pod/pod", "-n", case.namespace) == 3


@pytest.fixture
def closed(client: Client) -> Iterator[None]:
    """Nobody may write the status of a claim."""
    # A claim that an earlier case left in use could not be freed any more, nor go.
    clear(client)
    group = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    rule = {
        "apiGroups": ["resource.k8s.io"],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": ["resourceclaims/status"],
    }
    policy = {
        "metadata": {"name": "closed"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "false", "message": "no status today"}],
        },
    }
    binding = {"metadata": {"name": "closed"}, "spec": {"policyName": "closed", "validationActions": ["Deny"]}}
    client.request(
        "POST", group, {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", **policy}
    )
    client.request(
        "POST",
        f"{group[:-3]}ybindings",
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", **binding},
    )
    yield
    client.request("DELETE", f"{group[:-3]}ybindings/closed")
    client.request("DELETE", f"{group}/closed")


def test_what_other_plugins_reject_is_a_verdict_of_documents_and_exit_codes(
    plane: ControlPlane, client: Client, explain: Explain
) -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    case = _case("rejected-elsewhere", {"claims": ["claim"], "topologySpreadConstraints": [spread]})
    bring_about(client, case)
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    assert (report["verdict"], report["agreement"]) == ("Unschedulable", "agrees")
    assert [group["plugin"] for group in report["nodes"]] == ["PodTopologySpread"]
    assert _exit_code(plane, "why-pending", "pod/pod", "-n", case.namespace) == 3


def test_preemption_under_way(plane: ControlPlane, client: Client, explain: Explain) -> None:
    for name, value in (("e2e-high", 1000), ("e2e-low", 1)):
        if client.get("PriorityClass", name) is None:
            create(
                client,
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                },
                "",
            )
    low = {"requests": {"cpu": "3"}, "priorityClassName": "e2e-low"}
    case = _case(
        "preempting",
        {"claims": ["claim"], "requests": {"cpu": "3"}, "priorityClassName": "e2e-high"},
        holders={"low": low},
    )
    bring_about(client, case)
    wait_for(lambda: (client.get("Pod", "pod", case.namespace) or {})["status"].get("nominatedNodeName"), "nominated")
    report = explain("why-pending", "pod/pod", "-n", case.namespace)
    found = report["preemption"]
    assert (found["underWay"], found["nodes"], found["victims"]) == (True, ["node-1"], [f"{case.namespace}/low"])
    assert report["summary"].startswith(
        f"Pod {case.namespace}/pod is pending: 1 pod evicted for it on node-1 ({case.namespace}/low) has not ended "
        "yet. Until then "
    )
    page = " ".join(_page(plane, "why-pending", "pod/pod", "-n", case.namespace).split())
    assert page.startswith(report["summary"]) and "has evicted" not in page
    assert report["agreement"] == "agrees" and "its message matches this diagnosis" in page


def _page(plane: ControlPlane, *words: str) -> str:
    command = [str(plane.kubectl), "dra", *words]
    return subprocess.run(
        command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=True
    ).stdout


def _exit_code(plane: ControlPlane, *words: str) -> int:
    command = [str(plane.kubectl), "dra", *words, "--exit-code"]
    return subprocess.run(command, env=plane_environment(plane), capture_output=True, check=False).returncode


def _unspoken(plane: ControlPlane, folder: Path) -> Path:
    """A snapshot without what the scheduler wrote."""
    path = folder / "before.json"
    command = [str(plane.kubectl), "dra", "snapshot"]
    done = subprocess.run(command, env=plane_environment(plane), capture_output=True, encoding="utf-8", check=True)
    snapshot = json.loads(done.stdout)
    for item in snapshot["items"]:
        if item["kind"] == "Pod":
            item["status"].pop("conditions", None)
    path.write_text(
        json.dumps({**snapshot, "items": [i for i in snapshot["items"] if i["kind"] != "Event"]}), encoding="utf-8"
    )
    return path
