"""Node groups of cluster-autoscaler: machines of Cluster API, and AWS's groups with their tags.

Upstream: cluster-autoscaler/cloudprovider/clusterapi/clusterapi_unstructured.go (annotations, and the slice that they
make) and cluster-autoscaler/cloudprovider/aws/aws_manager.go (extractLabelsFromAsg and its siblings).
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup
from kubectl_dra.diagnosis.autoscaling.parts import (
    PATTERN,
    Tree,
    integer,
    labels_of,
    name_of,
    pairs,
    part,
    parts,
    slice_tree,
    taints,
    template,
)
from kubectl_dra.diagnosis.autoscaling.records import Doubt

MACHINES: Final = ("MachineDeployment", "MachinePool", "MachineSet")
SCALING_GROUP: Final = "AutoScalingGroup"
_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_SIZES: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size"
#: Labels of machines that Cluster API hands to their nodes.
_PROPAGATED: Final = ("node-role.kubernetes.io/", "node-restriction.kubernetes.io/", "node.cluster.x-k8s.io/")
_RESOURCES: Final = {"cpu": "cpu", "memory": "memory", "maxPods": "pods", "ephemeral-disk": "ephemeral-storage"}
_OF_NODES: Final = "k8s.io/cluster-autoscaler/node-template/"


def machines(tree: Tree) -> ScalableGroup | None:
    """A MachineDeployment, MachineSet or MachinePool; None for one that another object of these owns."""
    if any(owner.get("kind") in MACHINES and owner.get("controller") for owner in parts(tree, "metadata", _OWNERS)):
        return None
    annotations = {str(k): str(v) for k, v in part(tree, "metadata", "annotations").items()}
    capacity = {key.removeprefix(_CAPACITY): v for key, v in annotations.items() if key.startswith(_CAPACITY)}
    room = {resource: capacity[key] for key, resource in _RESOURCES.items() if key in capacity}
    driver, count = capacity.get("dra-driver", ""), integer(capacity.get("gpu-count", ""))
    doubts = [] if "cpu" in room and "memory" in room else [Doubt.CAPACITY_UNKNOWN]
    if count and not driver:
        room[capacity.get("gpu-type", "nvidia.com/gpu")] = str(count)
    labels = labels_of(part(tree, "spec", "template", "metadata"), _PROPAGATED) | pairs(capacity.get("labels", ""))
    tainted = [*parts(tree, "spec", "template", "spec", "taints"), *taints(capacity.get("taints", ""))]
    slices: list[Tree] = []
    if driver and count:
        devices = [{"name": f"gpu-{i}", "attributes": {"type": {"string": "gpu"}}} for i in range(min(count, _MOST))]
        slices.append(slice_tree(driver, PATTERN, devices))
        doubts += [Doubt.INCOMPLETE_POOL, Doubt.NO_ATTRIBUTES]
    else:
        doubts.append(Doubt.NO_DEVICES)
    node = template(labels, tainted, room, slices)
    if node is None:
        return None
    least, most = (integer(annotations.get(_SIZES.format(which))) for which in ("min", "max"))
    size = integer(part(tree, "spec").get("replicas"))
    return ScalableGroup(str(tree.get("kind")), name_of(tree), node, tuple(doubts), size, least, most)


_OWNERS: Final = "ownerReferences"
#: The API admits so many devices in a slice.
_MOST: Final = 128


def scaling_group(tree: Tree) -> ScalableGroup | None:
    """One of ``AutoScalingGroups`` as ``aws autoscaling describe-auto-scaling-groups`` prints it."""
    name = str(tree.get("AutoScalingGroupName") or "")
    labels: dict[str, str] = {}
    room: dict[str, str] = {}
    tainted: list[Tree] = []
    for tag in parts(tree, "Tags"):
        key, value = str(tag.get("Key") or ""), str(tag.get("Value") or "")
        what, _, of = key.removeprefix(_OF_NODES).partition("/")
        if not key.startswith(_OF_NODES) or not of:
            continue
        if what == "label":
            labels[of] = value
        elif what == "resources":
            room[of] = value
        elif what == "taint":
            tainted += taints(f"{of}={value}")
    doubts = [] if "cpu" in room and "memory" in room else [Doubt.CAPACITY_UNKNOWN]
    node = template(labels, tainted, room, ())
    if node is None or not name:
        return None
    size, least, most = (integer(tree.get(key)) for key in ("DesiredCapacity", "MinSize", "MaxSize"))
    return ScalableGroup(SCALING_GROUP, name, node, (*doubts, Doubt.NO_DEVICES), size, least, most)
