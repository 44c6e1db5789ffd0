"""Quantities in JSON: texts, and plain numbers where the API server accepts them.

Upstream: ``resource.Quantity.UnmarshalJSON`` takes the literal with or without quotes, trims it, reads null as zero.
"""

from __future__ import annotations

from kubectl_dra.model.quantity import Quantity


def decode_hook(wanted: type, value: object) -> object:
    """msgspec's ``dec_hook``; equal texts give the same object. Raises :class:`ValueError` for anything else."""
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
