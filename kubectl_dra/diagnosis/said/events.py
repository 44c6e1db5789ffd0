"""Reading events of either API: what they say, about whom, and when last."""

from __future__ import annotations

from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.inventory import Inventory


def text(event: Event) -> str:
    return event.message or event.note


def subject_uid(event: Event) -> str:
    """The uid of the object that the event is about; empty if it does not say."""
    about = event.regarding if event.regarding is not None and event.regarding.name else event.involved_object
    return about.uid


def about(inventory: Inventory, pod: Pod) -> tuple[Event, ...]:
    """The events about this very pod, none about another one that had its name."""
    key, uid = ("Pod", pod.metadata.namespace, pod.metadata.name), pod.metadata.uid
    return tuple(each for each in inventory.events_by_object.get(key, ()) if subject_uid(each) in ("", uid))


def reporter(event: Event) -> str:
    """The component that wrote it; empty if it does not say."""
    return event.reporting_component or event.source.component


def times(event: Event) -> int:
    """How often it was seen; 1 where it does not say."""
    return max(event.series.count if event.series is not None else 0, event.count, 1)


def first_seen(event: Event) -> str:
    """When the event was first seen (RFC 3339); empty if it does not say."""
    return event.first_timestamp or event.event_time or ""


def last_seen(event: Event) -> str:
    """When the event was last seen (RFC 3339); empty if it does not say."""
    last = event.series.last_observed_time if event.series is not None else None
    return last or event.last_timestamp or event.event_time or event.first_timestamp or ""
