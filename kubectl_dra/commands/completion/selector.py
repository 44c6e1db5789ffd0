"""Inside a selector that is being typed: fields of a device, domains, names of attributes and capacities.

Looks only at the end of the text. Types and corrections are the business of test-selector and of the selector lab.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from kubectl_dra.commands.completion import NextWord
from kubectl_dra.commands.completion.cache import Rows

_FIELDS: Final = {
    "driver": "name of the DRA driver",
    "attributes": "by domain, then by name",
    "capacity": "by domain, then by name",
    "allowMultipleAllocations": "whether requests can share it",
}
_DEVICE: Final = re.compile(r"\bdevice\.([A-Za-z]*)$")
_DOMAIN: Final = re.compile(r"""\bdevice\.(attributes|capacity)\[(["']?)([A-Za-z0-9./-]*)$""")
_NAME: Final = re.compile(r"""\bdevice\.(attributes|capacity)\[(["'])([^"'\]]+)\2\]\.\??([A-Za-z0-9_]*)$""")
_START: Final = re.compile(r"(?:^|[\s(!&|])(d[a-z]*)?$")


def selector_candidates(text: str, devices: Callable[[], Rows]) -> list[NextWord]:
    """The whole text with each of its possible ends. ``devices`` gives the rows of :meth:`Tables.devices`."""
    return [NextWord(text[:start] + end, description) for start, end, description in _ends(text, devices)]


def _ends(text: str, devices: Callable[[], Rows]) -> Iterator[tuple[int, str, str]]:
    """Where an end begins, the end, and what it is."""
    if match := _NAME.search(text):
        for name, seen in sorted(_names(devices(), match[1], match[3]).items()):
            if name.startswith(match[4]):
                yield match.start(4), name, seen
    elif match := _DOMAIN.search(text):
        quote = match[2] or '"'
        for domain in sorted({row[4].rpartition("/")[0] for row in devices() if row[3] == match[1]}):
            if domain.startswith(match[3]):
                yield match.start(2), f"{quote}{domain}{quote}].", ""
    elif match := _DEVICE.search(text):
        for name, description in _FIELDS.items():
            if name.startswith(match[1]):
                yield match.start(1), name, description
    elif (match := _START.search(text)) and "device.".startswith(match[1] or ""):
        yield match.start(1) if match[1] else len(text), "device.", ""


def _names(rows: Rows, field: str, domain: str) -> dict[str, str]:
    """Names in a domain, each with the values that were seen, the first few of them."""
    seen: dict[str, list[str]] = {}
    for row in rows:
        there, _, name = row[4].rpartition("/")
        if row[3] == field and there == domain:
            values = seen.setdefault(name, [])
            if row[5] not in values and len(values) < 4:
                values.append(row[5])
    return {name: f"seen: {', '.join(values[:3])}{', ...' if len(values) > 3 else ''}" for name, values in seen.items()}
