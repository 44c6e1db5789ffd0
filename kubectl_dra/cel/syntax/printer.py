"""Tree to source text: the text parses to an equal tree, macros are printed as they were written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.lexer import KEYWORDS
from kubectl_dra.model.gotext import ESCAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TERNARY, _OR, _AND, _RELATION, _SUM, _PRODUCT, _UNARY, _MEMBER = range(8)

_BINARY: Final = {
    "_||_": ("||", _OR),
    "_&&_": ("&&", _AND),
    "_<_": ("<", _RELATION),
    "_<=_": ("<=", _RELATION),
    "_>_": (">", _RELATION),
    "_>=_": (">=", _RELATION),
    "_==_": ("==", _RELATION),
    "_!=_": ("!=", _RELATION),
    "@in": ("in", _RELATION),
    "_+_": ("+", _SUM),
    "_-_": ("-", _SUM),
    "_*_": ("*", _PRODUCT),
    "_/_": ("/", _PRODUCT),
    "_%_": ("%", _PRODUCT),
}
_UNARY_OPERATORS: Final = {"!_": "!", "-_": "-"}
_NUMBER: Final = re.compile(r"-?\.?[0-9]")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def to_source(parsed: ast.Parsed) -> str:
    return node_source(parsed.root, parsed.macros)


def node_source(node: ast.Node, macros: Mapping[int, ast.MacroCall]) -> str:
    """A part of an expression; ``macros`` is that of the ``Parsed`` it comes from.

    Raises ValueError for what stands only inside of an expanded macro.
    """
    printer = _Printer(macros)
    printer.print(node, _TERNARY)
    return "".join(printer.parts)


def string_source(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def chain_terms(node: ast.Call) -> list[ast.Node]:
    """The operands of ``&&`` or ``||`` that print without parentheses.

    A chain is parsed as a balanced tree. A tree of that shape is taken apart completely, any other one only once.
    """
    terms = ast.operands(node, node.function)
    if _is_balanced(node, node.function, len(terms)):
        return terms
    return list(node.args)


def _is_balanced(node: ast.Node, function: str, terms: int) -> bool:
    if not isinstance(node, ast.Call) or node.function != function:
        return terms == 1
    if terms < 2:
        return False
    left = (terms - 1) // 2 + 1
    return _is_balanced(node.args[0], function, left) and _is_balanced(node.args[1], function, terms - left)


class _Printer:
    def __init__(self, macros: Mapping[int, ast.MacroCall]) -> None:
        self.macros = macros
        self.parts: list[str] = []

    def print(self, node: ast.Node, binding: int) -> None:
        """``binding`` is the weakest operator that needs no parentheses here."""
        macro = self.macros.get(id(node))
        if macro is not None:
            self.invocation(macro.target, macro.function, macro.args)
            return
        if _strength(node) >= binding:
            _RULES[type(node)](self, node)
            return
        self.parts.append("(")
        _RULES[type(node)](self, node)
        self.parts.append(")")

    def separated(self, nodes: list[ast.Node] | tuple[ast.Node, ...], optional: frozenset[int] = frozenset()) -> None:
        for index, node in enumerate(nodes):
            self.parts.append(", " if index else "")
            self.parts.append("?" if index in optional else "")
            self.print(node, _TERNARY)

    def invocation(self, target: ast.Node | None, function: str, args: list[ast.Node] | tuple[ast.Node, ...]) -> None:
        if target is not None:
            self.print(target, _MEMBER)
            self.parts.append(".")
        self.parts.append(f"{function}(")
        self.separated(args)
        self.parts.append(")")

    def literal(self, node: ast.Literal) -> None:
        self.parts.append(_LITERALS[node.kind](node.value))

    def ident(self, node: ast.Ident) -> None:
        self.parts.append(f".{node.name}" if node.absolute else node.name)

    def select(self, node: ast.Select) -> None:
        if node.test_only:
            raise ValueError("presence test outside of has()")
        self.print(node.operand, _MEMBER)
        self.parts.append(f".{_field(node.name)}")

    def call(self, node: ast.Call) -> None:
        if node.function in _BINARY:
            self.binary(node)
        elif node.function in _UNARY_OPERATORS:
            self.unary(node)
        elif node.function in _SHAPES:
            _SHAPES[node.function](self, *node.args)
        else:
            self.parts.append("." if node.absolute else "")
            self.invocation(node.target, node.function, node.args)

    def binary(self, node: ast.Call) -> None:
        operator, binding = _BINARY[node.function]
        chain = binding in (_OR, _AND)
        terms = chain_terms(node) if chain else node.args
        for index, term in enumerate(terms):
            self.parts.append(f" {operator} " if index else "")
            self.print(term, binding + 1 if chain or index else binding)

    def unary(self, node: ast.Call) -> None:
        operand = node.args[0]
        self.parts.append(_UNARY_OPERATORS[node.function])
        start = len(self.parts)
        self.print(operand, _MEMBER)
        if node.function == "-_" and _NUMBER.match("".join(self.parts[start:])):
            # Without parentheses the sign would be taken for a part of the number that the operand begins with.
            self.parts[start:] = ["(", *self.parts[start:], ")"]

    def ternary(self, condition: ast.Node, first: ast.Node, second: ast.Node) -> None:
        self.print(condition, _OR)
        self.parts.append(" ? ")
        self.print(first, _OR)
        self.parts.append(" : ")
        self.print(second, _TERNARY)

    def index(self, operand: ast.Node, key: ast.Node, opening: str = "[") -> None:
        self.print(operand, _MEMBER)
        self.parts.append(opening)
        self.print(key, _TERNARY)
        self.parts.append("]")

    def optional_index(self, operand: ast.Node, key: ast.Node) -> None:
        self.index(operand, key, "[?")

    def optional_select(self, operand: ast.Node, name: ast.Literal) -> None:
        self.print(operand, _MEMBER)
        self.parts.append(f".?{_field(str(name.value))}")

    def list_literal(self, node: ast.ListLit) -> None:
        self.parts.append("[")
        self.separated(node.elements, node.optional)
        self.parts.append("]")

    def map_literal(self, node: ast.MapLit) -> None:
        self.entries("", node.entries)

    def message_literal(self, node: ast.MessageLit) -> None:
        self.entries(node.name, node.entries)

    def entries(self, name: str, entries: list[ast.Entry]) -> None:
        self.parts.append(f"{name}{{")
        for index, entry in enumerate(entries):
            self.parts.append(", " if index else "")
            self.parts.append("?" if entry.optional else "")
            if isinstance(entry.key, str):
                self.parts.append(_field(entry.key))
            else:
                self.print(entry.key, _TERNARY)
            self.parts.append(": ")
            self.print(entry.value, _TERNARY)
        self.parts.append("}")

    def comprehension(self, _: ast.Comprehension) -> None:
        raise ValueError("comprehension without the macro that it comes from")


def _strength(node: ast.Node) -> int:
    """How strongly the outermost operator of a node binds."""
    if not isinstance(node, ast.Call):
        return _MEMBER + 1 if not isinstance(node, ast.Literal) else _MEMBER
    if node.function in _BINARY:
        return _BINARY[node.function][1]
    if node.function in _UNARY_OPERATORS:
        return _UNARY
    return _TERNARY if node.function == "_?_:_" else _MEMBER


def _field(name: str) -> str:
    return name if _IDENTIFIER.match(name) and name not in KEYWORDS else f"`{name}`"


def _escaped(char: str) -> str:
    if char in ESCAPES:
        return ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _bytes_source(value: bytes) -> str:
    shown = [chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\x{byte:02x}" for byte in value]
    return f'b"{"".join(shown)}"'


_LITERALS: Final[Mapping[str, Callable[[Any], str]]] = {
    "bool": lambda value: "true" if value else "false",
    "bytes": _bytes_source,
    "double": repr,
    "int": str,
    "null": lambda _: "null",
    "string": string_source,
    "uint": lambda value: f"{int(value)}u",
}
_SHAPES: Final[Mapping[str, Callable[..., None]]] = {
    "_?_:_": _Printer.ternary,
    "_[_]": _Printer.index,
    "_[?_]": _Printer.optional_index,
    "_?._": _Printer.optional_select,
}
_RULES: Final[Mapping[type, Callable[[_Printer, Any], None]]] = {
    ast.Literal: _Printer.literal,
    ast.Ident: _Printer.ident,
    ast.Select: _Printer.select,
    ast.Call: _Printer.call,
    ast.ListLit: _Printer.list_literal,
    ast.MapLit: _Printer.map_literal,
    ast.MessageLit: _Printer.message_literal,
    ast.Comprehension: _Printer.comprehension,
}
