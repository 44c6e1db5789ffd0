"""The roles of ``deploy/rbac`` on the control plane, given to users. All files of a run share one control plane."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from tests.controlplane import Client
from tests.controlplane.client import Object
from tests.e2e.situations import create

ROLES: Final = Path(__file__).parents[2] / "deploy" / "rbac"
_GROUP: Final = "rbac.authorization.k8s.io"


def grant(client: Client, role: str, *users: str, namespace: str = "") -> None:
    """Give users the role of a file, everywhere or in one namespace; what another test gave before, they keep."""
    content = yaml.safe_load((ROLES / f"{role}.yaml").read_text(encoding="utf-8"))
    name = content["metadata"]["name"]
    if client.get("ClusterRole", name, version=f"{_GROUP}/v1") is None:
        create(client, content, "")
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    for user in users:
        binding: Object = {
            "apiVersion": f"{_GROUP}/v1",
            "kind": kind,
            "metadata": {"name": f"{name}-{user}"},
            "roleRef": {"kind": "ClusterRole", "name": name, "apiGroup": _GROUP},
            "subjects": [{"kind": "User", "name": user, "apiGroup": _GROUP}],
        }
        if client.get(kind, f"{name}-{user}", namespace, f"{_GROUP}/v1") is None:
            create(client, binding, namespace)
