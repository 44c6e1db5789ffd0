"""get podgroups: the table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kubectl_dra.output.layout import Column, long_table
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import age
from kubectl_dra.reports.group_list import GroupRow


def groups_table(
    rows: Iterable[GroupRow], now: datetime, *, wide: bool = False, headers: bool = True, namespaces: bool = False
) -> Iterable[Safe]:
    """kubectl's columns NAME AGE, and between them the policy, the pods and what the scheduler wrote."""
    titles = ["NAMESPACE"] if namespaces else []
    titles += [
        "NAME",
        "POLICY",
        "PODS",
        "RUNNING",
        "STATE",
        *(["TOPOLOGY", "CLAIMS", "WORKLOAD"] if wide else []),
        "AGE",
    ]
    columns = [Column(safe(title)) for title in titles]
    return long_table(columns, (_cells(row, now, wide=wide, namespaces=namespaces) for row in rows), header=headers)


def policy(row: GroupRow) -> Safe:
    """``gang 4``, or ``basic``."""
    return fmt("gang {}", row.min_count) if row.min_count is not None else Safe("basic")


def state(row: GroupRow) -> Safe:
    """What the scheduler wrote last; a dash for nothing."""
    return safe(row.state) or Safe("-")


def number(value: int | None) -> Safe:
    """A number, or ``?``."""
    return Safe("?") if value is None else fmt("{}", value)


def _cells(row: GroupRow, now: datetime, *, wide: bool, namespaces: bool) -> list[Safe]:
    cells = [safe(row.namespace)] if namespaces else []
    cells += [safe(row.name), policy(row), number(row.pods), number(row.running), state(row)]
    if wide:
        workload = safe(row.workload.name) if row.workload is not None else Safe("-")
        claims = Safe(",").join(map(safe, row.claims)) or Safe("-")
        cells += [safe(row.topology_key) or Safe("-"), claims, workload]
    return [*cells, age(row.created, now)]
