"""Groups from manifests: Cluster API, AWS and Karpenter, and plain nodes with their slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import in_utf8, read_tree
from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup
from kubectl_dra.diagnosis.autoscaling.karpenter import node_pool
from kubectl_dra.diagnosis.autoscaling.machines import MACHINES, SCALING_GROUP, machines, scaling_group
from kubectl_dra.diagnosis.autoscaling.parts import Tree
from kubectl_dra.diagnosis.autoscaling.records import Doubt
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.resource import ResourceSlice


def groups_of(sources: Sequence[Source]) -> tuple[ScalableGroup, ...]:
    """All groups that the objects describe, in their order."""
    kinds: dict[str, list[Tree]] = {}
    for source in sources:
        tree = read_tree(in_utf8(source.data))
        if isinstance(tree, dict):
            kinds.setdefault(str(tree.get("kind") or source.kind), []).append({"kind": source.kind, **tree})
    found = [machines(tree) for kind in MACHINES for tree in kinds.get(kind, ())]
    found += [scaling_group(tree) for tree in kinds.get(SCALING_GROUP, ())]
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
