"""What someone sees who may not read everything: never a wrong verdict, and which right is lacking."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controlplane import Client
from tests.e2e.conftest import STRANGER, TENANT, Explain
from tests.e2e.situations import bring_about, cases, create

pytestmark = pytest.mark.controlplane
_RULES = [
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list"]},
    {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceclaims", "resourceclaimtemplates"],
        "verbs": ["get", "list"],
    },
]


def _allow_own_namespace(client: Client, namespace: str) -> None:
    role = {"kind": "Role", "metadata": {"name": "tenant"}, "rules": _RULES}
    subject = {"kind": "User", "name": TENANT.name, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "Role", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}
    create(client, role, namespace)
    binding = {"kind": "RoleBinding", "metadata": {"name": "tenant"}, "roleRef": reference, "subjects": [subject]}
    create(client, binding, namespace)


def _lacking(report: dict[str, Any]) -> set[str]:
    return {entry["kind"] for entry in report["missing"]}


def test_a_tenant_learns_which_right_is_lacking(client: Client, explain: Explain) -> None:
    case = cases()["too-few-devices"]
    bring_about(client, case)
    _allow_own_namespace(client, case.namespace)
    report = explain("why-pending", "pod/pod", "-n", case.namespace, user=TENANT.name)
    assert report["verdict"] == "Unknown"
    assert {"ResourceSlice", "Node"} <= _lacking(report)
    assert "Pod" not in _lacking(report) or all(
        entry.get("namespace", "") == "" for entry in report["missing"] if entry["kind"] == "Pod"
    )


def test_a_tenant_still_gets_an_answer_that_needs_only_the_namespace(client: Client, explain: Explain) -> None:
    case = cases()["claim-missing"]
    bring_about(client, case)
    _allow_own_namespace(client, case.namespace)
    report = explain("why-pending", "pod/pod", "-n", case.namespace, user=TENANT.name)
    assert report["verdict"] == "Gated"


def test_a_stranger_is_refused_and_told_so(client: Client, explain: Explain) -> None:
    case = cases()["claim-missing"]
    bring_about(client, case)
    with pytest.raises(AssertionError) as refusal:
        explain("why-pending", "pod/pod", "-n", case.namespace, user=STRANGER.name)
    assert "exit code 1" in str(refusal.value)
    assert "pods" in str(refusal.value)
    assert "Traceback" not in str(refusal.value)
