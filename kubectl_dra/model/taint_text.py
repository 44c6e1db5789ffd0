"""How taints of nodes and of devices are written, and what their effects are called."""

from __future__ import annotations

from typing import Final, Protocol

NO_EXECUTE: Final = "NoExecute"
#: The effects that keep pods without a toleration away.
PREVENTING: Final = ("NoSchedule", NO_EXECUTE)
#: The key of the taint that a cordoned node has.
CORDONED: Final = "node.kubernetes.io/unschedulable"


class _Taint(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


def taint_text(taint: _Taint) -> str:
    """``KEY[=VALUE]:EFFECT`` as kubectl writes it; what a removal leaves open is left out."""
    value, effect = (f"={taint.value}" if taint.value else ""), (f":{taint.effect}" if taint.effect else "")
    return f"{taint.key}{value}{effect}"
