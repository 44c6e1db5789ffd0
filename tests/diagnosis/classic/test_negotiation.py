"""Classic DRA of 1.30: what the scheduler says, whose turn it is, and that nothing is guessed about drivers."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Agreement,
    ClaimVerdict,
    Negotiation,
    NodeOutcome,
    ObjectRef,
    ParametersProblem,
    PodDiagnosis,
    Verdict,
)
from tests.diagnosis.classic import build
from tests.diagnosis.classic.build import DRIVER, Json, diagnose

CLASS, NODE, POD, CLAIM = build.resource_class(), build.node(), build.pod("claim"), build.claim()
TWO_NODES = (build.node("node-1"), build.node("node-2"))
WAITING = "0/1 nodes are available: 1 waiting for resource driver to provide information."
PUBLISHED = "waiting for resource driver"


def codes(found: PodDiagnosis) -> list[Code]:
    return [cause.code for cause in found.causes]


def detail(found: PodDiagnosis) -> Negotiation:
    assert isinstance(found.causes[0].detail, Negotiation)
    return found.causes[0].detail


# --- before any node is looked at -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objects", "text", "code"),
    [
        ((CLAIM,), "resource class gpu does not exist", Code.RESOURCE_CLASS_MISSING),
        (
            (CLASS, build.claim(mode="Immediate")),
            "unallocated immediate resourceclaim",
            Code.IMMEDIATE_NOT_ALLOCATED,
        ),
        (
            (CLASS, build.claim(status={**build.on("node-1"), "deallocationRequested": True})),
            "resourceclaim must be reallocated",
            Code.DEALLOCATION_REQUESTED,
        ),
        (
            (CLASS, build.claim(by=("other",), status=build.on("node-1"))),
            "resourceclaim in use",
            Code.CLAIM_NOT_SHAREABLE,
        ),
        (
            (CLASS, build.claim(status={**build.on("node-1"), "deallocationRequested": True}, by=("other",))),
            "resourceclaim must be reallocated",
            Code.DEALLOCATION_REQUESTED,
        ),
    ],
)
def test_the_pod_is_rejected_as_a_whole(objects: tuple[Json, ...], text: str, code: Code) -> None:
    found = diagnose(POD, NODE, *objects)
    assert (found.verdict, found.reason) == (Verdict.UNSCHEDULABLE, "Unschedulable")
    assert found.message == f"0/1 nodes are available: {text}. no new claims to deallocate"
    assert found.causes[0].code is code
    assert found.causes[0].claim == ObjectRef("ResourceClaim", "ml", "claim")


def test_a_class_that_could_not_be_read_is_not_missing() -> None:
    found = diagnose(POD, NODE, CLAIM, withheld=("ResourceClass",))
    assert found.verdict is Verdict.UNKNOWN
    assert "ResourceClass" in [item.kind for item in found.missing]


def test_a_shareable_claim_admits_others_up_to_32() -> None:
    status = build.on("node-1", shareable=True)
    assert diagnose(POD, NODE, CLASS, build.claim(by=("other",), status=status)).verdict is Verdict.SCHEDULABLE
    full = build.claim(by=tuple(f"p{i}" for i in range(32)), status=status)
    found = diagnose(POD, NODE, CLASS, full)
    assert (found.verdict, codes(found)) == (Verdict.SCHEDULER_ERROR, [Code.CONSUMERS_FULL])
    assert found.message == (
        'running PreBind plugin "DynamicResources": ResourceClaim.resource.k8s.io "claim" is invalid: '
        "status.reservedFor: Too many: 33: must have at most 32 items"
    )


def test_a_context_of_an_earlier_pod_is_an_error() -> None:
    found = diagnose(POD, NODE, CLASS, CLAIM, build.context("node-1", owner="another"))
    assert (found.verdict, found.reason) == (Verdict.SCHEDULER_ERROR, "SchedulerError")
    assert found.message == (
        'running PreFilter plugin "DynamicResources": '
        "PodSchedulingContext object with UID context is not owned by Pod ml/pod"
    )
    assert codes(found) == [Code.NEGOTIATION_FOREIGN]


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_nodes_that_the_driver_refuses() -> None:
    talk = build.context("node-1", "node-2", unsuitable={"claim": ["node-1", "node-2"]})
    found = diagnose(POD, *TWO_NODES, CLASS, CLAIM, talk)
    assert found.message == (
        "0/2 nodes are available: 2 resourceclaim cannot be allocated for the node (unsuitable). still not schedulable"
    )
    assert codes(found) == [Code.NODE_UNSUITABLE]
    assert found.causes[0].nodes == ("node-1", "node-2")
    assert detail(found).driver == DRIVER


def test_nodes_outside_of_the_class() -> None:
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["yes"]}]}]
    limited = build.resource_class(suitableNodes={"nodeSelectorTerms": terms})
    found = diagnose(POD, NODE, limited, CLAIM)
    assert found.message == ("0/1 nodes are available: 1 excluded by resource class node filter. still not schedulable")
    assert codes(found) == [Code.CLASS_EXCLUDES_NODE]
    assert diagnose(POD, build.node(gpu="yes"), limited, CLAIM).causes[0].code is Code.SCHEDULER_WILL_ASK


def test_no_node_that_all_claims_can_have() -> None:
    talk = build.context("node-1", "node-2", unsuitable={"a": ["node-1"], "b": ["node-2"]})
    objects = (build.pod("a", "b"), *TWO_NODES, CLASS, build.claim("a"), build.claim("b"), talk)
    found = diagnose(*objects)
    assert found.causes[0].code is Code.NO_COMMON_NODE
    assert codes(found)[1:] == [Code.NODE_UNSUITABLE, Code.NODE_UNSUITABLE]
    assert found.message
    assert "2 resourceclaim cannot be allocated for the node (unsuitable)." in found.message


def test_an_allocation_on_another_node_is_given_up_if_nobody_uses_it() -> None:
    found = diagnose(POD, NODE, CLASS, build.claim(status=build.on("node-9")))
    assert found.message == (
        "0/1 nodes are available: 1 resourceclaim not available on the node. deallocation of ResourceClaim completed"
    )
    assert codes(found) == [Code.CLAIM_ELSEWHERE, Code.CLAIM_IDLE]
    immediate = diagnose(POD, NODE, CLASS, build.claim(mode="Immediate", status=build.on("node-9")))
    assert codes(immediate) == [Code.CLAIM_ELSEWHERE]
    assert immediate.message
    assert immediate.message.endswith("not available on the node. still not schedulable")


# --- the negotiation --------------------------------------------------------------------------------------------------


def test_waiting_for_the_first_consumer_is_a_normal_step() -> None:
    found = diagnose(POD, *TWO_NODES, CLASS, CLAIM)
    assert (found.verdict, found.message, found.alternatives) == (Verdict.UNSCHEDULABLE, PUBLISHED, (PUBLISHED,))
    assert codes(found) == [Code.SCHEDULER_WILL_ASK]
    assert [(group.outcome, group.nodes) for group in found.nodes] == [(NodeOutcome.FITS, ("node-1", "node-2"))]


def test_the_driver_is_asked_to_allocate() -> None:
    pod = build.condition(POD, PUBLISHED)
    found = diagnose(pod, *TWO_NODES, CLASS, CLAIM, build.context("node-1", "node-2", selected="node-2"))
    assert codes(found) == [Code.DRIVER_ALLOCATES]
    assert (detail(found).selected_node, detail(found).answered) == ("node-2", False)
    assert found.agreement is Agreement.AGREES
    again = diagnose(
        build.condition(POD, WAITING), *TWO_NODES, CLASS, CLAIM, build.context("node-1", "node-2", selected="node-2")
    )
    assert (again.message, again.agreement) == (WAITING, Agreement.AGREES)


def test_a_driver_that_does_not_answer() -> None:
    """With several claims no node is selected before all drivers have answered."""
    talk = build.context("node-1", "node-2", unsuitable={"a": []})
    found = diagnose(build.pod("a", "b"), *TWO_NODES, CLASS, build.claim("a"), build.claim("b"), talk)
    assert found.message == WAITING
    assert [(cause.code, cause.claim and cause.claim.name) for cause in found.causes] == [(Code.DRIVER_SILENT, "b")]
    all_said = build.context("node-1", "node-2", unsuitable={"a": [], "b": ["node-1"]})
    found = diagnose(build.pod("a", "b"), *TWO_NODES, CLASS, build.claim("a"), build.claim("b"), all_said)
    assert (found.message, codes(found)[:2]) == (PUBLISHED, [Code.SCHEDULER_WILL_ASK] * 2)


def test_a_selected_node_that_turns_out_unsuitable() -> None:
    talk = build.context("node-1", "node-2", selected="node-1", unsuitable={"claim": ["node-1"]})
    found = diagnose(POD, *TWO_NODES, CLASS, CLAIM, talk)
    assert found.message == PUBLISHED
    assert codes(found) == [Code.SCHEDULER_WILL_ASK, Code.NODE_UNSUITABLE]
    assert detail(found).unsuitable_nodes == ("node-1",)


def test_claims_of_the_scheduler_beside_one_of_a_driver_never_get_a_node() -> None:
    structured = build.resource_class("own", structured=True)
    mine = build.claim("mine", resourceClassName="own")
    offer = build.slice_("node-1", build.instance("gpu-0"))
    talk = build.context("node-1", unsuitable={"claim": []})
    found = diagnose(build.pod("claim", "mine"), NODE, CLASS, structured, CLAIM, mine, offer, talk)
    assert (found.message, codes(found)) == (WAITING, [Code.NEVER_SELECTED])


def test_without_the_context_nothing_is_known() -> None:
    found = diagnose(POD, NODE, CLASS, CLAIM, withheld=("PodSchedulingContext",))
    assert (found.verdict, found.message) == (Verdict.UNKNOWN, "")
    assert [item.kind for item in found.missing if item.decides] == ["PodSchedulingContext"]


def test_the_pod_fits_once_the_driver_has_allocated() -> None:
    found = diagnose(POD, *TWO_NODES, CLASS, build.claim(status=build.on("node-2")))
    assert (found.verdict, found.causes[0].nodes) == (Verdict.SCHEDULABLE, ("node-2",))


# --- claims -----------------------------------------------------------------------------------------------------------


def test_states_of_claims() -> None:
    found = build.diagnose_a_claim(CLASS, CLAIM)
    assert (found.verdict, [c.code for c in found.causes]) == (ClaimVerdict.PENDING, [Code.CLAIM_WAITS_FOR_POD])
    found = build.diagnose_a_claim(CLASS, build.claim(mode="Immediate"))
    assert [c.code for c in found.causes] == [Code.IMMEDIATE_NOT_ALLOCATED]
    found = build.diagnose_a_claim(CLASS, build.claim(mode="Immediate", status=build.on("node-1")))
    assert (found.verdict, found.causes) == (ClaimVerdict.ALLOCATED, ())
    found = build.diagnose_a_claim(CLASS, build.claim(status=build.on("node-1")))
    assert (found.verdict, [c.code for c in found.causes]) == (ClaimVerdict.UNRESERVED, [Code.CLAIM_UNUSED])
    leaving = build.claim(status={**build.on("node-1"), "deallocationRequested": True})
    assert [c.code for c in build.diagnose_a_claim(CLASS, leaving).causes] == [Code.DEALLOCATION_REQUESTED]


def test_parameters_that_nobody_made() -> None:
    structured = build.resource_class(structured=True)
    wanted = build.claim(parametersRef={"apiGroup": "gpu.example.com", "kind": "GpuParameters", "name": "big"})
    found = diagnose(POD, NODE, structured, wanted)
    assert found.message == (
        "0/1 nodes are available: generated claim parameters for GpuParameters.gpu.example.com ml/big not found. "
        "no new claims to deallocate"
    )
    assert found.causes[0].detail == ParametersProblem("claim", "GpuParameters", "big", "ml", generated=True)
    generated = build.claim_parameters("true", generatedFrom=wanted["spec"]["parametersRef"])
    offer = build.slice_("node-1", build.instance("gpu-0"))
    assert diagnose(POD, NODE, structured, wanted, generated, offer).verdict is Verdict.SCHEDULABLE
    direct = build.claim(parametersRef=build.refers("ResourceClaimParameters", "sone"))
    found = diagnose(POD, NODE, structured, direct, build.claim_parameters("true"))
    assert found.message == ("0/1 nodes are available: claim parameters ml/sone not found. no new claims to deallocate")
    assert isinstance(found.causes[0].detail, ParametersProblem)
    assert found.causes[0].detail.similar == ("some",)
    of_class = build.resource_class(
        structured=True, parametersRef=build.refers("ResourceClassParameters", "all", namespace="system")
    )
    found = diagnose(POD, NODE, of_class, CLAIM)
    assert found.message == (
        "0/1 nodes are available: class parameters system/all not found. no new claims to deallocate"
    )


def test_other_plugins_speak_as_they_did_then() -> None:
    tainted = {**build.node("node-1"), "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]}}
    found = diagnose(POD, tainted, CLASS, CLAIM)
    assert found.message == (
        "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}. still not schedulable"
    )
