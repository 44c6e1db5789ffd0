"""What a conversion can't carry over, named by the path in the object that it came from; no path means all of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that is gone, changed or only similar after a conversion; ``path`` is the original's."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class Losses:
    def __init__(self, path: str = "", found: list[Loss] | None = None) -> None:
        self.path = path
        self.found: list[Loss] = [] if found is None else found

    def at(self, path: str) -> Losses:
        """The same collection one step deeper; ``path`` starts with ``[`` or is a field."""
        return Losses(
            f"{self.path}{path}" if path.startswith("[") or not self.path else f"{self.path}.{path}", self.found
        )

    def add(self, reason: str) -> None:
        """Note that this place is not carried over as it was."""
        loss = Loss(self.path, reason)
        if loss not in self.found:
            self.found.append(loss)
