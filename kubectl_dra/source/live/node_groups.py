"""The objects of a live cluster that tell what nodes its autoscalers could make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.source.live.foreign import ForeignObjects, read_foreign
from kubectl_dra.source.spec import Connection

#: Plural and kind by group of the API; deploy/rbac/node-groups.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    "cluster.x-k8s.io": {
        "machinedeployments": "MachineDeployment",
        "machinepools": "MachinePool",
        "machinesets": "MachineSet",
    },
    "karpenter.sh": {"nodeclaims": "NodeClaim", "nodeoverlays": "NodeOverlay", "nodepools": "NodePool"},
    "test.karpenter.sh": {"draconfigs": "DRAConfig"},
}


def read_node_groups(connection: Connection) -> ForeignObjects:
    """All of them, over a connection of its own. Raises ``ClusterError`` where the server does not answer."""
    return read_foreign(connection, READ)
