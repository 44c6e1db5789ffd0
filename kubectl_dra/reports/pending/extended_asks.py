"""Extended resources that a pod asks for, with the classes whose devices serve them, or would."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.class_facts import offers
from kubectl_dra.model.ids import Key
from kubectl_dra.reports.claims.ask import ExtendedAsk
from kubectl_dra.scheduler.extended import asked, next_to_serve, request_containers, served_resources


def extended_asks(key: Key, state: ClusterState) -> tuple[ExtendedAsk, ...]:
    """The extended resources that the pod asks for and a class serves."""
    pod = state.inventory.pods.get(key)
    if pod is None:
        return ()
    served, found = served_resources(state), []
    for name, number in sorted(asked(pod).items()):
        if name in served:
            passed_over, devices = _passed_over(name, state)
            containers = request_containers(pod, name, served)
            found.append(ExtendedAsk(name, number, served[name].metadata.name, containers, passed_over, devices))
    return tuple(found)


def _passed_over(resource: str, state: ClusterState) -> tuple[str, int]:
    """The class that another one takes the resource from, and how many published devices it selects."""
    name = next_to_serve(state, resource)
    facts = offers(state).of(name) if name else None
    return name, len(facts.devices) if facts is not None else 0
