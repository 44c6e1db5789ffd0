"""One simulated attempt: which node gets which outcome, and what the scheduler would write of it."""

import dataclasses
from typing import Any

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.judgement import feasible_nodes_to_find
from kubectl_dra.diagnosis.records import Agreement, AssumptionKind, ClaimElsewhere, NodeOutcome, PodDiagnosis, Verdict
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import diagnose_pod
from tests.kit.ways import remedies

POD = Key(build.NAMESPACE, "pod")
CLASS = build.device_class()
MODEL = f'device.attributes["{build.DRIVER}"].model == "H100"'


def diagnose(*objects: dict[str, Any], now: str = "", **gates: bool) -> PodDiagnosis:
    inventory = facts.inventory([CLASS, *objects])
    return diagnose_pod(inventory, facts.evidence(time=now), features(37, gates or None), POD)


def gpu(name: str = "gpu-0", model: str | None = "H100", **fields: Any) -> dict[str, Any]:
    return build.device(name, attributes={"model": model} if model else {}, **fields)


def outcomes(found: PodDiagnosis) -> dict[str, NodeOutcome]:
    return {name: group.outcome for group in found.nodes for name in group.nodes}


# --- nodes ----------------------------------------------------------------------------------------------------------


def test_no_nodes_at_all() -> None:
    found = diagnose(build.pod(claims=["claim"]), build.claim())
    assert (found.verdict, found.reason, found.message) == (
        Verdict.UNSCHEDULABLE,
        "Unschedulable",
        "no nodes available to schedule pods",
    )
    assert [cause.code for cause in found.causes] == [Code.NO_NODES]


def test_a_plain_list_without_nodes_says_nothing_about_them() -> None:
    inventory = facts.inventory([CLASS, build.pod(claims=["claim"]), build.claim()])
    evidence = Evidence(tuple(Read(kind, coverage=Coverage.ASSUMED) for kind in facts.KINDS))
    assert diagnose_pod(inventory, evidence, features(), POD).verdict is Verdict.UNKNOWN


def test_pods_of_a_daemonset_look_at_their_node_only() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    pod = build.pod(
        claims=["claim"],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}},
    )
    found = diagnose(pod, build.claim(), *(build.node(name) for name in "abc"), build.slice_("a", gpu()))
    assert found.message == (
        "0/3 nodes are available: 1 cannot allocate all claims, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_what_a_daemonset_lacks_on_its_node_comes_before_the_nodes_that_are_not_its() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}
    pod = build.pod(affinity=affinity)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "4"}}
    found = diagnose(pod, *(build.node(name, cpu="1" if name == "b" else "16") for name in "abc"))
    assert [cause.code for cause in found.causes] == [Code.NODE_RESOURCES, Code.NODE_AFFINITY]
    assert found.nodes[0].nodes == ("b",)


def test_affinity_that_contradicts_itself() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in "ab"]
    selector = {"nodeSelectorTerms": [{"matchFields": fields}]}
    pod = build.pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}})
    found = diagnose(pod, build.node("a"))
    assert found.message == "0/1 nodes are available: pod affinity terms conflict. not found"


def test_devices_on_rejected_nodes_are_told() -> None:
    busy = build.pod("busy", node_name="a", requests={"cpu": "4"})
    nodes = [build.node("a"), build.node("b")]
    pod = build.pod(claims=["claim"], requests={"cpu": "1"})
    found = diagnose(pod, build.claim(), busy, *nodes, build.slice_("a", gpu()))
    assert found.causes[0].code is Code.NODE_RESOURCES
    assert {group.nodes: group.devices_fit for group in found.nodes} == {("a",): True, ("b",): None}


# --- before any node ------------------------------------------------------------------------------------------------


def test_every_missing_class_is_a_cause_and_the_first_is_the_message() -> None:
    claim = build.claim("claim", build.request("a", cls="gpu.example.co"), build.request("b", cls="nic"))
    found = diagnose(build.pod(claims=["claim"]), claim, build.node())
    assert found.message == "0/1 nodes are available: request a: device class gpu.example.co does not exist."
    assert [(cause.code, cause.request) for cause in found.causes] == [
        (Code.CLASS_MISSING, "a"),
        (Code.CLASS_MISSING, "b"),
    ]
    assert found.causes[0].detail.similar == (build.DRIVER,)  # type: ignore[union-attr]


def test_a_missing_class_of_an_allocated_claim_is_irrelevant() -> None:
    claim = build.claim("claim", build.request(cls="gone"), held=[("node-1", "gpu-0")], on="node-1")
    assert diagnose(build.pod(claims=["claim"]), claim, build.node()).verdict is Verdict.SCHEDULABLE


def test_a_request_without_class_is_an_error() -> None:
    claim = build.claim("claim", build.request(cls=""))
    found = diagnose(build.pod(claims=["claim"]), claim, build.node())
    assert (found.verdict, found.reason) == (Verdict.SCHEDULER_ERROR, "SchedulerError")
    assert found.message == 'running PreFilter plugin "DynamicResources": request gpu: unsupported request type'


def test_a_request_of_an_unknown_form() -> None:
    found = diagnose(build.pod(claims=["claim"]), build.claim("claim", {"name": "odd"}), build.node())
    assert found.message == ("0/1 nodes are available: resource claim ml/claim, request odd: unknown request type.")


def test_subrequests_while_the_feature_is_off() -> None:
    inventory = facts.inventory(
        [
            CLASS,
            build.node(),
            build.pod(claims=["claim"]),
            build.claim("claim", {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": build.DRIVER}]}),
        ]
    )
    found = diagnose_pod(inventory, facts.evidence(), features(33), POD)
    assert found.message == (
        "0/1 nodes are available: resource claim ml/claim, request gpu: "
        "has subrequests, but the DRAPrioritizedList feature is disabled. no new claims to deallocate"
    )


# --- errors on nodes ------------------------------------------------------------------------------------------------


def failing(nodes: int, fitting: int) -> list[dict[str, Any]]:
    """A cluster in which ``fitting`` nodes have an H100 and one has a device without model."""
    objects = [build.node(f"n{i:03}") for i in range(nodes)]
    objects += [build.slice_(f"n{i:03}", gpu()) for i in range(fitting)]
    objects.append(build.slice_(f"n{nodes - 1:03}", gpu(model=None)))
    return [build.pod(claims=["claim"]), build.claim("claim", build.request(selector=MODEL)), *objects]


def test_an_error_on_one_node_ends_the_attempt() -> None:
    found = diagnose(*failing(5, 4))
    assert (found.verdict, found.depends_on_node_order) == (Verdict.SCHEDULER_ERROR, False)
    assert found.message
    assert found.message.startswith(
        'running "DynamicResources" filter plugin: claim ml/claim: selector #0 on device gpu.example.com/n004/gpu-0: '
    )
    assert found.causes[0].code is Code.SELECTOR_FAILS
    assert found.causes[0].nodes == ("n004",)


@pytest.mark.parametrize(
    ("nodes", "wanted"), [(1, 1), (99, 99), (100, 100), (400, 188), (5000, 500), (6000, 300), (10000, 500)]
)
def test_how_many_nodes_are_enough(nodes: int, wanted: int) -> None:
    assert feasible_nodes_to_find(nodes) == wanted


@pytest.mark.parametrize(("fitting", "depends"), [(100, False), (101, True)])
def test_with_enough_nodes_that_fit_the_order_decides(fitting: int, depends: bool) -> None:
    found = diagnose(*failing(120, fitting))
    assert (found.verdict, found.depends_on_node_order) == (Verdict.SCHEDULER_ERROR, depends)


def test_any_error_of_several_nodes_agrees() -> None:
    objects = failing(3, 0)
    objects.append(build.slice_("n000", gpu(model=None)))
    pod = objects[0]
    text = diagnose(*objects).alternatives[1]
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": text}]
    found = diagnose(*objects)
    assert len(found.alternatives) == 2
    assert (found.message, found.agreement) == (text, Agreement.AGREES)


def test_a_node_that_another_plugin_rejects_raises_no_error() -> None:
    objects = failing(2, 1)
    bad = next(o for o in objects if o["kind"] == "Node" and o["metadata"]["name"] == "n001")
    bad["spec"]["unschedulable"] = True
    found = diagnose(*objects)
    assert found.verdict is Verdict.SCHEDULABLE


def test_the_nominated_node_is_tried_first() -> None:
    objects = failing(2, 1)
    objects[0]["status"]["nominatedNodeName"] = "n000"
    assert diagnose(*objects).verdict is Verdict.SCHEDULABLE


# --- allocated claims -----------------------------------------------------------------------------------------------


def test_a_claim_that_others_use_stays_where_it_is() -> None:
    shared = build.claim(held=[("a", "gpu-0")], on="a", by=["other"])
    other = build.pod("other", node_name="a", requests={"cpu": "4"}, phase="Running")
    found = diagnose(
        build.pod(claims=["claim"], requests={"cpu": "1"}), shared, other, build.node("a"), build.node("b")
    )
    assert found.message == ("0/2 nodes are available: 1 Insufficient cpu, 1 resourceclaim not available on the node.")
    detail = found.causes[0].detail
    assert isinstance(detail, ClaimElsewhere)
    assert (detail.nodes, [consumer.name for consumer in detail.consumers]) == (("a",), ["other"])


@pytest.mark.parametrize("by", [[], ["pod"]])
def test_an_idle_claim_in_the_way_is_deallocated(by: list[str]) -> None:
    idle = build.claim(held=[("a", "gpu-0")], on="a", by=by)
    found = diagnose(build.pod(claims=["claim"]), idle, build.node("b"))
    assert found.message == (
        "0/1 nodes are available: 1 resourceclaim not available on the node. deallocation of ResourceClaim completed"
    )
    assert Code.CLAIM_IDLE in [cause.code for cause in found.causes]


def test_an_idle_claim_is_kept_while_another_claim_can_not_be_allocated() -> None:
    idle = build.claim("idle", held=[("a", "gpu-0")], on="a")
    found = diagnose(build.pod(claims=["idle", "claim"]), idle, build.claim(), build.node("b"))
    assert found.message == "0/1 nodes are available: 1 cannot allocate all claims."
    assert Code.CLAIM_IDLE not in [cause.code for cause in found.causes]


def test_a_claim_allocated_everywhere_fits_everywhere() -> None:
    found = diagnose(build.pod(claims=["claim"]), build.claim(held=[]), build.node("a"), build.node("b"))
    assert outcomes(found) == {"a": NodeOutcome.FITS, "b": NodeOutcome.FITS}


def test_claims_of_one_pod_compete() -> None:
    found = diagnose(
        build.pod(claims=["a", "b"]), build.claim("a"), build.claim("b"), build.node(), build.slice_("node-1", gpu())
    )
    assert found.verdict is Verdict.UNSCHEDULABLE
    assert {cause.code for cause in found.causes} == {Code.REQUESTS_COMPETE}


def _of_pool(node: str, generation: int, *devices: dict[str, Any]) -> dict[str, Any]:
    """A slice of a pool that is called the same on each node."""
    found = build.slice_(node, *devices, pool="gpus")
    found["metadata"]["name"] = f"{node}-gpus"
    found["spec"]["pool"]["generation"] = generation
    return found


def test_slices_that_their_own_node_uses_are_not_outdated() -> None:
    """Two nodes publish a pool of one name: what is in use on one is in use on the other, and both count."""
    pools = (_of_pool("a", 2, gpu("gpu-0"), gpu("gpu-1")), _of_pool("b", 5, gpu("gpu-0")))
    held = build.claim("held", held=[("gpus", "gpu-0")], on="b", by=["other"])
    wanted = build.claim("claim", build.request(count=2))
    objects = (build.pod(claims=["claim"]), wanted, held, build.node("a"), build.node("b"))
    found = diagnose(*objects, *pools)
    assert found.verdict is Verdict.UNSCHEDULABLE
    codes = [cause.code for cause in found.causes]
    assert codes[0] is Code.DEVICES_IN_USE
    assert Code.POOL_OUTDATED not in codes
    # Of a node that does not exist, or of the same one, they are.
    for node in ("gone", "b"):
        old = _of_pool("b", 2, gpu("gpu-7"), gpu("gpu-8"))
        old["metadata"]["name"], old["spec"]["nodeName"] = "old", node
        found = diagnose(*objects, pools[1], old)
        assert Code.POOL_OUTDATED in [cause.code for cause in found.causes]


# --- binding --------------------------------------------------------------------------------------------------------


def conditional(status: str | None, kind: str = "Ready") -> dict[str, Any]:
    """A claim whose device has binding conditions, reserved for the pod."""
    claim = build.claim(held=[("node-1", "gpu-0")], on="node-1", by=["pod"])
    allocation = claim["status"]["allocation"]
    allocation["allocationTimestamp"] = "2026-01-01T00:00:00Z"
    allocation["devices"]["results"][0] |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
    if status is not None:
        condition = {"type": kind, "status": status, "reason": "R", "message": "M"}
        device = {"driver": build.DRIVER, "pool": "node-1", "device": "gpu-0", "conditions": [condition]}
        claim["status"]["devices"] = [device]
    return claim


def waiting(claim: dict[str, Any], now: str = "2026-01-01T00:01:00Z") -> PodDiagnosis:
    return diagnose(build.pod(claims=["claim"]), claim, build.node(), now=now)


@pytest.mark.parametrize("status", [None, "False", "Unknown"])
def test_devices_that_are_not_ready_are_waited_for(status: str | None) -> None:
    found = waiting(conditional(status))
    assert (found.verdict, found.message, [c.code for c in found.causes]) == (
        Verdict.BINDING,
        "",
        [Code.BINDING_CONDITIONS],
    )


def test_ready_devices_are_not_waited_for() -> None:
    assert waiting(conditional("True")).verdict is Verdict.SCHEDULABLE


def test_devices_that_failed_make_the_claim_unusable() -> None:
    found = waiting(conditional("True", "Broken"))
    assert found.message == (
        "0/1 nodes are available: 1 resourceclaim not available on the node. deallocation of ResourceClaim completed"
    )
    assert found.causes[0].code is Code.BINDING_FAILED


@pytest.mark.parametrize(
    ("said", "agreement"),
    [
        ('device binding failed: claim=claim, reason=R, message="M"', Agreement.AGREES),
        ('device binding failed: claim=other, reason=R, message="M"', Agreement.DIFFERS),
        ("device binding timeout: context deadline exceeded", Agreement.DIFFERS),
    ],
)
def test_the_attempt_that_waited_for_them_said_so_in_other_words(said: str, agreement: Agreement) -> None:
    """It ends with an error in PreBind; only the next one finds the claim unusable, and gives the devices back."""
    pod = build.pod(claims=["claim"])
    words = f'running PreBind plugin "DynamicResources": {said}'
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": words}
    pod["status"]["conditions"] = [condition]
    pod["metadata"]["resourceVersion"] = "9"
    found = diagnose(pod, conditional("True", "Broken"), build.node(), now="2026-01-01T00:01:00Z")
    assert found.agreement is agreement


@pytest.mark.parametrize(
    ("now", "verdict"),
    [("2026-01-01T00:10:00Z", Verdict.BINDING), ("2026-01-01T00:10:01Z", Verdict.UNSCHEDULABLE)],
)
def test_the_scheduler_waits_ten_minutes(now: str, verdict: Verdict) -> None:
    assert waiting(conditional(None), now).verdict is verdict


@pytest.mark.parametrize("written", ["2026-01-01T00:00:00", "some time ago", ""])
def test_a_time_that_a_file_writes_otherwise_is_no_error(written: str) -> None:
    """The server writes no such time; one without a zone is taken for UTC, any other says nothing."""
    claim = conditional(None)
    claim["status"]["allocation"]["allocationTimestamp"] = written
    late = Verdict.UNSCHEDULABLE if written.startswith("2026") else Verdict.BINDING
    assert waiting(claim, "2026-01-02T00:00:00Z").verdict is late


def test_binding_conditions_need_their_feature() -> None:
    pod, claim = build.pod(claims=["claim"]), conditional("True", "Broken")
    found = diagnose(pod, claim, build.node(), DRADeviceBindingConditions=False)
    assert found.verdict is Verdict.SCHEDULABLE


def test_a_claim_with_256_consumers_takes_no_more() -> None:
    full = build.claim(held=[("node-1", "gpu-0")], on="node-1", by=[f"p{i}" for i in range(256)])
    found = diagnose(build.pod(claims=["claim"]), full, build.node())
    assert found.message == (
        'running PreBind plugin "DynamicResources": add reservation to claim ml/claim: ResourceClaim.resource.k8s.io '
        '"claim" is invalid: status.reservedFor: Too many: 257: must have at most 256 items'
    )
    mine = build.claim(held=[("node-1", "gpu-0")], on="node-1", by=["pod", *(f"p{i}" for i in range(255))])
    assert diagnose(build.pod(claims=["claim"]), mine, build.node()).verdict is Verdict.SCHEDULABLE


@pytest.mark.parametrize(("label", "verdict"), [("true", Verdict.SCHEDULABLE), ("yes", Verdict.SCHEDULER_ERROR)])
def test_admin_access_is_checked_again_when_it_is_written(label: str, verdict: Verdict) -> None:
    claim = build.claim("claim", build.request(adminAccess=True))
    namespace = build.namespace(**{"resource.kubernetes.io/admin-access": label})
    found = diagnose(build.pod(claims=["claim"]), claim, namespace, build.node(), build.slice_("node-1", gpu()))
    assert found.verdict is verdict
    if verdict is Verdict.SCHEDULER_ERROR:
        assert found.causes[0].code is Code.ADMIN_LABEL_AT_BINDING


ELSEWHERE = "claim ml/claim got allocated elsewhere in the meantime"
DUPLICATE = (
    'add reservation to claim ml/claim: ResourceClaim.resource.k8s.io "claim" is invalid: '
    'status.reservedFor[{}]: Duplicate value: {{"resource":"pods","name":"pod","uid":"pod-pod"}}'
)


@pytest.mark.parametrize(
    ("held", "by", "text"),
    [
        (None, (), ELSEWHERE),
        ([("node-1", "gpu-0")], (), DUPLICATE.format(1)),
        ([("node-1", "gpu-0")], ("other",), DUPLICATE.format(2)),
    ],
)
def test_a_claim_that_two_entries_name_cannot_be_written(held: Any, by: tuple[str, ...], text: str) -> None:
    """The words of a real scheduler of 1.37, which tries for ever."""
    pod = build.pod(claims=["claim"])
    pod["spec"]["resourceClaims"].append({"name": "again", "resourceClaimName": "claim"})
    claim = build.claim(held=held, by=by) if held else build.claim()
    devices = (gpu("gpu-0"), gpu("gpu-1"), gpu("gpu-2"))
    found = diagnose(pod, claim, build.pod("other"), build.node(), build.slice_("node-1", *devices))
    assert (found.verdict, found.reason) == (Verdict.SCHEDULER_ERROR, "SchedulerError")
    assert found.message == f'running PreBind plugin "DynamicResources": {text}'
    assert found.causes[0].code is Code.CLAIM_NAMED_TWICE


def test_a_claim_that_two_entries_name_and_that_is_reserved_already_is_fine() -> None:
    pod = build.pod(claims=["claim"])
    pod["spec"]["resourceClaims"].append({"name": "again", "resourceClaimName": "claim"})
    claim = build.claim(held=[("node-1", "gpu-0")], by=["pod"])
    assert diagnose(pod, claim, build.node(), build.slice_("node-1", gpu("gpu-0"))).verdict is Verdict.SCHEDULABLE


# --- what the scheduler said ----------------------------------------------------------------------------------------


def test_other_plugins_are_named_from_the_message() -> None:
    pod = build.pod(claims=["claim"])
    message = "0/1 nodes are available: 1 a plugin of somebody else says no."
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
    objects = pod, build.claim(), build.node(), build.slice_("node-1", gpu())
    found = diagnose(*objects)
    assert (found.verdict, found.agreement) == (Verdict.UNSCHEDULABLE, Agreement.AGREES)
    assert (found.reason, found.message) == ("Unschedulable", message)
    assert [cause.code for cause in found.causes] == [Code.OTHER_PLUGIN]
    # What would help against rules that are not known can't be tried.
    world = ClusterState(facts.inventory([CLASS, *objects]), facts.evidence(), features(), CLOCK)
    assert remedies(world, found) == ()


def test_whether_other_plugins_refuse_more_nodes_than_they_did_is_not_known() -> None:
    pod = build.pod(claims=["claim"])
    message = "0/2 nodes are available: 1 a plugin of somebody else says no, 1 cannot allocate all claims."
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
    nodes = [each for name in ("node-1", "node-2") for each in (build.node(name), build.slice_(name, gpu()))]
    found = diagnose(pod, build.claim(), *nodes)
    assert (found.verdict, found.message, found.agreement) == (Verdict.UNKNOWN, "", Agreement.UNCHECKED)
    assert [cause.code for cause in found.causes] == [Code.OTHER_PLUGIN]
    assert outcomes(found) == {"node-1": NodeOutcome.FITS, "node-2": NodeOutcome.FITS}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a plugin of somebody else says no", Code.OTHER_PLUGIN),
    ],
)
@pytest.mark.parametrize("device", [True, False])
def test_other_plugins_that_reject_the_pod_before_any_node(text: str, code: Code, device: bool) -> None:
    """Their words end the attempt before DynamicResources notes anything, so its PostFilter fails."""
    pod = build.pod(claims=["claim"])
    message = f"0/1 nodes are available: {text}. not found"
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
    found = diagnose(pod, build.claim(), build.node(), *([build.slice_("node-1", gpu())] if device else []))
    assert found.agreement is Agreement.AGREES
    assert found.verdict is Verdict.UNSCHEDULABLE
    assert code in [cause.code for cause in found.causes]
    assert (found.causes[0].code is code) is device


def test_a_claim_that_the_failed_attempt_has_allocated_itself_is_no_contradiction() -> None:
    """The pod is newer than the claim: only the attempt has changed anything, and the next one fails otherwise."""
    pod = build.pod(claims=["claim"])
    pod["spec"]["resourceClaims"].append({"name": "again", "resourceClaimName": "claim"})
    message = f'running PreBind plugin "DynamicResources": {ELSEWHERE}'
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": message}
    pod["status"]["conditions"] = [condition]
    claim = build.claim(held=[("node-1", "gpu-0")])
    found = diagnose(pod, claim, build.node(), build.slice_("node-1", gpu("gpu-0")))
    assert (found.verdict, found.agreement) == (Verdict.SCHEDULER_ERROR, Agreement.STALE)
    assert "Duplicate value" in found.message


def test_a_claim_that_was_being_allocated_for_another_pod_is_no_contradiction() -> None:
    pod = build.pod(claims=["claim"])
    message = "0/1 nodes are available: resource claim ml/claim is in the process of being allocated."
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "message": message}]
    found = diagnose(pod, build.claim(), build.node())
    assert (found.verdict, found.agreement) == (Verdict.UNSCHEDULABLE, Agreement.STALE)


def test_the_features_of_a_server_of_unknown_version_are_assumed() -> None:
    inventory, known = facts.inventory([CLASS, build.pod(), build.node()]), facts.evidence()
    unknown = dataclasses.replace(known, server_version=None)
    kinds = [[a.kind for a in diagnose_pod(inventory, e, features(), POD).assumed] for e in (known, unknown)]
    assert kinds == [[], [AssumptionKind.FEATURES]]


def test_an_api_error_at_binding_is_told() -> None:
    pod = build.pod(claims=["claim"])
    message = 'running PreBind plugin "DynamicResources": add finalizer to claim ml/claim: forbidden'
    pod["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": message}
    ]
    found = diagnose(pod, build.claim(), build.node(), build.slice_("node-1", gpu()))
    # These objects have no resource versions that would tell whether it still holds.
    assert (found.verdict, found.causes[0].code) == (Verdict.UNKNOWN, Code.API_ERROR_AT_BINDING)


# --- requests that exclude each other -----------------------------------------------------------------------------

MONITOR = build.request("mon", allocationMode="All", adminAccess=True)


def with_monitor(*requests: dict[str, Any], **device: Any) -> PodDiagnosis:
    """A pod whose claim monitors all H100 devices beside other requests; the only one of them is in use."""
    monitor = {**MONITOR, "exactly": {**MONITOR["exactly"], "selectors": [{"cel": {"expression": MODEL}}]}}
    held = build.claim("held", held=[("node-1", "gpu-0")], on="node-1", by=["other"])
    slice_ = build.slice_("node-1", gpu(**device), gpu("gpu-1", "L40", taints=[{"key": "bad", "effect": "NoSchedule"}]))
    objects = (build.pod(claims=["claim"]), build.claim("claim", monitor, *requests), held, build.node(), slice_)
    return diagnose(*objects)


def test_a_claim_gets_no_device_twice_whoever_holds_it() -> None:
    found = with_monitor(build.request(selector=MODEL))
    assert [(cause.code, cause.request) for cause in found.causes] == [
        (Code.REQUESTS_COMPETE, "gpu"),
        (Code.DEVICES_IN_USE, "gpu"),
    ]
    # The other device is not one of those that are monitored, so that being in use or tainted is what is wrong.
    found = with_monitor(build.request())
    assert Code.REQUESTS_COMPETE not in [cause.code for cause in found.causes]
    # Nor may be the alternative, or a device that can be shared.
    first = {"name": "a", "deviceClassName": build.DRIVER, "selectors": [{"cel": {"expression": MODEL}}]}
    one_of = {"name": "gpu", "firstAvailable": [first, {"name": "b", "deviceClassName": build.DRIVER}]}
    for other, device in ((one_of, {}), (build.request(selector=MODEL), {"allowMultipleAllocations": True})):
        found = with_monitor(other, **device)
        assert Code.REQUESTS_COMPETE not in [cause.code for cause in found.causes]


def test_requests_of_two_claims_may_share_a_device_with_admin_access() -> None:
    held = build.claim("held", held=[("node-1", "gpu-0")], on="node-1", by=["other"])
    objects = (build.claim("claim"), build.claim("watch", MONITOR), build.node(), build.slice_("node-1", gpu()))
    found = diagnose(build.pod(claims=["claim", "watch"]), held, *objects)
    assert [cause.code for cause in found.causes] == [Code.DEVICES_IN_USE]
