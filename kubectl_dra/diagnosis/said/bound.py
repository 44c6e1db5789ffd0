"""Who put a pod on its node: a scheduler, or whoever wrote ``spec.nodeName`` into it or its template."""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis.pod.workloads import owners
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.names import DEFAULT_SCHEDULER

#: Kubernetes', Volcano's, YuniKorn's and KAI's schedulers write it of what they have bound.
_SCHEDULED: Final = ("Scheduled", "Bound")


def bound_by(inventory: Inventory, pod: Pod) -> str:
    """The scheduler that bound the pod; empty where the node was written by hand, or may have been.

    An event of it is proof. Else a template with a node is proof of the contrary, and one without a node that some
    scheduler did; where neither is known, a scheduler that somebody has chosen is taken to have done its work.
    """
    chosen = pod.spec.scheduler_name or DEFAULT_SCHEDULER
    for event in events_.about(inventory, pod):
        if event.reason in _SCHEDULED:
            return events_.reporter(event) or chosen
    found = (each.object.template_of(each.ref.kind, pod) for each in owners(inventory, pod) if each.object is not None)
    template = next((each[1] for each in found if each is not None), None)
    if template is not None:
        return "" if template.spec.node_name else chosen
    return "" if chosen == DEFAULT_SCHEDULER else chosen
