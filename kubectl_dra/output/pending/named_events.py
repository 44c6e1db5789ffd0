"""The newest warning about an object that a pod names, in words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import ago
from kubectl_dra.reports.pending.named_events import NamedEvent


def named_event_lines(found: NamedEvent | None, now: datetime, said: str) -> Iterator[Safe]:
    """``Warning about PersistentVolumeClaim ml/data, 4m ago (7 times): …``; not what is ``said`` already."""
    if found is None or (found.message and found.message in said):
        return
    often = fmt(" ({} times)", found.times) if found.times > 1 else Safe("")
    by = fmt(" of {}", found.by) if found.by else Safe("")
    when = fmt(", {}", ago(found.time, now)) if found.time else Safe("")
    about = fmt("{} {}", found.object.kind, str(found.object.key))
    yield from wrapped(fmt("Warning{} about {}{}{}: {}: {}", by, about, when, often, found.reason, found.message))
