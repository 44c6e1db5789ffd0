"""scheduling.k8s.io/v1alpha1 of Kubernetes 1.35: a Workload whose groups of pods the pods name (``spec.workloadRef``).

Nothing makes PodGroups of it. Upstream: staging/src/k8s.io/api/scheduling/v1alpha1/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.api.kinds import WORKLOAD
from kubectl_dra.api.shapes import Shape
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.scheduling import (
    ControllerReference,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    Workload,
    WorkloadSpec,
)


class OldPodGroup(Record, frozen=True):
    """``spec.podGroups[]``."""

    name: str = ""
    policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()


class OldWorkloadSpec(Record, frozen=True):
    controller_ref: ControllerReference | None = None
    pod_groups: tuple[OldPodGroup, ...] = ()


class OldWorkload(Record, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: OldWorkloadSpec = OldWorkloadSpec()


def _to_record(old: OldWorkload) -> Workload:
    templates = (PodGroupTemplate(each.name, each.policy) for each in old.spec.pod_groups)
    return Workload(old.metadata, WorkloadSpec(old.spec.controller_ref, tuple(templates)))


def _from_record(workload: Workload) -> OldWorkload:
    groups = (OldPodGroup(each.name, each.scheduling_policy) for each in workload.spec.pod_group_templates)
    return OldWorkload(workload.metadata, OldWorkloadSpec(workload.spec.controller_ref, tuple(groups)))


SHAPES: Final[Mapping[str, Shape]] = {WORKLOAD.name: Shape(OldWorkload, _to_record, _from_record)}
