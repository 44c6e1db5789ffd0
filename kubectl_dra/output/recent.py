"""What changed last, in a few words each."""

from __future__ import annotations

from typing import Final

from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted
from kubectl_dra.reports.recent import Change, ChangeKind

_SHORT: Final = {"ResourceClaim": "claim", "Pod": "pod", "DeviceTaintRule": "rule", "ResourceSlice": "slice"}


def change_text(change: Change) -> Safe:
    """``pod ml/infer-7 pending``, ``gpu.example.com/node-a/gpu-7 tainted ecc:NoSchedule``."""
    subject, detail = change.subject, change.detail
    name = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
    kind = fmt("{} ", _SHORT[subject.kind]) if subject.kind in _SHORT else Safe("")
    match change.kind:
        case ChangeKind.ALLOCATED:
            number = int(detail) if detail.isdecimal() else 0
            return kind + safe(name) + styled(fmt(" got {}", counted(number, "device")), Style.GOOD)
        case ChangeKind.CREATED:
            return kind + safe(name) + Safe(" created")
        case ChangeKind.DELETING:
            return kind + safe(name) + styled(Safe(" being deleted"), Style.BAD)
        case ChangeKind.PENDING:
            return kind + safe(name) + styled(Safe(" pending"), Style.WARN)
        case ChangeKind.TAINTED:
            return kind + safe(name) + fmt(": taint {}", styled(safe(detail), Style.WARN))
    return fmt("pool {} published", detail)
