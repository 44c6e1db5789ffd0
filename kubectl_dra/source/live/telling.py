"""Which events are kept of those that a server sends: others are of routine, and none of them decides anything.

A field selector has no "or": warnings and some of type Normal are one list only where the server leaves out what is
most of the others (``source/needs.py``), and the rest is left out here.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Event

#: What autoscalers do for a pod or why not (cluster-autoscaler, processors/status; Karpenter), the words of YuniKorn
#: (yunikorn-k8shim, pkg/cache/context.go, PublishEvents), and how far a kubelet has come (pkg/kubelet/events).
REASONS: Final = frozenset(
    {
        *("TriggeredScaleUp", "NotTriggerScaleUp", "Nominated"),
        *("Informational", "Scheduling"),
        *("Pulling", "Pulled", "Started"),
    }
)
#: How a snapshot says what was left out.
NOTE: Final = "only warnings, and what schedulers, autoscalers and container runtimes say of pods"
_NORMAL: Final = "Normal"


def tells(record: Record) -> bool:
    """Whether it is kept; everything that is not an event is."""
    return not isinstance(record, Event) or record.type != _NORMAL or record.reason in REASONS
