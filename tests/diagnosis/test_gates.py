"""What keeps a pod from being tried at all: gates, claims, templates, quota, labels, other schedulers."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import (
    Agreement,
    ClaimEntry,
    NodeOutcome,
    ObjectRef,
    PodDiagnosis,
    QuotaShortage,
    Verdict,
)
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.state import diagnose_pod

POD = Key(build.NAMESPACE, "pod")
WORLD = (build.node(), build.device_class(), build.slice_("node-1", build.device("gpu-0")))


def diagnose(*objects: dict[str, Any], withheld: tuple[str, ...] = (), **gates: bool) -> PodDiagnosis:
    inventory = facts.inventory([*WORLD, *objects])
    return diagnose_pod(inventory, facts.evidence(*withheld), features(37, gates or None), POD)


def codes(found: PodDiagnosis) -> list[Code]:
    return [cause.code for cause in found.causes]


def entry(found: PodDiagnosis, position: int = 0) -> ClaimEntry:
    detail = found.causes[position].detail
    assert isinstance(detail, ClaimEntry)
    return detail


def template(name: str = "tmpl", *requests: dict[str, Any]) -> dict[str, Any]:
    devices = {"requests": list(requests) or [build.request()]}
    metadata = {"name": name, "namespace": build.NAMESPACE}
    return {"kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": {"devices": devices}}}


def recorded(pod: dict[str, Any], claim: str | None, name: str = "tmpl") -> dict[str, Any]:
    pod["status"]["resourceClaimStatuses"] = [{"name": name, **({"resourceClaimName": claim} if claim else {})}]
    return pod


def owned(claim: dict[str, Any], kind: str = "Pod", uid: str = "pod-pod", name: str = "pod") -> dict[str, Any]:
    version = "v1" if kind == "Pod" else "scheduling.k8s.io/v1beta1"
    owner = {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}
    claim["metadata"]["ownerReferences"] = [owner]
    return claim


# --- nothing is ever written ----------------------------------------------------------------------------------------


def test_a_missing_claim() -> None:
    near = build.claim("gpu-pool-a")
    elsewhere = build.claim("gpu-pool", namespace="ml-dev")
    found = diagnose(build.pod(claims=["gpu-pool"]), near, elsewhere)
    assert (found.verdict, found.message, found.reason, found.agreement) == (
        Verdict.GATED,
        "",
        "",
        Agreement.AGREES,
    )
    assert codes(found) == [Code.CLAIM_MISSING]
    assert entry(found).scheduler_text == 'could not find ResourceClaim "ml/gpu-pool"'
    assert entry(found).similar == (
        ObjectRef("ResourceClaim", "ml", "gpu-pool-a"),
        ObjectRef("ResourceClaim", "ml-dev", "gpu-pool"),
    )


def test_a_claim_that_could_not_be_read_is_not_missing() -> None:
    found = diagnose(build.pod(claims=["gpu-pool"]), withheld=("ResourceClaim",))
    assert found.verdict is Verdict.UNKNOWN
    assert codes(found) == [Code.EVIDENCE_MISSING]
    assert [m.rule.resource for m in found.missing if m.kind == "ResourceClaim"] == ["resourceclaims"]


def test_a_claim_that_is_being_deleted() -> None:
    deleting = build.claim(
        held=[("node-1", "gpu-0")], by=["other"], metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}
    )
    other = build.pod("other", claims=["claim"], node_name="node-1", phase="Running")
    found = diagnose(build.pod(claims=["claim"]), deleting, other)
    assert (found.verdict, codes(found)) == (Verdict.GATED, [Code.CLAIM_BEING_DELETED])
    assert entry(found).scheduler_text == 'resourceclaim "claim" is being deleted'
    assert entry(found).consumers == (ObjectRef("Pod", "ml", "other"),)
    # A reservation of a pod that is gone keeps nothing.
    assert entry(diagnose(build.pod(claims=["claim"]), deleting)).consumers == ()


def test_a_claim_of_a_former_pod_of_the_same_name() -> None:
    stale = owned(build.claim("pod-tmpl-abc"), uid="former")
    found = diagnose(recorded(build.pod(templates=["tmpl"]), "pod-tmpl-abc"), stale, template())
    assert (found.verdict, codes(found)) == (Verdict.GATED, [Code.CLAIM_NOT_OWNED])
    assert entry(found).scheduler_text == (
        "ResourceClaim ml/pod-tmpl-abc was not created for Pod ml/pod (Pod is not owner)"
    )


def test_a_directly_named_claim_may_have_any_owner() -> None:
    found = diagnose(build.pod(claims=["claim"]), owned(build.claim(), uid="somebody"))
    assert found.verdict is Verdict.SCHEDULABLE


def test_a_claim_of_the_pod_group_needs_the_feature() -> None:
    pod = recorded(build.pod(templates=["tmpl"], schedulingGroup={"podGroupName": "gang"}), "shared")
    claim = owned(build.claim("shared"), kind="PodGroup", uid="g", name="gang")
    without = diagnose(pod, claim)
    assert codes(without) == [Code.CLAIM_NOT_OWNED]
    gang = {"kind": "PodGroup", "metadata": {"name": "gang", "namespace": build.NAMESPACE, "uid": "g"}, "spec": {}}
    accepted = diagnose(pod, claim, gang, DRAWorkloadResourceClaims=True, GenericWorkload=True)
    assert (accepted.verdict, codes(accepted)) == (Verdict.SCHEDULABLE, [Code.FITS_NOW])
    assert [group.outcome for group in accepted.nodes] == [NodeOutcome.FITS]
    other = owned(build.claim("shared"), kind="PodGroup", uid="g", name="other")
    refused = diagnose(pod, other, DRAWorkloadResourceClaims=True, GenericWorkload=True)
    assert entry(refused).scheduler_text.endswith("(neither Pod nor PodGroup gang is the owner)")


def test_an_entry_without_source() -> None:
    pod = build.pod()
    pod["spec"]["resourceClaims"] = [{"name": "odd"}]
    found = diagnose(pod)
    assert codes(found) == [Code.CLAIM_SOURCE_UNKNOWN]
    assert entry(found).scheduler_text == (
        'pod "ml/pod", spec.resourceClaim "odd": none of the supported fields are set'
    )


def test_an_entry_that_needs_no_claim_is_skipped() -> None:
    found = diagnose(recorded(build.pod(templates=["tmpl"]), None), template())
    assert found.verdict is Verdict.SCHEDULABLE


def test_the_nested_form_of_old_servers() -> None:
    pod = build.pod()
    pod["spec"]["resourceClaims"] = [{"name": "a", "source": {"resourceClaimName": "claim"}}]
    assert diagnose(pod, build.claim()).verdict is Verdict.SCHEDULABLE
    assert codes(diagnose(pod)) == [Code.CLAIM_MISSING]


# --- templates ------------------------------------------------------------------------------------------------------


def test_a_claim_that_was_not_created_yet() -> None:
    found = diagnose(build.pod(templates=["tmpl"]), template())
    assert codes(found) == [Code.CLAIM_NOT_CREATED]
    assert entry(found).scheduler_text == 'pod "ml/pod": ResourceClaim not created yet'


def test_a_missing_template() -> None:
    found = diagnose(build.pod(templates=["tmpl"]), template("tmpl-a"))
    assert codes(found) == [Code.TEMPLATE_MISSING]
    assert entry(found).similar == (ObjectRef("ResourceClaimTemplate", "ml", "tmpl-a"),)


def test_a_template_that_could_not_be_read_is_not_missing() -> None:
    pod = build.pod(templates=["tmpl"])
    supposed = diagnose(pod, withheld=("ResourceClaimTemplate",))
    assert (supposed.verdict, codes(supposed)) == (Verdict.UNKNOWN, [Code.EVIDENCE_MISSING])
    # A pod of the server waits for its claim, whatever stands in the template.
    pod["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    found = diagnose(pod, withheld=("ResourceClaimTemplate",))
    assert (found.verdict, codes(found)) == (Verdict.GATED, [Code.CLAIM_NOT_CREATED])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("create ResourceClaim : admission webhook denied the request", Code.CLAIM_CREATION_FAILED),
        (
            'create ResourceClaim : resourceclaims "x" is forbidden: exceeded quota: q, requested: a=1, limited: a=1',
            Code.QUOTA_EXCEEDED,
        ),
        (
            "create ResourceClaim : admin access to devices requires the `resource.kubernetes.io/admin-access` label",
            Code.ADMIN_LABEL_MISSING,
        ),
    ],
)
def test_the_controllers_event_says_why(error: str, code: Code) -> None:
    event = build.event("pod", "FailedResourceClaimCreation", f"PodResourceClaim tmpl: {error}")
    found = diagnose(build.pod(templates=["tmpl"]), template(), event)
    assert codes(found) == [code]
    assert entry(found).event_message.endswith(error)


def test_events_of_other_entries_and_former_pods_do_not_count() -> None:
    other = build.event("pod", "FailedResourceClaimCreation", "PodResourceClaim other: no")
    former = build.event("pod", "FailedResourceClaimCreation", "PodResourceClaim tmpl: no")
    former["involvedObject"]["uid"] = "former"
    assert codes(diagnose(build.pod(templates=["tmpl"]), template(), other, former)) == [Code.CLAIM_NOT_CREATED]


def quota(name: str, hard: str, used: str) -> dict[str, Any]:
    status = {"hard": {name: hard}, "used": {name: used}}
    return {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "ml"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("name", "hard", "used", "exceeded"),
    [
        ("count/resourceclaims.resource.k8s.io", "2", "2", True),
        ("count/resourceclaims.resource.k8s.io", "3", "2", False),
        (f"{build.DRIVER}.deviceclass.resource.k8s.io/devices", "4", "1", True),
        (f"{build.DRIVER}.deviceclass.resource.k8s.io/devices", "5", "1", False),
        (f"requests.deviceclass.resource.kubernetes.io/{build.DRIVER}", "3", "0", True),
        ("requests.cpu", "0", "0", False),
    ],
)
def test_quota_that_the_claim_would_exceed(name: str, hard: str, used: str, exceeded: bool) -> None:
    four = template("tmpl", build.request(count=4))
    found = diagnose(build.pod(templates=["tmpl"]), four, quota(name, hard, used))
    assert codes(found) == [Code.QUOTA_EXCEEDED if exceeded else Code.CLAIM_NOT_CREATED]
    if exceeded:
        detail = found.causes[0].detail
        assert isinstance(detail, QuotaShortage)
        assert (detail.quota, detail.resource, detail.hard, detail.used) == ("q", name, hard, used)


def test_a_quota_that_could_not_be_read_is_known_by_the_controllers_event() -> None:
    name = f"{build.DRIVER}.deviceclass.resource.k8s.io/devices"
    error = f"exceeded quota: q, requested: {name}=4, used: {name}=1, limited: {name}=4"
    event = build.event("pod", "FailedResourceClaimCreation", f"PodResourceClaim tmpl: create ResourceClaim : {error}")
    four = template("tmpl", build.request(count=4))
    found = diagnose(build.pod(templates=["tmpl"]), four, event, withheld=("ResourceQuota",))
    assert codes(found) == [Code.QUOTA_EXCEEDED]
    assert found.causes[0].detail == QuotaShortage("q", name, "4", "1", "4")
    # Where quotas were read, what they say now counts.
    found = diagnose(build.pod(templates=["tmpl"]), four, event, quota(name, "8", "1"))
    assert not isinstance(found.causes[0].detail, QuotaShortage)


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ({}, Code.ADMIN_LABEL_MISSING),
        ({"resource.kubernetes.io/admin-access": "True"}, Code.ADMIN_LABEL_MISSING),
        ({"resource.kubernetes.io/admin-access": "true"}, Code.CLAIM_NOT_CREATED),
    ],
)
def test_admin_access_needs_the_label(labels: dict[str, str], code: Code) -> None:
    admin = template("tmpl", build.request(adminAccess=True))
    assert codes(diagnose(build.pod(templates=["tmpl"]), admin, build.namespace(**labels))) == [code]


@pytest.mark.parametrize(
    ("minor", "label"),
    [
        (37, "resource.kubernetes.io/admin-access"),
        (34, "resource.kubernetes.io/admin-access"),
        (33, "resource.k8s.io/admin-access"),
    ],
)
def test_the_label_for_admin_access_is_that_of_the_version(minor: int, label: str) -> None:
    admin = template("tmpl", build.request(adminAccess=True))
    assumed = features(minor, shown=("DynamicResourceAllocation", "DRAAdminAccess"))
    for labels, code in (({}, Code.ADMIN_LABEL_MISSING), ({label: "true"}, Code.CLAIM_NOT_CREATED)):
        world = [*WORLD, build.pod(templates=["tmpl"]), admin, build.namespace(**labels)]
        found = diagnose_pod(facts.inventory(world), facts.evidence(), assumed, POD)
        assert codes(found) == [code]
        assert entry(found).label == ("" if labels else label)


# --- gates and schedulers -------------------------------------------------------------------------------------------


def test_scheduling_gates_come_first_and_claims_are_told_too() -> None:
    pod = build.pod(claims=["nosuch"], schedulingGates=[{"name": "wait"}])
    found = diagnose(pod)
    assert codes(found) == [Code.SCHEDULING_GATES, Code.CLAIM_MISSING]
    assert (found.reason, found.message) == (
        "SchedulingGated",
        "Scheduling is blocked due to non-empty scheduling gates",
    )


def test_another_scheduler_decides_for_itself() -> None:
    pod = build.pod(claims=["claim"])
    pod["spec"]["schedulerName"] = "volcano"
    found = diagnose(pod, build.claim())
    assert (found.verdict, found.message) == (Verdict.OTHER_SCHEDULER, "")


def test_an_unset_scheduler_name_is_the_default() -> None:
    pod = build.pod(claims=["claim"])
    del pod["spec"]["schedulerName"]
    assert diagnose(pod, build.claim()).verdict is Verdict.SCHEDULABLE


@pytest.mark.parametrize(
    ("phase", "verdict"), [("Running", Verdict.NOT_PENDING), ("Succeeded", Verdict.ENDED), ("Failed", Verdict.ENDED)]
)
def test_pods_that_are_not_pending(phase: str, verdict: Verdict) -> None:
    assert diagnose(build.pod(node_name="node-1", phase=phase)).verdict is verdict


def test_a_pod_that_goes_away_is_not_scheduled_any_more() -> None:
    pod = build.pod(claims=["nosuch"])
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert diagnose(pod).verdict is Verdict.DELETING
