"""Tables of devices that only claims tell of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kubectl_dra.output.devices.holders import holder_text
from kubectl_dra.output.layout import PAGE, Column, table
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.reports.devices.unpublished import AllocatedDevice


def unpublished_table(devices: Sequence[AllocatedDevice], now: datetime, node: str, wide: bool) -> list[Safe]:
    """A line per device; ``node``: whose pods are told without their node."""
    columns = [Column("DEVICE"), Column("USED BY", flexible=True)]
    rows = [[safe(d.device), Safe("; ").join(holder_text(h, now, node) for h in d.holders)] for d in devices]
    return list(table(columns, rows, columns_wide=None if wide else PAGE, indent=2))
