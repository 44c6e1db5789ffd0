"""What is really going on comes first: deletion, eviction, refusals that still hold, devices that are gone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Agreement,
    ClaimVerdict,
    Departure,
    HeldTaint,
    PodDiagnosis,
    Refusal,
    VanishedDevices,
    Verdict,
)
from kubectl_dra.diagnosis.said.refusals import is_refusal
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.claim_page import claim_pending_summary
from kubectl_dra.output.pending.page import pending_page, pending_summary
from kubectl_dra.reports.pending.pending import claim_pending_report, pending_report
from tests.kit import build, facts
from tests.kit.state import diagnose_claim, diagnose_pod, state_of

POD = Key(build.NAMESPACE, "pod")
CLASS = build.device_class()
NODES = (build.node(), build.slice_("node-1", build.device("gpu-0")))
REFUSED = (
    'running PreBind plugin "DynamicResources": add allocation and reservation to claim ml/claim: admission webhook '
    '"quota.example.com" denied the request: team a has no budget'
)


def diagnose(*objects: dict[str, Any], withheld: tuple[str, ...] = ()) -> PodDiagnosis:
    return diagnose_pod(facts.inventory([CLASS, *objects]), facts.evidence(*withheld), features(), POD)


def said(found: PodDiagnosis, *objects: dict[str, Any]) -> tuple[str, str]:
    """The first line, and the whole page."""
    state = state_of(facts.inventory([CLASS, *objects]), facts.evidence(time="2026-01-01T00:05:00Z"), features())
    report = pending_report(found, state)
    return str(pending_summary(report)), "\n".join(map(str, pending_page(report, state.now)))


def versioned(item: dict[str, Any], version: int | None, created: str = "") -> dict[str, Any]:
    metadata = {**item["metadata"], **({"resourceVersion": str(version)} if version is not None else {})}
    if version is None:
        metadata.pop("resourceVersion", None)
    return {**item, "metadata": {**metadata, **({"creationTimestamp": created} if created else {})}}


# --- deleted and evicted --------------------------------------------------------------------------------------------


def held() -> dict[str, Any]:
    return build.claim(held=[("node-1", "gpu-0")], on="node-1", by=["pod"])


def leaving(phase: str = "Pending", finalizers: tuple[str, ...] = (), deleted: bool = True, **condition: str) -> Any:
    pod = build.pod(claims=["claim"], node_name="node-1", phase=phase)
    if deleted:
        pod["metadata"] |= {"deletionTimestamp": "2026-01-01T00:03:00Z", "finalizers": list(finalizers)}
    if condition:
        pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", **condition}]
    return pod


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_a_pod_that_is_deleted_is_not_being_prepared(phase: str) -> None:
    objects = (leaving(phase, ("example.com/keep",)), held(), *NODES)
    found = diagnose(*objects)
    assert (found.verdict, [cause.code for cause in found.causes]) == (Verdict.DELETING, [Code.POD_BEING_DELETED])
    first, page = said(found, *objects)
    assert first == "Pod ml/pod is being deleted, held by the finalizer example.com/keep."
    assert "Deleted 2m ago" in page
    assert found.agreement is Agreement.UNCHECKED


def test_a_taint_of_the_node_is_not_taken_for_one_of_a_device() -> None:
    objects = (leaving("Running", reason="DeletionByTaintManager", message="x"), held(), *NODES)
    first, page = said(diagnose(*objects), *objects)
    assert first.startswith("Pod ml/pod is being deleted: its node has a taint that it does not tolerate")
    assert "A taint of node node-1 ends it, not one of its devices" in page
    assert "taint-device" not in page
    assert "Its taints and conditions: kubectl describe node/node-1" in page


@pytest.mark.parametrize("finalizers", [[], ["example.com/keep"]])
def test_a_claim_that_is_deleted_is_told_so_once(finalizers: list[str]) -> None:
    claim = build.claim(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers})
    state = state_of(facts.inventory([CLASS, claim]), facts.evidence(), features())
    found = diagnose_claim(state.inventory, state.evidence, state.features, Key(build.NAMESPACE, "claim"))
    first = str(claim_pending_summary(claim_pending_report(found, state)))
    waits = (
        "its deletion waits for the finalizer example.com/keep" if finalizers else "no consumer or finalizer is left"
    )
    assert first == f"ResourceClaim ml/claim is being deleted: {waits}."


def test_a_reservation_by_a_pod_that_is_gone_is_no_use() -> None:
    """Replaced under the same name; where another consumer is there, the claim is in use."""
    running = build.pod("other", claims=["claim"], node_name="node-1", phase="Running")
    replaced = {**build.pod(), "metadata": {"name": "pod", "namespace": build.NAMESPACE, "uid": "another"}}
    gone = "it is reserved for ml/pod, which is gone or finished"
    for by, told in ((["pod"], f"has its devices, which nobody uses: {gone}"), (["pod", "other"], "and is in use")):
        claim = build.claim(held=[("node-1", "gpu-0")], on="node-1", by=by)
        state = state_of(facts.inventory([CLASS, claim, replaced, running, *NODES]), facts.evidence(), features())
        found = diagnose_claim(state.inventory, state.evidence, state.features, Key(build.NAMESPACE, "claim"))
        assert told in str(claim_pending_summary(claim_pending_report(found, state)))


@pytest.mark.parametrize("deleted", [True, False])
def test_an_evicted_pod_says_which_taint_of_which_device_evicts_it(deleted: bool) -> None:
    rule = {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "ecc-errors"},
        "spec": {
            "deviceSelector": {"driver": build.DRIVER, "pool": "node-1", "device": "gpu-0"},
            "taint": {"key": "ecc", "effect": "NoExecute"},
        },
    }
    words = "Device Taint manager: deleting due to NoExecute taint"
    pod = leaving("Running", deleted=deleted, reason="DeletionByDeviceTaintManager", message=words)
    objects = (pod, held(), rule, *NODES)
    found = diagnose(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.DELETING, Code.POD_EVICTED)
    detail = found.causes[0].detail
    assert isinstance(detail, Departure)
    assert detail.taints == (HeldTaint("gpu-0", "ecc:NoExecute", "ecc-errors"),)
    what = "is being deleted" if deleted else "is about to be deleted"
    why = "it is evicted because its device gpu-0 has the taint ecc:NoExecute of rule ecc-errors"
    assert said(found, *objects)[0] == f"Pod ml/pod {what}: {why}."


def test_preemption_has_words_of_its_own() -> None:
    pod = leaving(reason="PreemptionByScheduler", message="default-scheduler: preempting to accommodate a pod")
    first = said(diagnose(pod, held(), *NODES), pod, held(), *NODES)[0]
    assert first.startswith("Pod ml/pod is being deleted: the scheduler makes room for a pod of higher priority (")


def test_what_is_finished_is_not_going_away() -> None:
    assert diagnose(leaving("Succeeded"), held(), *NODES).verdict is Verdict.ENDED
    pod = leaving("Running", deleted=False, reason="EvictionByEvictionAPI")
    pod["status"]["conditions"][0]["status"] = "False"
    assert diagnose(pod, held(), *NODES).verdict is Verdict.NOT_PENDING


# --- refusals -------------------------------------------------------------------------------------------------------


def refused(message: str = REFUSED, reason: str = "SchedulerError", version: int | None = 100) -> dict[str, Any]:
    pod = build.pod(claims=["claim"])
    time = "2026-01-01T00:04:00Z"
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    pod["status"]["conditions"] = [{**condition, "lastTransitionTime": time}]
    return versioned(pod, version)


def cluster(version: int | None, created: str = "") -> tuple[dict[str, Any], ...]:
    """Everything that a refusal depends on, last changed at ``version``; the class is diagnosed beside it."""
    return (
        versioned(build.claim(), version, created),
        versioned(build.device_class(), version, created),
        build.node(),
        versioned(build.slice_("node-1", build.device("gpu-0")), version, created),
    )


def of(*objects: dict[str, Any]) -> PodDiagnosis:
    return diagnose_pod(facts.inventory(objects), facts.evidence(), features(), POD)


def test_a_refusal_that_is_newer_than_every_change_is_the_verdict() -> None:
    objects = (refused(), *cluster(99))
    found = of(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULER_ERROR, Code.API_ERROR_AT_BINDING)
    assert (found.reason, found.message, found.agreement) == ("SchedulerError", REFUSED, Agreement.AGREES)
    first = said(found, *objects)[0]
    assert first.startswith("Pod ml/pod is pending, although it would fit on node-1: ")
    assert "team a has no budget" in first
    assert Code.FITS_NOW not in [cause.code for cause in found.causes]


def test_which_came_first_may_not_be_known() -> None:
    for objects in ((refused(), *cluster(101)), (refused(version=None), *cluster(None)), (refused(), *cluster(None))):
        found = of(*objects)
        assert (found.verdict, found.causes[0].code) == (Verdict.UNKNOWN, Code.API_ERROR_AT_BINDING)
        assert "which came first is not known" in said(found, *objects)[0]


def test_a_refusal_from_before_a_change_is_history() -> None:
    """By a later time where versions do not tell."""
    for version in (101, None):
        found = of(refused(), *cluster(version, created="2026-01-01T00:04:30Z"))
        assert found.verdict is Verdict.SCHEDULABLE
        (cause,) = (cause for cause in found.causes if cause.code is Code.API_ERROR_AT_BINDING)
        assert isinstance(cause.detail, Refusal)
        assert cause.detail.earlier


def written(objects: Iterable[dict[str, Any]], time: str) -> tuple[dict[str, Any], ...]:
    """The objects, last written at a time."""
    for each in objects:
        entries = [{"manager": "kubectl", "time": "2026-01-01T00:00:30Z"}, {"manager": "driver", "time": time}]
        each["metadata"]["managedFields"] = entries
    return tuple(objects)


@pytest.mark.parametrize("version", [101, None])
@pytest.mark.parametrize(
    ("time", "verdict"),
    [
        ("2026-01-01T00:03:59Z", Verdict.SCHEDULER_ERROR),
        ("2026-01-01T00:04:00Z", Verdict.UNKNOWN),
        ("2026-01-01T00:04:01Z", Verdict.SCHEDULABLE),
    ],
)
def test_where_versions_do_not_tell_the_last_writing_does(version: int | None, time: str, verdict: Verdict) -> None:
    found = of(refused(), *written(cluster(version), time))
    assert found.verdict is verdict
    # One object that does not say when it was written leaves it open, unless another one is newer.
    claim, *others = cluster(version)
    found = of(refused(), claim, *written(others, time))
    assert found.verdict is (Verdict.UNKNOWN if verdict is Verdict.SCHEDULER_ERROR else verdict)


def changed(time: str, subresource: str = "", manager: str = "kubectl-edit", **more: Any) -> dict[str, Any]:
    """The refused pod, whose words the scheduler wrote at four minutes, with somebody who wrote later or before."""
    pod, spoken = refused(), "2026-01-01T00:04:00Z"
    first = {"manager": "kubectl-create", "operation": "Update", "time": "2026-01-01T00:00:00Z"}
    said = {"manager": "kube-scheduler", "operation": "Update", "time": spoken, "subresource": "status"}
    other = {"manager": manager, "operation": "Update", "time": time}
    entries = [first, said, {**other, "subresource": subresource} if subresource else other]
    return {**pod, "metadata": {**pod["metadata"], "managedFields": entries, **more}}


@pytest.mark.parametrize(
    ("pod", "verdict"),
    [
        # A refusal of the pod as it was: the spec may be another one by now.
        (changed("2026-01-01T00:04:01Z"), Verdict.SCHEDULABLE),
        (changed("2026-01-01T00:03:59Z"), Verdict.SCHEDULER_ERROR),
        (changed("2026-01-01T00:04:00Z"), Verdict.UNKNOWN),
        # What the scheduler itself writes is no change of the pod, what others write into its status neither: but then
        # the pod's version is not that of the words.
        (changed("2026-01-01T00:04:01Z", "status", "kube-scheduler"), Verdict.SCHEDULER_ERROR),
        (changed("2026-01-01T00:04:01Z", "status", "kube-controller-manager"), Verdict.UNKNOWN),
        (changed("2026-01-01T00:03:59Z", "status", "kube-controller-manager"), Verdict.SCHEDULER_ERROR),
    ],
)
def test_a_refusal_of_the_pod_before_it_was_changed_is_history(pod: dict[str, Any], verdict: Verdict) -> None:
    assert of(pod, *cluster(99)).verdict is verdict


def test_a_pod_may_be_refused_in_the_second_in_which_it_was_made() -> None:
    made = "2026-01-01T00:04:00Z"
    pod = changed("2026-01-01T00:03:00Z", creationTimestamp=made)
    creator, scheduler, _ = pod["metadata"]["managedFields"]
    pod["metadata"]["managedFields"] = [{**creator, "time": made}, scheduler]
    assert of(pod, *cluster(99)).verdict is Verdict.SCHEDULER_ERROR
    # Somebody else wrote in that second: before the scheduler, or after it.
    pod["metadata"]["managedFields"].append({**creator, "manager": "kubectl-edit", "time": made})
    assert of(pod, *cluster(99)).verdict is Verdict.UNKNOWN


def test_words_about_an_earlier_spec_are_history() -> None:
    for observed, verdict in ((1, Verdict.SCHEDULABLE), (2, Verdict.SCHEDULER_ERROR), (0, Verdict.SCHEDULER_ERROR)):
        pod = refused()
        pod["metadata"]["generation"] = 2
        pod["status"]["conditions"][0]["observedGeneration"] = observed
        assert of(pod, *cluster(99)).verdict is verdict


@pytest.mark.parametrize(
    ("message", "lasts"),
    [
        (REFUSED, True),
        ('running Reserve plugin "DynamicResources": exceeded quota', True),
        ('binding rejected: running Bind plugin "DefaultBinder": pods "pod" is forbidden', True),
        ("binding rejected: no", True),
        ('running PreBind plugin "DynamicResources": the object has been modified; please apply your changes', False),
        ('running "DynamicResources" filter plugin: no such key', False),
        ("0/1 nodes are available: 1 cannot allocate all claims.", False),
    ],
)
def test_what_is_a_refusal(message: str, lasts: bool) -> None:
    assert is_refusal(message) is lasts
    assert (of(refused(message), *cluster(99)).verdict is Verdict.SCHEDULER_ERROR) is lasts


def test_what_does_not_fit_is_no_refusal() -> None:
    """But that an earlier attempt was refused is told."""
    nothing = (versioned(build.claim(), 99), versioned(build.device_class(), 99), build.node())
    found = of(refused(), *nothing)
    assert found.verdict is Verdict.UNSCHEDULABLE
    assert Code.API_ERROR_AT_BINDING in [cause.code for cause in found.causes[1:]]
    page = " ".join(said(found, refused(), *nothing)[1].split())
    assert page.count("team a has no budget") == 1
    assert "Scheduler, 60s ago (SchedulerError)" in page


def test_what_failed_in_an_earlier_attempt_is_told_with_the_present_one() -> None:
    event = build.event("pod", "FailedScheduling", REFUSED, time="2026-01-01T00:01:00Z")
    pod = refused("0/1 nodes are available: 1 cannot allocate all claims.", "Unschedulable")
    nothing = (versioned(build.claim(), 99), versioned(build.device_class(), 99), build.node())
    found = of(pod, event, *nothing)
    assert found.causes[0].code is not Code.API_ERROR_AT_BINDING
    page = said(found, pod, event, *nothing)[1]
    assert "An earlier attempt, 4m ago:" in page
    assert "team a has no budget" in " ".join(page.split())


# --- devices that are gone ------------------------------------------------------------------------------------------


def test_a_device_that_is_not_published_any_more_comes_first() -> None:
    pod, other = build.pod(claims=["claim"], node_name="node-1"), build.slice_("node-1", build.device("gpu-7"))
    failed = build.event("pod", "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: no such device")
    objects = (pod, held(), failed, build.node(), other)
    found = diagnose(*objects)
    assert [cause.code for cause in found.causes] == [Code.DEVICE_VANISHED, Code.KUBELET_FAILED]
    assert found.causes[0].detail == VanishedDevices((f"{build.DRIVER}/node-1/gpu-0",))
    assert "gpu-0 of ResourceClaim claim is not published any more" in said(found, *objects)[0]


def test_a_pod_that_has_no_node_yet_hears_of_it_too() -> None:
    objects = (build.pod(claims=["claim"]), held(), build.node(), build.slice_("node-1"))
    found = diagnose(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULABLE, Code.DEVICE_VANISHED)
    assert "would get its devices on node-1, but" in said(found, *objects)[0]


@pytest.mark.parametrize(
    ("slices", "withheld"),
    [
        ([build.slice_("node-1", build.device("gpu-0"))], ()),
        ([], ("ResourceSlice",)),
        ([build.slice_("node-1", pool="node-1") | {"spec": {"pool": {}}}], ("ResourceSlice",)),
    ],
)
def test_devices_that_are_there_or_may_be(slices: list[dict[str, Any]], withheld: tuple[str, ...]) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1")
    codes = [cause.code for cause in diagnose(pod, held(), build.node(), *slices, withheld=withheld).causes]
    assert Code.DEVICE_VANISHED not in codes


def test_a_pool_that_is_being_updated_may_still_have_it() -> None:
    part = build.slice_("node-1", build.device("gpu-1"))
    part["spec"]["pool"]["resourceSliceCount"] = 2
    pod = build.pod(claims=["claim"], node_name="node-1")
    assert Code.DEVICE_VANISHED not in [c.code for c in diagnose(pod, held(), build.node(), part).causes]


def test_claims_tell_it_too() -> None:
    running = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    inventory = facts.inventory([CLASS, running, held(), build.node()])
    found = diagnose_claim(inventory, facts.evidence(), features(), Key(build.NAMESPACE, "claim"))
    assert (found.verdict, found.causes[0].code) == (ClaimVerdict.RESERVED, Code.DEVICE_VANISHED)
    assert found.causes[0].detail == VanishedDevices((f"{build.DRIVER}/node-1/gpu-0",), (f"{build.DRIVER}/node-1",))


# --- who refuses ----------------------------------------------------------------------------------------------------


FOREIGN = "plugin NodeResourceTopologyMatch of its scheduler, which is not in the default profile, refused it"


@pytest.mark.parametrize(
    ("reason", "message", "code", "told"),
    [
        (
            "SchedulerError",
            'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition',
            Code.VOLUMES_AT_BINDING,
            "its volumes were not made or bound for the node that was chosen: binding volumes: timed out",
        ),
        (
            "SchedulerError",
            'Post "http://127.0.0.1:8888/filter": dial tcp 127.0.0.1:8888: connect: connection refused',
            Code.REFUSED_BY_ANOTHER,
            "its scheduler did not reach its extender http://127.0.0.1:8888/filter: dial tcp 127.0.0.1:8888: connect",
        ),
        (
            "SchedulerError",
            "failed filter with extender at URL http://gpu/filter, code 500",
            Code.REFUSED_BY_ANOTHER,
            "its scheduler's extender http://gpu/filter answered with HTTP 500.",
        ),
        (
            "SchedulerError",
            'running Score plugins: plugin "NodeResourceTopologyMatch" failed with: no such cache',
            Code.REFUSED_BY_ANOTHER,
            f"{FOREIGN}: no such cache",
        ),
        (
            "SchedulerError",
            'running PreScore plugin "Vendor": no such cache',
            Code.REFUSED_BY_ANOTHER,
            "plugin Vendor of its scheduler, which is not in the default profile, refused it: no such cache",
        ),
        (
            # The verb is a path of the extender's own.
            "SchedulerError",
            "failed gpushare-scheduler/filter with extender at URL http://gpu/gpushare-scheduler/filter, code 500",
            Code.REFUSED_BY_ANOTHER,
            "its scheduler's extender http://gpu/gpushare-scheduler/filter answered with HTTP 500.",
        ),
        (
            "SchedulerError",
            'running Reserve plugin "NodeResourceTopologyMatch": no such cache',
            Code.REFUSED_BY_ANOTHER,
            f"{FOREIGN} after a node and devices were chosen: no such cache",
        ),
        (
            "SchedulerError",
            'running "NodeResourceTopologyMatch" filter plugin: no such cache',
            Code.REFUSED_BY_ANOTHER,
            f"{FOREIGN}: no such cache",
        ),
        (
            "Unschedulable",
            "0/1 nodes are available: 1 rejected due to timeout after waiting 10m0s at plugin Coscheduling.",
            Code.REFUSED_BY_ANOTHER,
            "refused it: rejected due to timeout after waiting 10m0s at plugin Coscheduling",
        ),
    ],
)
def test_whose_refusal_it_is(reason: str, message: str, code: Code, told: str) -> None:
    pod = refused()
    pod["status"]["conditions"][0] |= {"reason": reason, "message": message}
    objects = (pod, *cluster(99))
    found = of(*objects)
    known = code is Code.VOLUMES_AT_BINDING
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULER_ERROR if known else Verdict.UNKNOWN, code)
    assert told in " ".join(said(found, *objects)[0].split())
    # A change since makes it history.
    later = of(pod, *cluster(101, created="2026-01-01T00:04:30Z"))
    assert later.verdict is Verdict.SCHEDULABLE


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            'Post "http://shares.kube-system.svc:32766/filter": dial tcp 10.96.0.7:32766: connect: connection refused',
            "Start what Service shares of namespace kube-system leads to, or make it reachable. Until then no pod that",
        ),
        (
            'Post "https://shares.gpu.svc.cluster.local/filter": context deadline exceeded',
            "What serves it: kubectl get endpointslices -l kubernetes.io/service-name=shares -n gpu",
        ),
        ('Post "http://localhost:8888/filter": EOF', "which runs on the machine of the scheduler itself, or make it"),
        ('Post "http://[::1/filter": EOF', "Start the server at this address, or make it reachable."),
        (
            "failed filter with extender at URL http://shares.gpu.svc/filter, code 503",
            "Read the log of what Service shares of namespace gpu leads to.",
        ),
    ],
)
def test_an_extender_is_found_by_its_address(message: str, told: str) -> None:
    pod = refused()
    pod["status"]["conditions"][0] |= {"reason": "SchedulerError", "message": message}
    objects = (pod, *cluster(99))
    page = " ".join(said(of(*objects), *objects)[1].split())
    assert told in page
    assert ("endpointslices" in page) == (".svc" in message)


# --- a search that takes too long -----------------------------------------------------------------------------------

TIMED_OUT = 'running "DynamicResources" filter plugin: node node-1: timed out trying to allocate devices'


def test_a_search_that_timed_out_since_the_last_change_is_the_verdict() -> None:
    objects = (refused(TIMED_OUT), *cluster(99))
    found = of(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.SCHEDULER_ERROR, Code.SEARCH_TIMEOUT)
    assert (found.message, found.agreement) == (TIMED_OUT, Agreement.AGREES)
    first, page = said(found, *objects)
    told = (
        "the scheduler's search for devices on node-1 takes longer than its time limit (10 seconds unless configured)"
    )
    assert " ".join(first.split()) == f"Pod ml/pod is pending, although it would fit on node-1: {told}."
    assert "one request with a count" in " ".join(page.split())
    assert "outdated" not in page
    assert Code.FITS_NOW not in [cause.code for cause in found.causes]


def test_a_search_that_timed_out_before_a_change_is_history() -> None:
    """A claim of another pod, too, holds devices or has released them; the node may be gone."""
    freed = versioned(build.claim("other"), 101, "2026-01-01T00:04:30Z")
    of_a_gone_node = refused(TIMED_OUT.replace("node-1", "node-7"))
    for objects, agreement in (
        ((refused(TIMED_OUT), freed, *cluster(99)), Agreement.STALE),
        ((of_a_gone_node, *cluster(99)), Agreement.UNTRACED),
    ):
        found = of(*objects)
        assert (found.verdict, found.agreement) == (Verdict.SCHEDULABLE, agreement)
    # What is older changes nothing.
    older = versioned(build.claim("other"), 98, "2026-01-01T00:00:10Z")
    assert of(refused(TIMED_OUT), older, *cluster(99)).causes[0].code is Code.SEARCH_TIMEOUT


# --- a claim that goes on being allocated -----------------------------------------------------------------------------

IN_FLIGHT = "0/1 nodes are available: resource claim ml/claim is in the process of being allocated."


def in_flight(times: int = 2_292_168, first: str = "2026-01-01T00:02:00Z", **spec: Any) -> tuple[dict[str, Any], ...]:
    """The pod and the event that tells how often the scheduler has said it."""
    pod = refused(IN_FLIGHT, "Unschedulable")
    event = build.event("pod", "FailedScheduling", IN_FLIGHT, time="2026-01-01T00:04:00Z")
    return {**pod, "spec": {**pod["spec"], **spec}}, {**event, "firstTimestamp": first, "count": times}


def test_a_claim_that_goes_on_being_allocated_is_the_verdict() -> None:
    objects = (*in_flight(), *cluster(99))
    found = of(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.UNSCHEDULABLE, Code.ALLOCATION_IN_FLIGHT)
    assert (found.message, found.agreement) == (IN_FLIGHT, Agreement.AGREES)
    first, page = said(found, *objects)
    wanted = "the scheduler finds claim claim still being allocated (2,292,168 times in 2m)."
    assert " ".join(first.split()) == f"Pod ml/pod is pending: {wanted}"
    assert "fit now" not in page


def test_a_claim_in_flight_is_shared_with_another_pod_of_the_group() -> None:
    group = {"schedulingGroup": {"podGroupName": "train"}}
    other = build.pod("other", claims=["claim"], **group)
    objects = (*in_flight(**group), other, *cluster(99))
    text = "still being allocated for another pod of PodGroup train, which shares it ("
    assert text in " ".join(said(of(*objects), *objects)[0].split())
    # One that has ended, and one of another group, do not allocate it.
    for each in (build.pod("other", claims=["claim"], phase="Failed", **group), build.pod("other", claims=["claim"])):
        objects = (*in_flight(**group), each, *cluster(99))
        assert "still being allocated (" in " ".join(said(of(*objects), *objects)[0].split())


def test_whether_a_claim_is_in_flight_still_may_not_be_known() -> None:
    objects = (*in_flight(), *cluster(None))
    found = of(*objects)
    assert (found.verdict, found.causes[0].code) == (Verdict.UNKNOWN, Code.ALLOCATION_IN_FLIGHT)
    first, page = said(found, *objects)
    assert first.endswith("unless something has changed since.")
    assert "Give each pod a claim of its own" in " ".join(page.split())


@pytest.mark.parametrize(
    "objects",
    [
        # A moment, or a few times: that is what an allocation takes.
        (*in_flight(times=3), *cluster(99)),
        (*in_flight(first="2026-01-01T00:03:30Z"), *cluster(99)),
        (in_flight()[0], *cluster(99)),
        # Something has changed since.
        (*in_flight(), *cluster(101, created="2026-01-01T00:04:30Z")),
        # It has been allocated.
        (*in_flight(), *cluster(99)[1:], versioned(build.claim(held=[("node-1", "gpu-0")]), 99)),
    ],
)
def test_a_claim_that_was_being_allocated_for_a_moment_is_no_reason(objects: tuple[dict[str, Any], ...]) -> None:
    found = of(*objects)
    assert found.verdict is Verdict.SCHEDULABLE
    assert Code.ALLOCATION_IN_FLIGHT not in [cause.code for cause in found.causes]
