"""The syntax tree of CEL: what the parser builds, macros expanded, and the checker annotates; no behaviour lives here.

Nodes are compared by identity. ``pos`` is the offset in code points of the place where errors of the node are reported:
the operator, the parenthesis of a call, the dot of a selection, else the first character. Operators are calls with
cel-go's names (``_+_``, ``@in``, ``_[_]``, ``_[?_]``, ``_?._``, ``_?_:_``).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kubectl_dra.cel.check.types import Type


class Literal(msgspec.Struct, eq=False):
    """A scalar literal; ``kind`` is ``int uint double string bytes bool null``, ``value`` the plain Python value."""

    pos: int
    kind: str
    value: int | float | str | bytes | bool | None


class Ident(msgspec.Struct, eq=False):
    """A name; ``absolute`` when written with a leading dot."""

    pos: int
    name: str
    absolute: bool = False


class Select(msgspec.Struct, eq=False):
    """``operand.name``; ``test_only`` for the presence test that ``has()`` makes of it."""

    pos: int
    operand: Node
    name: str
    test_only: bool = False


class Call(msgspec.Struct, eq=False):
    """``function(args)`` or, with a target, ``target.function(args)``."""

    pos: int
    function: str
    target: Node | None
    args: list[Node]
    absolute: bool = False


class ListLit(msgspec.Struct, eq=False):
    """``[a, ?b]``; ``optional`` holds the indexes of the ``?`` elements."""

    pos: int
    elements: list[Node]
    optional: frozenset[int] = frozenset()


class Entry(msgspec.Struct, eq=False):
    """One ``key: value`` of a map literal (``key`` a node) or ``field: value`` of a message (``key`` a string)."""

    pos: int
    key: Node | str
    value: Node
    optional: bool = False


class MapLit(msgspec.Struct, eq=False):
    """``{k: v, ?k: v}``."""

    pos: int
    entries: list[Entry]


class MessageLit(msgspec.Struct, eq=False):
    """``name{field: value}``."""

    pos: int
    name: str
    entries: list[Entry]


class Comprehension(msgspec.Struct, eq=False):
    """What every macro with a loop or a binding becomes; ``var2`` is None for one-variable forms.

    The accumulator of loops is ``@result``, which no source text can name; that of bindings is the bound name, their
    range an empty list, their condition false.
    """

    pos: int
    range: Node
    var1: str
    var2: str | None
    acc: str
    init: Node
    cond: Node
    step: Node
    result: Node


Node: TypeAlias = Literal | Ident | Select | Call | ListLit | MapLit | MessageLit | Comprehension


class MacroCall(msgspec.Struct, frozen=True):
    """The call as written, before its expansion: for printing and for explanations."""

    function: str
    target: Node | None
    args: tuple[Node, ...]


class Parsed(msgspec.Struct):
    """A parsed expression. ``macros`` maps ``id()`` of an expanded node to the call as written."""

    source: str
    root: Node
    macros: dict[int, MacroCall] = msgspec.field(default_factory=dict)


class Reference(msgspec.Struct, frozen=True):
    """What a name or call means.

    For a call: ``overloads``, the ids of all matching overloads in declaration order (exactly one: dispatch by it).
    For a global name or a selection that spells one: ``name``, and ``constant`` when it is an enum constant
    (``google.protobuf.NullValue.NULL_VALUE``).
    """

    overloads: tuple[str, ...] = ()
    name: str = ""
    constant: int | None = None


class Checked(msgspec.Struct):
    """A checked expression; ``types`` and ``references`` are keyed by ``id()`` of the node.

    A qualified function name (``optional.of``, ``lists.range``) is resolved in place: the ``Call`` then has no
    target and the full name.
    """

    parsed: Parsed
    types: dict[int, Type]
    references: dict[int, Reference]
    output: Type


def balanced(function: str, terms: list[Node], positions: list[int], low: int, high: int) -> Node:
    """A chain of ``&&`` or ``||`` as a balanced tree, as cel-go parses it; ``positions``: those of its operators."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else balanced(function, terms, positions, low, middle - 1)
    right = terms[middle + 1] if middle == high else balanced(function, terms, positions, middle + 1, high)
    return Call(positions[middle], function, None, [left, right])


def qualified_name(node: Node) -> tuple[str, Ident | None]:
    """``a.b.c`` and its first name, if the node is nothing but names and dots."""
    names = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.name)
        node = node.operand
    if not isinstance(node, Ident):
        return "", None
    names.append(node.name)
    return ".".join(reversed(names)), node


def operands(node: Node, function: str) -> list[Node]:
    """The operands of a chain of the same operator in their order; how they nest makes no difference."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Call) and current.function == function:
            pending += reversed(current.args)
        else:
            found.append(current)
    return found
