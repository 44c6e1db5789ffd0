"""ReplicationControllers: their selector is a plain map, where that of all other controllers is a LabelSelector."""

from __future__ import annotations

from typing import Final

from msgspec import field

from kubectl_dra.api.shapes import Shape
from kubectl_dra.model.base import Record
from kubectl_dra.model.meta import LabelSelector, LocalObject
from kubectl_dra.model.workloads import MakerSpec, PodTemplate, WorkloadObject

KIND: Final = "ReplicationController"


class ReplicationControllerSpec(Record, frozen=True):
    """``spec``; a server puts the labels of the template where there is no selector."""

    replicas: int | None = None
    selector: dict[str, str] = field(default_factory=dict)
    template: PodTemplate | None = None


class ReplicationController(LocalObject, frozen=True):
    """An object as a server sends it."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()


def to_record(sent: ReplicationController) -> WorkloadObject:
    """The record, which has a LabelSelector."""
    spec = sent.spec
    labels = spec.selector or (spec.template.metadata.labels if spec.template is not None else {})
    selector = LabelSelector(match_labels=labels) if labels else None
    made = MakerSpec(replicas=spec.replicas, selector=selector, template=spec.template)
    return WorkloadObject(sent.api_version, sent.kind, sent.metadata, made)


def _from_record(record: WorkloadObject) -> ReplicationController:
    spec = record.spec
    labels = dict(spec.selector.match_labels) if spec.selector is not None else {}
    sent = ReplicationControllerSpec(spec.replicas, labels, spec.template)
    return ReplicationController(record.api_version, record.kind, record.metadata, sent)


SHAPE: Final = Shape(ReplicationController, to_record, _from_record)
