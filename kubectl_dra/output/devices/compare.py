"""Some devices beside each other: what differs between them, and below what they have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.model.taint_text import taint_text
from kubectl_dra.output.devices.lists import users_of
from kubectl_dra.output.devices.parts import device_state_text, nobody, pairs_text, scope_cell, shown_taints
from kubectl_dra.output.layout import Column, table, wrapped
from kubectl_dra.output.safe import Safe, Style, plain, safe, styled
from kubectl_dra.reports.devices.attributes import common_values, varying_names
from kubectl_dra.reports.devices.device_list import ListedDevice

_ALWAYS: Final = frozenset({"state", "used by"})


def comparison_page(devices: Sequence[ListedDevice]) -> list[Safe]:
    """A column for each device, as wide as it has to be; attributes that all have alike stand below the table."""
    values = [each.device.values for each in devices]
    same = common_values(values)
    rows = [row for row in _rows(devices) if len({plain(cell) for cell in row[1:]}) > 1 or plain(row[0]) in _ALWAYS]
    rows += [[safe(name), *(safe(each.get(name, "-")) for each in values)] for name in varying_names(values, same)]
    columns = [Column()] * (len(devices) + 1)
    titles = [Safe(""), *(styled(safe(each.device.name), Style.BOLD) for each in devices)]
    lines = table(columns, [titles, *rows], header=False, columns_wide=None)
    if same:
        lines += [Safe(""), *wrapped(Safe("same for all: ") + pairs_text(same), indent=2, first=0)]
    return lines


def _rows(devices: Sequence[ListedDevice]) -> Iterator[list[Safe]]:
    yield [Safe("driver"), *(safe(each.driver) for each in devices)]
    yield [Safe("pool"), *(safe(each.pool) for each in devices)]
    yield [Safe("nodes"), *(scope_cell(each.where) for each in devices)]
    yield [Safe("state"), *(device_state_text(each.device) for each in devices)]
    yield [Safe("used by"), *(_users(each) for each in devices)]
    yield [Safe("taints"), *(_taints(each) for each in devices)]


def _users(listed: ListedDevice) -> Safe:
    return Safe(", ").join(users_of([listed.device])) or nobody(listed.device.holders_bound)


def _taints(listed: ListedDevice) -> Safe:
    return Safe(", ").join(safe(taint_text(each)) for each in shown_taints(listed.device)) or Safe("-")
