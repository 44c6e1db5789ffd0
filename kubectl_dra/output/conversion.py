"""The words of ``convert`` for stderr: what was corrected, what is lost, what the server would refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.api.convert import Conversion
from kubectl_dra.api.lint import Finding
from kubectl_dra.output.refusals import refusal_text
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.conversion import ConversionReport

_CORRECTED = styled(Safe("corrected:"), Style.WARN)
_LOST = styled(Safe("lost:"), Style.WARN)
_REFUSED = styled(Safe("refused:"), Style.BAD)
_ERROR = styled(Safe("error:"), Style.BAD)


def notes(report: ConversionReport, version: str) -> Iterator[Safe]:
    """One line per correction, loss, refusal and unreadable object, in the order of the objects."""
    for conversion, findings in zip(report.conversions, report.findings, strict=True):
        yield from _of_one(conversion, findings, version)


def _of_one(conversion: Conversion, findings: Sequence[Finding], version: str) -> Iterator[Safe]:
    name = _name(conversion)
    if conversion.error:
        yield fmt("{} {} is passed on as it was: {}", _ERROR, name, conversion.error)
    for finding in findings:
        yield fmt("{} {}: {}", _CORRECTED if finding.corrected else _LOST, name, str(finding))
    named = {finding.path for finding in findings if not finding.corrected}
    for loss in conversion.losses:
        if loss.path not in named:
            yield fmt("{} {}: {}", _LOST, name, str(loss))
    for error in conversion.refused:
        yield fmt("{} a server with {} says of {}: {}", _REFUSED, version, name, refusal_text(str(error)))


def _name(conversion: Conversion) -> Safe:
    name = f"{conversion.namespace}/{conversion.name}" if conversion.namespace else conversion.name
    return safe(f"{conversion.kind} {name}".strip() or "what is not an object")
