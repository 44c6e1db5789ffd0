"""What the files of simulate hold needs no right, and whoever may read more gets the command that was asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands.test_few_rights import said, unfolded
from tests.kit import build
from tests.kit.facts import KINDS, NONE, WORKLOADS

NS = build.NAMESPACE
MODEL = f'device.attributes["{build.DRIVER}"].model == "H100"'
WORDS = 'deviceclasses.resource.k8s.io is forbidden: User "dev1" cannot list resource "deviceclasses"'


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def snapshot(folder: Path, *refused: str, devices: int = 2, more: tuple[dict[str, Any], ...] = ()) -> str:
    """A cluster with one node of ``devices`` H100 and an L40, taken by somebody who may not read some kinds."""
    h100 = [build.device(f"gpu-{number}", attributes={"model": "H100"}) for number in range(devices)]
    other = build.device("gpu-x", attributes={"model": "L40"})
    there = [build.namespace(), build.node(cpu="64"), build.slice_("node-1", *h100, other), *more]
    items = [{"apiVersion": _version(each["kind"]), **each} for each in there]
    kinds = [kind for kind in (*KINDS, *NONE, *WORKLOADS) if kind not in refused]
    reads = [{"kind": kind, "coverage": "complete"} for kind in kinds]
    reads += [{"kind": kind, "coverage": "forbidden", "note": WORDS} for kind in refused]
    head = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "server": {"version": "v1.36.0"}}
    path = folder / "cluster.json"
    body = {**head, "taken": "2026-01-01T00:00:00Z", "context": "prod", "reads": reads, "items": items}
    path.write_text(json.dumps(body), encoding="utf-8")
    return str(path)


def _version(kind: str) -> str:
    return "v1" if kind in ("Namespace", "Node", "Pod") else "resource.k8s.io/v1"


def files(folder: Path, replicas: int = 3) -> tuple[str, str]:
    """A Deployment with its template, and its class."""
    exactly = {"deviceClassName": build.DRIVER, "selectors": [{"cel": {"expression": MODEL}}]}
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    meta = {"name": "gpus", "namespace": NS}
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta}
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    entry = {"name": "gpu", "resourceClaimTemplateName": "gpus"}
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], "resourceClaims": [entry]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app", "namespace": NS},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": pod},
    }
    device_class = {"apiVersion": "resource.k8s.io/v1", **build.device_class()}
    app, known = folder / "app.yaml", folder / "class.yaml"
    app.write_text(yaml.safe_dump_all([{**template, "spec": {"spec": spec}}, deployment]), encoding="utf-8")
    known.write_text(yaml.safe_dump(device_class), encoding="utf-8")
    return str(app), str(known)


def test_a_class_of_the_files_is_as_good_as_one_of_the_cluster(tmp_path: Path, capfd: Any) -> None:
    cluster, (app, known) = snapshot(tmp_path, "DeviceClass"), files(tmp_path)
    with_files = said(capfd, "simulate", "-f", app, "-f", known, "--from", cluster, "--exit-code")
    of_cluster = said(capfd, "simulate", "-f", app, "--from", cluster, "--from", known, "--exit-code")
    assert (with_files[0], of_cluster[0]) == (3, 3)
    assert with_files[1].startswith(of_cluster[1].rstrip())
    assert "Deployment ml/app: 2 of 3 copies fit" in unfolded(with_files[1])
    assert "incomplete" not in with_files[1]
    report = json.loads(said(capfd, "simulate", "-f", app, "-f", known, "--from", cluster, "-o", "json")[1])
    assert (report["certainty"]["devices"], [each["kind"] for each in report["missing"]]) == ("exact", [])


def test_a_template_of_the_files_needs_no_right(tmp_path: Path, capfd: Any) -> None:
    more = ({"apiVersion": "resource.k8s.io/v1", **build.device_class()},)
    cluster, (app, _) = snapshot(tmp_path, "ResourceClaimTemplate", more=more), files(tmp_path)
    out = said(capfd, "simulate", "-f", app, "--from", cluster)[1]
    assert "2 of 3 copies fit" in out
    assert "could not be read" not in out
    assert "kubectl create role" not in out


@pytest.mark.parametrize(("kind", "given"), [("DeviceClass", ()), ("Pod", ("--copies", "2", "--together"))])
def test_an_administrator_gets_the_command_that_was_asked(
    kind: str, given: tuple[str, ...], tmp_path: Path, capfd: Any
) -> None:
    """Its copies exist nowhere."""
    cluster, (app, _) = snapshot(tmp_path, kind), files(tmp_path)
    out = said(capfd, "simulate", "-f", app, *given, "--remedies", "--from", cluster)[1]
    asked = " ".join(("kubectl dra simulate -f", app, *given, "-n default --context prod"))
    assert out.count("Or an administrator reads it for you:") == 1
    assert f"  Or an administrator reads it for you:\n    {asked}\n" in out
    assert "why-pending" not in out


def test_the_selectors_of_a_request_bound_what_an_unread_class_leaves(tmp_path: Path, capfd: Any) -> None:
    cluster, (app, _) = snapshot(tmp_path, "DeviceClass"), files(tmp_path)
    words = ("simulate", "-f", app, "--from", cluster)
    code, out, _ = said(capfd, *words, "--exit-code")
    assert code == 3
    assert (
        "Deployment ml/app: at most 2 of 3 copies fit: only 2 free devices match the selectors of request gpu. Whether "
        "these do depends on DeviceClass gpu.example.com, which dev1 may not read."
    ) in unfolded(out)
    assert "  Or give DeviceClass gpu.example.com as a file, for example from the Helm chart" in out
    assert f"    kubectl dra simulate -f {app} -n default -f class.yaml --from {cluster}\n" in out
    report = json.loads(said(capfd, *words, "-o", "json")[1])
    assert (report["fits"], report["pods"][0]["fits"], report["pods"][0]["copies"]) == ("No", "No", 0)
    most = report["pods"][0]["openClasses"]["atMost"]
    assert (most["copies"], most["devices"], most["each"]) == (2, 2, 1)
    # As many as are wanted may fit: nothing is sure.
    out = unfolded(said(capfd, *words, "--copies", "2")[1])
    assert "Deployment ml/app: whether any of 2 copies fits is unknown: DeviceClass could not be read." in out
    assert "as a file" in out
    out = unfolded(said(capfd, *words, "--copies", "max")[1])
    assert "Deployment ml/app fits at most 2 times: only 2 free devices match" in out


@pytest.mark.parametrize(("devices", "sharing"), [(0, False), (2, True)])
def test_no_device_is_a_bound_and_a_shared_one_is_none(devices: int, sharing: bool, tmp_path: Path, capfd: Any) -> None:
    held: tuple[dict[str, Any], ...] = ()
    if sharing:
        shared = build.device("gpu-s", attributes={"model": "H100"}, allowMultipleAllocations=True)
        held = (build.slice_("node-1", shared, pool="shared"),)
    cluster, (app, _) = snapshot(tmp_path, "DeviceClass", devices=devices, more=held), files(tmp_path)
    out = unfolded(said(capfd, "simulate", "-f", app, "--from", cluster)[1])
    if sharing:
        assert "whether any of 3 copies fits is unknown" in out
    else:
        told = "whatever DeviceClass gpu.example.com selects: no free device matches the selectors of request gpu."
        assert f"Deployment ml/app: none of its copies fits, {told}" in out


def test_devices_in_use_are_no_free_ones(tmp_path: Path, capfd: Any) -> None:
    held = build.claim("held", build.request(), held=[("node-1", "gpu-0")])
    more = ({"apiVersion": "resource.k8s.io/v1", **held},)
    cluster, (app, _) = snapshot(tmp_path, "DeviceClass", more=more), files(tmp_path)
    out = unfolded(said(capfd, "simulate", "-f", app, "--from", cluster)[1])
    told = "only 1 free device matches the selectors of request gpu. Whether that one does depends on"
    assert f"Deployment ml/app: at most 1 of 3 copies fits: {told}" in out


def test_the_verdict_stands_above_the_rights(tmp_path: Path, capfd: Any) -> None:
    cluster, (app, _) = snapshot(tmp_path, "DeviceClass"), files(tmp_path)
    out = said(capfd, "simulate", "-f", app, "--from", cluster)[1]
    first, empty, verdict, *_ = out.splitlines()
    assert (first, empty) == ("This answer is incomplete: DeviceClass could not be read, see below.", "")
    assert verdict.startswith("Deployment ml/app: ")
    assert out.index("DeviceClass in the whole cluster: forbidden for user dev1") > out.index(verdict)
