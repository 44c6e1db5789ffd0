"""Recursive-descent parser of CEL: tokens to tree with macros expanded, limits and errors as in cel-go.

``&&`` and ``||`` chains become balanced trees; everything else is built as it is written. Problems that leave the
structure intact (reserved words, literals out of range, macro arguments) are collected; the first syntax error ends the
parse.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from kubectl_dra.cel.check.errors import compile_error
from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.issues import NOWHERE, issue_at
from kubectl_dra.cel.syntax.literals import LITERALS, LiteralError, literal_value
from kubectl_dra.cel.syntax.macros import Copier, MacroError, TooManyCopies, expand_has, expand_member
from kubectl_dra.cel.syntax.walk import GiveUp, Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_dra.cel.syntax.lexer import Token

MAX_CODE_POINTS: Final = 100_000

RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
        *("namespace", "return", "var", "void", "while"),
    ]
)

# No UTF-8 text has them; JSON that does is read with this character in their place.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_RELATIONS: Final = {
    "<": "_<_",
    "<=": "_<=_",
    ">": "_>_",
    ">=": "_>=_",
    "==": "_==_",
    "!=": "_!=_",
    "in": "@in",
}
_ARITHMETIC: Final = {"+": ("_+_", 1), "-": ("_-_", 1), "*": ("_*_", 2), "/": ("_/_", 2), "%": ("_%_", 2)}
_NUMBERS: Final = frozenset({"NUM_INT", "NUM_FLOAT"})
_EXPRESSION_STARTS: Final = frozenset(
    [
        *("[", "{", "(", ".", "-", "!", "true", "false", "null"),
        *("NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"),
    ]
)
_ELEMENT_STARTS: Final = _EXPRESSION_STARTS | {"?"}
_FIELD_STARTS: Final = frozenset({"?", "IDENTIFIER", "ESC_IDENTIFIER"})
_EXPRESSION: Final = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def parse(source: str) -> ast.Parsed:
    """The tree of ``source``. Raises CompileError (RuleInvalid) with all problems found, sorted by position."""
    if len(source) > MAX_CODE_POINTS:
        size = f"expression code point size exceeds limit: size: {len(source)}, limit {MAX_CODE_POINTS}"
        raise compile_error(source, [issue_at(source, NOWHERE, size, "limit")])
    if not source.isascii():
        source = _SURROGATE.sub("\ufffd", source)
    parser = _Parser(source)
    root = parser.run()
    if parser.issues or root is None:
        raise compile_error(source, parser.issues)
    return ast.Parsed(source, root, parser.macros)


class _Parser(Walk):
    """Methods are named after the rules of the grammar, from the loosest operator to the tightest."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.expr_depth = 0
        self.calc_depth = 0
        self.relation_depth = 0
        self.macros: dict[int, ast.MacroCall] = {}
        self.copier = Copier()

    def run(self) -> ast.Node | None:
        try:
            root = self.expr()
            if self.kind != "<EOF>":
                self.unexpected("<EOF>", frozenset({"<EOF>"}))
        except GiveUp:
            return None
        return root

    # Operators

    def expr(self) -> ast.Node:
        self.expr_depth += 1
        self.deeper(self.expr_depth)
        node = self.disjunction()
        if self.kind == "?":
            pos = self.advance().pos
            height = self.height
            first = self.disjunction()
            height = max(height, self.height)
            self.expect(":")
            second = self.expr()
            self.higher(max(height, self.height))
            node = ast.Call(pos, "_?_:_", None, [node, first, second])
        self.expr_depth -= 1
        return node

    def disjunction(self) -> ast.Node:
        return self.chain("||", "_||_", self.conjunction)

    def conjunction(self) -> ast.Node:
        return self.chain("&&", "_&&_", self.relation)

    def chain(self, operator: str, function: str, operand: Callable[[], ast.Node]) -> ast.Node:
        first = operand()
        if self.kind != operator:
            return first
        terms, positions, height = [first], [], self.height
        while self.kind == operator:
            positions.append(self.advance().pos)
            terms.append(operand())
            height = max(height, self.height)
        self.height = height
        return ast.balanced(function, terms, positions, 0, len(positions) - 1)

    def relation(self) -> ast.Node:
        self.relation_depth += 1
        self.deeper(self.relation_depth)
        node = self.calc(1)
        while self.kind in _RELATIONS:
            height = self.height
            operator = self.advance()
            # Upstream parses the right side as a relation of its own, too.
            self.relation_depth += 1
            self.deeper(self.relation_depth)
            right = self.calc(1)
            self.relation_depth -= 1
            self.higher(max(height, self.height))
            node = ast.Call(operator.pos, _RELATIONS[operator.kind], None, [node, right])
        self.relation_depth -= 1
        return node

    def calc(self, precedence: int) -> ast.Node:
        self.calc_depth += 1
        self.deeper(self.calc_depth)
        node = self.unary()
        while self.kind in _ARITHMETIC:
            function, binds = _ARITHMETIC[self.kind]
            if binds < precedence:
                break
            height = self.height
            pos = self.advance().pos
            right = self.calc(binds + 1)
            self.higher(max(height, self.height))
            node = ast.Call(pos, function, None, [node, right])
        self.calc_depth -= 1
        return node

    def unary(self) -> ast.Node:
        operator = self.kind
        if operator not in ("!", "-") or (operator == "-" and self.peek() in _NUMBERS):
            return self.member()
        first = self.token
        count = 0
        while self.kind == operator:
            self.advance()
            count += 1
        if operator == "-" and self.kind not in _EXPRESSION_STARTS - {"-", "!"}:
            self.not_viable(first)
        node = self.member()
        return ast.Call(first.pos, f"{operator}_", None, [node]) if count % 2 else node

    # Operands

    def member(self) -> ast.Node:
        node = self.primary()
        while True:
            if self.kind == ".":
                node = self.selection(node)
            elif self.kind == "[":
                node = self.index(node)
            else:
                return node

    def selection(self, operand: ast.Node) -> ast.Node:
        height = self.height
        dot = self.advance()
        optional = self.kind == "?"
        if optional:
            self.advance()
        if self.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            self.not_viable(dot)
        field = self.advance()
        if self.kind == "(" and field.kind == "IDENTIFIER" and not optional:
            return self.member_call(operand, height, field.text)
        self.higher(height)
        name = _field_name(field)
        if optional:
            return ast.Call(dot.pos, "_?._", None, [operand, ast.Literal(field.pos, "string", name)])
        return ast.Select(dot.pos, operand, name)

    def member_call(self, target: ast.Node, height: int, function: str) -> ast.Node:
        pos = self.token.pos
        args = self.arguments()
        self.higher(max(height, self.height))
        try:
            expanded = expand_member(pos, target, function, args, self.copier)
        except MacroError as error:
            self.report(error.node.pos, error.message, "macro", function)
            return ast.Literal(error.node.pos, "null", None)
        except TooManyCopies as error:
            self.limit(str(error))
        if expanded is None:
            return ast.Call(pos, function, target, args)
        self.macros[id(expanded)] = ast.MacroCall(function, target, tuple(args))
        return expanded

    def index(self, operand: ast.Node) -> ast.Node:
        height = self.height
        pos = self.advance().pos
        optional = self.kind == "?"
        if optional:
            self.advance()
        key = self.expr()
        self.expect("]")
        self.higher(max(height, self.height))
        return ast.Call(pos, "_[?_]" if optional else "_[_]", None, [operand, key])

    def arguments(self) -> list[ast.Node]:
        """``(a, b)``; leaves the height of the highest."""
        self.advance()
        args: list[ast.Node] = []
        height = 0
        while self.kind != ")" or args:
            args.append(self.expr())
            height = max(height, self.height)
            if self.kind != ",":
                break
            self.advance()
        self.expect(")")
        self.height = height
        return args

    def primary(self) -> ast.Node:
        kind = self.kind
        if kind in LITERALS or kind == "-":
            return self.literal()
        if kind in ("IDENTIFIER", "."):
            return self.name()
        if kind == "(":
            self.advance()
            node = self.expr()
            self.expect(")")
            return node
        if kind == "[":
            return self.list_literal()
        if kind == "{":
            return self.map_literal()
        return self.unexpected(_EXPRESSION, _EXPRESSION_STARTS)

    def literal(self) -> ast.Node:
        self.height = 0
        first = self.advance()
        token = first
        if first.kind == "-":
            if self.kind not in _NUMBERS:
                self.not_viable(first)
            token = self.advance()
        try:
            return ast.Literal(first.pos, *literal_value(token.kind, token.text, first.kind == "-"))
        except LiteralError as error:
            return self.invalid(first.pos, str(error), "invalid-literal")

    def name(self) -> ast.Node:
        first = self.token
        absolute = self.kind == "."
        if absolute:
            self.advance()
            if self.kind != "IDENTIFIER":
                self.not_viable(first)
        if self.is_message():
            return self.message_literal("." if absolute else "")
        token = self.advance()
        if self.kind == "(":
            return self.global_call(first.pos, token.text, absolute)
        self.height = 0
        if token.text in RESERVED:
            return self.invalid(first.pos, f"reserved identifier: {token.text}", "reserved-identifier", token.text)
        return ast.Ident(token.pos, token.text, absolute)

    def global_call(self, start: int, function: str, absolute: bool) -> ast.Node:
        pos = self.token.pos
        args = self.arguments()
        if function in RESERVED:
            return self.invalid(start, f"reserved identifier: {function}", "reserved-identifier", function)
        if function != "has" or len(args) != 1 or absolute:
            return ast.Call(pos, function, None, args, absolute)
        try:
            expanded = expand_has(pos, args[0])
        except MacroError as error:
            return self.invalid(error.node.pos, error.message, "macro", function)
        self.macros[id(expanded)] = ast.MacroCall(function, None, tuple(args))
        return expanded

    # Aggregates

    def list_literal(self) -> ast.Node:
        pos = self.advance().pos
        elements: list[ast.Node] = []
        optional: list[int] = []
        height = 0
        while self.kind not in ("]", ","):
            if self.kind == "?":
                self.advance()
                optional.append(len(elements))
            elements.append(self.expr())
            height = max(height, self.height)
            if not self.more():
                break
        self.close("]")
        self.height = height
        return ast.ListLit(pos, elements, frozenset(optional))

    def map_literal(self) -> ast.Node:
        pos = self.advance().pos
        entries: list[ast.Entry] = []
        height = 0
        while self.kind not in ("}", ","):
            optional = self.kind == "?"
            if optional:
                self.advance()
            key = self.expr()
            height = max(height, self.height)
            colon = self.expect(":")
            entries.append(ast.Entry(colon.pos, key, self.expr(), optional))
            height = max(height, self.height)
            if not self.more():
                break
        self.close("}")
        self.height = height
        return ast.MapLit(pos, entries)

    def is_message(self) -> bool:
        """Whether the qualified name at hand is followed by ``{``."""
        at = self.at + 1
        while self.tokens[at].kind == "." and self.tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return self.tokens[at].kind == "{"

    def message_literal(self, prefix: str) -> ast.Node:
        parts = [prefix]
        while self.kind != "{":
            parts.append(self.advance().text)
        pos = self.advance().pos
        entries: list[ast.Entry] = []
        height = 0
        while self.kind not in ("}", ","):
            entries.append(self.field_entry())
            height = max(height, self.height)
            if not self.more(_FIELD_STARTS):
                break
        self.close("}")
        self.height = height
        return ast.MessageLit(pos, "".join(parts), entries)

    def field_entry(self) -> ast.Entry:
        optional = self.kind == "?"
        if optional:
            self.advance()
        if self.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            self.unexpected("{IDENTIFIER, ESC_IDENTIFIER}", frozenset({"IDENTIFIER", "ESC_IDENTIFIER"}))
        name = _field_name(self.advance())
        colon = self.expect(":")
        return ast.Entry(colon.pos, name, self.expr(), optional)

    def more(self, starts: frozenset[str] = _ELEMENT_STARTS) -> bool:
        """Steps over a comma that another element follows; any other comma is left alone."""
        if self.kind != "," or self.peek() not in starts:
            return False
        self.advance()
        return True

    def close(self, closing: OneOf["]", "}"]) -> None:
        """The end of an aggregate, after at most one comma."""
        if self.kind == ",":
            self.advance()
        elif self.kind != closing:
            self.unexpected(f"{{'{closing}', ','}}", frozenset({closing, ","}))
        self.expect(closing)


def _field_name(token: Token) -> str:
    return token.text[1:-1] if token.kind == "ESC_IDENTIFIER" else token.text
