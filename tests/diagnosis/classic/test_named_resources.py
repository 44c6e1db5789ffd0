"""Structured parameters of 1.30: first fit per request, words for failing expressions, the order of slices."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.diagnosis.records import Funnel, NodeOutcome, PodDiagnosis, StageName, Verdict
from kubectl_dra.model.classic import ClassicClaim, ClassicResourceClaimTemplate
from kubectl_dra.model.core import Pod
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.resource import ResourceClaimTemplate
from tests.diagnosis.classic import build
from tests.diagnosis.classic.build import Json, diagnose
from tests.kit.clock import CLOCK

CLASS = build.resource_class(
    structured=True, parametersRef=build.refers("ResourceClassParameters", "all", namespace=build.NAMESPACE)
)
CLAIM = build.claim(parametersRef=build.refers("ResourceClaimParameters", "some"))
BASE = (build.pod("claim"), build.node(), CLASS, CLAIM)
UNSUITABLE = "0/1 nodes are available: 1 resourceclaim cannot be allocated for the node (unsuitable)."
A100 = 'attributes.string["model"] == "A100"'
BIG, SMALL = build.instance("gpu-0", model="A100"), build.instance("gpu-1", model="T4")


def tried(*objects: Json, selectors: tuple[str, ...] = (A100,), only: str = "true") -> PodDiagnosis:
    return diagnose(*BASE, build.class_parameters(only), build.claim_parameters(*selectors), *objects)


def test_it_fits_and_nobody_else_is_asked() -> None:
    found = tried(build.slice_("node-1", SMALL, BIG))
    assert (found.verdict, found.nodes[0].nodes) == (Verdict.SCHEDULABLE, ("node-1",))


@pytest.mark.parametrize(
    ("objects", "only", "code", "counts"),
    [
        ((), "true", Code.NO_DEVICE_IN_CLASS, (0, 0, 0)),
        ((build.slice_("node-1", BIG),), "false", Code.NO_DEVICE_IN_CLASS, (0, 0, 0)),
        ((build.slice_("node-1", SMALL),), "true", Code.SELECTOR_MATCHES_NOTHING, (1, 0, 0)),
        (
            (build.slice_("node-1", BIG, SMALL), build.held("other", "node-1", "gpu-0")),
            "true",
            Code.DEVICES_IN_USE,
            (2, 1, 0),
        ),
    ],
)
def test_what_is_missing(objects: tuple[Json, ...], only: str, code: Code, counts: tuple[int, ...]) -> None:
    found = tried(*objects, only=only)
    assert (found.verdict, found.message) == (Verdict.UNSCHEDULABLE, f"{UNSUITABLE} still not schedulable")
    assert [cause.code for cause in found.causes] == [code]
    funnel = found.nodes[0].requests[0].funnel
    assert isinstance(funnel, Funnel)
    steps = (StageName.CLASS, StageName.SELECTORS, StageName.UNUSED)
    assert tuple(funnel.stage(name).count for name in steps) == counts
    held = [removal.reason for removal in funnel.removed if removal.stage is StageName.UNUSED]
    assert held == (["ml/other"] if code is Code.DEVICES_IN_USE else [])


def test_the_first_fit_is_never_given_back() -> None:
    """The undemanding request takes the only device that the demanding one could have."""
    offer = build.slice_("node-1", BIG, SMALL)
    assert tried(offer, selectors=(A100, "true")).verdict is Verdict.SCHEDULABLE
    found = tried(offer, selectors=("true", A100))
    assert (found.verdict, [(c.code, c.request) for c in found.causes]) == (
        Verdict.UNSCHEDULABLE,
        [(Code.REQUESTS_COMPETE, "request 1")],
    )


def test_claims_of_one_pod_do_not_see_each_other() -> None:
    again = build.claim("again", parametersRef=build.refers("ResourceClaimParameters", "some"))
    objects = (build.pod("claim", "again"), build.node(), CLASS, CLAIM, again, build.slice_("node-1", BIG))
    found = diagnose(*objects, build.class_parameters("true"), build.claim_parameters(A100))
    assert found.verdict is Verdict.SCHEDULABLE


def test_a_failing_selector_leaves_the_node_out() -> None:
    found = tried(build.slice_("node-1", build.instance("bare")))
    assert found.message == (
        "0/1 nodes are available: 1 checking structured parameters failed: "
        'checking node "node-1" and resources of driver "gpu.example.com": '
        "evaluate request CEL expression: no such key: model. still not schedulable"
    )
    assert [cause.code for cause in found.causes] == [Code.NAMED_SELECTOR_FAILS]
    # It is not evaluated on what comes after the first fit.
    assert tried(build.slice_("node-1", BIG, build.instance("bare"))).verdict is Verdict.SCHEDULABLE


def test_an_expression_that_does_not_compile_aborts_the_attempt() -> None:
    found = tried(build.slice_("node-1", BIG), selectors=("attributes.string",))
    assert (found.verdict, found.reason) == (Verdict.SCHEDULER_ERROR, "SchedulerError")
    assert found.message == (
        'running PreFilter plugin "DynamicResources": creating claim controller for named resources structured '
        "model: compile request CEL expression: must evaluate to bool"
    )
    assert found.causes[0].code is Code.SELECTOR_DOES_NOT_COMPILE


def test_slices_of_a_node_come_in_any_order() -> None:
    one, two = build.slice_("node-1", BIG, name="one"), build.slice_("node-1", SMALL, name="two")
    assert tried(one, two).verdict is Verdict.SCHEDULABLE
    found = tried(one, two, selectors=("true", A100))
    assert found.verdict is Verdict.UNKNOWN
    assert [group.outcome for group in found.nodes] == [NodeOutcome.UNDECIDED]
    assert [cause.code for cause in found.causes] == [Code.SEARCH_UNDECIDED]


def test_an_error_that_only_some_orders_meet_is_told() -> None:
    """The first request takes one of two instances, the second does not fit the small one and fails on the bare one."""
    small, bare = build.slice_("node-1", SMALL, name="a"), build.slice_("node-1", build.instance("bare"), name="b")
    for slices in ((small, bare), (bare, small)):
        found = tried(*slices, selectors=("true", A100))
        assert (found.verdict, found.causes[0].code) == (Verdict.UNSCHEDULABLE, Code.NAMED_SELECTOR_FAILS)


@pytest.mark.parametrize(
    ("selectors", "last"), [(("true", A100), SMALL), ((A100,), build.instance("gpu-1"))], ids=["taken", "fails"]
)
def test_many_slices_whose_order_decides(selectors: tuple[str, ...], last: Json) -> None:
    """It decides only when the first slice is no longer the first one."""
    small = [build.slice_("node-1", SMALL, name=f"slice-{number}") for number in range(1, 5)]
    slices = [build.slice_("node-1", BIG, name="slice-0"), *small, build.slice_("node-1", last, name="slice-5")]
    assert tried(*slices[:5], selectors=(A100,)).verdict is Verdict.SCHEDULABLE
    found = tried(*slices, selectors=selectors)
    assert (found.verdict, found.causes[0].code) == (Verdict.UNKNOWN, Code.SEARCH_UNDECIDED)


def test_without_parameters_any_device_of_the_class_will_do() -> None:
    plain = build.resource_class(structured=True)
    objects = (build.pod("claim"), build.node(), plain, build.claim(mode="Immediate"))
    assert diagnose(*objects, build.slice_("node-1", SMALL)).verdict is Verdict.SCHEDULABLE
    assert diagnose(*objects).message == f"{UNSUITABLE} still not schedulable"


@pytest.mark.parametrize("kind", ["ResourceSlice", "ResourceClaim", "ResourceClaimParameters"])
def test_what_could_not_be_read_decides_nothing(kind: str) -> None:
    objects = [*BASE, build.class_parameters("true"), build.slice_("node-1", BIG), build.claim_parameters(A100)]
    left = [each for each in objects if each["kind"] != kind or each is CLAIM]
    found = diagnose(*left, withheld=(kind,))
    assert found.verdict is Verdict.UNKNOWN
    assert kind in [item.kind for item in found.missing if item.decides]


def test_copies_take_what_earlier_ones_left() -> None:
    """Placing pods that don't exist yet: each takes the first fit, and the next finds less."""
    inventory = build.cluster(
        build.node(), build.resource_class(structured=True), build.slice_("node-1", BIG, SMALL), build.claim()
    )
    world = ClusterState(inventory.replace(templates=_template()), build.evidence(), features(30), CLOCK)
    base = build.cluster(build.pod(resourceClaims=[{"name": "c", "resourceClaimTemplateName": "some"}])).pods[build.POD]
    pods = [_named(base, f"copy-{number}") for number in range(3)]
    placed = place(world, pods)
    assert (placed.copies, dict(placed.nodes)) == (2, {"node-1": 2})
    assert placed.failed is not None
    assert [cause.code for cause in placed.failed.causes] == [Code.DEVICES_IN_USE]
    held = {
        result.device
        for claim in placed.state.inventory.claims.values()
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results
    }
    assert held == {"gpu-0", "gpu-1"}


def _template() -> dict[Key, ResourceClaimTemplate]:
    classic = ClassicClaim(resource_class_name="gpu", allocation_mode="WaitForFirstConsumer")
    meta = ObjectMeta(name="some", namespace=build.NAMESPACE)
    return {Key(build.NAMESPACE, "some"): ClassicResourceClaimTemplate(metadata=meta, classic=classic)}


def _named(pod: Pod, name: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=name))
