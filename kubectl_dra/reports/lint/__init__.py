"""Manifests without a cluster: what servers refuse or drop, selectors that can't match, names that lead nowhere."""

from __future__ import annotations

from kubectl_dra.reports.lint.records import LintFinding, LintReport, Rule, Severity
from kubectl_dra.reports.lint.report import lint_report

__all__ = ["LintFinding", "LintReport", "Rule", "Severity", "lint_report"]
