"""What the PostFilter plugins say once no node fits. Upstream: RunPostFilterPlugins."""

from __future__ import annotations

import msgspec

from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.plugins import dynamic_resources
from kubectl_dra.scheduler.preemption import PreemptionResult, preempt
from kubectl_dra.scheduler.status import StatusCode


class AfterFilter(msgspec.Struct, frozen=True):
    """What the PostFilter plugins say together; ``preemption`` None: it was not its turn."""

    message: str
    preemption: PreemptionResult | None = None


def post_filter(found: Attempt) -> AfterFilter:
    """DynamicResources, then DefaultPreemption: the first that fails or succeeds says it alone."""
    devices = dynamic_resources.post_filter(found.cycle)
    if devices.code is not StatusCode.UNSCHEDULABLE:
        return AfterFilter(devices.message)
    preemption = preempt(found)
    said = preemption.status
    reasons = (*devices.reasons, *said.reasons) if said.code is StatusCode.UNSCHEDULABLE else said.reasons
    return AfterFilter(", ".join(reasons), preemption)
