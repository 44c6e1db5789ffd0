"""Assignability of static types under a substitution of type parameters: the unification that cel-go's checker does.

Nothing here knows expressions. All work is counted, because types can share parts and so be far larger than their text.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.cel.check.types import DYN, Type, unwrapped

_WILD: Final = frozenset({"dyn", "any", "error"})
_DYNAMIC: Final = frozenset({"dyn", "any"})
_NULLABLE: Final = frozenset({"opaque", "object", "any", "duration", "timestamp", "null", "wrapper"})
_STRUCTURED: Final = frozenset({"list", "map", "opaque"})
_MAX_WORK: Final = 1_000_000


class TypesTooLarge(Exception):
    """The types of an expression grow beyond what is reasonable to compare."""


def bare(declared: Type) -> Type:
    """Without wrappers, which only add that null is allowed: ``wrapper(bool)`` counts as ``bool``."""
    if declared.kind == "wrapper":
        return declared.params[0]
    if not declared.params:
        return declared
    return Type(declared.kind, tuple([bare(inner) for inner in declared.params]), declared.name)


def exact(left: Type, right: Type) -> bool:
    """The same type."""
    if left is right or left == right:
        return True
    if not (left.params or right.params):
        return False
    return bare(left) == bare(right)


def equivalent(left: Type, right: Type) -> bool:
    """The same type apart from the names of type parameters."""
    if left is right:
        return True
    left, right = unwrapped(left), unwrapped(right)
    if left.kind != right.kind or left.name != right.name or len(left.params) != len(right.params):
        return left.kind == right.kind == "param"
    for index, inner in enumerate(left.params):  # noqa: SIM110  a loop, so that deep types need no C stack
        if not equivalent(inner, right.params[index]):
            return False
    return True


def less_specific(left: Type, right: Type) -> bool:
    """Whether ``left`` equals ``right`` or only says less (``dyn`` or a type parameter in its place)."""
    if left.kind in _DYNAMIC or left.kind == "param":
        return True
    left, right = unwrapped(left), unwrapped(right)
    if right.kind in _DYNAMIC or right.kind == "param" or left.kind != right.kind:
        return False
    if left.kind not in _STRUCTURED:
        return left.kind == "type" or exact(left, right)
    if left.name != right.name or len(left.params) != len(right.params):
        return False
    for index, inner in enumerate(left.params):  # noqa: SIM110  as above
        if not less_specific(inner, right.params[index]):
            return False
    return True


def most_general(left: Type, right: Type) -> Type:
    """Of two types that unify, the one that says less."""
    return left if less_specific(left, right) else right


class Substitution:
    """Which types the type parameters stand for, as far as is known."""

    def __init__(self) -> None:
        self.bound: dict[str, Type] = {}
        self.fresh = 0
        self._undo: list[tuple[str, Type | None]] = []
        self._work = 0

    def new(self) -> Type:
        """A type parameter that nothing is known of."""
        self.fresh += 1
        return Type("param", name=f"_var{self.fresh - 1}")

    def assignable(self, source: Type, target: Type) -> bool:
        """Whether ``source`` can be assigned to ``target``; binds type parameters only if so."""
        return self._kept(self._assign(source, target))

    def all_assignable(self, sources: list[Type], targets: tuple[Type, ...]) -> bool:
        """The same for two lists pairwise, in order; False for different lengths."""
        return self._kept(self._assign_all(sources, targets))

    def _kept(self, assigned: bool) -> bool:
        if not assigned:
            for name, before in reversed(self._undo):
                if before is None:
                    del self.bound[name]
                else:
                    self.bound[name] = before
        self._undo.clear()
        return assigned

    def _assign_all(self, sources: list[Type] | tuple[Type, ...], targets: tuple[Type, ...]) -> bool:
        if len(sources) != len(targets):
            return False
        for index, source in enumerate(sources):  # noqa: SIM110  as above
            if not self._assign(source, targets[index]):
                return False
        return True

    def _assign(self, source: Type, target: Type) -> bool:
        self._count()
        if target.kind == "param":
            valid, known = self._bind(source, target)
            if valid or known:
                return valid
        if source.kind == "param":
            return self._bind(target, source)[0]
        if source.kind in _WILD or target.kind in _WILD:
            return True
        if source.kind == "null":
            return target.kind in _NULLABLE
        if target.kind == "null":
            return source.kind in _NULLABLE
        source, target = unwrapped(source), unwrapped(target)
        if source.kind != target.kind or source.name != target.name:
            return False
        return source.kind == "type" or self._assign_all(source.params, target.params)

    def _bind(self, declared: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether ``declared`` can stand for the parameter, and whether something already does."""
        if declared.kind == "param" and declared.name == parameter.name:
            return True, True
        known = self.bound.get(parameter.name)
        if known is None:
            if self._occurs(parameter, declared):
                return False, False
            self._set(parameter.name, declared)
            return True, False
        if exact(declared, known):
            return True, True
        if not self._assign(declared, known):
            return False, True
        general = most_general(declared, known)
        if not self._occurs(parameter, general):
            self._set(parameter.name, general)
        return True, True

    def _set(self, name: str, declared: Type) -> None:
        self._undo.append((name, self.bound.get(name)))
        self.bound[name] = declared

    def _occurs(self, parameter: Type, within: Type) -> bool:
        self._count()
        while within.kind == "param":
            if within.name == parameter.name:
                return True
            known = self.bound.get(within.name)
            if known is None:
                return False
            self._count()
            within = known
        for inner in within.params:  # noqa: SIM110  as above
            if self._occurs(parameter, inner):
                return True
        return False

    def resolve(self, declared: Type) -> Type:
        """``declared`` with all known parameters replaced; unknown ones stay."""
        if declared.kind != "param" and not declared.params:
            return declared
        self._count()
        while declared.kind == "param":
            known = self.bound.get(declared.name)
            if known is None:
                return declared
            self._count()
            declared = known
        return self._rebuilt(declared, [self.resolve(inner) for inner in declared.params])

    def settle(self, declared: Type, settled: dict[str, Type]) -> Type:
        """``declared`` with every parameter replaced, unknown ones by ``dyn``.

        ``settled`` keeps what parameters were replaced with; share it between calls while no binding changes.
        """
        if declared.kind == "param":
            return self._settle_parameter(declared, settled)
        if not declared.params:
            return declared
        self._count()
        return self._rebuilt(declared, [self.settle(inner, settled) for inner in declared.params])

    def _settle_parameter(self, parameter: Type, settled: dict[str, Type]) -> Type:
        chain = []
        current: Type | None = parameter
        while current is not None and current.kind == "param" and current.name not in settled:
            self._count()
            chain.append(current.name)
            current = self.bound.get(current.name)
        if current is None:
            result = DYN
        elif current.kind == "param":
            result = settled[current.name]
        else:
            result = self.settle(current, settled)
        for name in chain:
            settled[name] = result
        return result

    @staticmethod
    def _rebuilt(declared: Type, params: list[Type]) -> Type:
        for index, inner in enumerate(params):
            if inner is not declared.params[index]:
                return Type(declared.kind, tuple(params), declared.name)
        return declared

    def _count(self) -> None:
        self._work += 1
        if self._work > _MAX_WORK:
            raise TypesTooLarge


def instantiate(declared: Type, fresh: dict[str, Type]) -> Type:
    """``declared`` with its parameters named in ``fresh`` replaced."""
    if declared.kind == "param":
        return fresh.get(declared.name, declared)
    if not declared.params:
        return declared
    params = tuple([instantiate(inner, fresh) for inner in declared.params])
    return Type(declared.kind, params, declared.name)
