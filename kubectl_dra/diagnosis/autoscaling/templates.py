"""Groups from manifests: Cluster API with annotations of cluster-autoscaler, Karpenter, and plain nodes with slices.

Upstream: cluster-autoscaler/cloudprovider/clusterapi (clusterapi_unstructured.go: annotations, the template's slice);
karpenter NodePool (v1), NodeClaim, NodeOverlay, and DRAConfig of its driver for simulated nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubectl_dra.allocation import nodes as node_selectors
from kubectl_dra.api.convert import Source
from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.trees import in_utf8, read_tree
from kubectl_dra.diagnosis.autoscaling.groups import Group
from kubectl_dra.diagnosis.autoscaling.records import Doubt
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.meta import NodeSelector, NodeSelectorTerm
from kubectl_dra.model.resource import ResourceSlice

Tree = Mapping[str, Any]
_PATTERN: Final = "group-node"
_CAPACITY: Final = "capacity.cluster-autoscaler.kubernetes.io/"
_SIZES: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size"
_MACHINES: Final = frozenset({"MachineDeployment", "MachineSet", "MachinePool"})
#: Labels of machines that Cluster API hands to their nodes.
_PROPAGATED: Final = ("node-role.kubernetes.io/", "node-restriction.kubernetes.io/", "node.cluster.x-k8s.io/")
_POOL_LABEL: Final = "karpenter.sh/nodepool"
_DEFAULT_PODS: Final = "110"
#: Where nothing tells what a node has, it must not be what keeps the pod away.
_PLENTY: Final = {"cpu": "100000", "memory": "1000Ti", "pods": "10000", "ephemeral-storage": "1000Ti"}


def groups_of(sources: Sequence[Source]) -> tuple[Group, ...]:
    """All groups that the objects describe, in their order."""
    kinds: dict[str, list[Tree]] = {}
    for source in sources:
        tree = read_tree(in_utf8(source.data))
        if isinstance(tree, dict):
            kinds.setdefault(str(tree.get("kind") or source.kind), []).append(tree)
    found = [_machines(tree) for kind in sorted(_MACHINES) for tree in kinds.get(kind, ())]
    found += [_node_pool(tree, kinds) for tree in kinds.get("NodePool", ())]
    found += _plain(sources)
    return tuple(group for group in found if group is not None)


# --- Cluster API ----------------------------------------------------------------------------------------------------


def _machines(tree: Tree) -> Group | None:
    annotations = {str(k): str(v) for k, v in _dict(tree, "metadata", "annotations").items()}
    capacity = {key.removeprefix(_CAPACITY): v for key, v in annotations.items() if key.startswith(_CAPACITY)}
    name = str(_dict(tree, "metadata").get("name") or "")
    room = {resource: capacity[key] for key, resource in _RESOURCES.items() if key in capacity}
    driver, count = capacity.get("dra-driver", ""), _integer(capacity.get("gpu-count", ""))
    doubts = [] if "cpu" in room and "memory" in room else [Doubt.CAPACITY_UNKNOWN]
    if count and not driver:
        room[capacity.get("gpu-type", "nvidia.com/gpu")] = str(count)
    labels = _labels(_dict(tree, "spec", "template", "metadata"), _PROPAGATED) | _pairs(capacity.get("labels", ""))
    taints = [*_list(tree, "spec", "template", "spec", "taints"), *_taints(capacity.get("taints", ""))]
    slices: list[Tree] = []
    if driver and count:
        devices = [{"name": f"gpu-{i}", "attributes": {"type": {"string": "gpu"}}} for i in range(count)]
        slices.append(_slice(driver, _PATTERN, devices))
        doubts += [Doubt.INCOMPLETE_POOL, Doubt.NO_ATTRIBUTES]
    else:
        doubts.append(Doubt.NO_DEVICES)
    size = _integer(_dict(tree, "spec").get("replicas"))
    limits = [_integer(annotations.get(_SIZES.format(which))) for which in ("min", "max")]
    return _group(str(tree.get("kind")), name, labels, taints, room, slices, doubts, size, *limits)


_RESOURCES: Final = {"cpu": "cpu", "memory": "memory", "maxPods": "pods", "ephemeral-disk": "ephemeral-storage"}


# --- Karpenter ------------------------------------------------------------------------------------------------------


def _node_pool(tree: Tree, kinds: Mapping[str, Sequence[Tree]]) -> Group | None:
    name = str(_dict(tree, "metadata").get("name") or "")
    template = _dict(tree, "spec", "template")
    labels = {**_labels(_dict(template, "metadata")), _POOL_LABEL: name}
    doubts: list[Doubt] = []
    for requirement in _list(template, "spec", "requirements"):
        values = requirement.get("values") or []
        if requirement.get("operator") == "In" and len(values) == 1:
            labels[str(requirement.get("key"))] = str(values[0])
        else:
            doubts.append(Doubt.LABELS_OPEN)
    claims = [
        claim
        for claim in kinds.get("NodeClaim", ())
        if _dict(claim, "metadata", "labels").get(_POOL_LABEL) == name and _dict(claim, "status", "allocatable")
    ]
    room: Mapping[str, Any] = {}
    if claims:
        room = _dict(claims[0], "status", "allocatable")
        labels = {**_labels(_dict(claims[0], "metadata")), **labels}
    else:
        doubts.append(Doubt.CAPACITY_UNKNOWN)
    slices = list(_described(labels, kinds))
    if not slices:
        doubts.append(Doubt.NO_DEVICES)
    if _list(template, "spec", "startupTaints"):
        doubts.append(Doubt.STARTUP_TAINTS)
    return _group("NodePool", name, labels, _list(template, "spec", "taints"), room, slices, doubts, len(claims))


def _described(labels: Mapping[str, str], kinds: Mapping[str, Sequence[Tree]]) -> Iterator[Tree]:
    """The slices that DRAConfig or NodeOverlay describe for nodes with these labels."""
    for config in kinds.get("DRAConfig", ()):
        driver = str(_dict(config, "spec").get("driver") or "")
        for pool in (*_list(config, "spec", "pools"), *_list(config, "spec", "mappings")):
            if _selects(_list(pool, "nodeSelectorTerms"), labels):
                parts = _list(pool, "resourceSlices") or [_dict(pool, "resourceSlice")]
                name = f"{_PATTERN}-{pool.get('name')}"
                for index, part in enumerate(parts):
                    yield _slice(driver, name, part.get("devices") or [], len(parts), index)
    for overlay in kinds.get("NodeOverlay", ()):
        terms = [{"matchExpressions": _list(overlay, "spec", "requirements")}]
        if not terms[0]["matchExpressions"] or _selects(terms, labels):
            for index, part in enumerate(_list(overlay, "spec", "resourceSlices")):
                driver = str(part.get("driver") or "")
                yield _slice(driver, f"{_PATTERN}-overlay-{index}", part.get("devices") or [])


def _selects(terms: Sequence[Tree], labels: Mapping[str, str]) -> bool:
    data = json.dumps({"metadata": {"name": _PATTERN, "labels": dict(labels)}, "apiVersion": "v1", "kind": "Node"})
    node = decode_any(data.encode())
    if node is None or isinstance(node, BadObject) or not isinstance(node[1], Node):
        return False

    try:
        parsed = tuple(msgspec.convert(term, NodeSelectorTerm) for term in terms)
    except msgspec.ValidationError:
        return False
    return node_selectors.matches(NodeSelector(parsed), node[1])


# --- plain nodes ----------------------------------------------------------------------------------------------------


def _plain(sources: Sequence[Source]) -> Iterator[Group]:
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
        yield Group("Node", name, NodeTemplate(name, node, mine), doubts)


def _in_pool(slice_: ResourceSlice, slices: Iterable[ResourceSlice]) -> int:
    spec = slice_.spec
    return sum((s.spec.driver, s.spec.pool.name) == (spec.driver, spec.pool.name) for s in slices)


# --- parts ----------------------------------------------------------------------------------------------------------


def _group(
    kind: str,
    name: str,
    labels: Mapping[str, str],
    taints: Sequence[Tree],
    room: Mapping[str, Any],
    slices: Sequence[Tree],
    doubts: Sequence[Doubt],
    size: int | None,
    minimum: int | None = None,
    maximum: int | None = None,
) -> Group | None:
    known = {str(resource): str(amount) for resource, amount in room.items()}
    offered = {**({} if "cpu" in known else _PLENTY), "pods": _DEFAULT_PODS, **known}
    tree = {
        "metadata": {"name": _PATTERN, "labels": {"kubernetes.io/hostname": _PATTERN, **labels}},
        "spec": {"taints": [dict(taint) for taint in taints]},
        "status": {"capacity": offered, "allocatable": offered},
    }
    node = _record({"apiVersion": "v1", "kind": "Node", **tree})
    made = [_record({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **slice_}) for slice_ in slices]
    if not isinstance(node, Node):
        return None
    found = tuple(slice_ for slice_ in made if isinstance(slice_, ResourceSlice))
    template = NodeTemplate(_PATTERN, node, found)
    return Group(kind, name, template, tuple(dict.fromkeys(doubts)), size, minimum, maximum)


def _record(tree: Tree) -> object:
    decoded = decode_any(json.dumps(tree).encode())
    return None if decoded is None or isinstance(decoded, BadObject) else decoded[1]


def _slice(driver: str, pool: str, devices: Sequence[Any], count: int = 1, index: int = 0) -> Tree:
    return {
        "metadata": {"name": f"{pool}-{driver}-{index}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": 1, "resourceSliceCount": count},
            "nodeName": _PATTERN,
            "devices": list(devices),
        },
    }


def _dict(tree: Tree, *path: str) -> Tree:
    for key in path:
        found = tree.get(key) if isinstance(tree, Mapping) else None
        tree = found if isinstance(found, Mapping) else {}
    return tree


def _list(tree: Tree, *path: str) -> list[Tree]:
    found = _dict(tree, *path[:-1]).get(path[-1])
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _labels(metadata: Tree, prefixes: tuple[str, ...] = ("",)) -> dict[str, str]:
    return {str(key): str(value) for key, value in _dict(metadata, "labels").items() if str(key).startswith(prefixes)}


def _pairs(text: str) -> dict[str, str]:
    """``a=b,c=d``."""
    return {key: value for part in text.split(",") if part for key, _, value in (part.partition("="),)}


def _taints(text: str) -> Iterator[Tree]:
    """``key=value:Effect,key:Effect``."""
    for part in filter(None, text.split(",")):
        pair, _, effect = part.rpartition(":")
        key, _, value = pair.partition("=")
        if key and effect:
            yield {"key": key, "value": value, "effect": effect}


def _integer(value: object) -> int | None:
    text = str(value) if value is not None else ""
    return int(text) if text.isascii() and text.isdecimal() else None
