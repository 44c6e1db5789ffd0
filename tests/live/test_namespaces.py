"""A namespace that does not exist: an error with what comes near, on a file and on a live cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.output.exit_codes import ExitCode
from tests.kit.fake_api import FakeApi, status, write_kubeconfig
from tests.reports.clusters import DEMO, document, withheld

ASKED = [
    ("why-pending",),
    ("why-pending", "trainer-0"),
    ("why-pending", "claims"),
    ("get", "claims"),
    ("get", "claim", "nb-gpu"),
    ("describe-claim", "nb-gpu"),
]
NAMES = ("default", "kube-system", "ml", "ml-dev", "net")


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: FakeApi) -> FakeApi:
    """A cluster with namespaces, in none of which anything is."""
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
    api.serve("Namespace", [{"metadata": {"name": name}} for name in NAMES])
    # A server answers for a namespace that does not exist as for one in which nothing is.
    for name in (*NAMES, "mll"):
        api.serve("Pod", [], namespace=name)
        api.serve("ResourceClaim", [], "resource.k8s.io/v1", namespace=name)
    return api


def call(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_of_the_demo(capfd, words) -> None:
    code, out, err = call(capfd, *words, "-n", "mll", "--from", "demo")
    assert (code, out) == (ExitCode.ERROR, "")
    assert 'error: namespaces "mll" not found, did you mean "ml"' in err


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_of_a_live_cluster(capfd, live, words) -> None:
    code, out, err = call(capfd, *words, "-n", "mll")
    assert (code, out) == (ExitCode.ERROR, "")
    assert 'error: namespaces "mll" not found, did you mean "ml"' in err
    assert "try:   kubectl get namespaces" in err


@pytest.mark.parametrize("words", [("get", "claims", "-w"), ("why-pending", "-w"), ("top", "pods"), ("snapshot",)])
def test_of_a_live_cluster_that_is_followed_or_recorded(capfd, live, words) -> None:
    code, _, err = call(capfd, *words, "-n", "mll")
    assert code == ExitCode.ERROR
    assert 'error: namespaces "mll" not found, did you mean "ml"' in err


def test_one_that_exists_and_is_empty_is_no_error(capfd, live) -> None:
    assert call(capfd, "why-pending", "-n", "ml")[0] == ExitCode.OK
    assert call(capfd, "get", "claims", "-n", "net")[::2] == (ExitCode.OK, "No claims found in namespace net.\n")
    assert call(capfd, "get", "claims", "-A")[0] == ExitCode.OK


def test_where_namespaces_may_not_be_read_nothing_is_claimed(capfd, live) -> None:
    live.routes["/api/v1/namespaces"] = status(403, "no", "Forbidden")
    code, _, err = call(capfd, "get", "claims", "-n", "mll")
    assert (code, 'mll" not found' in err) == (ExitCode.OK, False)


def test_where_something_is_in_it_nothing_more_is_read(capfd, live) -> None:
    claim = {"metadata": {"name": "a", "namespace": "ml", "uid": "1"}, "spec": {"devices": {}}}
    live.serve("ResourceClaim", [claim], "resource.k8s.io/v1", namespace="ml")
    assert call(capfd, "get", "claims", "-n", "ml")[0] == ExitCode.OK
    assert not live.asked("/api/v1/namespaces")


def test_a_file_that_may_not_list_namespaces_claims_nothing(capfd, tmp_path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(withheld(document(DEMO), ("Namespace",))), encoding="utf-8")
    code, _, err = call(capfd, "get", "claims", "-n", "mll", "--from", str(path))
    assert (code, "not found" in err) == (ExitCode.OK, False)


def test_a_list_without_namespaces_says_that_nothing_is_in_it(capfd, tmp_path) -> None:
    items = [each for each in document(DEMO)["items"] if each["kind"] in ("Node", "Pod", "ResourceClaim")]
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    code, out, err = call(capfd, "why-pending", "-n", "mll", "--from", str(path))
    assert (code, out) == (ExitCode.ERROR, "")
    assert f'error: nothing in {path} is in namespace "mll", did you mean "ml"' in err
    # That nobody asked for is no mistake of anybody.
    assert call(capfd, "why-pending", "--from", str(path))[0] == ExitCode.OK


def test_simulate_reads_templates_and_quotas_where_the_manifests_are(capfd, live, tmp_path) -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "net"}}
    path = tmp_path / "pod.json"
    path.write_text(json.dumps({**manifest, "spec": {"containers": [{"name": "m"}]}}), encoding="utf-8")
    plurals = ["resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules", "resourceclaimtemplates"]
    live.serve_versions({"v1": plurals})
    # The context is in ml.
    call(capfd, "simulate", "-f", str(path))
    asked = [each.path for each in live.requests]
    for plural in ("resourcequotas", "resourceclaimtemplates"):
        for name in ("ml", "net"):
            assert any(f"/namespaces/{name}/{plural}" in each for each in asked), (plural, name)
