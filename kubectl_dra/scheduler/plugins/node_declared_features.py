"""NodeDeclaredFeatures: what only nodes can run that declare so; the last of all filters.

Upstream: plugins/nodedeclaredfeatures and component-helpers/nodedeclaredfeatures/features. The other features that are
registered there never keep a pod from a node through this plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.core import Pod
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unresolvable

TEXT: Final = "node(s) didn't match Pod's required features"
_RESTART_ALL: Final = "RestartAllContainers"
_READING: Final = kinds.Reading(
    kinds.of_nodes, "features", lambda nodes: [frozenset(node.node.status.declared_features) for node in nodes]
)


class Required(msgspec.Struct, frozen=True):
    features: tuple[str, ...]


def required_features(pod: Pod) -> Iterator[str]:
    """The features that a node must declare for the pod."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    if any(rule.action == _RESTART_ALL for each in containers for rule in each.restart_policy_rules):
        yield "RestartAllContainersOnContainerExits"
    if pod.spec.host_network and pod.spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"
    if any(mount.bind_mount_options for each in containers for mount in each.volume_mounts):
        yield "VolumeBindMountOptions"


class NodeDeclaredFeatures(Plugin):
    """``status.declaredFeatures`` of nodes."""

    name: ClassVar[str] = "NodeDeclaredFeatures"

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Most pods need nothing of the kind."""
        needed = tuple(required_features(cycle.pod)) if cycle.features.declared_node_features else ()
        if not needed:
            return PreFilterResult(SKIP)
        cycle.write(Required(needed))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        return _READING

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        declared = node.node.status.declared_features
        missing = tuple(each for each in cycle.read(Required).features if each not in declared)
        return unresolvable(TEXT, detail=Required(missing)) if missing else SUCCESS
