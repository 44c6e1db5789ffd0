"""Selectors of the command line: one that no request could have is refused, with the place and what is meant."""

from __future__ import annotations

from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.selector.advice import rewrite_lines
from kubectl_dra.output.selector.devices import failure_lines
from kubectl_dra.output.selector.verdicts import headline, verdict_lines
from kubectl_dra.reports.invocations import plain_word, try_dra
from kubectl_dra.reports.selector import SelectorReport, Setting, expression_question, selector_report
from kubectl_dra.reports.selector.records import compiles

#: What comparing values of different types raises (cel-go, common/types/err.go).
_WRONG_TYPES: Final = "no such overload"


def check_selector(option: str, expression: str, state: ClusterState, device_class: str = "") -> None:
    """Raise :class:`CommandError` for one that does not compile, or fails on every device that it could match."""
    report = selector_report(expression_question(expression, device_class or None), Setting(state))
    lines = _refused(report)
    if not lines:
        return
    what = str(headline(report)).removesuffix(".")
    raise CommandError(
        f"{option} {what[:1].lower()}{what[1:]}",
        "" if report.rewrites else try_dra("test-selector", plain_word(expression) or ("EXPR",)).then(" tells more"),
        ExitCode.USAGE,
        [*lines, *rewrite_lines(report)],
    )


def _refused(report: SelectorReport) -> list[Safe]:
    """Where it is wrong; nothing of a selector that a request could have."""
    if not compiles(report) or not all(selector.admission.accepted for selector in report.selectors):
        return list(verdict_lines(report))
    totals = report.totals
    # Where it fails on a device the attempt ends, and there is none on which it does not.
    wrong = all(failure.error == _WRONG_TYPES for failure in report.failures)
    never = not totals.matches.value and (wrong or totals.fails.value == totals.devices.value)
    return list(failure_lines(report)) if report.failures and never else []
