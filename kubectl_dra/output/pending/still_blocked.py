"""That what is in the way first is not all, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.main_reason import main_reason
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.pending.still_blocked import StillBlocked


def renamed_lines(found: StillBlocked | None) -> Iterator[Safe]:
    """That the attribute that is meant would not do; nothing where it would."""
    if found is not None and found.after:
        text = "With {} in place of {} it would still not fit: {}."
        yield from wrapped(fmt(text, found.after, found.before, main_reason(found)))


def whatever_selected(found: StillBlocked | None) -> Safe | None:
    """What lacks whatever the classes select that could not be read; None where that decides."""
    if found is None or not found.classes:
        return None
    classes = fmt("{} {}", Safe("class" if len(found.classes) == 1 else "classes"), listed(found.classes))
    return fmt("even if {} selected every device, {}", classes, main_reason(found))


def admitted_lines(found: StillBlocked | None) -> Iterator[Safe]:
    """Behind the words about the queue, which say that the pod would find no node: why."""
    if found is not None and not (found.after or found.classes):
        yield from wrapped(fmt("What would be in the way then: {}.", main_reason(found)), indent=2)
