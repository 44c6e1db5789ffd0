"""Gangs and queues of other schedulers, as far as they say why pods wait: PodGroups of scheduler-plugins and Volcano.

The API groups scheduling.x-k8s.io (coscheduling) and scheduling.volcano.sh. The schedulers decide; these objects only
tell what they decide by.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from kubectl_dra.model.base import Record
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import Condition, ObjectMeta
from kubectl_dra.model.quantity import Quantity

SCHEDULER_PLUGINS: Final = "scheduling.x-k8s.io"
VOLCANO: Final = "scheduling.volcano.sh"
POD_GROUP: Final = "PodGroup"
QUEUE: Final = "Queue"
_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
#: Plurals of the kinds that are read, and whether their objects are in a namespace, by group of the API.
KINDS: Final[Mapping[str, Mapping[str, tuple[str, bool]]]] = MappingProxyType(
    {
        SCHEDULER_PLUGINS: {POD_GROUP: ("podgroups", True)},
        VOLCANO: {POD_GROUP: ("podgroups", True), QUEUE: ("queues", False)},
    }
)


def qualified(group: str, kind: str) -> str:
    """How reads name a kind, of which other groups have one too."""
    return f"{kind}.{group}"


#: All of them, so named.
QUALIFIED: Final = tuple(qualified(group, kind) for group, kinds in KINDS.items() for kind in kinds)


class OtherGroupSpec(Record, frozen=True):
    """``spec``: so many pods start at once or none, in a queue of Volcano's, where they need ``min_resources``."""

    min_member: int = 0
    queue: str = ""
    min_resources: Mapping[str, Quantity] = _EMPTY


class OtherGroupStatus(Record, frozen=True):
    """``status``; the phase is written by the scheduler or its controller."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class OtherGroup(Record, frozen=True):
    """A PodGroup that is none of Kubernetes' own."""

    metadata: ObjectMeta = ObjectMeta()
    spec: OtherGroupSpec = OtherGroupSpec()
    status: OtherGroupStatus = OtherGroupStatus()


class OtherQueueSpec(Record, frozen=True):
    """``spec``: ``capability`` is what all pods of the queue may have together."""

    capability: Mapping[str, Quantity] = _EMPTY


class OtherQueueStatus(Record, frozen=True):
    """``status``. States: Open, Closed, Closing, Unknown."""

    state: str = ""
    allocated: Mapping[str, Quantity] = _EMPTY


class OtherQueue(Record, frozen=True):
    """scheduling.volcano.sh Queue."""

    metadata: ObjectMeta = ObjectMeta()
    spec: OtherQueueSpec = OtherQueueSpec()
    status: OtherQueueStatus = OtherQueueStatus()


class GangObjects(msgspec.Struct, frozen=True):
    """Those that are known, by group of the API. ``complete``: the kinds of which all are here, as reads name them.

    ``refused``: those not permitted; ``failed``: of these, those that are, and that the server failed to give. Kinds in
    neither were not read, or are not served.
    """

    groups: Mapping[tuple[str, Key], OtherGroup] = msgspec.field(default_factory=lambda: _EMPTY)
    queues: Mapping[str, OtherQueue] = msgspec.field(default_factory=lambda: _EMPTY)
    complete: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()


NO_GANGS: Final = GangObjects()
