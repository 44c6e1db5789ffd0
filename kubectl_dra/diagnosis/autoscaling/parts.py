"""Reading trees of objects that have no record of their own, and making the node and slices that they describe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kubectl_dra.api.decode import decode_any
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.model.resource import ResourceSlice

Tree = Mapping[str, Any]
#: The name of the node in templates; the node that is tried gets one of its own.
PATTERN: Final = "group-node"
_DEFAULT_PODS: Final = "110"
#: Where nothing tells what a node has, it must not be what keeps the pod away.
_PLENTY: Final = {"cpu": "100000", "memory": "1000Ti", "pods": "10000", "ephemeral-storage": "1000Ti"}


def part(tree: Tree, *path: str) -> Tree:
    """The object at a path; empty where there is none."""
    for key in path:
        found = tree.get(key) if isinstance(tree, Mapping) else None
        tree = found if isinstance(found, Mapping) else {}
    return tree


def parts(tree: Tree, *path: str) -> list[Tree]:
    """The objects of the list at a path; other values are skipped."""
    found = part(tree, *path[:-1]).get(path[-1])
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def name_of(tree: Tree) -> str:
    return str(part(tree, "metadata").get("name") or "")


def labels_of(metadata: Tree, prefixes: tuple[str, ...] = ("",)) -> dict[str, str]:
    """``labels`` that begin with one of the prefixes."""
    return {str(key): str(value) for key, value in part(metadata, "labels").items() if str(key).startswith(prefixes)}


def pairs(text: str) -> dict[str, str]:
    """``a=b,c=d``."""
    return {key: value for each in text.split(",") if each for key, _, value in (each.partition("="),)}


def taints(text: str) -> Iterator[Tree]:
    """``key=value:Effect,key:Effect``."""
    for each in filter(None, text.split(",")):
        pair, _, effect = each.rpartition(":")
        key, _, value = pair.partition("=")
        if key and effect:
            yield {"key": key, "value": value, "effect": effect}


def integer(value: object) -> int | None:
    """A number that is not negative; None for anything else."""
    text = str(value) if value is not None else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _DIGITS else None


_DIGITS: Final = 10


def template(
    labels: Mapping[str, str], tainted: Sequence[Tree], room: Tree, slices: Sequence[Tree]
) -> NodeTemplate | None:
    """The node with these labels, taints and allocatable amounts, and its slices; None where it can't be one."""
    known = {str(resource): str(amount) for resource, amount in room.items()}
    offered = {**({} if "cpu" in known else _PLENTY), "pods": _DEFAULT_PODS, **known}
    tree = {
        "metadata": {"name": PATTERN, "labels": {HOSTNAME: PATTERN, **labels}},
        "spec": {"taints": [dict(taint) for taint in tainted]},
        "status": {"capacity": offered, "allocatable": offered},
    }
    node = _record({"apiVersion": "v1", "kind": "Node", **tree})
    if not isinstance(node, Node):
        return None
    made = (_record({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **slice_}) for slice_ in slices)
    return NodeTemplate(PATTERN, node, tuple(slice_ for slice_ in made if isinstance(slice_, ResourceSlice)))


def slice_tree(driver: str, pool: str, devices: Sequence[Any], count: int = 1, index: int = 0) -> Tree:
    """One of the ``count`` slices of a pool of the node."""
    return {
        "metadata": {"name": f"{pool}-{driver}-{index}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": 1, "resourceSliceCount": count},
            "nodeName": PATTERN,
            "devices": list(devices),
        },
    }


def _record(tree: Tree) -> object:
    decoded = decode_any(json.dumps(tree).encode())
    return None if decoded is None or isinstance(decoded, BadObject) else decoded[1]
