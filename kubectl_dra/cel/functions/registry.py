"""All implementations in one place: by overload id, and operators by function name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kubectl_dra.cel.functions import (
    addresses,
    conversions,
    formats,
    lists,
    operators,
    optionals,
    quantities,
    regex,
    strings,
    time,
    urls,
    versions,
)
from kubectl_dra.cel.functions.operators import Operator
from kubectl_dra.cel.values import Value

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType(
    {**operators.OPERATORS, **lists.OPERATORS, "matches": Operator(regex.matches, frozenset({str}))}
)

IMPLEMENTATIONS: Final[Mapping[str, Callable[..., Value]]] = MappingProxyType(
    {
        **addresses.OVERLOADS,
        **conversions.OVERLOADS,
        **formats.OVERLOADS,
        **lists.OVERLOADS,
        **optionals.OVERLOADS,
        **quantities.OVERLOADS,
        **regex.OVERLOADS,
        **strings.OVERLOADS,
        **time.OVERLOADS,
        **urls.OVERLOADS,
        **versions.OVERLOADS,
    }
)

# Their implementations test the types themselves.
UNGUARDED: Final = frozenset({"contains", "startsWith", "endsWith", "flatten"})
