"""That the corrected name of an attribute alone is not enough, and why."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.pending.corrected import Corrected


def corrected_lines(found: Corrected | None) -> Iterator[Safe]:
    """One sentence; nothing where the corrected name would do."""
    if found is not None:
        text = "With {} in place of {} it would still not fit: {}."
        yield from wrapped(fmt(text, found.after, found.before, main_reason(found)))
