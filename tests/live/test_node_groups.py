"""Objects of autoscalers in a live cluster: what is served, in chunks, and what may not be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.why_pending.node_groups import READ
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.foreign import ForeignObjects, read_foreign
from tests.kit.fake_api import Answer, FakeApi, connection_to


def names(found: ForeignObjects) -> list[tuple[str, str]]:
    return [(each.kind, json.loads(each.data)["metadata"]["name"]) for each in found.objects]


def item(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


def test_a_cluster_without_autoscalers_has_none(api: FakeApi, tmp_path: Path) -> None:
    found = read_foreign(connection_to(tmp_path, api), READ)
    assert found == ForeignObjects()
    assert {request.path.count("/") for request in api.requests} == {2}


def test_all_chunks_of_what_is_served_are_read(api: FakeApi, tmp_path: Path) -> None:
    many = [item(f"md-{number}") for number in range(501)]
    api.serve_foreign("cluster.x-k8s.io", "v1beta2", machinedeployments=many)
    api.serve_foreign("karpenter.sh", "v1", nodepools=[item("gpu")], nodeclaims=[])
    found = read_foreign(connection_to(tmp_path, api), READ)
    assert names(found) == [*(("MachineDeployment", f"md-{number}") for number in range(501)), ("NodePool", "gpu")]
    assert found.objects[0].api_version == "cluster.x-k8s.io/v1beta2"
    assert not found.unread


def test_what_may_not_be_read_is_said(api: FakeApi, tmp_path: Path) -> None:
    api.serve_foreign("karpenter.sh", "v1", nodepools=[item("gpu")], nodeclaims=[])
    words = (
        'nodepools.karpenter.sh is forbidden: User "dev" cannot list resource "nodepools" in API group "karpenter.sh"'
    )
    api.forbid("/apis/karpenter.sh/v1/nodepools", words)
    api.forbid("/apis/test.karpenter.sh")
    found = read_foreign(connection_to(tmp_path, api), READ)
    assert [(each.plural, each.group, each.coverage, each.user) for each in found.unread] == [
        ("nodepools", "karpenter.sh", Coverage.FORBIDDEN, "dev"),
        ("draconfigs", "test.karpenter.sh", Coverage.FORBIDDEN, ""),
    ]


@pytest.mark.parametrize(
    "version", ["../../api/v1/secrets?x=", "v1/namespaces", "", "v1 ", "é", "v" * 200, "v1%2e", "%2e%2e"]
)
def test_a_version_never_leads_to_another_path(api: FakeApi, tmp_path: Path, version: str) -> None:
    named = {"groupVersion": f"karpenter.sh/{version}"}
    api.routes["/apis/karpenter.sh"] = Answer({"versions": [named], "preferredVersion": named})
    assert read_foreign(connection_to(tmp_path, api), READ) == ForeignObjects()
    assert {request.path.count("/") for request in api.requests} == {2}


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"items": 3}', b'{"items": [}', b'{"metadata": {"continue": "x"}}'])
def test_broken_lists_are_errors_of_the_server(api: FakeApi, tmp_path: Path, body: bytes) -> None:
    api.serve_foreign("karpenter.sh", "v1", nodepools=[])
    api.routes["/apis/karpenter.sh/v1/nodepools"] = Answer(body)
    with pytest.raises(ClusterError) as error:
        read_foreign(connection_to(tmp_path, api), READ)
    assert error.value.hint
