"""Counter sets: their names and counters, where they are defined and where devices draw on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubectl_dra.api.admission.errors import Field
from kubectl_dra.model import names
from kubectl_dra.model.resource import Counter

MAX_COUNTERS: Final = 32


def counter_set_name(name: str, field: Field) -> None:
    """The name of a counter set, where it is defined and where it is drawn on."""
    if name:
        field.invalid_for_each(name, names.dns_label(name, names.BYTES))
    else:
        field.required()


def counter_names(counters: Mapping[str, Counter], field: Field) -> None:
    """Counters by name; any quantity is valid."""
    if not counters:
        field.required()
        return
    if len(counters) > MAX_COUNTERS:
        field.too_many(len(counters), MAX_COUNTERS)
    for name in counters:
        field.invalid_for_each(name, names.dns_label(name, names.BYTES))
