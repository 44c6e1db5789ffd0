"""What autoscalers last said about a pending pod in events: that they add a node for it, or why not.

Sources: cluster-autoscaler's processors/status (TriggeredScaleUp, NotTriggerScaleUp), karpenter's
controllers/provisioning/scheduling/events (Nominated, FailedScheduling; its component is ``karpenter``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kubectl_dra.diagnosis import events as events_
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.reports.base import ReportRecord

_REFUSES: Final = {"NotTriggerScaleUp": "cluster-autoscaler"}
_ACTS: Final = {"TriggeredScaleUp": "cluster-autoscaler", "Nominated": "karpenter"}
_KARPENTER: Final = "karpenter"
_FAILED: Final = "FailedScheduling"


class AutoscalerWords(ReportRecord, frozen=True):
    """The last event of an autoscaler: whether it ``adds`` a node for the pod, its words, and when."""

    autoscaler: str
    adds: bool
    message: str
    time: str = ""


def autoscaler_words(pod: Pod, events: Iterable[Event]) -> AutoscalerWords | None:
    """The newest of them about this very pod; None where there is none."""
    uid = pod.metadata.uid
    about = [each for each in events if events_.subject_uid(each) in ("", uid) and _who(each)]
    last = max(about, key=events_.last_seen, default=None)
    if last is None:
        return None
    return AutoscalerWords(_who(last), last.reason in _ACTS, events_.text(last), events_.last_seen(last))


def _who(event: Event) -> str:
    if event.reason == _FAILED:
        component = event.reporting_component or event.source.component
        return _KARPENTER if component.startswith(_KARPENTER) else ""
    return _REFUSES.get(event.reason) or _ACTS.get(event.reason) or ""
