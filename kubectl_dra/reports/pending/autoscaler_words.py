"""What autoscalers last said about a pending pod in events: that they add a node for it, or why not.

Sources: cluster-autoscaler's processors/status (TriggeredScaleUp, NotTriggerScaleUp), karpenter's
controllers/provisioning/scheduling/events (Nominated, FailedScheduling; its component is ``karpenter``).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.cluster.state import ClusterState
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.reports.base import ReportRecord

_REFUSES: Final = {"NotTriggerScaleUp": "cluster-autoscaler"}
_ACTS: Final = {"TriggeredScaleUp": "cluster-autoscaler", "Nominated": "karpenter"}
_KARPENTER: Final = "karpenter"
#: They say it again with every attempt, cluster-autoscaler every few seconds and Karpenter at least every 5 minutes;
#: the API server keeps events for an hour.
_SILENT: Final = timedelta(hours=1)
#: A node that is not there by then is given up: cluster-autoscaler's --max-node-provision-time, and the time that
#: Karpenter gives a NodeClaim to register (pkg/controllers/nodeclaim/lifecycle/liveness.go).
_PROVISIONED: Final = timedelta(minutes=15)
_NODES: Final = 3
_FAILED: Final = "FailedScheduling"


class AutoscalerWords(ReportRecord, frozen=True):
    """The last event of an autoscaler: whether it ``adds`` a node for the pod, its words, and when.

    ``old``: it has said nothing for so long that it may have stopped trying, or given up the node that it added.
    ``joined``: the first few nodes that have come since it said that it adds one.
    """

    autoscaler: str
    adds: bool
    message: str
    time: str = ""
    old: bool = False
    joined: tuple[str, ...] = ()


def autoscaler_words(pod: Pod, state: ClusterState) -> AutoscalerWords | None:
    """The newest of them about this very pod; None where there is none."""
    about = filter(_who, events_.about(state.inventory, pod))
    last = max(about, key=events_.last_seen, default=None)
    if last is None:
        return None
    seen = events_.last_seen(last)
    time = parse_time(seen)
    adds = last.reason in _ACTS
    old = time is not None and state.now - time > (_PROVISIONED if adds else _SILENT)
    joined = _joined_since(time, state) if adds and time is not None else ()
    return AutoscalerWords(_who(last), adds, events_.text(last), seen, old, joined)


def _joined_since(time: datetime, state: ClusterState) -> tuple[str, ...]:
    made = {name: parse_time(node.metadata.creation_timestamp) for name, node in state.inventory.nodes.items()}
    return tuple(sorted(name for name, since in made.items() if since is not None and since >= time))[:_NODES]


def _who(event: Event) -> str:
    if event.reason == _FAILED:
        component = events_.reporter(event)
        return _KARPENTER if component.startswith(_KARPENTER) else ""
    return _REFUSES.get(event.reason) or _ACTS.get(event.reason) or ""
