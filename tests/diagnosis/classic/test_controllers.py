"""1.31: claims of a control plane controller beside structured ones, and deallocation that is asked for."""

from __future__ import annotations

from typing import Any

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from tests.diagnosis.classic import build
from tests.diagnosis.classic.build import NEWER, Json

CLASS = {
    "apiVersion": NEWER,
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
}
NODE, POD = build.node(), build.pod("claim")


def claim(name: str = "claim", controller: str = "", **status: Any) -> Json:
    requests = [{"name": "gpu", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}]
    spec = {"devices": {"requests": requests}, **({"controller": controller} if controller else {})}
    metadata = {"name": name, "namespace": build.NAMESPACE, "uid": f"claim-{name}"}
    return {"apiVersion": NEWER, "kind": "ResourceClaim", "metadata": metadata, "spec": spec, "status": status}


def slice_(node: str = "node-1") -> Json:
    spec = {
        "driver": build.DRIVER,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "nodeName": node,
        "devices": [{"name": "gpu-0", "basic": {}}],
    }
    return {"apiVersion": NEWER, "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}


def diagnose(*objects: Json, **gates: bool) -> PodDiagnosis:
    return build.diagnose(*objects, CLASS, minor=31, **gates)


def codes(found: PodDiagnosis) -> list[Code]:
    return [cause.code for cause in found.causes]


def test_structured_claims_are_searched_as_later() -> None:
    assert diagnose(POD, NODE, claim(), slice_()).verdict is Verdict.SCHEDULABLE
    found = diagnose(POD, NODE, claim())
    assert found.message == "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable"


def test_deallocation_that_is_asked_for_admits_nobody() -> None:
    held = {"devices": {"results": []}, "controller": "ctl.example.com"}
    found = diagnose(POD, NODE, claim(controller="ctl.example.com", deallocationRequested=True, allocation=held))
    assert found.message == ("0/1 nodes are available: resourceclaim must be reallocated. no new claims to deallocate")
    assert codes(found) == [Code.DEALLOCATION_REQUESTED]


def test_the_controller_decides() -> None:
    found = diagnose(POD, NODE, claim(controller="ctl.example.com"))
    assert (found.verdict, found.message, codes(found)) == (
        Verdict.UNSCHEDULABLE,
        "waiting for resource driver",
        [Code.SCHEDULER_WILL_ASK],
    )
    talk = build.context("node-1", unsuitable={"claim": ["node-1"]}, version=NEWER)
    found = diagnose(POD, NODE, claim(controller="ctl.example.com"), talk)
    assert found.message == (
        "0/1 nodes are available: 1 resourceclaim cannot be allocated for the node (unsuitable). still not schedulable"
    )
    assert codes(found) == [Code.NODE_UNSUITABLE]


def test_a_structured_claim_beside_it_is_searched_after_the_controllers_answer() -> None:
    both = build.pod("claim", "own")
    objects = (both, NODE, claim(controller="ctl.example.com"), claim("own"))
    found = diagnose(*objects)
    assert found.message == "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable"
    assert codes(diagnose(*objects, slice_())) == [Code.NEVER_SELECTED]


def test_the_feature_is_off() -> None:
    found = diagnose(POD, NODE, claim(controller="ctl.example.com"), DRAControlPlaneController=False)
    assert found.message == (
        "0/1 nodes are available: resourceclaim depends on disabled DRAControlPlaneController feature. "
        "no new claims to deallocate"
    )
    assert codes(found) == [Code.CONTROLLER_DISABLED]


def test_a_class_limits_the_nodes_of_controllers_only() -> None:
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
    limited = {**CLASS, "spec": {**CLASS["spec"], "suitableNodes": {"nodeSelectorTerms": terms}}}  # type: ignore[dict-item]
    found = build.diagnose(POD, NODE, claim(controller="ctl.example.com"), limited, minor=31)
    assert found.message == "0/1 nodes are available: 1 excluded by device class node filter. still not schedulable"
    assert build.diagnose(POD, NODE, claim(), slice_(), limited, minor=31).verdict is Verdict.SCHEDULABLE


def test_a_missing_class_is_told_as_for_all() -> None:
    found = build.diagnose(POD, NODE, claim(controller="ctl.example.com"), minor=31)
    assert found.message == (
        "0/1 nodes are available: request gpu: device class gpu does not exist. no new claims to deallocate"
    )
    assert codes(found) == [Code.CLASS_MISSING]
