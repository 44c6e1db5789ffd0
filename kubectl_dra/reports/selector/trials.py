"""The trial that a question is: its selectors behind those of its class, on the devices of a setting."""

from __future__ import annotations

from kubectl_dra.reports.selector.questions import Question
from kubectl_dra.reports.selector.scoping import ScopedDevice, Setting
from kubectl_dra.selectors.trial import SelectorTrial


def trial_of(question: Question, setting: Setting) -> SelectorTrial[ScopedDevice]:
    """As if the class existed, where the setting does not have it."""
    published, features = setting.published, setting.state.features
    if question.own_class is not None:
        return SelectorTrial.of_device_class(question.own_class, published, features)
    found = setting.classes.get(question.device_class or "")
    return SelectorTrial.of_request(question.expressions, found, published, features)
