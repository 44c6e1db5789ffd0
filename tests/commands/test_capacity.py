"""capacity on the demo cluster: numbers, devices, nodes, files, switches, and mistakes of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.model.invocation import HERE
from kubectl_dra.output.capacity.page import capacity_page
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.reports.capacity.capacity import CapacityRequest, capacity_report
from tests.commands.test_whatif import Ask, ask
from tests.diagnosis.test_capacity import world
from tests.kit import build
from tests.output.pending.test_more_situations import holding

pytestmark = pytest.mark.one_in(8)


__all__ = ["ask"]
CLASS = ("--class", "gpu.example.com", "-n", "ml")


def test_the_number_comes_first_then_devices_and_nodes(ask: Ask) -> None:
    found = ask("capacity", *CLASS, "--count", "4")
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[0] == "A pod that requests 4 × gpu.example.com fits 3 more times now."
    assert "32 devices match the request:" in lines
    assert max(map(len, lines)) <= 80
    at = next(i for i, line in enumerate(lines) if line.startswith("gke-prod-h100-5f3a2b1c-x9zk "))
    assert lines[at + 1] == "    only 3 free here"
    # It has devices, of another class.
    at = next(i for i, line in enumerate(lines) if line.startswith("cpu-2 "))
    assert lines[at + 1] == "    no device of the class"


def test_the_numbers_of_the_document_are_those_of_the_page(ask: Ask) -> None:
    report = json.loads(ask("capacity", *CLASS, "--count", "4", "-o", "json").out)
    assert report["kind"] == "CapacityReport"
    (shape,) = report["shapes"]
    found = shape["capacity"]
    assert found["copies"] == {"value": 3, "bound": "exact"}
    assert sum(room["copies"] * room["count"] for room in found["nodes"]) == 3
    devices = found["devices"]
    parts = ("inUse", "unusable", "taken", "left")
    assert sum(devices[part] for part in parts) == devices["matching"] == 32
    for part in ("matching", *parts):
        assert sum(room["devices"][part] * room["count"] for room in found["nodes"]) == devices[part]


def test_switches_change_the_count(ask: Ask) -> None:
    report = json.loads(
        ask(
            "capacity",
            *CLASS,
            "--count",
            "8",
            "--add-node",
            "like=gke-prod-h100-5f3a2b1c-x9zk,count=3,free",
            "-o",
            "json",
        ).out
    )
    assert report["shapes"][0]["capacity"]["copies"]["value"] == 3
    assert report["whatIf"]["addedNodes"] == [
        "gke-prod-h100-5f3a2b1c-x9zk-new-1",
        "gke-prod-h100-5f3a2b1c-x9zk-new-2",
        "gke-prod-h100-5f3a2b1c-x9zk-new-3",
    ]


def test_a_claim_of_a_file_stands_for_one_per_copy(ask: Ask, tmp_path: Path) -> None:
    exactly = {"deviceClassName": "gpu.example.com", "count": 4}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "four", "namespace": "ml"},
        "spec": {"devices": {"requests": [{"name": "g", "exactly": exactly}]}},
    }
    file = tmp_path / "claim.json"
    file.write_text(json.dumps(claim), encoding="utf-8")
    found = ask("capacity", "-f", str(file))
    assert "A pod of ResourceClaim ml/four (4 × gpu.example.com) fits 3 more times now." in found.out


TAINT = ("taint-device", "ecc:NoSchedule", "--dry-run")


def test_exit_code_tells_that_nothing_fits(ask: Ask) -> None:
    assert ask("capacity", *CLASS, "--count", "8", "--exit-code").code == 3
    assert ask("capacity", *CLASS, "--exit-code").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "no shape to count"),
        (("--class", "gpu.example.com", "-f", "x.yaml"), 2, "a shape is a file or a class"),
        (("-f", "x.yaml", "--count", "2"), 2, "--count and --selector describe a bare pod"),
        (("--class", "gpu.exampel.com"), 1, 'not found, did you mean "gpu.example.com"'),
        (("--class", "gpu.example.com", "--count", "33"), 2, "--count: 33 is not between 1 and 32"),
        (("--class", "gpu.example.com", "-A"), 2, "-A does not apply to a shape"),
    ],
)
def test_mistakes(ask: Ask, words: tuple[str, ...], code: int, said: str) -> None:
    found = ask("capacity", *words)
    assert (found.code, said in found.err) == (code, True), found.err


def test_a_selector_that_is_not_finished_is_told_in_words(ask: Ask) -> None:
    found = ask("capacity", *CLASS, "--selector", "device.driver ==")
    assert (found.code, found.out) == (2, "")
    assert "error: --selector does not compile: syntax error: unexpected end of the expression" in found.err


@pytest.mark.parametrize(
    ("command", "option"), [(("capacity", *CLASS), "--selector"), (("get", "devices"), "--match"), (TAINT, "--match")]
)
def test_a_selector_that_does_not_compile_is_refused_with_its_place_and_what_is_meant(
    ask: Ask, command: tuple[str, ...], option: str
) -> None:
    memory = 'device.capacity["gpu.example.com"].memory'
    found = ask(*command, option, f'{memory} >= "40Gi"')
    assert found.out == ""
    assert found.code == 2
    assert f"error: {option} does not compile: found no matching overload for '_>=_'" in found.err
    assert f'  {memory} >= "40Gi"\n{" " * len(memory)}   ^' in found.err
    assert f'{memory}.compareTo(quantity("40Gi")) >= 0' in found.err


@pytest.mark.parametrize(
    ("condition", "error"), [("model > 5", "no such overload"), ('modle == "A100"', "no such key: modle")]
)
def test_a_selector_that_fails_on_every_device_of_the_class_is_refused(ask: Ask, condition: str, error: str) -> None:
    found = ask("capacity", *CLASS, "--selector", f'device.attributes["gpu.example.com"].{condition}')
    assert (found.code, found.out) == (2, "")
    assert "error: --selector fails on all" in found.err
    assert error in found.err


def test_a_shape_whose_template_is_missing_is_counted_as_none(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "pod.json"
    claims = [{"name": "c", "resourceClaimTemplateName": "nowhere"}]
    container = {"name": "m", "image": "x", "resources": {"claims": [{"name": "c"}]}}
    spec = {"containers": [container], "resourceClaims": claims}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}, "spec": spec}
    path.write_text(json.dumps(pod), encoding="utf-8")
    found = ask("capacity", "-f", str(path))
    assert found.code == 0
    assert 'ResourceClaimTemplate "nowhere"' in found.out


def test_what_cannot_be_read_is_not_counted_and_says_why(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    bad = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": 1}]}}'
    file.write_text(bad, encoding="utf-8")
    found = ask("capacity", "-f", str(file), "-n", "ml")
    assert found.out.startswith("Pod p can't be read, so it is not counted: ")
    assert "containers[0].name" in found.out
    assert "has no pod" not in found.out
    report = json.loads(ask("capacity", "-f", str(file), "-n", "ml", "-o", "json").out)
    (unreadable,) = report["unreadable"]
    assert unreadable["subject"]["name"] == "p"
    assert unreadable["error"] in " ".join(found.out.split())


def test_a_bound_that_no_restarts_were_found_for_is_told_so(ask: Ask) -> None:
    sentence = "No restarts were found that make room for one more."
    assert sentence in ask("capacity", *CLASS, "--count", "8").out
    found = ask("capacity", *CLASS, "--count", "6").out
    assert "Room for 1 more copy" in found
    assert sentence not in found


GANG = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train, namespace: ml}
spec: {schedulingPolicy: {gang: {minCount: 12}}}
---
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: ml}
spec:
  schedulingGroup: {podGroupName: train}
  containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: three}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: three, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 3}}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: extra}
status: {allocatable: {cpu: "64", memory: 256Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: extra-gpus}
spec:
  driver: gpu.example.com
  nodeName: extra
  pool: {name: extra, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}, {name: gpu-2}]
"""


def test_a_pod_of_a_gang_on_nodes_of_the_same_file(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "gang.yaml"
    file.write_text(GANG, encoding="utf-8")
    words = ("capacity", "-f", str(file), "-n", "ml", "--feature-gates", "GenericWorkload=true")
    told = " ".join(ask(*words).out.split())
    assert told.startswith("A pod like ml/one (3 × gpu.example.com) fits 5 more times now.")
    assert "Of its PodGroup 12 pods have to find a node at the same time, or none is placed" in told
    # Nobody holds a device there yet.
    assert "extra 1 3 0 0 all taken by these" in told
    shape = json.loads(ask(*words, "-o", "json").out)["shapes"][0]
    assert shape["minCount"] == 12
    off = ask(*words[:-1], "GenericWorkload=false")
    assert json.loads(ask(*words[:-1], "GenericWorkload=false", "-o", "json").out)["shapes"][0]["minCount"] is None
    assert "PodGroup" not in off.out


def test_pods_of_a_gang_that_differ_in_their_names_are_told_once(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "gang.yaml"
    pod, rest = GANG.partition("---")[2].partition("---")[::2]
    pods = [pod.replace("name: one", f"name: train-{number}") for number in (0, 1)]
    file.write_text("---".join([*pods, rest]), encoding="utf-8")
    out = ask("capacity", "-f", str(file), "-n", "ml").out
    assert out.count("A pod like ml/") == 1
    assert "The same holds for train-1." in out


def test_a_pod_that_may_be_being_bound_is_told() -> None:
    low = build.pod("low", claims=["claim"], priority=-1)
    low["status"]["nominatedNodeName"] = "node-1"
    node = build.node(pods="1")
    state = world(node, build.slice_("node-1", build.device("gpu-0")), build.claim("claim"), low)
    report = capacity_report(state, CapacityRequest(build.DRIVER), build.NAMESPACE)
    page = " ".join(plain(Safe(" ").join(capacity_page(report, HERE))).split())
    assert "fits at most 1 more time now. ml/low, with a lower priority, is nominated for the node" in page
    assert "binding it already, no copy fits." in page


TWO = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: two, namespace: ml}
spec:
  devices:
    requests:
    - {name: a, exactly: {deviceClassName: gpu.example.com}}
    - {name: b, exactly: {deviceClassName: gpu.example.com}}
"""
TYPO = {"nodeSelectr": {"a": "b"}}
LIKE = "A pod like ml/p (2 × gpu.example.com)"
OF_WEB = "A pod of Deployment ml/web (2 × gpu.example.com)"


def written(tmp_path: Path, spec: dict[str, Any], request: dict[str, Any], kind: str = "Pod") -> str:
    """A file with a pod or workload, and the template of its claim."""
    exactly = {"deviceClassName": "gpu.example.com", "count": 2, **request}
    made = {"spec": {"devices": {"requests": [{"name": "a", "exactly": exactly}]}}}
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "spec": made}
    container = {"name": "m", "image": "x", "resources": {"claims": [{"name": "g"}]}}
    claims = [{"name": "g", "resourceClaimTemplateName": "t"}]
    pod: dict[str, Any] = {"spec": {"containers": [container], "resourceClaims": claims, **spec}}
    body = {"apiVersion": "v1", "kind": "Pod", **pod}
    if kind != "Pod":
        labels = {"app": "web"}
        pod = {"metadata": {"labels": labels}, **pod}
        body = {"apiVersion": "apps/v1", "kind": kind, "spec": {"selector": {"matchLabels": labels}, "template": pod}}
    items = [{"metadata": {"name": name, "namespace": "ml"}, **each} for name, each in (("p", body), ("t", template))]
    items[0]["metadata"] = {"name": "p" if kind == "Pod" else "web", "namespace": "ml"}
    file = tmp_path / "shape.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("spec", "request_", "kind", "code", "first", "said"),
    [
        (TYPO, {}, "Pod", 3, "Not as written: 1 unknown field", f"{LIKE} fits 7 more times now, but only without the"),
        ({}, {"selecters": []}, "Pod", 3, "Not as written: 1 unknown field", "did you mean selectors?"),
        ({}, {"allocationMode": "Some"}, "Pod", 3, "ResourceClaimTemplate ml/t would be refused", "p can't run"),
        ({"priorityClassName": "no"}, {}, "Pod", 3, "Pod ml/p would be refused", "no PriorityClass with name no was"),
        (
            {"priorityClassName": "no"},
            {},
            "Deployment",
            3,
            f"{OF_WEB} can't be created: PriorityClass no does not exist",
            "",
        ),
        ({"schedulerName": "kai"}, {}, "Pod", 4, f"{LIKE}: scheduler kai decides; by the rules of the default", "7"),
        ({}, {}, "Pod", 0, f"{LIKE} fits 7 more times now.", ""),
    ],
)
def test_what_a_server_refuses_or_drops_comes_first_as_in_simulate(
    ask: Ask,
    tmp_path: Path,
    spec: dict[str, Any],
    request_: dict[str, Any],
    kind: str,
    code: int,
    first: str,
    said: str,
) -> None:
    file = written(tmp_path, spec, request_, kind)
    found = ask("capacity", "-f", file, "--exit-code")
    words = " ".join(found.out.split())
    assert words.startswith(first), words
    assert said in words
    assert found.code == code == ask("simulate", "-f", file, "--exit-code").code
    report = json.loads(ask("capacity", "-f", file, "-o", "json").out)
    assert bool(report["manifests"]) is first.startswith(("Not as", "Pod", "ResourceClaimTemplate"))


def test_a_file_of_which_nothing_can_be_created(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "pod.json"
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}}
    pod["spec"] = {"containers": [{"name": "m", "image": "x"}], "priorityClassName": "no"}
    file.write_text(json.dumps(pod), encoding="utf-8")
    found = ask("capacity", "-f", str(file), "--exit-code")
    assert found.code == 3
    assert found.out.startswith("Pod ml/p would be refused: ")
    assert "Nothing was counted: what the files describe can't be created as it is written." in found.out


def test_of_a_pod_that_names_its_node_nothing_is_counted(ask: Ask, tmp_path: Path) -> None:
    """The scheduler never sees it, and nothing else allocates devices."""
    file = tmp_path / "pod.yaml"
    body = build.pod("p", templates=["gpus"], node_name="gke-prod-h100-5f3a2b1c-x9zk")
    body["spec"]["containers"][0]["image"] = "x"
    file.write_text(json.dumps({**body, "apiVersion": "v1"}), encoding="utf-8")
    found = ask("capacity", "-f", str(file), "-n", "ml", "--exit-code")
    assert found.code == 3
    assert "would not start: spec.nodeName bypasses the scheduler" in " ".join(found.out.split())


def counted(*objects: dict[str, Any]) -> str:
    """The page of single devices on a cluster, without its columns."""
    report = capacity_report(world(*objects), CapacityRequest(build.DRIVER), build.NAMESPACE)
    return " ".join(plain(Safe(" ").join(capacity_page(report, HERE))).split())


def test_nodes_with_different_taints_are_told_apart() -> None:
    nodes = [build.node("lost"), build.node("own"), build.node("closed")]
    for each, key in zip(nodes, ("node.kubernetes.io/unreachable", "nvidia.com/gpu"), strict=False):
        each["spec"]["taints"] = [{"key": key, "effect": "NoSchedule"}]
    nodes[2]["spec"]["unschedulable"] = True
    slices = [build.slice_(each["metadata"]["name"], build.device("gpu-0")) for each in nodes]
    text = counted(*nodes, *slices)
    assert " lost 0 1 0 1 taint node.kubernetes.io/unreachable:NoSchedule" in text
    assert " own 0 1 0 1 taint nvidia.com/gpu:NoSchedule" in text
    assert " closed 0 1 0 1 cordoned" in text


def test_devices_that_copies_take_are_not_in_use() -> None:
    """Neither on their own node nor on another that could use them, and one that somebody has is, tainted or not."""
    shared = build.slice_("", build.device("gpu-0"), pool="fabric", allNodes=True)
    nodes = [build.node("node-1"), build.node("node-2")]
    text = counted(*nodes, shared)
    assert "0 1 0 0 taken by copies on other nodes" in text
    assert "1 1 0 0 all taken by these" in text
    tainted = build.device("gpu-0", taints=[{"key": "xid", "effect": "NoSchedule"}])
    slice_ = build.slice_("node-1", tainted, build.device("gpu-1"))
    text = counted(nodes[0], slice_, *holding("a", "gpu-0", node="node-1"))
    assert " node-1 1 2 1 0 no free device left" in text
    assert "█ 1 in use ▓ 1 taken by the 1 copy that fits" in text
    assert "no pod holds such devices" not in text


def test_what_several_requests_of_a_copy_take_is_counted(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO, encoding="utf-8")
    text = ask("capacity", "-f", str(file), "-n", "ml").out
    assert "14 taken by the 7 copies that fit" in text
    devices = json.loads(ask("capacity", "-f", str(file), "-n", "ml", "-o", "json").out)["shapes"][0]["capacity"][
        "devices"
    ]
    assert devices["matching"] == sum(devices[part] for part in ("inUse", "unusable", "taken", "left"))
    assert (devices["unusable"], devices["tainted"]) == (1, 1)


def test_a_slice_that_was_copied_with_the_name_of_its_pool_is_told_before_the_number(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    copied = GANG.replace("pool: {name: extra,", "pool: {name: gke-prod-h100-5f3a2b1c-x9zk,")
    assert copied != GANG
    file.write_text(copied, encoding="utf-8")
    out = " ".join(ask("capacity", "-f", str(file), "-n", "ml").out.split())
    assert out.startswith("ResourceSlice extra-gpus in the files has the pool name of gke-prod-h100-5f3a2b1c-x9zk")
    assert "set spec.pool.name to extra." in out.partition("A pod")[0]
    report = json.loads(ask("capacity", "-f", str(file), "-n", "ml", "-o", "json").out)
    assert [each["slice"] for each in report["copied"]] == ["extra-gpus"]
    file.write_text(GANG, encoding="utf-8")
    assert json.loads(ask("capacity", "-f", str(file), "-n", "ml", "-o", "json").out)["copied"] == []
