"""simulate on the demo cluster: what admission says, what fits and where, how many, what is missing; hostile files."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import POD, RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import Verdict
from kubectl_dra.model.features import features
from kubectl_dra.source.demo import load_demo
from tests.golden_files import check_golden
from tests.kit.clock import CLOCK
from tests.kit.state import state_of

pytestmark = pytest.mark.one_in(4)


FILES = Path(__file__).parent.parent / "simulations"
INVENTORY, EVIDENCE = load_demo()
CASES = {
    "deployment": ["deployment.yaml"],
    "deployment-remedies": ["deployment.yaml", "--remedies"],
    "mixed-generations": ["mixed-generations.yaml"],
    "extended": ["extended.yaml"],
    "claim": ["claim.yaml"],
    "claim-max": ["claim.yaml", "--copies", "max"],
    "claim-4": ["claim.yaml", "--copies", "4"],
    "broken": ["broken.yaml"],
}


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")


def call(capfd, file, *arguments):
    code = run(["simulate", "-f", str(FILES / file), *arguments, "--from", "demo"])
    out, err = capfd.readouterr()
    return code, out, err


def simulated(capfd, tmp_path, *objects, arguments=()):
    path = tmp_path / "objects.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
    code, out, _ = call(capfd, path, "-o", "json", *arguments)
    assert code == 0
    return json.loads(out)


@pytest.mark.parametrize("name", CASES)
def test_page(capfd, name):
    _, out, err = call(capfd, *CASES[name])
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert out.isprintable() or set(filter(lambda c: not c.isprintable(), out)) == {"\n"}
    check_golden(f"simulate/{name}.txt", out)


def test_documents(capfd):
    _, text, _ = call(capfd, "deployment.yaml", "-o", "json")
    report = json.loads(text)
    assert (report["apiVersion"], report["kind"]) == ("kubectl-dra/v1alpha1", "SimulationReport")
    assert report["fits"] == "No"
    pod = report["pods"][0]
    assert (pod["wanted"], pod["copies"]) == (6, sum(node["copies"] for node in pod["nodes"]))
    assert pod["pending"]["verdict"] == "Unschedulable"
    told = json.loads(call(capfd, "deployment.yaml", "-o", "json", "--text")[1])
    assert told.pop("output") == {"text": call(capfd, "deployment.yaml")[1].rstrip("\n")}
    assert told == report
    assert yaml.safe_load(call(capfd, "deployment.yaml", "-o", "yaml")[1]) == report


def test_the_corrected_manifest_is_what_convert_makes_of_it(capfd):
    _, text, _ = call(capfd, "mixed-generations.yaml", "-o", "json")
    claim = json.loads(text)["manifests"][0]["corrected"]
    assert claim["spec"]["devices"]["requests"][0]["exactly"] == {"deviceClassName": "gpu.example.com", "count": 2}


def test_what_was_corrected_fits_and_the_files_do_not(capfd, tmp_path):
    """kubectl apply refuses them: ``fits`` and the exit code say the same, and the summary says why."""
    request = {"name": "gpu", "deviceClassName": "gpu.example.com"}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu", "namespace": "ml"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    report = simulated(capfd, tmp_path, template)
    assert [pod["fits"] for pod in report["pods"]] == ["Yes"]
    assert report["fits"] == "No"
    assert report["summary"].startswith("Not as written: 1 mistake, which kubectl apply refuses, was corrected")
    assert call(capfd, tmp_path / "objects.json", "--exit-code")[0] == 3


def test_another_spec_than_the_clusters_own_is_refused(capfd, tmp_path):
    template = encode(next(iter(INVENTORY.templates.values())), RESOURCE_CLAIM_TEMPLATE)
    kept = json.loads(template)
    assert simulated(capfd, tmp_path, kept)["fits"] != "No"
    kept["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 7
    report = simulated(capfd, tmp_path, kept)
    assert report["fits"] == "No"
    assert "Its spec can't be changed" in report["summary"]


@pytest.mark.parametrize(
    ("name", "plain", "asked"),
    [("deployment", 0, 3), ("mixed-generations", 0, 3), ("extended", 0, 0), ("claim-max", 0, 0), ("broken", 1, 1)],
)
def test_exit_codes(capfd, name, plain, asked):
    assert call(capfd, *CASES[name])[0] == plain
    assert call(capfd, *CASES[name], "--exit-code")[0] == asked


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-f", "x", "-A"],
        ["-f", "-", "--from", "-"],
        ["-f", "x", "--copies", "0"],
        ["-f", "x", "--copies", "all"],
        ["-f", "x", "--copies", "9" * 20],
    ],
)
def test_usage(capfd, arguments):
    assert run(["simulate", *arguments]) == 2
    assert capfd.readouterr().out == ""


def test_as_many_as_fit_is_the_largest_number_that_fits(capfd):
    most = json.loads(call(capfd, "claim.yaml", "--copies", "max", "-o", "json")[1])["pods"][0]["copies"]
    assert most > 1
    for number in (most - 1, most, most + 1):
        assert call(capfd, "claim.yaml", "--copies", str(number), "--exit-code")[0] == (0 if number <= most else 3)


def test_many_copies_end_at_least_somewhere(capfd, tmp_path):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "main", "image": "x"}]},
    }
    report = simulated(capfd, tmp_path, pod, arguments=["--copies", "max"])
    assert report["pods"][0]["capped"] or report["pods"][0]["pending"]["verdict"] == "Unschedulable"


def test_more_copies_than_are_tried_is_no_verdict(capfd, tmp_path):
    path = tmp_path / "claim.json"
    claim = {"name": "shared", "namespace": "lab"}
    request = {"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}
    body = {"kind": "ResourceClaim", "metadata": claim, "spec": {"devices": {"requests": [request]}}}
    path.write_text(json.dumps({"apiVersion": "resource.k8s.io/v1", **body}), encoding="utf-8")
    code, out, _ = call(capfd, path, "--copies", "100000", "--exit-code")
    assert code in (3, 4)
    assert ("at least" in out) == (code == 4)


@pytest.mark.parametrize("key", pending_pods(state_of(INVENTORY, EVIDENCE)), ids=str)
def test_a_pod_as_it_is_pending_gets_the_verdict_of_why_pending(capfd, tmp_path, key):
    """The same spec once more, from the same claims and templates: what keeps the one keeps the other."""
    pod = INVENTORY.pods[key]
    diagnosis = Diagnoser(ClusterState(INVENTORY, EVIDENCE, features(), CLOCK)).pod(key)
    if diagnosis.verdict is Verdict.PREPARING:
        pytest.skip("it has a node already")
    body = json.loads(encode(pod, POD))
    body["metadata"] = {"name": f"{key.name}-again", "namespace": key.namespace}
    body.pop("status", None)
    found = simulated(capfd, tmp_path, body)["pods"][0]
    if diagnosis.verdict is Verdict.OTHER_SCHEDULER:
        # What that one decides can't be told; what the default scheduler would do is.
        assert (found["scheduler"], found["fits"]) == (pod.spec.scheduler_name, "Unknown")
        return
    verdict = found["pending"]["verdict"] if found["pending"] is not None else "Schedulable"
    assert verdict == diagnosis.verdict
    if found["pending"] is not None:
        assert found["pending"]["causes"][0]["code"] == diagnosis.causes[0].code


def test_objects_of_the_file_find_each_other(capfd, tmp_path):
    """A class, devices, a namespace and a claim that only the file has."""
    gpu = {"name": "d0", "attributes": {"model": {"string": "new"}}}
    pool = {"name": "new", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "new.example.com", "nodeName": "ip-192-168-153-160.ec2.internal", "pool": pool, "devices": [gpu]}
    selector = [{"cel": {"expression": 'device.driver == "new.example.com"'}}]
    request = {"name": "r", "exactly": {"deviceClassName": "new"}}
    version = "resource.k8s.io/v1"
    report = simulated(
        capfd,
        tmp_path,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fresh"}},
        {"apiVersion": version, "kind": "DeviceClass", "metadata": {"name": "new"}, "spec": {"selectors": selector}},
        {"apiVersion": version, "kind": "ResourceSlice", "metadata": {"name": "new"}, "spec": spec},
        {
            "apiVersion": version,
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "fresh"},
            "spec": {"devices": {"requests": [request]}},
        },
        arguments=["--copies", "3"],
    )
    assert report["fits"] == "Yes"
    assert report["pods"][0]["nodes"] == [
        {"node": "ip-192-168-153-160.ec2.internal", "copies": 3}
    ]  # they share the claim


def test_a_namespace_that_does_not_exist_is_taken_as_created_first(capfd, tmp_path):
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "nosuch"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
    }
    report = simulated(capfd, tmp_path, claim)
    assert report["manifests"][0]["refused"] == []
    assert report["newNamespaces"] == ["nosuch"]
    assert report["fits"] == "Yes"
    assert [pod["copies"] for pod in report["pods"]] == [1]


def test_ten_thousand_objects_are_answered_each(capfd, tmp_path):
    """Nothing grows with the square of their number: work is counted, not time."""
    body = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c{}, namespace: default}}\n"
    spec = "spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}\n"

    def calls(number):
        path = tmp_path / f"{number}.yaml"
        path.write_text("---\n".join(body.format(each) + spec for each in range(number)), encoding="utf-8")
        count = 0

        def counted(_frame, event, _argument):
            nonlocal count
            count += event == "call"

        sys.setprofile(counted)
        try:
            code, out, _ = call(capfd, path, "-o", "json")
        finally:
            sys.setprofile(None)
        found = json.loads(out)
        assert (code, found["fits"], len(found["pods"])) == (0, "Yes", number)
        return count

    calls(5)  # modules and decoders
    small, large = calls(50), calls(500)
    assert large < 12 * small


@pytest.mark.parametrize(
    "patch", ["kind: DaemonSet\nspec: {template: {spec: {nodeSelector: {a: b}}}}\n", "- op: remove\n"]
)
def test_a_patch_of_a_kustomization_is_left_out(capfd, tmp_path, patch):
    (tmp_path / "kustomization.yaml").write_text("patches:\n- path: patch.yaml\n", encoding="utf-8")
    (tmp_path / "patch.yaml").write_text(patch, encoding="utf-8")
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: b}]}\n", encoding="utf-8"
    )
    code, out, err = call(capfd, tmp_path / "pod.yaml", "-f", str(tmp_path / "patch.yaml"))
    assert (code, "refused" in out) == (0, False)
    assert f"{tmp_path}/patch.yaml is a patch of {tmp_path}/kustomization.yaml: left out" in err
    code, out, err = call(capfd, tmp_path / "patch.yaml")
    assert (code, out) == (1, "")
    assert "no object by itself" in err


@pytest.mark.parametrize("command", ["simulate", "capacity"])
def test_a_namespace_that_contradicts_the_file_is_refused_as_kubectl_does(capfd, tmp_path, command):
    path = tmp_path / "objects.yaml"
    kind = "apiVersion: resource.k8s.io/v1\nkind: "
    spec = "spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}\n"
    # One that names no namespace goes to -n, and those of the whole cluster have none.
    fine = f"{kind}ResourceClaim\nmetadata: {{name: free}}\n{spec}---\n{kind}DeviceClass\nmetadata: {{name: c}}\n"
    path.write_text(fine, encoding="utf-8")
    words = [command, "-f", str(path), "--from", "demo"]
    assert run([*words, "-n", "lab"]) == 0
    path.write_text(
        f"{fine}---\n{kind}ResourceClaim\nmetadata: {{name: mine, namespace: ml}}\n{spec}", encoding="utf-8"
    )
    assert run([*words, "-n", "ml"]) == 0
    assert run(words) == 0
    capfd.readouterr()
    assert run([*words, "-n", "lab"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith('error: the namespace "ml" of ResourceClaim mine does not match -n lab\n'), err


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_what_kustomize_makes_is_called_by_its_command(capfd, tmp_path):
    (tmp_path / "kustomization.yaml").write_text("resources: [pod.yaml]\n", encoding="utf-8")
    entry = {"name": "gpu", "resourceClaimTemplateName": "big-gpus"}
    container = {"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    body = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container], "resourceClaims": [entry]}}
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}
    made = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "big-gpu"}}
    texts = (json.dumps(each) for each in ({"apiVersion": "v1", **body}, {**made, "spec": spec}))
    (tmp_path / "pod.yaml").write_text("\n---\n".join(texts), encoding="utf-8")
    run(["simulate", "-k", str(tmp_path), "--from", "demo", "--remedies", "-o", "json"])
    assert f"kubectl kustomize {tmp_path}, line 1" in capfd.readouterr().out
