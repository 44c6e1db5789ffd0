"""Groups from manifests: Cluster API, AWS's groups with their tags, Karpenter, and plain nodes with their slices.

Upstream: cluster-autoscaler/cloudprovider/clusterapi/clusterapi_unstructured.go (annotations, and the slice that they
make) and cluster-autoscaler/cloudprovider/aws/aws_manager.go (extractLabelsFromAsg and its siblings).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import in_utf8, read_tree
from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup
from kubectl_dra.diagnosis.autoscaling.karpenter import node_pool
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
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.resource import ResourceSlice

_MACHINES: Final = ("MachineDeployment", "MachinePool", "MachineSet")
SCALING_GROUP: Final = "AutoScalingGroup"
_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_SIZES: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size"
#: Labels of machines that Cluster API hands to their nodes.
_PROPAGATED: Final = ("node-role.kubernetes.io/", "node-restriction.kubernetes.io/", "node.cluster.x-k8s.io/")
_RESOURCES: Final = {"cpu": "cpu", "memory": "memory", "maxPods": "pods", "ephemeral-disk": "ephemeral-storage"}
_OF_NODES: Final = "k8s.io/cluster-autoscaler/node-template/"


def groups_of(sources: Sequence[Source]) -> tuple[ScalableGroup, ...]:
    """All groups that the objects describe, in their order."""
    kinds: dict[str, list[Tree]] = {}
    for source in sources:
        tree = read_tree(in_utf8(source.data))
        if isinstance(tree, dict):
            kinds.setdefault(str(tree.get("kind") or source.kind), []).append({"kind": source.kind, **tree})
    found = [machines(tree) for kind in _MACHINES for tree in kinds.get(kind, ())]
    found += [_scaling_group(tree) for tree in kinds.get(SCALING_GROUP, ())]
    found += [node_pool(tree, kinds) for tree in kinds.get("NodePool", ())]
    found += _plain(sources)
    return tuple(group for group in found if group is not None)


def _plain(sources: Sequence[Source]) -> Iterator[ScalableGroup]:
    """Every Node with the slices that name it."""
    nodes, slices = list[Node](), list[ResourceSlice]()
    for source in sources:
        decoded = decode_any(source.data, source.api_version, source.kind)
        if decoded is None or isinstance(decoded, BadObject):
            continue
        if isinstance(decoded[1], Node):
            nodes.append(decoded[1])
        elif isinstance(decoded[1], ResourceSlice):
            slices.append(decoded[1])
    for node in nodes:
        name = node.metadata.name
        mine = tuple(slice_ for slice_ in slices if slice_.spec.node_name == name)
        short = [s for s in mine if s.spec.pool.resource_slice_count != _in_pool(s, mine)]
        doubts = () if mine else (Doubt.NO_DEVICES,)
        if short:
            doubts = (Doubt.INCOMPLETE_POOL,)
        yield ScalableGroup("Node", name, NodeTemplate(name, node, mine), doubts)


def _in_pool(slice_: ResourceSlice, slices: Iterable[ResourceSlice]) -> int:
    spec = slice_.spec
    return sum((s.spec.driver, s.spec.pool.name) == (spec.driver, spec.pool.name) for s in slices)


def machines(tree: Tree) -> ScalableGroup | None:
    """A MachineDeployment, MachineSet or MachinePool; None for one that another object of these owns."""
    if any(owner.get("kind") in _MACHINES and owner.get("controller") for owner in parts(tree, "metadata", _OWNERS)):
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


def _scaling_group(tree: Tree) -> ScalableGroup | None:
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
