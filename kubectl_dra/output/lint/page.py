"""Findings for people: one per line like a compiler's, then a sentence that counts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.output.refusals import refusal_text
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.lint import LintFinding, LintReport, Severity
from kubectl_dra.reports.lint.records import RULES

_STYLES: Final = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WARN, Severity.NOTE: Style.DIM}


def lint_page(report: LintReport) -> Iterator[Safe]:
    for finding in report.findings:
        yield _line(finding)
    helps = dict.fromkeys(finding.code for finding in report.findings)
    if helps:
        yield Safe("")
    for rule in helps:
        yield fmt("{}: {}", rule.value, RULES[rule].help)
    if helps:
        yield Safe("")
    yield styled(lint_summary(report), Style.BOLD)


def lint_summary(report: LintReport) -> Safe:
    """``2 errors and 1 warning in 5 objects of 3 files.``"""
    where = fmt("{} of {}", counted(report.objects, "object"), counted(report.files, "file"))
    parts = [counted(report.errors, "error")] if report.errors else []
    parts += [counted(report.warnings, "warning")] if report.warnings else []
    tried = fmt("; selectors were tried on {}", counted(report.devices, "device")) if report.devices else Safe("")
    what = Safe(" and ").join(parts) if parts else Safe("Nothing wrong")
    return fmt("{} in {}{}.", what, where, tried)


def message(finding: LintFinding) -> Safe:
    """The finding in one line, with its object and field."""
    text = refusal_text(finding.message)
    if finding.path:
        text = fmt("{}: {}", finding.path, text)
    if finding.object is None:
        return text
    ref = finding.object
    return fmt("{} {}: {}", ref.kind, str(ref.key) if ref.namespace else ref.name, text)


def _line(finding: LintFinding) -> Safe:
    place = fmt("{}:{}:{}", finding.file, finding.line, finding.column) if finding.line else safe(finding.file)
    severity = styled(safe(finding.severity.value), _STYLES[finding.severity])
    return fmt("{}: {}: {} [{}]", place, severity, message(finding), finding.code.value)
