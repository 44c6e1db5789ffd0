"""Whether the scheduler would make room for a pod by evicting others, as a record for reports."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Preemption
from kubectl_dra.scheduler import preemption as engine
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.decision import post_filter


def preemption_of(tried: Attempt) -> Preemption | None:
    """What preemption does after an attempt that found no node; None if it is not its turn."""
    found = post_filter(tried).preemption
    return _record(found) if found is not None else None


def _record(found: engine.Preemption) -> Preemption:
    message = ", ".join(found.status.reasons)
    if not found.nominated:
        return Preemption(message, unread=found.unsure)
    chosen = found.candidates[found.nominated[0]]
    victims = tuple(str(victim.key) for victim in chosen.victims)
    certain = chosen.settled and len(found.nominated) == 1 and not found.unsure
    return Preemption(message, found.nominated, victims, chosen.violations, certain, found.unsure)
