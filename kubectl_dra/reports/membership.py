"""Which devices selectors match: those of a DeviceClass, or an expression that a user typed.

Compiled and evaluated as the scheduler does it; once per content that the expressions can tell apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum

from kubectl_dra.allocation.selectors import Lens
from kubectl_dra.cel import SCHEDULER, CompileError, EvaluationError, Program, compile_expression, device_value
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device, DeviceClass
from kubectl_dra.reports.ask import expression_of


class Verdict(StrEnum):
    """What a list of selectors, all of which must hold, says of a device."""

    MATCHES = "matches"
    NO = "no"
    ERROR = "error"


def _said(error: CompileError) -> str:
    """The first problem in one line, with its place."""
    if not error.issues:
        return " ".join(error.text.split())
    issue = error.issues[0]
    message = " ".join(issue.message.removesuffix(" (in container '')").split())
    return f"{message} (line {issue.line}, column {issue.column + 1})" if issue.pos >= 0 else message


class Matcher:
    """A list of selectors; ``problem``: what is wrong with the first that does not compile, ``errors``: what failed."""

    def __init__(self, expressions: Iterable[str], features: Features) -> None:
        self.expressions = tuple(expressions)
        self.problem: str | None = None
        self.errors: dict[str, int] = {}
        self._programs: list[Program] = []
        self._verdicts: dict[Hashable, tuple[Verdict, str]] = {}
        for expression in self.expressions:
            try:
                self._programs.append(compile_expression(expression, SCHEDULER))
            except CompileError as error:
                self.problem = _said(error)
                break
        self._lens = Lens(self._programs, (), features)

    def verdict(self, driver: str, device: Device) -> Verdict:
        """What the selectors say of one device; errors are counted by their text."""
        if self.problem is not None:
            return Verdict.ERROR
        content = self._lens.content(driver, device)
        known = self._verdicts.get(content)
        if known is None:
            known = self._verdicts[content] = self._evaluate(driver, device)
        verdict, text = known
        if verdict is Verdict.ERROR:
            self.errors[text] = self.errors.get(text, 0) + 1
        return verdict

    def matches(self, driver: str, device: Device) -> bool:
        """Whether all selectors hold."""
        return self.verdict(driver, device) is Verdict.MATCHES

    def _evaluate(self, driver: str, device: Device) -> tuple[Verdict, str]:
        value = device_value(driver, device)
        try:
            # The first selector that says no hides the errors of those behind it.
            holds = all(program.matches(value) for program in self._programs)
        except EvaluationError as error:
            return Verdict.ERROR, error.text
        return (Verdict.MATCHES if holds else Verdict.NO), ""


def class_matcher(device_class: DeviceClass, features: Features) -> Matcher:
    """The selectors of a class."""
    return Matcher(map(expression_of, device_class.spec.selectors), features)
