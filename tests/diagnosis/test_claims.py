"""Verdicts of claims, pending pods, workloads, quota arithmetic, label labels."""

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import NotFound
from kubectl_dra.diagnosis.pod.workloads import Owners, resolve_workload
from kubectl_dra.diagnosis.records import ClaimDiagnosis, ClaimVerdict, Consumers, ObjectRef
from kubectl_dra.model import labels
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from tests.kit import build, facts
from tests.kit.state import diagnose_claim, diagnose_pod, state_of

CLAIM = Key(build.NAMESPACE, "claim")
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def diagnose(*objects: dict[str, Any], withheld: tuple[str, ...] = (), claim: Key = CLAIM) -> ClaimDiagnosis:
    held = any("allocation" in each.get("status", {}) for each in objects)
    there = [build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))] if held else []
    return diagnose_claim(facts.inventory([*there, *objects]), facts.evidence(*withheld), features(), claim)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (build.claim(), ClaimVerdict.PENDING),
        (build.claim(held=[]), ClaimVerdict.ALLOCATED),
        (build.claim(held=[("node-1", "gpu-0")]), ClaimVerdict.UNRESERVED),
        (build.claim(held=[("node-1", "gpu-0")], by=["pod"]), ClaimVerdict.RESERVED),
        (build.claim(held=[("node-1", "gpu-0")], by=["pod"], metadata=DELETED), ClaimVerdict.DELETING),
        (build.claim(metadata=DELETED), ClaimVerdict.DELETING),
    ],
)
def test_states(claim: dict[str, Any], verdict: ClaimVerdict) -> None:
    pod = build.pod(claims=["claim"], node_name="node-1", phase="Running")
    assert diagnose(claim, pod).verdict is verdict


def test_a_claim_that_no_pod_uses() -> None:
    assert [c.code for c in diagnose(build.claim()).causes] == [Code.CLAIM_WAITS_FOR_POD]
    waiting = diagnose(build.claim(), build.pod(claims=["claim"]))
    assert waiting.waiting_pods == (ObjectRef("Pod", "ml", "pod"),)
    assert Code.CLAIM_WAITS_FOR_POD not in [c.code for c in waiting.causes]
    # Who may not list pods can't say that there are none.
    unread = diagnose(build.claim(), withheld=("Pod",))
    assert [c.code for c in unread.causes] == [Code.EVIDENCE_MISSING]


def test_a_claim_waits_for_what_its_pod_waits_for() -> None:
    """What concerns this claim before what concerns another one of the pod."""
    mine, other = build.claim("mine", build.request(cls="here")), build.claim("other", build.request(cls="nowhere"))
    here, pod = build.device_class("here"), build.pod(claims=["other", "mine"])
    found = diagnose(mine, other, here, pod, build.node(), claim=Key(build.NAMESPACE, "mine"))
    assert [c.code for c in found.causes] == [Code.CLASS_MISSING]
    found = diagnose(mine, here, build.pod(claims=["mine"]), build.node(), claim=Key(build.NAMESPACE, "mine"))
    assert [(c.code, c.claim) for c in found.causes] == [
        (Code.NO_DEVICE_IN_CLASS, ObjectRef("ResourceClaim", "ml", "mine"))
    ]


def test_devices_that_nobody_uses() -> None:
    found = diagnose(build.claim(held=[("node-1", "gpu-0")], on="node-1"))
    assert [c.code for c in found.causes] == [Code.CLAIM_UNUSED]
    assert (found.devices, found.usable_on) == (("gpu.example.com/node-1/gpu-0",), ("node-1",))


@pytest.mark.parametrize(
    ("pod", "gone"),
    [
        (build.pod(claims=["claim"], node_name="node-1", phase="Running"), False),
        (build.pod(claims=["claim"], node_name="node-1", phase="Succeeded"), True),
        ({**build.pod(), "metadata": {"name": "pod", "namespace": "ml", "uid": "another"}}, True),
        (build.pod("somebody-else"), True),
    ],
)
def test_consumers_that_are_gone(pod: dict[str, Any], gone: bool) -> None:
    found = diagnose(build.claim(held=[("node-1", "gpu-0")], by=["pod"]), pod)
    assert (Code.CONSUMER_GONE in [c.code for c in found.causes]) is gone


def test_deletion_waits_for_consumers() -> None:
    running = build.pod("a", claims=["claim"], node_name="node-1", phase="Running")
    found = diagnose(build.claim(held=[("node-1", "gpu-0")], by=["a", "b"], metadata=DELETED), running)
    assert [c.code for c in found.causes] == [Code.CLAIM_KEPT_BY_CONSUMERS]
    assert found.causes[0].detail == Consumers(
        (ObjectRef("Pod", "ml", "a"),),
        (ObjectRef("Pod", "ml", "b"),),
        ("resource.kubernetes.io/delete-protection",),
    )


def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound, match="ResourceClaim ml/claim"):
        diagnose()
    with pytest.raises(NotFound, match="Pod ml/nobody"):
        diagnose_pod(facts.inventory([]), facts.evidence(), features(), Key("ml", "nobody"))


# --- pending pods ---------------------------------------------------------------------------------------------------


def test_which_pods_count_as_pending() -> None:
    labelled = build.pod("labelled", claims=["claim"])
    labelled["metadata"]["labels"] = {"app": "a"}
    other_namespace = build.pod("elsewhere", claims=["claim"])
    other_namespace["metadata"]["namespace"] = "other"
    going = build.pod("going", claims=["claim"])
    going["metadata"] |= DELETED
    inventory = facts.inventory(
        [
            build.device_class(extendedResourceName="example.com/gpu"),
            labelled,
            other_namespace,
            going,
            build.pod("gated", templates=["t"], schedulingGates=[{"name": "g"}]),
            build.pod("bound", claims=["claim"], node_name="node-1"),
            build.pod("running", claims=["claim"], node_name="node-1", phase="Running"),
            build.pod("plain", requests={"cpu": "1"}),
            build.pod("extended", requests={"example.com/gpu": "1"}),
            build.pod("unserved", requests={"example.com/fpga": "1"}),
            build.pod("implicit", requests={"deviceclass.resource.kubernetes.io/nosuch": "1"}),
        ]
    )
    state = state_of(inventory, features=features())
    names = [str(key) for key in pending_pods(state)]
    assert names == ["ml/bound", "ml/extended", "ml/gated", "ml/implicit", "ml/labelled", "other/elsewhere"]
    assert pending_pods(state, "other") == (Key("other", "elsewhere"),)
    assert pending_pods(state, None, labels.parse("app=a")) == (Key("ml", "labelled"),)


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=a", True),
        ("app==a,tier=web", True),
        ("app!=a", False),
        ("missing!=a", True),
        ("app in (b, a)", True),
        ("app notin (b,c),tier", True),
        ("app in(b,a)", True),
        ("!missing", True),
        ("!app", False),
        ("replica>1", True),
        ("replica<2", False),
        ("empty=", True),
        ("example.com/x=y", True),
    ],
)
def test_label_selectors(text: str, matches: bool) -> None:
    found = {"app": "a", "tier": "web", "replica": "2", "empty": "", "example.com/x": "y"}
    assert labels.parse(text)(found) is matches


@pytest.mark.parametrize("text", ["=a", "app in a", "a b", "app=a=b", "app in (", "app=/"])
def test_what_is_no_label_selector(text: str) -> None:
    with pytest.raises(labels.SelectorError):
        labels.parse(text)


# --- workloads ------------------------------------------------------------------------------------------------------


def owned(item: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    item["metadata"]["ownerReferences"] = [{"kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}]
    return item


def workload(kind: str, name: str, uid: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "ml", "uid": uid or f"{kind}-{name}"}}


def _top(inventory: Inventory, name: str) -> ObjectRef | None:
    owner = Owners(inventory).top(inventory.pods[Key("ml", name)])
    return owner.ref if owner is not None else None


def test_pods_of_workloads() -> None:
    inventory = facts.inventory(
        [
            workload("Deployment", "web"),
            owned(workload("ReplicaSet", "web-1"), "Deployment", "web"),
            owned(build.pod("web-1-b"), "ReplicaSet", "web-1"),
            owned(build.pod("web-1-a"), "ReplicaSet", "web-1"),
            workload("CronJob", "nightly"),
            owned(workload("Job", "nightly-1"), "CronJob", "nightly"),
            owned(build.pod("nightly-1-a"), "Job", "nightly-1"),
            owned(build.pod("train-0"), "TrainJob", "train"),
            build.pod("alone"),
        ]
    )

    def names(kind: str, name: str) -> list[str]:
        return [pod.metadata.name for pod in resolve_workload(inventory, kind, Key("ml", name))]

    assert names("Deployment", "web") == ["web-1-a", "web-1-b"]
    assert names("ReplicaSet", "web-1") == ["web-1-a", "web-1-b"]
    assert names("CronJob", "nightly") == ["nightly-1-a"]
    # Kinds that nobody has heard of work too.
    assert names("TrainJob", "train") == ["train-0"]
    assert names("Deployment", "nothing") == []
    assert _top(inventory, "web-1-a") == ObjectRef("Deployment", "ml", "web")
    assert _top(inventory, "alone") is None


def test_pods_of_a_former_workload_of_the_same_name() -> None:
    pod = owned(build.pod("web-1-a"), "ReplicaSet", "web-1")
    inventory = facts.inventory([workload("ReplicaSet", "web-1", uid="new"), pod])
    assert resolve_workload(inventory, "ReplicaSet", Key("ml", "web-1")) == ()


def test_owners_in_a_circle_end() -> None:
    inventory = facts.inventory(
        [
            owned(workload("ReplicaSet", "a"), "ReplicaSet", "b"),
            owned(workload("ReplicaSet", "b"), "ReplicaSet", "a"),
            owned(build.pod("p"), "ReplicaSet", "a"),
        ]
    )
    assert _top(inventory, "p") is not None


# --- quota ----------------------------------------------------------------------------------------------------------


def test_what_a_claim_is_charged() -> None:
    alternatives = [
        {"name": "a", "deviceClassName": "big", "allocationMode": "ExactCount", "count": 1},
        {"name": "b", "deviceClassName": "small", "allocationMode": "ExactCount", "count": 2},
        {"name": "c", "deviceClassName": "small", "allocationMode": "ExactCount", "count": 4},
    ]
    claim = build.claim(
        "claim",
        build.request("x", cls="big", count=2),
        build.request("all", cls="nic", allocationMode="All"),
        {"name": "y", "firstAvailable": alternatives},
    )
    inventory = facts.inventory([claim, build.device_class("small", extendedResourceName="example.com/small")])
    spec = inventory.claims[CLAIM].spec
    per_class = quota.PER_CLASS_SUFFIX
    assert quota.usage(spec, inventory.classes, extended=False) == {
        quota.OBJECT_COUNT: 1,
        f"big{per_class}": 3,
        f"nic{per_class}": 32,
        f"small{per_class}": 4,
    }
    extended = quota.usage(spec, inventory.classes)
    assert extended["requests.example.com/small"] == 4
    assert extended["requests.deviceclass.resource.kubernetes.io/nic"] == 32
