"""What is wrong with an amount in a selector, in words."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import AttributeValue
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.selectors.units import unreadable_amounts


def amounts_text(expression: str) -> Safe:
    """``"80GB" is not a Kubernetes quantity; write "80G" …`` for each of them; empty where all can be read."""
    amounts = [_amount(text, meant) for _, _, text, meant in unreadable_amounts(expression)]
    return listed(amounts, "and") if amounts else Safe("")


def _amount(text: str, meant: str) -> Safe:
    """What is wrong with an amount: Kubernetes has k, M, G and Ki, Mi, Gi, and no letter for bytes."""
    write = fmt("; write {}", _quoted_either(meant)) if meant else Safe("")
    return fmt('"{}" is not a Kubernetes quantity{}', text, write)


def _quoted_either(meant: str) -> Safe:
    """``"80G" (powers of 1000) or "80Gi" (powers of 1024)``; one where the binary unit was written."""
    if meant.endswith("i") or not meant[-1:].isalpha():
        return fmt('"{}"', meant)
    return fmt('"{}" (powers of 1000) or "{}i" (powers of 1024)', meant, meant[:-1] + meant[-1].upper())


def value_words(value: AttributeValue) -> Safe:
    """``cores is the string "64"``: types are told because values look alike without them."""
    shown = f'"{value.value}"' if value.type in ("string", "version") else value.value
    return fmt("{} is the {} {}", value.name, value.type, shown)
