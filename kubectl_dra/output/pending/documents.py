"""why-pending as JSON: the report as it is, with ``output.text``, the sentences for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.reports.base import ReportRecord


def with_text(report: ReportRecord, lines: Sequence[Safe]) -> dict[str, Any]:
    """The fields of ``report`` and its page; codes are the contract, the text may change."""
    # Raw parts (drivers' own JSON) pass through as they are.
    fields: dict[str, Any] = msgspec.json.decode(encode_part(report), type=dict[str, msgspec.Raw])
    return {**fields, "output": {"text": "\n".join(plain(line) for line in lines)}}
