"""Where objects may not be read, but the scheduler's message names the cause, or what of the pod nodes do not meet."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.said import whole_words
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import first_line, page_of, report_of

UNREAD = ("Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
SELECTOR = (
    'running "DynamicResources" filter plugin: {}: selector #0 on device gpu.example.com/n/g: CEL runtime error: {}'
)
DEVICES = "gpu.example.com.deviceclass.resource.k8s.io/devices"


def waiting(message: str, reason: str = "Unschedulable", **fields: Any) -> dict[str, Any]:
    pod = build.pod(claims=["claim"], **fields)
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    pod["status"]["conditions"] = [condition]
    return pod


def told(*objects: dict[str, Any], unread: tuple[str, ...] = UNREAD) -> tuple[str, str, list[Code]]:
    """The first line, the page in one line, and the codes of the causes."""
    report = report_of(*objects, build.claim(), withheld=unread)
    return first_line(report), " ".join(page_of(report).split()), [cause.code for cause in report.causes]


def test_a_selector_that_fails_is_named_with_its_device() -> None:
    hint = "no such key: memory. consider using CEL optional chaining (.? followed by orValue())"
    line, page, codes = told(waiting(SELECTOR.format("claim ml/claim", hint), "SchedulerError"))
    assert line == (
        "Pod ml/pod is pending: a selector of claim ml/claim raises an error on device gpu.example.com/n/g, which "
        "stops scheduling on every node: no such key: memory, according to the scheduler."
    )
    assert codes[:2] == [Code.EVIDENCE_MISSING, Code.SELECTOR_FAILS]
    assert "What usually helps: If no device publishes the attribute, correct its name or domain." in page


def test_so_is_the_class_whose_selector_fails() -> None:
    line, _, codes = told(waiting(SELECTOR.format("class gpu.example.com", "no such overload"), "SchedulerError"))
    assert "DeviceClass gpu.example.com is broken and blocks every pod that uses it" in line
    assert codes[1] is Code.CLASS_SELECTOR_FAILS


def test_a_quota_that_forbids_the_claim_is_told_with_its_numbers() -> None:
    words = (
        'running PreBind plugin "DynamicResources": create claim for extended resources ml/pod: resourceclaims "pod-" '
        f"is forbidden: exceeded quota: few, requested: {DEVICES}=1, used: {DEVICES}=4, limited: {DEVICES}=4"
    )
    line, page, codes = told(waiting(words, "SchedulerError"))
    assert line == (
        'Pod ml/pod is pending: ResourceQuota "few" forbids the claim: 4 of 4 gpu.example.com devices are used (claim '
        "claim), and it requests 1 more, according to the scheduler."
    )
    assert codes[1] is Code.QUOTA_EXCEEDED
    assert Code.API_ERROR_AT_BINDING not in codes
    assert f'What usually helps: Raise the limit on {DEVICES} in ResourceQuota "few"' in page


def test_what_the_words_only_count_leaves_the_cause_open() -> None:
    line, _, codes = told(waiting("0/2 nodes are available: 2 cannot allocate all claims."))
    assert "The exact cause is unknown" in line
    assert codes == [Code.EVIDENCE_MISSING]


@pytest.mark.parametrize(
    "words",
    [
        "0/{} nodes are available: 2 x.",
        "0/2 nodes are available: {} x.",
        "pod group is unschedulable, minCount ({}) cannot be satisfied: 2 scheduled, 1 remaining",
        SELECTOR.format("claim ml/claim", "no such key").replace("#0", "#{}"),
    ],
)
def test_a_number_that_no_scheduler_writes_leaves_the_cause_open_too(words: str) -> None:
    """Python makes no number of more than 4,300 digits."""
    for unread in (UNREAD, ()):
        pod = waiting(words.format("9" * 5_000))
        pod["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
        assert first_line(report_of(pod, build.claim(), withheld=unread)).startswith("Pod ml/pod")


def test_pods_that_end_for_it_come_first() -> None:
    message = (
        "0/2 nodes are available: 1 Insufficient cpu, 1 cannot allocate all claims. preemption: not eligible due to a "
        "terminating pod on the nominated node."
    )
    pod = waiting(message, requests={"cpu": "2"})
    pod["status"]["nominatedNodeName"] = "node-b"
    line, page, _ = told(pod)
    assert line.startswith(
        "Pod ml/pod is pending: the scheduler makes room for it on node-b, where pods that it evicted have not ended"
    )
    assert "The exact cause is unknown" not in line
    assert "kubectl get pods -A --field-selector spec.nodeName=node-b" in page
    assert "0 pods" not in page
    assert "preemption: not eligible due to a terminating pod on the nominated node." in page
    # A nomination alone is none: the pod may have to wait for other things by now.
    old = waiting(message.partition(" preemption")[0], requests={"cpu": "2"})
    old["status"]["nominatedNodeName"] = "node-b"
    assert "makes room" not in told(old)[0]


def test_the_node_selector_is_named_that_nodes_do_not_match() -> None:
    pod = waiting("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")
    pod["spec"]["nodeSelector"] = {"pool": "h100", "arch": "amd64"}
    assert "all 3 do not match its node selector arch=amd64, pool=h100" in told(pod)[0]


def serving(name: str, node: str, port: int) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running")
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": port}]
    return pod


def test_whoever_of_the_namespace_has_the_host_port_is_named() -> None:
    pod = waiting(
        "0/3 nodes are available: 1 cannot allocate all claims, 2 node(s) didn't have free ports for the requested pod "
        "ports."
    )
    pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8000}]
    line, page, _ = told(pod, serving("one", "node-a", 8000), serving("other", "node-b", 9000))
    assert "2 have its host port 8000/TCP taken (by one on node-a)" in line
    assert "For the 2 nodes with one: Use other ports, or none." in page
    assert "other on node-b" not in page


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
HARD = {**SPREAD, "whenUnsatisfiable": "DoNotSchedule"}
TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
AWAY = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}
NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}


def web(name: str, node: str, **fields: Any) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running", **fields)
    pod["metadata"]["labels"] = {"app": "web", "pod-template-hash": "1"}
    return pod


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        (
            "node(s) didn't match pod topology spread constraints",
            {"topologySpreadConstraints": [HARD, {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]},
            "all 2 would break its topology spread constraint (maxSkew 1 over zone; counted: one on node-a)",
        ),
        (
            "node(s) didn't match pod topology spread constraints",
            {"topologySpreadConstraints": [HARD, {**HARD, "topologyKey": "rack"}]},
            "all 2 would break its topology spread constraint.",
        ),
        (
            "node(s) didn't match pod anti-affinity rules",
            {"affinity": AWAY},
            "all 2 have pods that its anti-affinity avoids (app=web per kubernetes.io/hostname), such as one on node-a",
        ),
        (
            "node(s) didn't match pod affinity rules",
            {"affinity": NEAR},
            "all 2 do not match its pod affinity (app=web per kubernetes.io/hostname)",
        ),
        (
            "node(s) didn't satisfy existing pods anti-affinity rules",
            {},
            "all 2 have pods whose anti-affinity excludes pods with app=web, such as shy on node-b",
        ),
    ],
)
def test_what_of_the_pod_other_pods_are_in_the_way_of_is_named(
    text: str, fields: dict[str, Any], expected: str
) -> None:
    """With those of its namespace; others may not be read."""
    pod = waiting(f"0/2 nodes are available: 2 {text}.", **fields)
    pod["metadata"]["labels"] = {"app": "web", "pod-template-hash": "1"}
    stranger = build.pod("db", node_name="node-c", phase="Running")
    shy = build.pod("shy", node_name="node-b", phase="Running", affinity=AWAY)
    assert f"{expected.removesuffix('.')}" in (line := told(pod, web("one", "node-a"), stranger, shy)[0])
    assert "db on" not in line
    assert ("(maxSkew" in line) == ("maxSkew" in expected)


KEPT_AWAY = "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules."


def test_a_pod_whose_terms_depend_on_labels_of_the_namespace_is_not_named() -> None:
    """Namespaces were not read: which of them lack a label is not known."""
    (term,) = AWAY["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    lacking = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    distant = {**term, "namespaces": ["other"], "namespaceSelector": lacking}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [distant]}}
    pod = waiting(KEPT_AWAY)
    pod["metadata"]["labels"] = {"app": "web"}
    shy = build.pod("shy", node_name="node-b", phase="Running", affinity=affinity)
    assert "shy on node-b" not in told(pod, shy)[0]
    assert "shy on node-b" in told(pod, {**shy, "spec": {**shy["spec"], "affinity": AWAY}})[0]


def test_the_terms_that_many_pods_have_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(whole_words, "_is_meant", lambda terms, pod: compared.append(terms) or True)
    shy = [build.pod(f"shy-{n}", node_name="node-b", phase="Running", affinity=AWAY) for n in range(9)]
    pod = waiting(KEPT_AWAY)
    pod["metadata"]["labels"] = {"app": "web"}
    state = ClusterState(facts.inventory([pod, *shy]), facts.evidence(*UNREAD), features(), CLOCK)
    text = "node(s) didn't satisfy existing pods anti-affinity rules"
    named = whole_words.of_pod(state, state.inventory.pods[Key("ml", "pod")], text)[1]
    assert named == ("shy-0 on node-b", "shy-1 on node-b", "shy-2 on node-b")
    assert len(compared) == 1


def test_labels_that_are_many_are_not_listed() -> None:
    pod = waiting("0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.")
    pod["metadata"]["labels"] = dict.fromkeys("abcd", "x")
    assert "all 2 have pods that keep it away (their anti-affinity)" in told(pod)[0]


def test_whoever_has_the_volume_of_one_pod_is_named() -> None:
    words = (
        "0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod."
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "scratch"}}]
    holder = build.pod("holder", node_name="node-a", phase="Running", volumes=volumes)
    other = build.pod("other", node_name="node-a", phase="Running")
    stored = {
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "scratch",
            "namespace": "ml",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": "pv"},
    }
    line, _, _ = told(
        waiting(words, volumes=volumes), holder, other, stored, unread=(*UNREAD, "Pod", "PersistentVolume")
    )
    assert "cannot have its volume claim scratch, which one pod at a time may use" in line
    assert "in use (by holder on node-a)" in line


@pytest.mark.parametrize(
    "words",
    [
        "didn't match PersistentVolume's node affinity",
        "had volume node affinity conflict",
        "had no available volume zone",
    ],
)
def test_the_volume_that_keeps_nodes_out_is_named_where_no_volumes_may_be_read(words: str) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "ckpt"}}]
    annotations = {"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "gpu-a"}
    stored = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "ckpt", "namespace": "ml", "annotations": annotations},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pvc-7c"},
    }
    said = f"0/4 nodes are available: 2 cannot allocate all claims, 2 node(s) {words}."
    line, _, _ = told(waiting(said, volumes=volumes), stored, unread=(*UNREAD, "Pod", "PersistentVolume"))
    assert "2 do not reach its volume claim ckpt (volume pvc-7c, made for node gpu-a)" in line
    # Of several it is not said which.
    volumes = [*volumes, {"name": "logs", "persistentVolumeClaim": {"claimName": "logs"}}]
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    logs = {"metadata": {"name": "logs", "namespace": "ml", "annotations": bound}, "spec": {"volumeName": "pvc-8d"}}
    logs = {**stored, **logs}
    line, _, _ = told(waiting(said, volumes=volumes), stored, logs, unread=(*UNREAD, "Pod", "PersistentVolume"))
    assert "its volume claim ckpt (volume pvc-7c, made for node gpu-a) or logs (volume pvc-8d)" in line


def test_a_claim_that_may_not_be_read_is_named_all_the_same() -> None:
    pod = waiting("0/2 nodes are available: 2 cannot allocate all claims.")
    report = report_of(pod, withheld=(*UNREAD, "ResourceClaim"))
    assert "It uses claim claim, which could not be read; what it requests is unknown." in page_of(report)
    known = told(pod)[1]
    assert "which could not be read, so that" not in known


def test_a_pod_counts_where_the_words_are_of_the_plugin_for_devices() -> None:
    """Whether a class serves its resource cannot be read; the scheduler has seen one."""
    pod = build.pod(requests={"nvidia.com/gpu": "1"})
    words = 'running PreBind plugin "DynamicResources": create claim for extended resources ml/pod: no'
    for message, counts in ((words, True), ("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", False)):
        condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": message}
        pod["status"]["conditions"] = [condition]
        state = ClusterState(facts.inventory([pod]), facts.evidence("DeviceClass"), features(), CLOCK)
        assert bool(pending_pods(state)) is counts


def test_how_many_pods_of_a_group_find_a_node_is_told() -> None:
    words = "pod group is unschedulable, minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"
    line, page, codes = told(waiting(words, schedulingGroup={"podGroupName": "mpi"}), unread=(*UNREAD, "PodGroup"))
    assert line == (
        "Pod ml/pod is pending: PodGroup mpi needs 4 pods at the same time, and only 2 find a node, "
        "according to the scheduler."
    )
    assert codes[:2] == [Code.EVIDENCE_MISSING, Code.POD_GROUP_UNPLACED]
    assert "lower minCount of the PodGroup, which can be changed while pods wait." in page


def test_claims_of_the_namespace_that_are_charged_are_named() -> None:
    other = build.claim("other", build.request(count=4))
    words = (
        'running PreBind plugin "DynamicResources": create claim for extended resources ml/pod: resourceclaims "pod-" '
        f"is forbidden: exceeded quota: few, requested: {DEVICES}=1, used: {DEVICES}=4, limited: {DEVICES}=4"
    )
    assert "are used (claims other 4, claim 1), and it requests 1 more" in told(waiting(words), other)[0]


def test_beside_a_required_affinity_the_node_selector_may_not_be_what_is_in_the_way() -> None:
    pod = waiting("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")
    pod["spec"]["nodeSelector"] = {"pool": "h100"}
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod["spec"]["affinity"] = {"nodeAffinity": required}
    line, _, _ = told(pod)
    assert "all 3 do not match its node selector or affinity" in line
    assert "pool=h100" not in line
