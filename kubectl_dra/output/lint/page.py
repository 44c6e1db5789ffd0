"""What lint says: one finding per line and a count for people, SARIF 2.1.0 and GitHub's annotations for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from kubectl_dra.output.lint.hints import hint
from kubectl_dra.output.refusals import refusal_text
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.lint import LintFinding, LintReport, Severity
from kubectl_dra.reports.lint.records import RULES, Instead, Rule
from kubectl_dra.version import __version__

_STYLES: Final = {Severity.ERROR: Style.BAD, Severity.WARNING: Style.WARN, Severity.NOTE: Style.DIM}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


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
    told = hint(text) if finding.code is Rule.REFUSED else ""
    if told:
        text = fmt("{}: {}", text, told)
    if finding.instead is not None:
        text += instead_text(finding.instead)
    if finding.object is None:
        return text
    ref = finding.object
    return fmt("{} {}: {}", ref.kind, str(ref.key) if ref.namespace else ref.name, text)


def instead_text(found: Instead) -> Safe:
    """The selector as it is probably meant, as a line of YAML; one of several lines test-selector shows."""
    tried = fmt(" (matches {} of {})", found.matching, counted(found.devices, "device")) if found.devices else Safe("")
    if "\n" in found.expression:
        return Safe("; kubectl dra test-selector -f FILE shows what to write instead")
    quoted = found.expression.replace("'", "''")
    return fmt("; write instead{}: expression: '{}'", tried, quoted)


def _line(finding: LintFinding) -> Safe:
    place = fmt("{}:{}:{}", finding.file, finding.line, finding.column) if finding.line else safe(finding.file)
    severity = styled(safe(finding.severity.value), _STYLES[finding.severity])
    return fmt("{}: {}: {} [{}]", place, severity, message(finding), finding.code.value)


def sarif(report: LintReport) -> bytes:
    """The report as a SARIF log with one run, in 7 bits."""
    rules = [
        {
            "id": rule.value,
            "shortDescription": {"text": text.title},
            "help": {"text": text.help},
            "defaultConfiguration": {"level": _LEVELS[text.severity]},
        }
        for rule, text in RULES.items()
    ]
    driver = {"name": "kubectl-dra", "version": __version__, "semanticVersion": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(_results(report))}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2).encode()


def _results(report: LintReport) -> Iterator[dict[str, Any]]:
    rules = list(RULES)
    for finding in report.findings:
        place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
        if finding.line:
            place["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
        yield {
            "ruleId": finding.code.value,
            "ruleIndex": rules.index(finding.code),
            "level": _LEVELS[finding.severity],
            "message": {"text": plain(message(finding))},
            "locations": [{"physicalLocation": place}],
        }


def _uri(file: str) -> str:
    """A reference to the file: relative to where the command ran, if it was named so."""
    if file.startswith("https://"):
        return file
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def github_lines(report: LintReport) -> Iterator[Safe]:
    """A workflow command per finding, and the sentence that counts them."""
    for finding in report.findings:
        yield _annotation(finding)
    yield lint_summary(report)


def _annotation(finding: LintFinding) -> Safe:
    place = {"file": finding.file}
    if finding.line:
        place |= {"line": str(finding.line), "col": str(max(finding.column, 1))}
    place["title"] = RULES[finding.code].title
    fields = ",".join(f"{name}={_property(plain(safe(value)))}" for name, value in place.items())
    text = _data(plain(message(finding)))
    return safe(f"::{_COMMANDS[finding.severity]} {fields}::{text}")


def _data(text: str) -> str:
    """Upstream: actions/toolkit, packages/core/src/command.ts (escapeData)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
