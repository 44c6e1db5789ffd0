"""Whether the scheduler would make room for a pod by evicting others, as a record for reports."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Preemption
from kubectl_dra.scheduler import preemption as engine
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.decision import post_filter


def preemption_of(tried: Attempt) -> Preemption | None:
    """What preemption does after an attempt that found no node; None if it is not its turn."""
    found = post_filter(tried).preemption
    if found is None:
        return None
    if found.awaited:
        victims = tuple(sorted(str(pod.key) for pod in found.awaited))
        node = tried.cycle.pod.status.nominated_node_name
        return Preemption(", ".join(found.status.reasons), (node,), victims, under_way=True)
    return _record(found)


def _record(found: engine.Preemption) -> Preemption:
    message = ", ".join(found.status.reasons)
    if not found.nominated:
        return Preemption(message, unread=found.unsure)
    chosen = found.candidates[found.nominated[0]]
    victims = tuple(str(victim.key) for victim in chosen.victims)
    certain = chosen.settled and len(found.nominated) == 1 and not found.unsure
    return Preemption(message, found.nominated, victims, chosen.violations, certain, found.unsure)
