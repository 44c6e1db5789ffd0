"""Ways out where a volume is to be made elsewhere than the devices are, and causes of several kinds in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies.actions import ClearSelectedNode, MoveVolume, WidenTopology
from kubectl_dra.output.pending.remedies import remedy_text
from kubectl_dra.reports.pending.pending import PendingReport
from tests.diagnosis.test_volumes import DATA, ZONE, claim, only, storage_class, volume
from tests.kit import build
from tests.output.pending.test_situations import first_line, page_of, report_of

PVC = ObjectRef("PersistentVolumeClaim", "ml", "data")
PROVISIONED = {"provisioner": "ebs.csi.aws.com"}


def cluster(*objects: dict[str, Any], **pod: Any) -> PendingReport:
    """A pod with a volume: node-1 in zone a has the device, node-2 in zone b has none."""
    nodes = [build.node(f"node-{i}", labels={ZONE: zone}) for i, zone in ((1, "a"), (2, "b"))]
    slice_ = build.slice_("node-1", build.device("gpu-0"))
    wanting = build.pod(claims=["claim"], **pod)
    wanting["metadata"]["labels"] = {"app": "web"}
    return report_of(wanting, build.claim(), slice_, *nodes, *objects)


def allowing(*zones: str, **more: str) -> dict[str, Any]:
    found = {ZONE: list(zones), **{key: [value] for key, value in more.items()}}
    terms = [{"matchLabelExpressions": [{"key": key, "values": values} for key, values in found.items()]}]
    return storage_class(**PROVISIONED, allowedTopologies=terms)


def with_selected(node: str) -> dict[str, Any]:
    found = claim(storageClassName="s")
    found["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = node
    return found


@pytest.mark.parametrize("selected", ["node-2", "node-that-is-gone"])
def test_a_node_that_was_selected_for_a_volume_is_given_up(selected: str) -> None:
    report = cluster(with_selected(selected), storage_class(**PROVISIONED), volumes=[DATA])
    assert report.code is Code.VOLUME_ELSEWHERE
    way = report.remedies[0]
    gone = selected == "node-that-is-gone"
    assert (way.actions, way.verified, way.nodes) == ((ClearSelectedNode(PVC, selected, gone),), True, ("node-1",))
    assert ("is to be provisioned for node node-that-is-gone, which does not exist" in first_line(report)) == gone
    assert ("unless PersistentVolumeClaim" in page_of(report)) != gone
    (step,) = way.steps
    assert step.commands == (
        ("kubectl", "annotate", "persistentvolumeclaim/data", "-n", "ml", "volume.kubernetes.io/selected-node-"),
    )
    assert "annotation volume.kubernetes.io/selected-node" in " ".join(page_of(report).split())


def test_a_node_that_was_selected_stays_where_that_does_not_help() -> None:
    claimed = build.claim("other", held=[("node-1", "gpu-0")], by=["elsewhere"])
    report = cluster(with_selected("node-2"), storage_class(**PROVISIONED), claimed, volumes=[DATA])
    actions = [action for way in report.remedies if way.verified for action in way.actions]
    assert not any(isinstance(action, ClearSelectedNode) for action in actions)


def test_a_class_makes_volumes_where_the_devices_are_too() -> None:
    report = cluster(claim(storageClassName="s"), allowing("c", "d"), volumes=[DATA])
    (way,) = [way for way in report.remedies if way.verified]
    field = "allowedTopologies[0].matchLabelExpressions[0]"
    assert (way.actions, way.nodes) == ((WidenTopology("s", field, ZONE, "a"),), ("node-1",))
    (step,) = way.steps
    patch = '[{"op": "add", "path": "/allowedTopologies/0/matchLabelExpressions/0/values/-", "value": "a"}]'
    assert step.commands == (("kubectl", "patch", "storageclass/s", "--type=json", "-p", patch),)
    page = page_of(report)
    assert "allow StorageClass s to provision volumes for" in page
    assert f"{ZONE}=a too, if its driver can" in page


OTHER_CLASSES = [
    ("wide", {**PROVISIONED, "metadata": {"name": "wide"}}),
    ("", {**PROVISIONED, "metadata": {"name": "at-once"}, "volumeBindingMode": "Immediate"}),
    ("", {"provisioner": "kubernetes.io/no-provisioner", "metadata": {"name": "static"}}),
]


@pytest.mark.parametrize(("offered", "other"), OTHER_CLASSES)
@pytest.mark.parametrize("present", [allowing("c", "d"), storage_class(provisioner="kubernetes.io/no-provisioner")])
def test_another_class_for_a_claim_without_a_volume(
    offered: str, other: dict[str, Any], present: dict[str, Any]
) -> None:
    report = cluster(claim(storageClassName="s"), present, {**storage_class(), **other}, volumes=[DATA])
    ways = [way for way in report.remedies if way.verified and isinstance(way.actions[0], MoveVolume)]
    if not offered:
        assert ways == []
        return
    assert report.remedies[0] == ways[0]
    assert [way.actions for way in ways] == [(MoveVolume(PVC, "", "wide", "s", "ebs.csi.aws.com"),)]
    assert ways[0].nodes == ("node-1",)
    (step,) = ways[0].steps
    patch = '[{"op": "add", "path": "/spec/storageClassName", "value": "wide"}]'
    assert step.commands[0][:7] == ("kubectl", "patch", "pvc/data", "-n", "ml", "--type=json", "-p")
    assert step.commands[0][7] == patch
    assert step.commands[1] == ("kubectl", "replace", "--force", "-f", "-")
    told = "which has no volume yet, with storageClassName wide (provisioner ebs.csi.aws.com) instead of s"
    assert told in remedy_text(ways[0])


def test_another_class_for_a_volume_that_is_elsewhere() -> None:
    """Its data has to be copied, so that the class it has comes first."""
    bound = claim(storageClassName="s", volumeName="pv")
    wide = {**storage_class(**PROVISIONED), "metadata": {"name": "wide"}}
    for present, action in (
        (allowing("b"), MoveVolume(PVC, "pv", "wide", "s", "ebs.csi.aws.com")),
        (storage_class(**PROVISIONED), MoveVolume(PVC, "pv", "s")),
    ):
        report = cluster(bound, volume(**only("b")), present, wide, volumes=[DATA])
        assert [way.actions for way in report.remedies if way.verified] == [(action,)]


def test_a_class_for_nodes_with_a_label_that_none_has_is_not_widened() -> None:
    report = cluster(claim(storageClassName="s"), allowing("a", rack="r1"), volumes=[DATA])
    assert not any(way.verified for way in report.remedies)


@pytest.mark.parametrize("there", [volume(**only("b")), volume({ZONE: "b"})])
def test_a_volume_is_made_anew_where_the_devices_are(there: dict[str, Any]) -> None:
    bound_claim = claim(storageClassName="s", volumeName="pv")
    report = cluster(bound_claim, there, storage_class(**PROVISIONED), volumes=[DATA])
    assert report.code is Code.VOLUME_ELSEWHERE
    (way,) = [way for way in report.remedies if way.verified]
    assert (way.actions, way.nodes, way.steps) == ((MoveVolume(PVC, "pv", "s"),), ("node-1",), ())
    assert remedy_text(way) == (
        "replace PersistentVolumeClaim ml/data with a new one, after copying its data: StorageClass s makes its volume "
        "where the pod goes, which cannot reach volume pv"
    )


@pytest.mark.parametrize(
    "of_class",
    [
        # Made before any pod is scheduled: nobody knows where.
        storage_class(**PROVISIONED, volumeBindingMode="Immediate"),
        storage_class(provisioner="kubernetes.io/no-provisioner"),
        allowing("b"),
    ],
)
def test_a_volume_that_would_not_be_made_where_the_devices_are_is_not_moved(of_class: dict[str, Any]) -> None:
    report = cluster(claim(storageClassName="s", volumeName="pv"), volume(**only("b")), of_class, volumes=[DATA])
    actions = [action for way in report.remedies if way.verified for action in way.actions]
    assert not any(isinstance(action, MoveVolume) for action in actions)


def test_a_volume_that_another_pod_uses_is_not_moved_away_from_it() -> None:
    user = build.pod("user", node_name="node-2", phase="Running", volumes=[DATA])
    bound_claim = claim(storageClassName="s", volumeName="pv", accessModes=["ReadWriteOnce"])
    report = cluster(bound_claim, volume(**only("b")), storage_class(**PROVISIONED), user, volumes=[DATA])
    assert not any(isinstance(action, MoveVolume) for way in report.remedies for action in way.actions)


def test_where_to_look_for_a_claim_that_is_bound_before_pods_are_scheduled() -> None:
    immediate = storage_class(**PROVISIONED, volumeBindingMode="Immediate")
    page = page_of(cluster(claim(storageClassName="s"), immediate, volumes=[DATA]))
    assert "kubectl describe persistentvolumeclaim/data -n ml" in page
    assert "kubectl describe storageclass/s" in page
    assert "Read the events of the claim: they say why no volume is provisioned." in page


# --- devices and something else ---------------------------------------------------------------------------------------

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERM = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
_EVEN = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **_TERM}


@pytest.mark.parametrize(
    ("spec", "objects", "obstacle"),
    [
        (
            {"topologySpreadConstraints": [_EVEN]},
            (),
            f"is in {ZONE}=a, which already has 1 pod with app=web, ml/web (the emptiest has 0, maxSkew 1)",
        ),
        (
            {"affinity": {"podAntiAffinity": {_REQUIRED: [_TERM]}}},
            (),
            f"shares {ZONE} with ml/web on node-1, which its own anti-affinity excludes (pods with app=web)",
        ),
        (
            {"affinity": {"podAffinity": {_REQUIRED: [{**_TERM, "labelSelector": {"matchLabels": {"app": "db"}}}]}}},
            (),
            f"has no pod with app=db that its affinity requires (per {ZONE}; such pods run on node-2)",
        ),
    ],
)
def test_devices_on_one_node_and_everything_else_on_another_are_one_sentence(
    spec: dict[str, Any], objects: tuple[dict[str, Any], ...], obstacle: str
) -> None:
    beside = [build.pod(name, node_name=node, phase="Running") for name, node in (("web", "node-1"), ("db", "node-2"))]
    for each in beside:
        each["metadata"]["labels"] = {"app": each["metadata"]["name"]}
    report = cluster(*beside, *objects, **spec)
    assert first_line(report) == (
        f"Pod ml/pod is pending: node-1 has the device but {obstacle}; node-2 has no gpu.example.com devices."
    )


@pytest.mark.parametrize("where", [only("b"), {"labels": {ZONE: "b"}}])
def test_a_volume_says_where_it_can_be_attached_and_what_is_there(where: dict[str, Any]) -> None:
    there = volume(where["labels"]) if "labels" in where else volume(**where)
    assert first_line(cluster(claim(volumeName="pv"), there, volumes=[DATA])) == (
        f"Pod ml/pod is pending: its volume (PersistentVolumeClaim ml/data) can only be attached on nodes "
        f"with {ZONE}=b: there node-2 has no gpu.example.com devices; node-1 has the device but cannot attach it."
    )


def test_zones_that_are_full_are_each_told_with_their_own_nodes() -> None:
    """node-1 is in zone a, node-3 in zone c, and each has a pod; the emptiest zone, b, has no devices."""
    beside = [build.pod(name, node_name=node, phase="Running") for name, node in (("w1", "node-1"), ("w3", "node-3"))]
    for each in beside:
        each["metadata"]["labels"] = {"app": "web"}
    more = [build.node("node-3", labels={ZONE: "c"}), build.slice_("node-3", build.device("gpu-0"))]
    line = first_line(cluster(*beside, *more, topologySpreadConstraints=[_EVEN]))
    assert f"node-1 has the device but is in {ZONE}=a, which already has 1 pod" in line
    assert f"node-3 has the device but is in {ZONE}=c, which already has 1 pod" in line


def test_a_new_node_has_to_be_where_the_volume_can_be_attached() -> None:
    """Both zones have a node with a device; the one where the volume is has it in use."""
    objects: list[dict[str, Any]] = []
    for name, zone in (("node-1", "a"), ("node-2", "b")):
        objects += [build.node(name, labels={ZONE: zone}), build.slice_(name, build.device("gpu-0"))]
    held = build.claim("held", held=[("node-2", "gpu-0")], by=["nb"], on="node-2")
    objects += [held, build.pod("nb", claims=["held"], node_name="node-2", phase="Running")]
    wanting = build.pod(claims=["claim"], volumes=[DATA])
    report = report_of(*objects, claim(volumeName="pv"), volume(**only("b")), build.claim(), wanting)
    assert f"Or add hardware: a node like node-2, with {ZONE}=b." in page_of(report)


@pytest.mark.parametrize("provisioned", [True, False])
def test_a_volume_of_a_node_that_is_gone_says_so(*, provisioned: bool) -> None:
    host = "kubernetes.io/hostname"
    there = volume(nodeAffinity=of_hosts(host, "In"))
    class_ = storage_class(**(PROVISIONED if provisioned else {"provisioner": "kubernetes.io/no-provisioner"}))
    report = cluster(claim(storageClassName="s", volumeName="pv"), there, class_, volumes=[DATA])
    told = f"can only be reached from nodes with {host}=node-9, and no node has that any more"
    assert told in first_line(report)
    page = " ".join(page_of(report).split())
    helps = "What usually helps: A node of that name that joins again with its disk reaches the volume, and nothing"
    assert (helps in page) is not provisioned
    assert ("if its node never joins again, give up volume pv" in page) is provisioned


def test_a_volume_that_some_nodes_do_not_reach_may_be_reached_by_another() -> None:
    host = "kubernetes.io/hostname"
    there = volume(nodeAffinity=of_hosts(host, "NotIn", "node-1", "node-2"))
    report = cluster(claim(storageClassName="s", volumeName="pv"), there, storage_class(**PROVISIONED), volumes=[DATA])
    assert "any more" not in first_line(report)
    assert "give up volume" not in page_of(report)


def of_hosts(key: str, operator: str, *names: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(names) or ["node-9"]}]}
    return {"required": {"nodeSelectorTerms": [term]}}
