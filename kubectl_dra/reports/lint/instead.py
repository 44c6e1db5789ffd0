"""What to write in place of selectors that do not compile, raise errors or match nothing: as test-selector tells it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from kubectl_dra.api.planned import Planned
from kubectl_dra.model.features import features
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.places import place_of
from kubectl_dra.reports.lint.records import Instead, Rule
from kubectl_dra.reports.selector import Question, Setting, manifest_questions
from kubectl_dra.reports.selector.scoping import ScopedDevice
from kubectl_dra.reports.selector.trials import trial_of
from kubectl_dra.selectors.catalog import PublishedDevices
from kubectl_dra.selectors.rewrite import corrections
from kubectl_dra.selectors.trial import SelectorTrial

#: Of these the place is the list of a request's selectors.
_OF_DEVICES: Final = frozenset({Rule.ERROR_ON_DEVICE, Rule.NOT_PUBLISHED, Rule.NO_DEVICE})


def with_corrections(
    found: Sequence[UnplacedFinding], planned: Planned, setting: Setting | None
) -> list[UnplacedFinding]:
    """The findings of one object; without a ``setting`` there are no devices to try anything on."""
    if not any(each.rule is Rule.SELECTOR or each.rule in _OF_DEVICES for each in found):
        return list(found)
    texts, told = dict(_corrected(planned, setting)), []
    for each in found:
        path = each.path
        if each.rule in _OF_DEVICES:
            # One of several selectors may be meant, and what is said twice of it is corrected once.
            of_request = [known for known in texts if known.startswith(f"{path}[")]
            path = of_request[0] if len(of_request) == 1 else ""
        instead = texts.pop(path, None) if each.rule is Rule.SELECTOR or each.rule in _OF_DEVICES else None
        told.append(each if instead is None else replace(each, instead=instead))
    return told


def _corrected(planned: Planned, setting: Setting | None) -> Iterator[tuple[str, Instead]]:
    """The path of each selector that a correction was found for."""
    record = planned.record
    if not isinstance(record, DeviceClass | ResourceClaim | ResourceClaimTemplate):
        return
    known = setting.state.features if setting is not None else features()
    for question in manifest_questions([(record, "")], known):
        trial = trial_of(question, setting) if setting is not None else _without_devices(question)
        for found in corrections(trial):
            path = f"{place_of(record, question)}[{trial.selectors[found.number].index}].cel.expression"
            matching = len(found.matching)
            yield path, Instead(found.expression.strip(), matching, matching + found.no)


def _without_devices(question: Question) -> SelectorTrial[ScopedDevice]:
    nothing = PublishedDevices[ScopedDevice](())
    if question.own_class is not None:
        return SelectorTrial.of_device_class(question.own_class, nothing, features())
    return SelectorTrial.of_request(question.expressions, None, nothing, features())
