"""What a person with rights in one namespace only meets: what is known first, what is not and who can permit it.

The server is a stand-in that refuses as RBAC does; tests/e2e/test_rights.py asks a real one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.records import Missing, RbacRule
from kubectl_dra.output.unread import unread_sentence
from kubectl_dra.source.demo import CLUSTER
from tests.kit import build
from tests.kit.clock import PassingClock
from tests.kit.fake_api import PLURALS, FakeApi, running, serve_cluster, write_kubeconfig
from tests.reports.clusters import withheld

pytestmark = pytest.mark.one_in(4)

CLUSTER_WIDE = ("Node", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
TEMPLATE = """
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: ml}
spec:
  containers: [{name: main, image: x, resources: {claims: [{name: g}]}}]
  resourceClaims: [{name: g, resourceClaimTemplateName: gpus}]
"""
UNREAD = (
    "Node, DeviceClass, ResourceSlice and DeviceTaintRule could not be read, and Pod and ResourceClaim only in "
    "namespace ml."
)


def unread(kind: str, *namespaces: str) -> Missing:
    return Missing(kind, "forbidden", RbacRule("", kind.lower(), ("get",)), read_in=namespaces)


def test_kinds_that_were_read_in_different_namespaces_are_told_apart() -> None:
    both, one = unread("Pod", "lab", "ml"), unread("ResourceClaim", "ml")
    text = "Pod could be read only in namespaces lab and ml, and ResourceClaim only in namespace ml"
    assert unread_sentence([both, one]) == text
    assert unread_sentence([unread("Node"), both, one]).startswith("Node could not be read, and Pod only in")


DAEMONS_AND_VOLCANO = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: ml}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: batch, namespace: ml}
spec: {tasks: [{name: one, replicas: 1, template: {spec: {containers: [{name: c, image: x}]}}}]}
"""


def without(folder: Path, kind: str) -> Path:
    """The demo cluster as somebody sees it who may not read objects of a kind."""
    path, cluster = folder / "cluster.json", json.loads(CLUSTER.read_bytes())
    refused = {"kind": kind, "coverage": "forbidden"}
    cluster["reads"] = [refused, *(read for read in cluster["reads"] if read["kind"] != kind)]
    cluster["items"] = [item for item in cluster["items"] if item["kind"] != kind]
    path.write_text(json.dumps(cluster), encoding="utf-8")
    return path


X9ZK = "gke-prod-h100-5f3a2b1c-x9zk"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("get nodes", f"{X9ZK} ? 8 ≤3 5 0"),
        ("get pools", f"{X9ZK} {X9ZK} 8 ≤3 0 5 0 0 0 ready"),
        ("get pools", "rack=rack-1 4 0 ≤4 0 0 0 0 ready"),
        ("get classes", "gpu.example.com 32 ≤17 0 14 1 0 0 21"),
        ("top nodes", f"{X9ZK} 8 ≤3 0 5"),
        (f"describe-node {X9ZK}", "has 8 devices of its own: ≤3 free and 5 in use"),
        ("get devices --free", "gpu-5 free? -"),
        ("test-selector true", "(≤24 of them free, ≤4 in part)"),
    ],
)
def test_what_is_free_is_at_most_so_many_where_nodes_were_not_read(
    capfd: Any, tmp_path: Path, call: str, told: str
) -> None:
    """A node that takes no new pods gives nothing away; what is in use is known all the same."""
    _, out, err = said(capfd, *call.split(), "--from", str(without(tmp_path, "Node")))
    text = unfolded(err + out)
    assert "Node in the whole cluster" in text
    assert told in text


def test_how_often_is_unknown_in_a_sentence(capfd: Any, tmp_path: Path) -> None:
    path = without(tmp_path, "Node")
    _, out, _ = said(capfd, "capacity", "--class", "gpu.example.com", "--from", str(path))
    assert "How many times a pod that requests 1 × gpu.example.com fits is unknown" in unfolded(out)


def test_one_after_the_other_is_unknown_too(capfd: Any, tmp_path: Path) -> None:
    """Devices that several nodes reach are counted copy by copy: the first that is not decided is none that fails."""
    _, out, _ = said(capfd, "capacity", "--class", "any-device", "--from", str(without(tmp_path, "ResourceClaim")))
    assert "How many times a pod that requests 1 × any-device fits is unknown" in unfolded(out)
    assert "does not fit" not in out


def test_what_is_unread_comes_before_what_is_supposed(capfd: Any, tmp_path: Path) -> None:
    node = "gke-prod-h100-5f3a2b1c-k4tq"
    words = ("why-pending", "-A", "--remove-node", node, "--from", str(without(tmp_path, "DeviceClass")))
    _, out, _ = said(capfd, *words)
    first = "This answer is incomplete: DeviceClass could not be read, see below.\n"
    assert out.startswith(f"{first}\n"), out[:200]
    assert out.index(node) < out.index("DeviceClass in the whole cluster")
    _, _, err = said(capfd, *words, "-o", "wide")
    assert err.startswith(first), err[:200]
    assert err.index(node) < err.index("DeviceClass in the whole cluster")


def test_nodes_that_could_not_be_read_are_not_nodes_that_refuse(capfd: Any, tmp_path: Path) -> None:
    path, manifests = without(tmp_path, "Node"), tmp_path / "new.yaml"
    manifests.write_text(DAEMONS_AND_VOLCANO, encoding="utf-8")
    words = ("simulate", "-f", str(manifests), "--from", str(path))
    _, out, _ = said(capfd, *words)
    assert "Whether one pod of DaemonSet ml/agent fits is unknown: Node could not be read." in unfolded(out)
    told = "scheduler volcano decides; whether it would fit by the rules of the default scheduler is unknown"
    assert f"Job ml/batch, one: {told}: Node could not be read." in unfolded(out)
    _, out, _ = said(capfd, *words, "-o", "json")
    report = json.loads(out)
    assert {report["fits"], *(pod["fits"] for pod in report["pods"])} == {"Unknown"}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    """The demo cluster for user ``dev``, who may read what is in namespace ml."""
    monkeypatch.setenv("NO_COLOR", "1")
    with running(FakeApi()) as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        items = json.loads(CLUSTER.read_bytes())["items"]
        serve_cluster(api, items, (*CLUSTER_WIDE, "Pod", "ResourceClaim"), own="ml")
        yield api


def said(capfd: Any, *words: str) -> tuple[int, str, str]:
    clock = PassingClock()
    clock.slept = 300.0
    code = run(words, clock)
    out, err = capfd.readouterr()
    return code, out, err


def unfolded(text: str) -> str:
    return " ".join(text.split())


def test_capacity_tells_what_claims_hold_where_slices_may_not_be_read(capfd: Any, tmp_path: Path) -> None:
    words = ("capacity", "--class", "gpu.example.com", "--from", str(without(tmp_path, "ResourceSlice")))
    _, out, _ = said(capfd, *words)
    assert "Claims that could be read have " in unfolded(out)
    assert f"of gpu.example.com/{X9ZK}" in unfolded(out)
    _, out, _ = said(capfd, *words[:-1], "demo")
    assert "Claims that could be read" not in out


def test_a_pod_page_says_what_is_unread_then_the_scheduler_who_reads_everything(api: FakeApi, capfd: Any) -> None:
    code, out, err = said(capfd, "why-pending", "trainer-0")
    assert (code, err) == (0, "")
    text = unfolded(out)
    told = (
        "no node fits, according to the scheduler: of 6 nodes, 5 do not have 4 free gpu.example.com "
        "devices that satisfy its "
        "claim and 1 has taints "
    )
    assert text.startswith(f"Pod ml/trainer-0 is pending: {told}")
    assert f". The exact cause is unknown: {UNREAD} The scheduler, which reads everything, wrote " in text
    assert "DeviceClass in the whole cluster" not in text
    assert text.count("forbidden for user dev") == 2
    assert "Pod and ResourceClaim outside namespace ml: forbidden for user dev" in text
    assert "Or an administrator reads it for you: kubectl dra why-pending trainer-0 -n ml --context fake" in text
    # Of what could not be read nothing is proposed to be created.
    assert "create the" not in text
    assert "DRA-200" not in text


@pytest.mark.parametrize(
    ("words", "answer", "again"),
    [
        ("get classes", "mig.example.com", "get classes"),
        ("get nodes --no-headers -o csv", "cpu-1", "get nodes"),
        ("get pools -o name", "nic.example.com/rack-7", "get pools"),
        ("describe-pool", "nic.example.com", "describe-pool"),
        ("describe-pool rack-7", "Pool nic.example.com/rack-7", "describe-pool rack-7"),
        ("describe-node cpu-2", "Node cpu-2", "describe-node cpu-2"),
        ("describe-claim serve-1-net", "ResourceClaim ml/serve-1-net", "describe-claim serve-1-net -n ml"),
        ("top classes -A --exit-code", "gpu.example.com", "top classes -A"),
        ("capacity --class gpu.example.com --count 2", "2 × gpu", "capacity --class gpu.example.com --count 2 -n ml"),
        ("test-selector true --pool rack-7", "Compiles.", "test-selector true --pool rack-7"),
        ("taint-device --list", "link=down:NoSchedule", "taint-device --list"),
        ("why-pending -o wide", "trainer-0", "why-pending -n ml"),
        ("why-pending trainer-0 train-x", "Pod ml/train-x", "why-pending trainer-0 train-x -n ml"),
        ("why-pending claim", "DRA-700", "why-pending claim -n ml"),
        ("why-pending claim/trainer-0-gpus-x9grb", "wanted by", "why-pending claim/trainer-0-gpus-x9grb -n ml"),
    ],
)
def test_an_answer_stands_between_what_it_lacks_and_who_can_give_that(
    api: FakeApi, capfd: Any, words: str, answer: str, again: str
) -> None:
    """The one form of all commands: an answer is not looked for below a wall of rights."""
    serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"], ("ResourceClaim", "DeviceTaintRule"), own="ml")
    _, out, err = said(capfd, *words.split())
    told, below = err or out, "Could not be read, and may change the answer:\n"
    assert told.startswith("This answer is incomplete: ")
    assert unfolded(told).partition(". ")[0].endswith(", see below")
    assert answer in out.partition(below)[0]
    assert told.count("This answer is incomplete") == told.count(below) == 1
    lines = told.partition(below)[2].splitlines()
    assert any("forbidden for user dev" in line for line in lines)
    assert lines[-2:] == ["  Or an administrator reads it for you:", f"    kubectl dra {again} --context fake"]


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("describe-claim serve-1-net trainer-0-gpus-x9grb", ("ResourceClaim ml/serve-1-net", "ResourceClaim ml/train")),
        ("describe-node cpu-2 cpu-1", ("Node cpu-2", "Node cpu-1")),
        ("describe-pool rack-7 rack-1", ("Pool nic.example.com/rack-7", "Pool nic.example.com/rack-1")),
    ],
)
def test_several_pages_say_once_what_they_lack(api: FakeApi, capfd: Any, words: str, titles: tuple[str, str]) -> None:
    serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"], ("ResourceClaim", "DeviceTaintRule"), own="ml")
    _, out, _ = said(capfd, *words.split())
    first, last = "This answer is incomplete: ", "Could not be read, and may change the answer:\n"
    assert out.startswith(first)
    assert out.count(first) == out.count(last) == out.count("Or an administrator reads it for you") == 1
    assert 0 < out.index(titles[0]) < out.index(titles[1]) < out.index(last)
    _, document, _ = said(capfd, *words.split(), "-o", "json")
    assert any(each["missing"] for each in json.loads(document)["items"])


def test_of_a_node_that_may_not_be_read_it_is_told_what_claims_have_there(api: FakeApi, capfd: Any) -> None:
    """Claims of the own namespace name it; that is no node which does not exist."""
    code, out, err = said(capfd, "describe-node", "gke-prod-h100-5f3a2b1c-x9zk")
    assert (code, err) == (0, "")
    text = unfolded(out)
    first = "ResourceSlice, DeviceTaintRule and Node could not be read, and ResourceClaim and Pod only in namespace ml"
    assert text.startswith(f"This answer is incomplete: {first}, see below. Node gke-")
    assert "Node gke-prod-h100-5f3a2b1c-x9zk has at least 5 devices, which are in use; whether it has more is" in text
    assert "pod ml/serve-1" in text
    code, _, err = said(capfd, "describe-node", "nobody-knows")
    assert code == 1
    assert "could not be read" in err


@pytest.mark.parametrize("command", ["describe-pool", "get pools"])
@pytest.mark.parametrize("word", [X9ZK, f"gpu.example.com/{X9ZK}", f"pool/{X9ZK}"])
def test_of_a_pool_that_may_not_be_read_it_is_told_what_claims_have_there(
    api: FakeApi, capfd: Any, command: str, word: str
) -> None:
    """Claims of the own namespace name it; that is no pool which does not exist."""
    code, out, err = said(capfd, *command.split(), word)
    assert (code, out) == (1, "")
    head = f'error: pool "{word}" is known from claims, but ResourceSlices could not be read: forbidden for user dev'
    assert err.startswith(f"{head}\n")
    told = f"Claims that could be read have 5 devices of gpu.example.com/{X9ZK}; whether the pool has more is unknown:"
    assert told in unfolded(err)
    assert "gpu-0 pod ml/serve-1, claim serve-1-gpus-rwrtr" in unfolded(err)
    assert "ResourceSlice in the whole cluster: forbidden for user dev" in err
    assert "not found" not in err
    # Of another name nothing is known, and of a pool without readable claims no more.
    assert (
        'error: pool "nobody-knows" not found, but ResourceSlices could not be read'
        in said(capfd, "describe-pool", "nobody-knows")[2]
    )


@pytest.mark.parametrize("kind", ["devices", "pools"])
def test_a_list_that_may_not_be_read_tells_what_claims_have(api: FakeApi, capfd: Any, kind: str) -> None:
    code, out, err = said(capfd, "get", kind)
    assert (code, out) == (1, "")
    assert err.startswith(
        "error: resourceslices.resource.k8s.io could not be listed: forbidden for user dev\n  Claims "
    )
    text = unfolded(err)
    assert f"Claims that could be read have 5 devices of gpu.example.com/{X9ZK}; whether the pool has more is" in text
    assert text.index("gpu-0 pod ml/serve-1") < text.index("ResourceSlice, DeviceTaintRule")
    # Of classes claims tell nothing of the kind.
    assert "Claims that could be read" not in said(capfd, "get", "classes")[2]


def test_of_many_devices_that_claims_have_only_numbers_are_told(capfd: Any, tmp_path: Path) -> None:
    _, _, err = said(capfd, "get", "pools", "--from", str(without(tmp_path, "ResourceSlice")))
    assert "Claims that could be read have 20 devices: " in unfolded(err)
    assert f"5 of gpu.example.com/{X9ZK}" in unfolded(err)
    assert "pod ml/serve-1" not in err


@pytest.mark.parametrize(
    ("others", "named", "note"),
    [
        ((), "CLASS", "put the name of a DeviceClass in place of CLASS; which there are could not be read"),
        (("gpu.example.com",), "gpu.example.com", ""),
        (("nic.example.com", "gpu.example.com"), "gpu.example.com", "names class gpu.example.com, one of 2; change"),
    ],
)
def test_a_missing_claim_comes_with_one_to_start_from_where_classes_were_not_read(
    others: tuple[str, ...], named: str, note: str, capfd: Any, tmp_path: Path
) -> None:
    """Claims that could be read name classes: one that is like the missing claim, else any of them."""
    request = {"name": "r", "exactly": {"allocationMode": "ExactCount", "count": 1}}
    claims = [
        build.claim(f"c-{number}", {**request, "exactly": {**request["exactly"], "deviceClassName": name}})
        for number, name in enumerate(others)
    ]
    items = [*claims, build.pod("p", claims=["gpu-of-p"])]
    for each in items:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = tmp_path / "cluster.json"
    document = withheld({"kind": "List", "items": items}, ("DeviceClass", "Node", "ResourceSlice"))
    document["reads"] += [{"kind": "ResourceClaim", "coverage": "complete"}]
    path.write_text(json.dumps(document), encoding="utf-8")
    _, out, _ = said(capfd, "why-pending", "p", "-n", "ml", "--from", str(path))
    text = unfolded(out)
    assert f"deviceClassName: {named} allocationMode" in text
    assert note in text
    assert bool(note) == ('1 create the ResourceClaim "gpu-of-p" (' in text)


def test_changes_that_could_not_be_judged_are_not_called_useless(api: FakeApi, capfd: Any) -> None:
    """Of the whole cluster it is known that fewer devices are enough; what others hold, a few rights do not show."""
    items = json.loads(CLUSTER.read_bytes())["items"]
    serve_cluster(api, items, ("Pod", "ResourceClaim"), own="ml")
    text = unfolded(said(capfd, "why-pending", "trainer-0")[1])
    assert text.startswith("Pod ml/trainer-0 is pending: no node has 4 free H100 devices")
    told = "Whether a change would make it fit is unknown: Pod and ResourceClaim could be read only in namespace ml."
    assert told in text
    assert "No change was found" not in text
    serve_cluster(api, items)
    assert "request 3 devices instead of 4" in said(capfd, "why-pending", "trainer-0")[1]


def test_the_commands_for_the_administrator_name_user_context_verbs_and_resources(api: FakeApi, capfd: Any) -> None:
    _, out, _ = said(capfd, "why-pending", "trainer-0")
    role, binding = (line.split() for line in out.splitlines() if line.startswith("    kubectl create"))
    resources = {word.partition("=")[2] for word in role if word.startswith("--resource=")}.pop().split(",")
    group = "resource.k8s.io"
    of_group = (f"{each}.{group}" for each in ("resourceclaims", "deviceclasses", "resourceslices", "devicetaintrules"))
    assert set(resources) == {"pods", "nodes", *of_group}
    assert "--verb=get,list,watch" in role
    assert "--user=dev" in binding
    assert f"--clusterrole={role[3]}" in binding
    assert role[-2:] == binding[-2:] == ["--context", "fake"]
    # Whoever has other rights has another login: only the cluster is the same.
    _, as_other, _ = said(capfd, "why-pending", "trainer-0", "--as", "dev", "--user", "someone")
    assert all(" --as " not in line for line in as_other.splitlines() if line.startswith("    kubectl create"))


def test_a_list_says_once_what_is_unread(api: FakeApi, capfd: Any) -> None:
    for words in (["why-pending", "--remedies"], ["why-pending", "trainer-0", "train-x"], ["why-pending", "claim"]):
        _, out, _ = said(capfd, *words)
        assert out.startswith("This answer is incomplete: "), words
        assert out.count("This answer is incomplete") == 1, words
        assert out.count("kubectl create clusterrolebinding") == 1, words


def test_a_claim_that_waits_with_its_pod_says_that_the_reason_is_unknown(api: FakeApi, capfd: Any) -> None:
    _, out, _ = said(capfd, "why-pending", "claim/trainer-0-gpus-x9grb")
    assert "because pod ml/trainer-0 waits, and why is unknown: Node, " in unfolded(out)


def test_what_is_known_of_the_own_namespace_is_no_lower_bound(api: FakeApi, capfd: Any) -> None:
    code, out, err = said(capfd, "top", "pods")
    assert (code, err) == (0, "")
    assert "incomplete" not in out
    assert "≥" not in out
    _, out, _ = said(capfd, "why-pending")
    assert "At least" not in out


def test_of_the_own_namespace_numbers_are_exact_among_all(api: FakeApi, capfd: Any) -> None:
    """What other namespaces have is missing as a row, and makes no number of this one a bound."""
    code, out, _ = said(capfd, "top")
    assert code == 0
    told = unfolded(out)
    assert told.startswith("This answer is incomplete: ResourceClaim and Pod could be read only in namespace ml, see")
    assert "    kubectl dra top -A --context fake" in out.splitlines()
    assert [line.split() for line in out.splitlines() if line.startswith("ml ")] == [["ml", "13", "0"]]


def test_the_whole_cluster_is_refused_with_who_and_what_to_do(api: FakeApi, capfd: Any) -> None:
    for words in (["why-pending", "-A"], ["get", "claims", "-A"]):
        code, out, err = said(capfd, *words)
        assert (code, out) == (1, "")
        assert err.startswith("error: ")
        assert "could not be listed: forbidden for user dev" in err.splitlines()[0]
        assert "; without -A only one namespace is read" in err
        assert "kubectl create clusterrolebinding" in err


def test_whoever_may_read_everything_is_asked_the_same_after_an_error_too(api: FakeApi, capfd: Any) -> None:
    for words, again in (
        ("why-pending -A", "why-pending -A"),
        ("get pools -o json", "get pools"),
        ("describe-node nobody-knows", "describe-node nobody-knows"),
        ("why-pending trainer-0 --remedy 1", "why-pending trainer-0 --remedy 1 -n ml"),
    ):
        code, _, err = said(capfd, *words.split())
        assert code == 1
        assert "kubectl create clusterrolebinding" in err, words
        asked = f"  Or an administrator reads it for you:\n    kubectl dra {again} --context fake\n"
        assert asked in err, err
        assert err.count("Or an administrator") == 1
    err = said(capfd, "why-pending", "trainer-0", "--remedy", "1")[2]
    assert "are unknown: Node, DeviceClass" in unfolded(err)
    # Whoever plans a taint has to see what it affects: nobody else does that for them.
    err = said(capfd, "taint-device", f"gpu.example.com/{X9ZK}/gpu-0", "a:NoSchedule", "--dry-run=client")[2]
    assert "Or an administrator" not in err


def test_instead_of_all_namespaces_the_own_one_can_be_read(api: FakeApi, capfd: Any) -> None:
    """The next command is complete, and whoever asks for rights asks once for all that the answer needs."""
    for words, again in (
        ("why-pending -A --context fake", "kubectl dra why-pending -n ml --context fake"),
        ("why-pending claims -A", "kubectl dra why-pending resourceclaims -n ml"),
        ("why-pending jobs -A -l a=b --user someone", "kubectl dra why-pending jobs -n ml -l a=b --user someone"),
        ("get claims -A", "kubectl dra get claims -n ml"),
    ):
        code, _, err = said(capfd, *words.split())
        assert code == 1
        assert err.splitlines()[-1] == f"try:   {again}; without -A only one namespace is read", err
        role = next(line for line in err.splitlines() if "kubectl create clusterrole " in line)
        named = role.partition("--resource=")[2].split()[0].split(",")
        kinds = ("Pod", "ResourceClaim", *CLUSTER_WIDE) if words.startswith("why") else ("Pod", "ResourceClaim")
        assert {each.partition(".")[0] for each in named} == {PLURALS[kind] for kind in kinds}, words
        # What it names can be run.
        assert said(capfd, *again.split()[2:])[0] == 0


PREPARING = "Failed to prepare dynamic resources: NodePrepareResources failed for claim ml/claim: gpu-0 lost"


@pytest.mark.parametrize("refused", [("Pod",), (*CLUSTER_WIDE, "Pod", "ResourceClaim"), ()])
def test_whose_log_a_driver_writes_is_found_by_who_may_list_all_pods(
    api: FakeApi, capfd: Any, refused: tuple[str, ...]
) -> None:
    """The pod of a driver stands in another namespace; the events of the own pod can be read all the same."""
    failed = build.event("pod", "FailedPrepareDynamicResources", PREPARING, time="2025-12-31T23:59:00Z")
    failed |= {"type": "Warning", "source": {"component": "kubelet"}}
    claim = build.claim("claim", held=[("node-1", "gpu-0")], by=["pod"])
    pod = build.pod(claims=["claim"], node_name="node-1")
    there = [build.node(), build.slice_("node-1", build.device("gpu-0")), claim, pod, failed]
    serve_cluster(api, there, refused, own="ml")
    out = said(capfd, "why-pending", "pod/pod", "--user", "someone")[1]
    text, find = unfolded(out), "kubectl get pods -A -o wide --field-selector spec.nodeName=node-1"
    told = "finding its pod takes the right to list pods in all namespaces, so it is for an administrator"
    own = "Its events, which you may read: kubectl describe pod/pod -n ml --user someone"
    assert (told in text, own in text) == (bool(refused), bool(refused)), out
    # An administrator has another login.
    flags = "--context fake" if refused else "--user someone"
    assert f"  {find} {flags}" in out.splitlines(), out
    assert out.count("kubectl describe") <= 1


def test_templates_that_were_not_read_leave_a_simulation_open(api: FakeApi, capfd: Any, tmp_path: Path) -> None:
    items = json.loads(CLUSTER.read_bytes())["items"]
    serve_cluster(api, items, ("ResourceClaimTemplate",))
    file = tmp_path / "pod.yaml"
    file.write_text(TEMPLATE, encoding="utf-8")
    code, out, _ = said(capfd, "simulate", "-f", str(file), "--exit-code")
    assert code == 4
    assert out.startswith("This answer is incomplete")
    assert "ResourceClaimTemplate in namespace ml: forbidden for user dev" in out
    assert "kubectl create rolebinding" in out
    assert "Whether Pod ml/new fits is unknown: ResourceClaimTemplate could not be read." in out
    assert "was not created" not in out


JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: tune, namespace: ml}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: x, resources: {claims: [{name: g}]}}]
      resourceClaims: [{name: g, resourceClaimTemplateName: pairs}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: pairs, namespace: ml}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}}
"""
CLASS_QUOTA = "gpu.example.com.deviceclass.resource.k8s.io/devices"


@pytest.mark.parametrize(
    ("resource", "used", "hard", "told", "most"),
    [
        (
            CLASS_QUOTA,
            "4",
            "7",
            'at most 1 of 3 copies is admitted: in ResourceQuota "budget" 4 of 7 gpu.example.com devices are used, and '
            "each copy requests 2. A limit of 10 would let in all 3 copies. Whether devices are free for it is unknown",
            ", but at most 1 more time by the namespace's ResourceQuota: data",
        ),
        (
            "pods",
            "5",
            "7",
            'at most 2 of 3 copies are admitted: in ResourceQuota "budget" 5 of 7 pods are used, and each pod requests '
            "1. A limit of 8 would let in all 3 copies. Whether devices are free for these is unknown",
            ", but at most 2 more times by the namespace's ResourceQuota: data",
        ),
        (
            CLASS_QUOTA,
            "6",
            "7",
            '0 of 3 copies fit: ResourceQuota "budget" forbids the claim: 6 of 7 gpu.example.com devices are used',
            "is not created any more: the namespace's ResourceQuota admits none.",
        ),
        (CLASS_QUOTA, "0", "6", "whether any of 3 copies fits is unknown", ", but at most 3 more times by"),
        ("count/configmaps", "7", "7", "whether any of 3 copies fits is unknown", "fits is unknown: data needed"),
    ],
)
def test_how_many_quotas_admit_is_sure_without_other_rights(
    resource: str, used: str, hard: str, told: str, most: str, api: FakeApi, capfd: Any, tmp_path: Path
) -> None:
    """Quotas are in the own namespace; what devices there are is another question."""
    status = {"hard": {resource: hard}, "used": {resource: used}}
    meta = {"name": "budget", "namespace": "ml"}
    api.serve("ResourceQuota", [{"metadata": meta, "spec": {"hard": status["hard"]}, "status": status}], "v1", "ml")
    file = tmp_path / "job.yaml"
    file.write_text(JOB, encoding="utf-8")
    code, out, _ = said(capfd, "simulate", "-f", str(file), "--exit-code")
    assert f"Job ml/tune: {told}" in unfolded(out)
    assert code == (4 if "unknown" in told and "admitted" not in told else 3)
    _, out, _ = said(capfd, "capacity", "-f", str(file))
    assert most in unfolded(out)


def test_a_snapshot_of_nothing_is_not_written(api: FakeApi, capfd: Any, tmp_path: Path) -> None:
    for path in list(api.routes):
        if path.startswith(("/api/", "/apis/apps/", "/apis/resource.k8s.io/v1/")):
            api.forbid(path, 'forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope')
    file = tmp_path / "cluster.json"
    code, out, err = said(capfd, "snapshot", "-f", str(file))
    assert (code, out) == (1, "")
    assert "error: nothing to write: every kind is forbidden for user dev" in err
    assert f"try:   kubectl dra snapshot -f {file} -n ml takes what may be read of that namespace" in err
    assert not file.exists()
    # What it names is done.
    serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"], tuple(PLURALS), own="ml")
    assert said(capfd, "snapshot", "-f", str(file), "-n", "ml")[0] == 0
    _, out, _ = said(capfd, "why-pending", "trainer-0", "-n", "ml", "--from", str(file))
    assert "Node, DeviceClass, ResourceSlice and DeviceTaintRule could not be read, and Pod and" in unfolded(out)


@pytest.mark.parametrize("kinds", [("ResourceSlice", "DeviceTaintRule"), ("Pod",)])
def test_a_plan_that_cannot_be_made_says_who_could_permit_it(kinds, tmp_path, capfd, monkeypatch) -> None:
    """The error, then what is missing, then who can permit it; nothing is planned of half of the cluster."""
    with running(FakeApi()) as api:
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"], kinds)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        device = "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0"
        assert run(["taint-device", device, "ecc:NoExecute", "--dry-run=client"], PassingClock()) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert f"  {' and '.join(kinds)} in the whole cluster: forbidden for user dev\n  A cluster administrator" in err
    create, bind = (line.strip() for line in err.splitlines() if line.startswith("    kubectl create"))
    assert all(PLURALS[kind] in create for kind in kinds)
    assert bind.endswith("--user=dev --context fake")
    first, *_, last = err.splitlines()
    assert first.startswith("error: ")
    assert first.endswith("so the pods that a taint affects are unknown")
    assert f"kubectl auth can-i list {PLURALS[kinds[0]]}" in last


def test_who_may_not_read_the_whole_cluster_is_not_sent_there(api: FakeApi, capfd: Any) -> None:
    code, _, err = said(capfd, "why-pending", "nobody-knows")
    assert code == 1
    assert err.splitlines()[-1] == "try:   kubectl dra why-pending -n ml"


def test_of_pools_that_may_not_be_read_it_is_told_what_claims_have(api: FakeApi, capfd: Any) -> None:
    """As the list of pools does."""
    code, out, err = said(capfd, "describe-pool")
    assert (code, out) == (1, "")
    assert "error: resourceslices.resource.k8s.io could not be listed: forbidden for user dev\n" in err
    assert "Claims that could be read have " in err


def test_a_pod_that_may_be_got_and_is_not_there_is_not_found_without_a_list(api: FakeApi, capfd: Any) -> None:
    refused = 'pods is forbidden: User "dev" cannot list resource "pods" in API group "" in the namespace "ml"'
    api.forbid("/api/v1/namespaces/ml/pods", refused)
    code, _, err = said(capfd, "why-pending", "nobody-knows")
    assert code == 1
    assert err.startswith('error: pods "nobody-knows" not found in namespace "ml"\n')
    assert "clusterrole" not in err
    api.forbid("/api/v1/namespaces/ml/pods/nobody-knows", refused)
    _, _, err = said(capfd, "why-pending", "nobody-knows")
    assert err.startswith('error: pods "nobody-knows" could not be read in namespace "ml": forbidden for user dev\n')
