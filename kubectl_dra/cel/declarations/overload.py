"""The record of one overload and the two ways to write one down; the tables themselves are the sibling modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kubectl_dra.cel.check.types import Type


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function.

    ``params`` has the target first when ``member``. ``requires`` is empty or names the condition under which the
    environment declares it: ``list-attributes`` (the scheduler always, admission with DRAListTypeAttributes) or
    ``never`` (names that CEL once had and still reserves). ``type_params`` are the names of the type parameters that
    occur.
    """

    id: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    requires: str = ""
    type_params: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        names: dict[str, None] = {}
        for declared in (self.result, *self.params):
            _collect_type_params(declared, names)
        object.__setattr__(self, "type_params", tuple(names))


Table: TypeAlias = dict[str, tuple[Overload, ...]]


def _collect_type_params(declared: Type, names: dict[str, None]) -> None:
    if declared.kind == "param":
        names[declared.name] = None
    for inner in declared.params:
        _collect_type_params(inner, names)


def function(overload_id: str, params: tuple[Type, ...], result: Type, requires: str = "") -> Overload:
    """An overload called as ``f(a, b)``."""
    return Overload(overload_id, False, params, result, requires)


def member(overload_id: str, params: tuple[Type, ...], result: Type, requires: str = "") -> Overload:
    """An overload called as ``a.f(b)``; ``params`` starts with the target."""
    return Overload(overload_id, True, params, result, requires)
