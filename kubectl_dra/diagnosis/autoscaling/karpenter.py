"""Karpenter's NodePools: the nodes that they may make for a pod, with the devices that somebody describes for them.

Upstream: karpenter NodePool and NodeClaim (v1), pkg/controllers/provisioning/scheduling (filterByRemainingResources,
requirements with AllowUndefinedWellKnownLabels), NodeOverlay with slices (designs/node-overlay-dra.md), and DRAConfig
of the driver for simulated nodes (dra-kwok-driver).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final

import msgspec

from kubectl_dra.allocation.input import nodes as node_selectors
from kubectl_dra.api.decode import decode_any
from kubectl_dra.diagnosis.autoscaling.groups import ScalableGroup
from kubectl_dra.diagnosis.autoscaling.parts import PATTERN, Tree, labels_of, name_of, part, parts, slice_tree, template
from kubectl_dra.diagnosis.autoscaling.records import Doubt
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate
from kubectl_dra.model.core import Node, Pod
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.meta import NodeSelector, NodeSelectorTerm
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.scheduler.plugins.node_affinity import required_terms

POOL_LABEL: Final = "karpenter.sh/nodepool"
#: Labels that every node of Karpenter gets, with values of the machine that is chosen.
_WELL_KNOWN: Final = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "karpenter.sh/capacity-type",
    "node.kubernetes.io/instance-type",
    "node.kubernetes.io/windows-build",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
)
_OF_PROVIDERS: Final = ("karpenter.k8s.aws/", "karpenter.azure.com/", "karpenter.k8s.gcp/")
#: So many combinations of labels are tried.
_MOST_TRIED: Final = 64
_WRITTEN: Final = {"stringValue": "string", "intValue": "int", "boolValue": "bool", "versionValue": "version"}
#: Every node has some of these, also one of which nothing is known.
_EVERY_NODE: Final = ("cpu", "memory", "nodes", "pods")
_NONE: Final = "0"
_LAUNCHED: Final = "Launched"
Kinds = Mapping[str, Sequence[Tree]]


def node_pool(tree: Tree, kinds: Kinds) -> ScalableGroup | None:
    """A NodePool; ``kinds`` has what stands beside it: NodeClaims, NodeOverlays, DRAConfigs."""
    pool = _Pool(tree, kinds)
    first = next(pool.nodes(Pod()), None)
    if first is None:
        return None
    failed, failed_at = pool.failure()
    return ScalableGroup(
        "NodePool",
        pool.name,
        first,
        tuple(pool.doubts()),
        sum(map(_is_launched, pool.claims)),
        nodes=pool.nodes,
        failed=failed,
        failed_at=failed_at,
    )


@dataclass(frozen=True)
class _Pool:
    tree: Tree
    kinds: Kinds

    @property
    def name(self) -> str:
        return name_of(self.tree)

    @property
    def spec(self) -> Tree:
        return part(self.tree, "spec", "template", "spec")

    @property
    def claims(self) -> list[Tree]:
        """The pool's NodeClaims; one that has become a node tells what nodes have."""
        mine = [claim for claim in self.kinds.get("NodeClaim", ()) if _pool_of(claim) == self.name]
        return sorted(mine, key=lambda claim: not part(claim, "status", "allocatable"))

    def failure(self) -> tuple[str, str]:
        """Why the newest of its NodeClaims has no machine, and since when; empty where it has one, or none failed."""
        newest = max(
            self.claims, key=lambda claim: str(part(claim, "metadata").get("creationTimestamp") or ""), default={}
        )
        launched = _condition(newest, _LAUNCHED)
        if launched.get("status") != "False":
            return "", ""
        told = " ".join(str(launched.get("message") or launched.get("reason") or "").split())
        return told, str(launched.get("lastTransitionTime") or "")

    @property
    def room(self) -> Tree:
        return next((part(claim, "status", "allocatable") for claim in self.claims), {})

    def doubts(self) -> Iterator[Doubt]:
        if not self.room:
            yield Doubt.CAPACITY_UNKNOWN
        if any(len(values) != 1 for values in self._values().values()) or self._open_keys():
            yield Doubt.LABELS_OPEN
        if not any(node.slices for node in self.nodes(Pod())):
            yield Doubt.NO_DEVICES
        if parts(self.spec, "startupTaints"):
            yield Doubt.STARTUP_TAINTS
        if self._is_full():
            yield Doubt.AT_LIMIT
        yield Doubt.IGNORES_CLAIMS

    def nodes(self, pod: Pod) -> Iterator[NodeTemplate]:
        """The nodes that it may make, those that have what the pod selects first."""
        wanted = _wanted(pod)
        fixed = {**labels_of(part(self.tree, "spec", "template", "metadata")), POOL_LABEL: self.name}
        values = self._values()
        for key in (*self._open_keys(), *filter(_is_well_known, wanted)):
            if key not in values and key in wanted:
                values[key] = [value for value in wanted[key] if self._admits(key, value)]
        matter = {key for key in values if key in wanted or key in self._read_by_devices()}
        choices = {
            key: sorted(found, key=lambda value, key=key: value not in wanted.get(key, ()))  # type: ignore[misc]
            if key in matter
            else found[:1]
            for key, found in values.items()
            if found
        }
        example = next((labels_of(part(claim, "metadata")) for claim in self.claims if self.room), {})
        for chosen in islice(product(*choices.values()), _MOST_TRIED):
            labels = {**example, **fixed, **dict(zip(choices, chosen, strict=True))}
            slices = list(described(labels, self.kinds))
            node = template(labels, parts(self.spec, "taints"), self.room, slices)
            if node is not None:
                yield node

    def _values(self) -> dict[str, list[str]]:
        """The values that requirements list, by label."""
        found: dict[str, list[str]] = {}
        for requirement in parts(self.spec, "requirements"):
            values = requirement.get("values")
            if requirement.get("operator") == "In" and isinstance(values, list):
                key, listed = str(requirement.get("key")), [str(value) for value in values]
                found[key] = [value for value in found.get(key, listed) if value in listed]
        return found

    def _open_keys(self) -> list[str]:
        """Labels that have requirements, but no list of values."""
        keys = (str(requirement.get("key")) for requirement in parts(self.spec, "requirements"))
        return [key for key in dict.fromkeys(keys) if key not in self._values()]

    def _admits(self, key: str, value: str) -> bool:
        mine = [requirement for requirement in parts(self.spec, "requirements") if requirement.get("key") == key]
        return not mine or selects([{"matchExpressions": mine}], {key: value})

    def _read_by_devices(self) -> set[str]:
        terms = [
            term
            for config in self.kinds.get("DRAConfig", ())
            for pool in (*parts(config, "spec", "pools"), *parts(config, "spec", "mappings"))
            for term in parts(pool, "nodeSelectorTerms")
        ]
        read = [expression for term in terms for expression in parts(term, "matchExpressions")]
        for overlay in self.kinds.get("NodeOverlay", ()):
            read += parts(overlay, "spec", "requirements")
        return {str(expression.get("key")) for expression in read}

    def _is_full(self) -> bool:
        """Whether another node would go beyond ``spec.limits``."""
        used = part(self.tree, "status", "resources")
        node = next((part(claim, "status", "capacity") for claim in self.claims), {})
        for resource, limit in part(self.tree, "spec", "limits").items():
            try:
                most, now = Quantity.parse(str(limit)), Quantity.parse(str(used.get(resource, "0")))
                more = Quantity.parse(str(node.get(resource, _NONE)))
            except QuantityError:
                continue
            if now.add(more).cmp(most) > 0 or (resource in _EVERY_NODE and now.cmp(most) >= 0):
                return True
        return False


def _condition(claim: Tree, kind: str) -> Tree:
    return next((each for each in parts(claim, "status", "conditions") if each.get("type") == kind), {})


def _is_launched(claim: Tree) -> bool:
    """Whether a NodeClaim has a machine (upstream: pkg/controllers/nodeclaim/lifecycle/launch.go), or does not say."""
    return bool(_condition(claim, _LAUNCHED).get("status", "True") == "True")


def _pool_of(claim: Tree) -> str:
    return str(part(claim, "metadata", "labels").get(POOL_LABEL) or "")


def _is_well_known(key: str) -> bool:
    return key in _WELL_KNOWN or key.startswith(_OF_PROVIDERS)


def _wanted(pod: Pod) -> dict[str, list[str]]:
    """The values of labels that the pod's node selector and required affinity name."""
    found = {key: [value] for key, value in pod.spec.node_selector.items()}
    for term in required_terms(pod) or ():
        for expression in term.match_expressions:
            if expression.operator == "In":
                listed = found.setdefault(expression.key, [])
                listed += (value for value in expression.values if value not in listed)
    return found


# --- devices --------------------------------------------------------------------------------------------------------


def described(labels: Mapping[str, str], kinds: Kinds) -> Iterator[Tree]:
    """The slices that DRAConfig or NodeOverlay describe for nodes with these labels."""
    for config in kinds.get("DRAConfig", ()):
        driver = str(part(config, "spec").get("driver") or "")
        for pool in (*parts(config, "spec", "pools"), *parts(config, "spec", "mappings")):
            if selects(parts(pool, "nodeSelectorTerms"), labels):
                slices = parts(pool, "resourceSlices") or [part(pool, "resourceSlice")]
                name = f"{PATTERN}-{pool.get('name')}"
                for index, each in enumerate(slices):
                    yield slice_tree(driver, name, _devices(each), len(slices), index)
    for overlay in kinds.get("NodeOverlay", ()):
        requirements = parts(overlay, "spec", "requirements")
        if not requirements or selects([{"matchExpressions": requirements}], labels):
            for index, each in enumerate(_slices_of(overlay)):
                driver = str(each.get("driver") or "")
                yield slice_tree(driver, f"{PATTERN}-overlay-{index}", _devices(each))


def _slices_of(overlay: Tree) -> Iterator[Tree]:
    for field in ("resourceSlices", "resourceSliceTemplates", "resourceSlicesTemplates"):
        for each in parts(overlay, "spec", field):
            yield part(each, "spec") or each


def _devices(tree: Tree) -> list[Any]:
    """The devices; values of attributes may be named as their protocol's messages name them."""
    return [{**device, "attributes": _attributes(part(device, "attributes"))} for device in parts(tree, "devices")]


def _attributes(tree: Tree) -> dict[str, Any]:
    return {
        name: {_WRITTEN.get(kind, kind): found for kind, found in value.items()} if isinstance(value, Mapping) else {}
        for name, value in tree.items()
    }


def selects(terms: Sequence[Tree], labels: Mapping[str, str]) -> bool:
    """Whether a node with these labels matches one of the terms."""
    data = json.dumps({"metadata": {"name": PATTERN, "labels": dict(labels)}, "apiVersion": "v1", "kind": "Node"})
    node = decode_any(data.encode())
    if node is None or isinstance(node, BadObject) or not isinstance(node[1], Node):
        return False
    try:
        parsed = tuple(msgspec.convert(dict(term), NodeSelectorTerm) for term in terms)
    except msgspec.ValidationError:
        return False
    return node_selectors.matches(NodeSelector(parsed), node[1])
