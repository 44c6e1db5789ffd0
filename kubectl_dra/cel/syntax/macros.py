"""_Expansion of macros while parsing: by name and number of arguments, into comprehensions and calls.

The shapes are those of cel-go; they decide types, costs and which errors are possible. Every new node stands at the
parenthesis of the macro call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_dra.cel.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ACCUMULATOR: Final = "@result"
_OLD_ACCUMULATOR: Final = "__result__"
_SORT_INPUT: Final = "@__sortBy_input__"
_SIMPLE_NAME: Final = "argument must be a simple name"
_NOT_AN_IDENTIFIER: Final = "argument is not an identifier"
# optMap evaluates its target twice, so each one in a chain doubles the tree; upstream has no bound here.
_MAX_COPIED_NODES: Final = 50_000


class MacroError(ValueError):
    """A macro's arguments are not what it needs; ``node`` is the offending one."""

    def __init__(self, node: ast.Node, message: str) -> None:
        super().__init__(message)
        self.node = node
        self.message = message


class TooManyCopies(Exception):
    """The macros of one expression would copy more nodes than anybody means them to."""

    def __init__(self) -> None:
        super().__init__(f"macros copy more than {_MAX_COPIED_NODES} nodes")


class _Expansion:
    """One macro call that is being expanded: makes nodes at its position."""

    __slots__ = ("copier", "pos", "target")

    def __init__(self, pos: int, target: ast.Node, copier: Copier) -> None:
        self.pos = pos
        self.target = target
        self.copier = copier

    def literal(self, value: bool | int) -> ast.Literal:
        return ast.Literal(self.pos, "bool" if isinstance(value, bool) else "int", value)

    def ident(self, name: str) -> ast.Ident:
        return ast.Ident(self.pos, name.removeprefix("."), name.startswith("."))

    def acc(self) -> ast.Ident:
        return ast.Ident(self.pos, ACCUMULATOR)

    def call(self, function: str, *args: ast.Node) -> ast.Call:
        return ast.Call(self.pos, function, None, list(args))

    def member(self, target: ast.Node, function: str, *args: ast.Node) -> ast.Call:
        return ast.Call(self.pos, function, target, list(args))

    def list_of(self, *elements: ast.Node) -> ast.ListLit:
        return ast.ListLit(self.pos, list(elements))

    def loop(
        self, names: tuple[str, str | None], init: ast.Node, step: ast.Node, cond: ast.Node | None = None
    ) -> ast.Comprehension:
        """A loop over the target whose result is the accumulator."""
        var1, var2 = names
        condition = cond or self.literal(True)
        return ast.Comprehension(self.pos, self.target, var1, var2, ACCUMULATOR, init, condition, step, self.acc())

    def bind(self, name: str, init: ast.Node, body: ast.Node) -> ast.Comprehension:
        """``body`` with ``name`` standing for ``init``."""
        return ast.Comprehension(
            self.pos, self.list_of(), "#unused", None, name, init, self.literal(False), self.ident(name), body
        )

    def guarded(self, predicate: ast.Node | None, step: ast.Node) -> ast.Node:
        """``predicate ? step : accumulator``."""
        return step if predicate is None else self.call("_?_:_", predicate, step, self.acc())


def expand_has(pos: int, argument: ast.Node) -> ast.Select:
    """``has(a.f)`` as presence test."""
    if not isinstance(argument, ast.Select):
        raise MacroError(argument, "invalid argument to has() macro")
    return ast.Select(pos, argument.operand, argument.name, True)


def _variable(argument: ast.Node, message: str) -> str:
    if not isinstance(argument, ast.Ident):
        raise MacroError(argument, message)
    # With a leading dot it is a variable that no name can mean, as upstream.
    return f".{argument.name}" if argument.absolute else argument.name


def _not_accumulator(argument: ast.Node, name: str) -> None:
    if name == _OLD_ACCUMULATOR:
        raise MacroError(argument, "iteration variable overwrites accumulator variable")


def _loop_variable(argument: ast.Node, message: str) -> str:
    name = _variable(argument, message)
    _not_accumulator(argument, name)
    return name


def _variables(args: Sequence[ast.Node]) -> tuple[str, str | None]:
    """The one or two loop variables of a quantifier."""
    if len(args) == 2:
        return _loop_variable(args[0], _SIMPLE_NAME), None
    return _two_variables(args)


def _two_variables(args: Sequence[ast.Node]) -> tuple[str, str]:
    first, second = _variable(args[0], _SIMPLE_NAME), _variable(args[1], _SIMPLE_NAME)
    if first == second:
        raise MacroError(args[1], f"duplicate variable name: {first}")
    _not_accumulator(args[0], first)
    _not_accumulator(args[1], second)
    return first, second


def _all(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _variables(args)
    step = make.call("_&&_", make.acc(), args[-1])
    return make.loop(names, make.literal(True), step, make.call("@not_strictly_false", make.acc()))


def _exists(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _variables(args)
    step = make.call("_||_", make.acc(), args[-1])
    undecided = make.call("@not_strictly_false", make.call("!_", make.acc()))
    return make.loop(names, make.literal(False), step, undecided)


def _exists_one(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _variables(args)
    step = make.guarded(args[-1], make.call("_+_", make.acc(), make.literal(1)))
    loop = make.loop(names, make.literal(0), step)
    loop.result = make.call("_==_", make.acc(), make.literal(1))
    return loop


def _map(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    name = _loop_variable(args[0], _NOT_AN_IDENTIFIER)
    predicate = args[1] if len(args) == 3 else None
    step = make.guarded(predicate, make.call("_+_", make.acc(), make.list_of(args[-1])))
    return make.loop((name, None), make.list_of(), step)


def _filter(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    name = _loop_variable(args[0], _NOT_AN_IDENTIFIER)
    step = make.guarded(args[1], make.call("_+_", make.acc(), make.list_of(args[0])))
    return make.loop((name, None), make.list_of(), step)


def _transform_list(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _two_variables(args)
    predicate = args[2] if len(args) == 4 else None
    step = make.guarded(predicate, make.call("_+_", make.acc(), make.list_of(args[-1])))
    return make.loop(names, make.list_of(), step)


def _transform_map(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _two_variables(args)
    predicate = args[2] if len(args) == 4 else None
    step = make.guarded(predicate, make.call("cel.@mapInsert", make.acc(), make.ident(names[0]), args[-1]))
    return make.loop(names, ast.MapLit(make.pos, []), step)


def _transform_map_entry(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    names = _two_variables(args)
    predicate = args[2] if len(args) == 4 else None
    step = make.guarded(predicate, make.call("cel.@mapInsert", make.acc(), args[-1]))
    return make.loop(names, ast.MapLit(make.pos, []), step)


def _bind(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node | None:
    target = make.target
    if not isinstance(target, ast.Ident) or target.name != "cel" or target.absolute:
        return None
    name = _variable(args[0], "cel.bind() variable names must be simple identifiers")
    return make.bind(name, args[1], args[2])


def _opt_map(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    name = _variable(args[0], "optMap() variable name must be a simple identifier")
    bound = make.bind(name, make.member(make.copier.copy(make.target, make.pos), "value"), args[1])
    present = make.member(make.target, "hasValue")
    return make.call("_?_:_", present, make.call("optional.of", bound), make.call("optional.none"))


def _opt_flat_map(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    name = _variable(args[0], "optFlatMap() variable name must be a simple identifier")
    bound = make.bind(name, make.member(make.copier.copy(make.target, make.pos), "value"), args[1])
    return make.call("_?_:_", make.member(make.target, "hasValue"), bound, make.call("optional.none"))


def _sort_by(make: _Expansion, args: Sequence[ast.Node]) -> ast.Node:
    target = make.target
    if not isinstance(target, (ast.ListLit, ast.Select, ast.Ident, ast.Comprehension, ast.Call)):
        kinds = "list, identifier, comprehension, call or select expression"
        raise MacroError(target, f"sortBy can only be applied to a {kinds}")
    keys = _map(_Expansion(make.pos, make.ident(_SORT_INPUT), make.copier), args)
    return make.bind(_SORT_INPUT, target, make.member(make.ident(_SORT_INPUT), "@sortByAssociatedKeys", keys))


_Expander: TypeAlias = "Callable[[_Expansion, Sequence[ast.Node]], ast.Node | None]"

_MEMBER_MACROS: Final[Mapping[tuple[str, int], _Expander]] = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("bind", 3): _bind,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
    ("sortBy", 2): _sort_by,
}


def expand_member(
    pos: int, target: ast.Node, function: str, args: Sequence[ast.Node], copier: Copier
) -> ast.Node | None:
    """The expansion of ``target.function(args)``; None if that is an ordinary call.

    Raises MacroError, and TooManyCopies when those of ``copier`` are used up.
    """
    expander = _MEMBER_MACROS.get((function, len(args)))
    return expander(_Expansion(pos, target, copier), args) if expander else None


class Copier:
    """Copies trees node by node, so many nodes in all and no more."""

    def __init__(self) -> None:
        self._left = _MAX_COPIED_NODES

    def copy(self, node: ast.Node, pos: int) -> ast.Node:
        """A copy whose nodes have their own identity, for a macro at ``pos``. Raises TooManyCopies.

        Copies stand where the originals do, except for the fields of messages.
        """
        self._left -= 1
        if self._left < 0:
            raise TooManyCopies
        match node:
            case ast.Literal():
                return ast.Literal(node.pos, node.kind, node.value)
            case ast.Ident():
                return ast.Ident(node.pos, node.name, node.absolute)
            case ast.Select():
                return ast.Select(node.pos, self.copy(node.operand, pos), node.name, node.test_only)
            case ast.Call():
                target = None if node.target is None else self.copy(node.target, pos)
                return ast.Call(node.pos, node.function, target, self._nodes(node.args, pos), node.absolute)
            case ast.ListLit():
                return ast.ListLit(node.pos, self._nodes(node.elements, pos), node.optional)
            case ast.MapLit():
                return ast.MapLit(node.pos, self._entries(node.entries, pos))
            case ast.MessageLit():
                return ast.MessageLit(node.pos, node.name, self._entries(node.entries, pos))
            case ast.Comprehension():
                return self._comprehension(node, pos)

    def _nodes(self, nodes: list[ast.Node], pos: int) -> list[ast.Node]:
        copies = []
        for node in nodes:
            copies.append(self.copy(node, pos))  # noqa: PERF401  a loop, so that deep trees need no C stack
        return copies

    def _entries(self, entries: list[ast.Entry], pos: int) -> list[ast.Entry]:
        copies = []
        for entry in entries:
            if isinstance(entry.key, str):
                copies.append(ast.Entry(pos, entry.key, self.copy(entry.value, pos), entry.optional))
            else:
                key = self.copy(entry.key, pos)
                copies.append(ast.Entry(entry.pos, key, self.copy(entry.value, pos), entry.optional))
        return copies

    def _comprehension(self, node: ast.Comprehension, pos: int) -> ast.Comprehension:
        return ast.Comprehension(
            node.pos,
            self.copy(node.range, pos),
            node.var1,
            node.var2,
            node.acc,
            self.copy(node.init, pos),
            self.copy(node.cond, pos),
            self.copy(node.step, pos),
            self.copy(node.result, pos),
        )
