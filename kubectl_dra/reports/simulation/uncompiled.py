"""Selectors of the files that do not compile, with what they probably mean: as if they had been written so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from kubectl_dra.api.planned import Planned
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.resource import CELSelector, DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.selector.questions import manifest_questions
from kubectl_dra.reports.selector.scoping import Setting
from kubectl_dra.reports.selector.trials import trial_of
from kubectl_dra.selectors.rewrite import corrections

_T = TypeVar("_T")


class CorrectedSelector(ReportRecord, frozen=True):
    """A selector ``before`` that does not compile, and what it probably means: on ``devices`` it was tried."""

    object: ObjectRef
    before: str
    expression: str
    matching: int
    devices: int


def corrected_selectors(
    state: ClusterState, objects: Sequence[Planned], refused: Collection[ObjectRef]
) -> list[CorrectedSelector]:
    """Those of ``refused`` objects that a correction was found for; one that compiles may be meant as it is."""
    classes = {each.name: each.record for each in objects if isinstance(each.record, DeviceClass)}
    setting = Setting(state, extra=classes)
    named = ((each, ObjectRef(each.kind, each.key.namespace, each.name)) for each in objects)
    return [found for each, ref in named if ref in refused for found in _of_object(setting, each, ref)]


def _of_object(setting: Setting, planned: Planned, ref: ObjectRef) -> Iterator[CorrectedSelector]:
    record = planned.record
    if not isinstance(record, ResourceClaim | ResourceClaimTemplate | DeviceClass) or planned.error:
        return
    for question in manifest_questions([(record, "")], setting.state.features):
        trial = trial_of(question, setting)
        if all(each.admission.accepted for each in trial.selectors):
            continue
        for found in corrections(trial):
            selector = trial.selectors[found.number]
            if not selector.admission.accepted:
                number = len(found.matching)
                yield CorrectedSelector(ref, selector.expression, found.expression, number, number + found.no)


def as_meant(objects: Iterable[Planned], found: Iterable[CorrectedSelector]) -> Iterator[Planned]:
    """The objects with the selectors as they are probably meant."""
    texts: dict[ObjectRef, dict[str, str]] = {}
    for each in found:
        texts.setdefault(each.object, {})[each.before] = each.expression
    for planned in objects:
        own = texts.get(ObjectRef(planned.kind, planned.key.namespace, planned.name))
        yield planned if own is None else replace(planned, record=_rewritten(planned.record, own))


def _rewritten(value: _T, texts: Mapping[str, str]) -> _T:
    """An object, or a part of one, with other texts in its selectors."""
    if isinstance(value, CELSelector):
        return msgspec.structs.replace(value, expression=texts.get(value.expression, value.expression))
    if isinstance(value, tuple):
        return tuple(_rewritten(each, texts) for each in value)  # type: ignore[return-value]
    if isinstance(value, msgspec.Struct):
        fields: dict[str, Any] = {name: getattr(value, name) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **{name: _rewritten(each, texts) for name, each in fields.items()})
    return value
