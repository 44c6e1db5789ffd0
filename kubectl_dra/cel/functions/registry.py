"""All implementations in one place: by overload id, and operators by function name.

Libraries are loaded when an expression first needs them; most need few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Final

from kubectl_dra.cel.functions import lists, operators, regex
from kubectl_dra.cel.functions.operators import Operator
from kubectl_dra.cel.run.values import Value

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType(
    {**operators.OPERATORS, **lists.OPERATORS, "matches": Operator(regex.matches, frozenset({str}))}
)

# Those that selectors use most come first.
LIBRARIES: Final = (
    "quantities",
    "versions",
    "strings",
    "optionals",
    "lists",
    "regex",
    "conversions",
    "formatting",
    "addresses",
    "urls",
    "time",
    "formats",
)

# Their implementations test the types themselves.
UNGUARDED: Final = frozenset({"contains", "startsWith", "endsWith", "flatten"})


@lru_cache(maxsize=512)
def implementation(overload: str) -> Callable[..., Value] | None:
    """What carries out an overload; None for those of operators and of libraries that no expression can reach."""
    for library in LIBRARIES:
        table = import_module(f"kubectl_dra.cel.functions.{library}").OVERLOADS
        if overload in table:
            return table[overload]  # type: ignore[no-any-return]
    return None
