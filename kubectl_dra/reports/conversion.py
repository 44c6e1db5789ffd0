"""What becomes of manifests in another version: first corrected where they mix generations, then converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubectl_dra.api.convert import Conversion, convert, with_broken_texts
from kubectl_dra.api.lint import Finding, lint
from kubectl_dra.api.sources import Source


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """One entry per object, in order: what it became, and the mistakes that were found in it before."""

    conversions: tuple[Conversion, ...]
    findings: tuple[tuple[Finding, ...], ...]

    @property
    def objects(self) -> tuple[bytes, ...]:
        return tuple(data for conversion in self.conversions for data in conversion.objects)

    @property
    def unreadable(self) -> bool:
        return any(conversion.error for conversion in self.conversions)

    @property
    def clean(self) -> bool:
        """Whether everything could be carried over, and the target's server would accept all of it."""
        return not any(c.losses or c.refused or c.error for c in self.conversions)


def conversion_report(sources: Sequence[Source], target: str) -> ConversionReport:
    """Correct and convert manifests. Raises :class:`ValueError` for an unknown target."""
    linted = [lint(source.data, listed=bool(source.api_version)) for source in sources]
    corrected = [
        source if found.corrected is None else source._replace(data=found.corrected)
        for source, found in zip(sources, linted, strict=True)
    ]
    conversions = [
        # A corrected manifest was written anew, so only the original tells which of its texts were broken.
        conversion if found.corrected is None else with_broken_texts(conversion, source.data)
        for conversion, found, source in zip(convert(corrected, target), linted, sources, strict=True)
    ]
    return ConversionReport(tuple(conversions), tuple(found.findings for found in linted))
