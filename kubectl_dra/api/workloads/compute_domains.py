"""The templates that NVIDIA's driver makes for the claims of a ComputeDomain's workload.

Upstream: cmd/compute-domain-controller/resourceclaimtemplate.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, text_at

_GROUP: Final = "resource.nvidia.com"
_CHANNELS: Final = "compute-domain-default-channel.nvidia.com"


def channel_templates(tree: Tree) -> Iterator[dict[str, Any]]:
    """The template of a ComputeDomain; none of any other object."""
    channel = at(tree, "spec.channel")
    name = text_at(at(channel, "resourceClaimTemplate"), "name")
    if name and (group_of(tree.get("apiVersion")), tree.get("kind")) == (_GROUP, "ComputeDomain"):
        namespace = text_at(at(tree, "metadata"), "namespace")
        where = {"namespace": namespace} if namespace else {}
        yield channel_template(name, where, everything=channel.get("allocationMode") == "All")


def channel_template(name: str, where: Mapping[str, str], *, everything: bool = False) -> dict[str, Any]:
    """A template for one channel of a node, or for all of them; ``where``: the namespace, if it is known."""
    amount = {"allocationMode": "All"} if everything else {"allocationMode": "ExactCount", "count": 1}
    request = {"name": "channel", "exactly": {"deviceClassName": _CHANNELS, **amount}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, **where},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
