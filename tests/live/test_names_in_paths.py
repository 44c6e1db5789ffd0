"""Names that users, kubeconfigs and objects give lead to no other place than is meant, and to no request at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import KINDS, POD
from kubectl_dra.commands.app import run
from kubectl_dra.source.errors import InvalidNameError
from kubectl_dra.source.live.listing import list_path
from tests.kit.fake_api import FakeApi, write_kubeconfig

HOSTILE = (
    "../../../api/v1/secrets?",
    "x/../kube-system",
    "..",
    ".",
    "a%2Fb",
    "a b",
    "a\nb",
    "a#b",
    "A",
    "-a",
    "ä",
    "a;b",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_path_is_made_of_them(name: str) -> None:
    with pytest.raises(InvalidNameError):
        list_path(POD, "v1", name)
    with pytest.raises(InvalidNameError):
        list_path(POD, "v1", "ml", name)


def test_paths_of_names() -> None:
    assert list_path(POD, "v1", "ml", "a.b-1") == "/api/v1/namespaces/ml/pods/a.b-1"


def claim(consumer: str) -> dict[str, Any]:
    reserved = [{"resource": "pods", "name": consumer, "uid": "u"}]
    requests = [{"name": "r", "exactly": {"deviceClassName": "c"}}]
    meta = {"name": "c", "namespace": "ml", "uid": "1"}
    return {"metadata": meta, "spec": {"devices": {"requests": requests}}, "status": {"reservedFor": reserved}}


COMMANDS = (
    ("why-pending",),
    ("why-pending", "pod", "nb"),
    ("describe-claim", "c"),
    ("get", "claims"),
    ("snapshot",),
    ("get", "claims", "-w"),
)


@pytest.mark.parametrize("namespace", HOSTILE)
def test_no_command_asks_for_another_namespace(
    tmp_path: Path, api: FakeApi, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, namespace: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
    for words in COMMANDS:
        assert run([*words, f"--namespace={namespace}"]) == 1, words
        out, err = capfd.readouterr()
        assert (out, api.requests) == ("", []), words
        assert "is not a valid namespace name" in err
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url, namespace=namespace)))
    for words in COMMANDS[:-2]:
        assert run([*words]) == 1, words
        assert api.requests == [], words
        assert 'context "fake": ' in capfd.readouterr().err


def assert_only_known_places(api: FakeApi) -> None:
    assert api.requests
    places = {request.path.replace("/namespaces/ml/", "/") for request in api.requests}
    # Which versions of other projects' kinds the server has, if any.
    groups = {f"/apis/{name}" for name in ("kueue.x-k8s.io", "scheduling.volcano.sh")}
    lists = {list_path(kind, version) for kind in KINDS for version in (kind.api_version, "resource.k8s.io/v1beta1")}
    assert places <= {*api.routes, *lists, *groups}


@pytest.mark.parametrize("name", [name for name in HOSTILE if "/" not in name])
def test_a_name_that_nothing_can_have_is_not_found(
    tmp_path: Path, api: FakeApi, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
    assert run(["why-pending", "-n", "ml", "--", "pod", name]) == 1
    assert "not found" in capfd.readouterr().err
    assert_only_known_places(api)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_in_an_object_leads_nowhere(
    tmp_path: Path, api: FakeApi, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    api.serve("ResourceClaim", [claim(name)], "resource.k8s.io/v1")
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
    assert run(["why-pending", "-A"]) == 0, capfd.readouterr().err
    assert_only_known_places(api)
