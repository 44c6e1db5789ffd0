"""Someone who may read one namespace only: how many devices match, and who of that namespace holds them."""

from __future__ import annotations

from typing import Any

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.pending.pending import PendingReport, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.output.pending.test_situations import DRIVER, POD, page_of

UNREAD = "who holds them in other namespaces could not be read"
H100 = f'device.attributes["{DRIVER}"].model == "H100"'
SLICE = build.slice_(
    "node-1",
    *(build.device(f"gpu-{n}", attributes={"model": model}) for n, model in enumerate(["H100", "H100", "L40"])),
)
CLAIM = build.claim("claim", build.request(selector=H100))


def report_of(*objects: dict[str, Any], hidden: tuple[str, ...] = ("Pod", "ResourceClaim")) -> PendingReport:
    """``hidden`` kinds were read in namespace ml only."""
    complete = tuple(read for read in facts.evidence().reads if read.kind not in hidden)
    here = [(Read(kind, coverage=Coverage.FORBIDDEN), Read(kind, "ml")) for kind in hidden]
    evidence = Evidence((*complete, *(read for reads in here for read in reads)), server_version=(1, 37))
    inventory = facts.inventory([build.device_class(), build.node(), POD, *objects])
    world = ClusterState(inventory, evidence, features(), CLOCK)
    found = Diagnoser(world).pod(Key("ml", "pod"))
    return pending_report(found, world, ways=find_remedies(world, found))


def holder(name: str, device: str) -> tuple[dict[str, Any], dict[str, Any]]:
    claim = build.claim(f"of-{name}", held=[("node-1", device)], on="node-1", by=[name])
    return claim, build.pod(name, claims=[f"of-{name}"], node_name="node-1", phase="Running")


def test_that_nobody_in_the_namespace_holds_those_that_match() -> None:
    report = report_of(SLICE, CLAIM, *holder("notebook", "gpu-2"))
    assert report.code is Code.EVIDENCE_MISSING
    page = page_of(report)
    assert f"2 devices match the request; nobody in namespace ml holds any of them, and {UNREAD}." in page
    assert "kubectl create clusterrole " in page


def test_who_holds_some_of_them_is_named() -> None:
    page = page_of(report_of(SLICE, CLAIM, *holder("notebook", "gpu-0")))
    assert "2 devices match the request; 1 is in use in namespace ml (notebook), and who holds the others in " in page


def test_of_several_requests_each_is_told() -> None:
    claim = build.claim("claim", build.request("a", selector=H100), build.request("b"))
    page = page_of(report_of(SLICE, claim))
    assert "2 devices match request a; nobody" in page
    assert "3 devices match request b; nobody" in page


def test_without_the_slices_nothing_is_counted() -> None:
    report = report_of(SLICE, CLAIM, hidden=("Pod", "ResourceClaim", "ResourceSlice"))
    assert report.code is Code.EVIDENCE_MISSING
    assert report.visible == ()


def test_a_verdict_that_is_certain_needs_no_such_count() -> None:
    claim = build.claim("claim", build.request(count=2, selector=H100))
    report = report_of(SLICE, claim, *holder("notebook", "gpu-0"))
    assert report.code is Code.DEVICES_IN_USE
    assert report.visible == ()


def test_without_the_slices_what_claims_hold_is_in_use() -> None:
    """Own holders first; devices that an administrator only looks at are not in use."""
    seen = build.claim("seen", held=[("node-1", "gpu-3")], on="node-1", by=["watcher"])
    seen["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    other = build.claim("theirs", namespace="lab", held=[("node-2", "gpu-0")], on="node-2", by=["far"])
    beside = build.claim(
        "beside", namespace="lab", held=[("node-1", f"gpu-{n}") for n in (1, 2)], on="node-1", by=["nb"]
    )
    report = report_of(CLAIM, *holder("notebook", "gpu-0"), seen, other, beside, hidden=("ResourceSlice",))
    assert report.code is Code.EVIDENCE_MISSING
    page = page_of(report)
    told = f"3 devices of class {DRIVER} are allocated on node-1 (notebook 1, lab/nb 2) and 1 on node-2 (lab/far)."
    assert f"{told} How many these nodes have could not be read." in page
    assert "watcher" not in page


def test_of_another_class_nothing_is_told() -> None:
    other = build.claim("other", build.request(cls="other"), held=[("node-1", "gpu-0")], on="node-1", by=["nb"])
    page = page_of(report_of(build.device_class("other"), CLAIM, other, hidden=("ResourceSlice",)))
    assert "allocated" not in page


def test_shares_of_one_device_are_one_device_and_of_many_nodes_the_rest_is_a_number() -> None:
    shared = [build.claim(f"s{n}", held=[("node-0", "gpu-0")], on="node-0", by=[f"s{n}"]) for n in range(3)]
    there = [build.claim(f"c{n}", held=[(f"node-{n}", "gpu-0")], on=f"node-{n}", by=[f"c{n}"]) for n in range(1, 7)]
    page = page_of(report_of(CLAIM, *shared, *there, hidden=("ResourceSlice",)))
    assert f"1 device of class {DRIVER} is allocated on node-0 (s0 1, s1 1, s2 1)" in page
    assert "and 3 on 3 more nodes. How many these nodes have could not be read." in page


def test_own_replicas_that_hold_several_classes_are_one_entry_of_a_node() -> None:
    """And where there are as many nodes as the scheduler says lack devices, these are probably the same."""
    maker = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
    held = []
    for name, node in (("r1", "node-1"), ("r2", "node-2")):
        both = [build.request("gpu"), build.request("nic", cls="nic")]
        claim = build.claim(f"c-{name}", *both, held=[(node, "gpu-0"), (node, "nic-0")], on=node, by=[name])
        claim["status"]["allocation"]["devices"]["results"][1]["request"] = "nic"
        pod = build.pod(name, claims=[f"c-{name}"], node_name=node)
        pod["metadata"]["ownerReferences"] = [maker]
        held += [claim, pod]
    waits = build.claim("claim", build.request("gpu"), build.request("nic", cls="nic"))
    for lacking, told in ((2, True), (3, False)):
        pod = build.pod(claims=["claim"])
        pod["metadata"]["ownerReferences"] = [maker]
        others = f"{4 - lacking} node(s) were unschedulable"
        said = f"0/4 nodes are available: {others}, {lacking} cannot allocate all claims."
        pod["status"]["conditions"] = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said}
        ]
        page = page_of(report_of(build.device_class("nic"), waits, *held, pod, hidden=("ResourceSlice", "Node")))
        first = f"1 device of class {DRIVER} and 1 of class nic are allocated on node-1 (its own replica r1)"
        assert f"{first} and 1 of class {DRIVER} and 1 of class nic on node-2 (its own replica r2)." in page
        assert ("These are probably the 2 nodes that only lack devices." in page) is told
