"""All functions, type names and messages of the DRA CEL environment, as data; rules that use them live elsewhere.

The order of a function's overloads is that of the real environment (cel-go's standard library, then the libraries in
the order in which Kubernetes adds them): the first matching overload gives a call its type, and run-time dispatch tries
them in this order.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.declarations.extensions import AUTHORIZATION, EXTENSIONS
from kubectl_dra.cel.declarations.kubernetes import KUBERNETES, POSITIONS
from kubectl_dra.cel.declarations.names import ENUM_CONSTANTS, GLOBAL_NAMES, MESSAGES, TYPE_NAMES
from kubectl_dra.cel.declarations.operators import OPERATORS
from kubectl_dra.cel.declarations.overload import Overload
from kubectl_dra.cel.declarations.standard import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_dra.cel.check.environment import Environment


FUNCTIONS: Final[Mapping[str, tuple[Overload, ...]]] = MappingProxyType(
    {**OPERATORS, **STANDARD, **EXTENSIONS, **KUBERNETES, **AUTHORIZATION}
)

OVERLOADS_BY_ID: Final[Mapping[str, Overload]] = MappingProxyType(
    {
        overload.id: overload
        for declared in FUNCTIONS.values()
        for overload in declared
        if overload.requires != "never" or overload.id not in ("in_list", "in_map")
    }
)


@lru_cache(maxsize=1024)
def overloads(function: str, environment: Environment) -> tuple[Overload, ...]:
    """The overloads of ``function`` in declaration order; empty if the environment does not declare it."""
    declared = [each for each in FUNCTIONS.get(function, ()) if environment.declares(each.requires)]
    if function in POSITIONS and environment.kind == "admission":
        declared.sort(key=lambda overload: overload.params[0].kind != "list")
    return tuple(declared)
