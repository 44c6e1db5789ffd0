"""Services, of which the scheduler reads whose pods they send traffic to: it spreads those pods."""

from __future__ import annotations

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import ObjectMeta


class ServiceSpec(Record, frozen=True):
    """``spec``; without a selector no pods belong to the Service."""

    selector: dict[str, str] = field(default_factory=dict)


class Service(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()
