"""Quantities in JSON: texts, and plain numbers where the API server accepts them.

Upstream: ``resource.Quantity.UnmarshalJSON`` takes the literal with or without quotes, trims it, reads null as zero.
"""

from __future__ import annotations

from functools import lru_cache

from kubectl_dra.model.quantity import Quantity


# Nearly every amount of a device or a node was met before. ``typed``: True equals 1, and is no quantity.
@lru_cache(maxsize=65536, typed=True)
def decode_hook(wanted: type, value: object) -> object:
    """msgspec's ``dec_hook``; equal texts give the same object. Raises :class:`ValueError` for anything else.

    For what can't be looked up, as a list, it is a :class:`TypeError`, which msgspec takes for the same.
    """
    if wanted is not Quantity:
        raise TypeError(f"no decoder for {wanted.__name__}")
    if isinstance(value, str):
        return Quantity.parse(value if value.isalnum() else value.strip())
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("expected a quantity")
    return Quantity.parse(str(value))


def encode_hook(value: object) -> object:
    """msgspec's ``enc_hook``: the text that the API server would print."""
    if isinstance(value, Quantity):
        return str(value)
    raise TypeError(f"no encoder for {type(value).__name__}")
