"""A cluster as it would be with other nodes, devices and taints: all switches together, in any order.

Nodes are added first, like those that are there; then devices; then taints end and others begin; then nodes are drained
or removed, and pods that have to leave are placed, the most important first.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.whatif.apply import WhatIfError, what_if
from kubectl_dra.diagnosis.whatif.nodes import NodeTemplate, like, new_names
from kubectl_dra.diagnosis.whatif.records import (
    AddNode,
    AddTaint,
    AddTaintRule,
    Drain,
    EndTaint,
    MoreDevices,
    RemoveNode,
    Switch,
    WhatIf,
)
