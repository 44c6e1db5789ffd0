"""What the API server makes of a pod that is created, and how many of them an autoscaler asks for.

LimitRanges of v1, RuntimeClasses of node.k8s.io/v1, and HorizontalPodAutoscalers of autoscaling/v2 and v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import field

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Toleration
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.quantity import Quantity

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})
Amounts = dict[str, Quantity]


class LimitRangeItem(Record, frozen=True):
    """``spec.limits[]`` of a LimitRange, for a ``type``: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: Amounts = field(default_factory=dict)
    min: Amounts = field(default_factory=dict)
    default: Amounts = field(default_factory=dict)
    default_request: Amounts = field(default_factory=dict)
    max_limit_request_ratio: Amounts = field(default_factory=dict)


class LimitRangeSpec(Record, frozen=True):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Record, frozen=True):
    """Defaults and bounds of what containers and pods of its namespace request."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()


class RuntimeOverhead(Record, frozen=True):
    """``overhead`` of a RuntimeClass: what each of its pods takes beside its containers."""

    pod_fixed: Amounts = field(default_factory=dict)


class RuntimeScheduling(Record, frozen=True):
    """``scheduling`` of a RuntimeClass: what each of its pods gets."""

    node_selector: Mapping[str, str] = _EMPTY
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    handler: str = ""
    overhead: RuntimeOverhead | None = None
    scheduling: RuntimeScheduling = RuntimeScheduling()


class ScaleTarget(Record, frozen=True):
    """``spec.scaleTargetRef`` of an autoscaler."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class AutoscalerSpec(Record, frozen=True):
    """``spec`` of an autoscaler; without ``minReplicas`` it is 1."""

    scale_target_ref: ScaleTarget = ScaleTarget()
    min_replicas: int | None = None
    max_replicas: int = 0


class HorizontalPodAutoscaler(Record, frozen=True):
    """What keeps the number of a workload's pods within bounds."""

    metadata: ObjectMeta = ObjectMeta()
    spec: AutoscalerSpec = AutoscalerSpec()
