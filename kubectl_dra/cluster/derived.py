"""Facts that follow from a ClusterState: made once when first asked for, kept by later states while they are true."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from kubectl_dra.cluster.state import ClusterState

T = TypeVar("T")
P = ParamSpec("P")
Later = Callable[[Any, "ClusterState", "ClusterState"], Any]

#: All facts, in the order in which they are taken over: one may look at those declared before it.
ALL: Final[list[Derived[Any]]] = []


class Derived(Generic[T]):
    """A fact: called with a state, or read as an attribute where it is declared in ``ClusterState`` itself.

    ``parts``: the fields of the Inventory that it is made from; none: it is never taken over as it is. ``read``: it
    also depends on how completely kinds were read. ``later(fact, before, after)`` makes the fact of a later state from
    that of an earlier one, or gives None where it has to be made anew.
    """

    def __init__(
        self, make: Callable[[ClusterState], T], parts: tuple[str, ...], read: bool, later: Later | None
    ) -> None:
        self.__doc__ = make.__doc__
        self._make = make
        # An attribute of ClusterState is stored under its name, where Python finds it before it asks the descriptor.
        own = make.__module__ == "kubectl_dra.cluster.state"
        self._name = make.__name__ if own else f"{make.__module__}.{make.__qualname__}"
        self._parts = parts
        self._read = read
        self._later = later
        ALL.append(self)

    def __call__(self, state: ClusterState) -> T:
        known: dict[str, T] = vars(state)
        if self._name not in known:
            state.settle()
        if self._name not in known:
            first = self._first(state)
            made = vars(first)
            known[self._name] = made[self._name] = made[self._name] if self._name in made else self._make(first)
        return known[self._name]

    def _first(self, state: ClusterState) -> ClusterState:
        """The earliest state for which it is the same: what many changes that are tried share is made once."""
        while (origin := state.origin) is not None and self._is_still_true(origin, state):
            state = origin
        return state

    @overload
    def __get__(self, state: None, owner: type[ClusterState]) -> Derived[T]: ...
    @overload
    def __get__(self, state: ClusterState, owner: type[ClusterState]) -> T: ...
    def __get__(self, state: ClusterState | None, owner: type[ClusterState]) -> Derived[T] | T:
        return self if state is None else self(state)

    def take_over(self, before: ClusterState, after: ClusterState) -> None:
        """Give a later state the fact of an earlier one if it is still true, or follows from it."""
        if self._name not in vars(before):
            return
        fact: T | None = vars(before)[self._name]
        if not self._is_still_true(before, after):
            fact = self._later(fact, before, after) if self._later is not None else None
            if fact is None:
                return
        vars(after)[self._name] = fact

    def _is_still_true(self, before: ClusterState, after: ClusterState) -> bool:
        if not self._parts or (self._read and before.evidence.extent != after.evidence.extent):
            return False
        old, new = before.inventory, after.inventory
        return all(getattr(old, part) is getattr(new, part) for part in self._parts)


class derived:
    """Declare a fact; the arguments are those of :class:`Derived`."""

    def __init__(self, *parts: str, read: bool = False, later: Later | None = None) -> None:
        self._parts = parts
        self._read = read
        self._later = later

    def __call__(self, make: Callable[[ClusterState], T]) -> Derived[T]:
        """The fact that ``make`` makes."""
        return Derived(make, self._parts, self._read, self._later)


def derived_for_each(
    *parts: str, later: Later | None = None
) -> Callable[[Callable[Concatenate[ClusterState, P], T]], Callable[Concatenate[ClusterState, P], T]]:
    """Declare facts of which each is told by the arguments after the state, and made when it is first asked for.

    ``later`` is about all of them, by their arguments.
    """

    def declare(make: Callable[Concatenate[ClusterState, P], T]) -> Callable[Concatenate[ClusterState, P], T]:
        facts: Derived[dict[tuple[Any, ...], T]] = Derived(
            wraps(make)(lambda _state: {}), parts, read=False, later=later
        )

        @wraps(make)
        def fact(state: ClusterState, /, *args: P.args, **kwargs: P.kwargs) -> T:
            known, asked = facts(state), (*args, *kwargs.values())
            if asked not in known:
                known[asked] = make(state, *args, **kwargs)
            return known[asked]

        return fact

    return declare
