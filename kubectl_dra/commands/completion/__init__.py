"""What may come next on the command line: words already typed, what fits there, and live names.

The protocol that kubectl and the shells speak stands in ``complete``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag


class Directive(IntFlag):
    """What the shell shall do with candidates: the bits of kubectl's completion protocol (cobra's directives)."""

    DEFAULT = 0
    NO_SPACE = 2
    NO_FILES = 4


@dataclass(frozen=True, slots=True)
class NextWord:
    """One word that may come next. ``value`` replaces the whole word (behind ``--flag=``: the value only)."""

    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    candidates: list[NextWord] = field(default_factory=list)
    directive: Directive = Directive.NO_FILES
