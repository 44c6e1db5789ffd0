"""A claim that the scheduler goes on finding in the process of being allocated, although no object says so.

The scheduler remembers what it allocates until that is written, and turns away each other pod that names the claim.
That is over in a moment, so that the words mean nothing until they have been repeated for a while; and its memory
can't be read, so that they hold only while nothing has changed since they were said last.

Upstream: plugins/dynamicresources, PreFilter (GetPendingAllocation) and inFlightAllocations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import AllocationInFlight, Cause, ObjectRef, Observed
from kubectl_dra.diagnosis.said import agreement, refusals
from kubectl_dra.diagnosis.said import events as events_
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.core import Event, Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import group_key, key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal

_WORDS: Final = re.compile(r"resource claim ([^/\s]+)/(\S+) is in the process of being allocated")
#: More often, and for longer, than an allocation takes to be written.
_TIMES: Final = 5
_LASTS: Final = timedelta(minutes=1)


def standing(
    state: ClusterState, pod: Pod, claims: Sequence[ResourceClaim], events: Iterable[Event]
) -> tuple[tuple[str, ...], Cause] | None:
    """The claim that is kept from the pod, with what the scheduler would write again, if that is known to hold still.

    None where it may have passed.
    """
    events = tuple(events)
    seen = agreement.observed(pod, events)
    match = _WORDS.search(seen.message) if seen is not None and seen.status == "False" else None
    if seen is None or match is None:
        return None
    key = Key(match[1], match[2])
    claim = next((each for each in claims if key_of(each.metadata) == key), None)
    said = _repeated(seen, events)
    if claim is None or claim.status.allocation is not None or said is None:
        return None
    order = refusals.order(pod, seen, refusals.depends_on(state, claims))
    if order is refusals.Order.OLDER:
        return None
    first, last = events_.first_seen(said), events_.last_seen(said)
    known = order is refusals.Order.NEWER
    detail = AllocationInFlight(_shared_in(state, pod, key), events_.times(said), first, last, known)
    return (seen.message,) if known else (), Cause(Code.ALLOCATION_IN_FLIGHT, detail, claim=ObjectRef.of_claim(claim))


def _repeated(seen: Observed, events: Iterable[Event]) -> Event | None:
    """The event with the words, where they were said often, and for longer than a moment."""
    for event in events:
        first, last = parse_time(events_.first_seen(event)), parse_time(events_.last_seen(event))
        same = agreement.same_words(event, seen.message)
        if same and events_.times(event) >= _TIMES and first is not None and last is not None:
            return event if last - first >= _LASTS else None
    return None


def _shared_in(state: ClusterState, pod: Pod, claim: Key) -> str:
    """The group of the pod, where another pod of it that has not ended names the claim; else nothing."""
    group = group_key(pod)
    others = (
        each for each in state.inventory.pods_by_claim.get(claim, ()) if key_of(each.metadata) != key_of(pod.metadata)
    )
    shared = group is not None and any(group_key(each) == group and not is_terminal(each) for each in others)
    return group.name if group is not None and shared else ""
