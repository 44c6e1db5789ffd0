"""The ComputeDomains of some files: whose channels a pod has, and for how many nodes such a domain waits.

Upstream: NVIDIA's driver, api/nvidia.com/resource/v1beta1/computedomain.go (spec.numNodes, and a spec that can't be
changed): drivers that heed it have no pod of the domain start before so many nodes have one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.trees import Tree, at, mapping
from kubectl_dra.model.core import Pod

_GROUP: Final = "resource.nvidia.com/"
_KIND: Final = "ComputeDomain"


@dataclass(frozen=True, slots=True)
class Spanned:
    """A domain that pods with claims of ``template`` make up, on ``nodes`` nodes: the value of its ``field``."""

    kind: str
    namespace: str
    name: str
    field: str
    nodes: int
    template: str

    def has(self, pod: Pod) -> bool:
        """Whether a pod has one of its channels, of which each node has one."""
        named = (entry.resource_claim_template_name for entry in pod.spec.resource_claims)
        return pod.metadata.namespace == self.namespace and self.template in named


def spanned(trees: Iterable[Tree], namespace: str) -> tuple[Spanned, ...]:
    """The domains of the files; ``namespace`` is meant by those that name none."""
    found = []
    for tree in trees:
        if tree.get("kind") == _KIND and str(tree.get("apiVersion")).startswith(_GROUP):
            meta, spec = mapping(tree.get("metadata")), at(tree, "spec")
            nodes, template = spec.get("numNodes"), at(spec, "channel.resourceClaimTemplate").get("name")
            if isinstance(nodes, int) and not isinstance(nodes, bool) and isinstance(template, str):
                where = str(meta.get("namespace") or namespace)
                found.append(Spanned(_KIND, where, str(meta.get("name")), "spec.numNodes", nodes, template))
    return tuple(found)
