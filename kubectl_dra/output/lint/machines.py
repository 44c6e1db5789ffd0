"""Findings for machines: SARIF 2.1.0 for code scanning, and the workflow commands that GitHub makes annotations of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from kubectl_dra.output.lint.page import lint_summary, message
from kubectl_dra.output.safe import Safe, plain, safe
from kubectl_dra.reports.lint import LintFinding, LintReport, Severity
from kubectl_dra.reports.lint.records import RULES
from kubectl_dra.version import __version__

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


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
