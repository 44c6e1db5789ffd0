"""Checks that Kubernetes adds for well-typed expressions: literals as arguments, and literals of one element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_dra.cel.check.errors import CompileError, TypeReporter
from kubectl_dra.cel.check.types import FULL_NAMES, Type, unwrapped
from kubectl_dra.cel.check.unify import equivalent
from kubectl_dra.cel.run.format import TemplateError, clauses
from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.issues import Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTEGERS: Final = frozenset({"int", "uint"})
_DOUBLES: Final = frozenset({"double", "string"})
_PRINTABLE: Final = frozenset(
    {
        *("list", "map", "int", "uint", "double", "bool", "string"),
        *("timestamp", "bytes", "duration", "type", "null"),
    }
)
# Clause letter -> kinds of types that it takes, and how its error begins.
_CLAUSES: Final = {
    "s": (
        _PRINTABLE,
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
        "and timestamps",
    ),
    "d": (_INTEGERS, "decimal clause can only be used on integers"),
    "f": (_DOUBLES, "fixed-point clause can only be used on doubles"),
    "e": (_DOUBLES, "scientific clause can only be used on doubles"),
    "b": (_INTEGERS | {"bool"}, "only integers and bools can be formatted as binary"),
    "x": (_INTEGERS | {"string", "bytes"}, "only integers, byte buffers, and strings can be formatted as hex"),
    "X": (_INTEGERS | {"string", "bytes"}, "only integers, byte buffers, and strings can be formatted as hex"),
    "o": (_INTEGERS, "octal clause can only be used on integers"),
}
_INVALID: Final = "invalid-argument"
_CRASH: Final = "compilation failed: runtime error: index out of range [0] with length 0"


def validate(checked: ast.Checked) -> list[Issue]:
    """What is wrong with the literals of an expression that the checker accepted.

    Raises CompileError (``InternalError``) where upstream crashes.
    """
    validator = _Validator(checked)
    validator.visit(checked.parsed.root, False)
    return validator.issues


class _Validator(TypeReporter):
    def __init__(self, checked: ast.Checked) -> None:
        super().__init__(checked.parsed.source)
        self.types = checked.types

    def visit(self, node: ast.Node, in_format: bool) -> None:
        """``in_format``: inside a call of ``format``, whose literals may mix types."""
        exempt = in_format or (isinstance(node, ast.Call) and node.function == "format")
        for child in children(node):
            self.visit(child, exempt)
        if isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, ast.ListLit) and not in_format:
            self.elements(node)
        elif isinstance(node, ast.MapLit) and not in_format:
            self.entries(node.entries)

    # Literals as arguments

    def call(self, node: ast.Call) -> None:
        if node.function in _ARGUMENT_CHECKS and node.args and isinstance(node.args[0], ast.Literal):
            if not _ARGUMENT_CHECKS[node.function](node.args[0]):
                self.report(node.args[0].pos, f"invalid {node.function} argument", _INVALID, node.function)
        elif node.function == "format":
            self.format(node)

    def format(self, node: ast.Call) -> None:
        template, elements = node.target, node.args[0] if node.args else None
        if (
            not isinstance(template, ast.Literal)
            or not isinstance(template.value, str)
            or not isinstance(elements, ast.ListLit)
        ):
            return
        used = 0
        try:
            for clause in clauses(template.value, len(elements.elements)):
                if not self.clause(clause.letter, elements.elements[used]):
                    return
                used += 1
        except TemplateError as error:
            self.report(node.pos, str(error), _INVALID, "format")
            return
        if used < len(elements.elements):
            counts = f"expected {used}, got {len(elements.elements)}"
            self.report(node.pos, f"too many arguments supplied to string.format ({counts})", _INVALID, "format")

    def clause(self, letter: str, element: ast.Node) -> bool:
        kinds, text = _CLAUSES[letter]
        wrong = self.unprintable(element) if letter == "s" else None if self.fits(element, kinds) else element
        if wrong is None:
            return True
        given = self.types[id(wrong)]
        name = given.name or FULL_NAMES.get(given.kind, given.kind)
        self.report(wrong.pos, f"error during formatting: {text}, was given {name}", _INVALID, "format")
        return False

    def fits(self, node: ast.Node, kinds: frozenset[str]) -> bool:
        kind = unwrapped(self.types[id(node)]).kind
        return kind == "dyn" or kind in kinds

    def unprintable(self, node: ast.Node) -> ast.Node | None:
        """The first node within nested literals that ``%s`` cannot print."""
        if not self.fits(node, _PRINTABLE):
            return node
        if isinstance(node, (ast.ListLit, ast.MapLit)):
            for child in children(node):
                wrong = self.unprintable(child)
                if wrong is not None:
                    return wrong
        return None

    # One element type

    def elements(self, node: ast.ListLit) -> None:
        first: Type | None = None
        for index, element in enumerate(node.elements):
            declared = self.element_type(element, index in node.optional)
            if first is None:
                first = declared
            elif not equivalent(first, declared):
                self.mismatch(element, first, declared)
                return

    def entries(self, entries: list[ast.Entry]) -> None:
        first: tuple[Type, Type] | None = None
        for entry in entries:
            assert not isinstance(entry.key, str)  # noqa: S101  only messages have plain field names
            key = self.types[id(entry.key)]
            value = self.element_type(entry.value, entry.optional)
            if first is None:
                first = key, value
                continue
            if not equivalent(first[0], key):
                self.mismatch(entry.key, first[0], key)
            if not equivalent(first[1], value):
                self.mismatch(entry.value, first[1], value)

    def element_type(self, node: ast.Node, optional: bool) -> Type:
        declared = self.types[id(node)]
        if optional and not declared.params:
            # Upstream crashes on `[?x]` with a dynamic x, so that nobody can store such an expression.
            raise CompileError("InternalError", _CRASH)
        return declared.params[0] if optional else declared


def _valid_duration(literal: ast.Literal) -> bool:
    return literal.kind == "string" and _converts("string_to_duration", literal)


def _valid_timestamp(literal: ast.Literal) -> bool:
    return literal.kind in ("string", "int") and _converts(
        "string_to_timestamp" if literal.kind == "string" else "int64_to_timestamp", literal
    )


def _converts(overload: str, literal: ast.Literal) -> bool:
    from kubectl_dra.cel.functions.conversions import OVERLOADS
    from kubectl_dra.cel.run.values import CelError

    try:
        OVERLOADS[overload](literal.value)
    except CelError:
        return False
    return True


def _valid_regex(literal: ast.Literal) -> bool:
    from kubectl_dra.cel.functions.regex import RegexError, compile_regex

    try:
        compile_regex(str(literal.value))
    except RegexError:
        return False
    return True


# Of a call with one of these names the first argument is looked at, whether or not the call has a target: for the
# global `matches(text, expression)` that is, upstream too, the text.
_ARGUMENT_CHECKS: Final = {"duration": _valid_duration, "timestamp": _valid_timestamp, "matches": _valid_regex}


def children(node: ast.Node) -> Iterator[ast.Node]:
    """The nodes directly below, in the order in which they are written (of a macro: in which it expands)."""
    match node:
        case ast.Select():
            yield node.operand
        case ast.Call():
            if node.target is not None:
                yield node.target
            yield from node.args
        case ast.ListLit():
            yield from node.elements
        case ast.MapLit() | ast.MessageLit():
            for entry in node.entries:
                if not isinstance(entry.key, str):
                    yield entry.key
                yield entry.value
        case ast.Comprehension():
            yield from (node.range, node.init, node.cond, node.step, node.result)
