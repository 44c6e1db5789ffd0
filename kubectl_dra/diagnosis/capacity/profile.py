"""What a node says of a pod whoever else is in the cluster: a part of the default profile."""

from __future__ import annotations

from typing import Final

from kubectl_dra.scheduler.framework import Plugin
from kubectl_dra.scheduler.plugins.dynamic_resources import DynamicResources
from kubectl_dra.scheduler.plugins.node_affinity import NodeAffinity
from kubectl_dra.scheduler.plugins.node_name import NodeName
from kubectl_dra.scheduler.plugins.node_ports import NodePorts
from kubectl_dra.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kubectl_dra.scheduler.plugins.node_unschedulable import NodeUnschedulable
from kubectl_dra.scheduler.plugins.taint_toleration import TaintToleration

#: Whom a node admits at all.
ADMITTING: Final[tuple[Plugin, ...]] = (NodeName(), NodeUnschedulable(), TaintToleration(), NodeAffinity())
#: The same with what it has room for; all other plugins only keep more pods away.
OF_THE_NODE: Final[tuple[Plugin, ...]] = (*ADMITTING, NodePorts(), NodeResourcesFit(), DynamicResources())
