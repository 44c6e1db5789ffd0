"""The type checker: names, overloads, fields and types of a parsed expression, with cel-go's errors.

All problems are collected. Types of sub-expressions stay open (type parameters) until the whole expression is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.cel.check.errors import TypeReporter
from kubectl_dra.cel.check.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    short_text,
)
from kubectl_dra.cel.check.unify import Substitution, TypesTooLarge, exact, instantiate, most_general
from kubectl_dra.cel.declarations import ENUM_CONSTANTS, FUNCTIONS, GLOBAL_NAMES, MESSAGES, TYPE_NAMES, overloads
from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.issues import Issue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_dra.cel.check.environment import Environment
    from kubectl_dra.cel.declarations import Overload

_LITERAL_TYPES: Final = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "int": INT,
    "null": NULL,
    "string": STRING,
    "uint": UINT,
}
_DYNAMIC: Final = frozenset({"dyn", "any", "error"})
_NO_FIELDS: Final[Mapping[str, Type]] = {}
_FUNCTION_ROOTS: Final = frozenset(name.split(".")[0] for name in FUNCTIONS if "." in name)


def check_types(parsed: ast.Parsed, environment: Environment) -> tuple[ast.Checked, list[Issue]]:
    """The types and meanings of all nodes, and what is wrong; the first is only of use if nothing is.

    Qualified function names are resolved in place (see ``Checked``), which changes nothing for other environments.
    """
    checker = _Checker(parsed, environment)
    try:
        checker.check(parsed.root)
        types = checker.settled()
    except TypesTooLarge:
        checker.report(-1, "types of the expression are too large to check", "limit")
        types = {id(parsed.root): ERROR}
    return ast.Checked(parsed, types, checker.references, types[id(parsed.root)]), checker.issues


class _Checker(TypeReporter):
    def __init__(self, parsed: ast.Parsed, environment: Environment) -> None:
        super().__init__(parsed.source)
        self.environment = environment
        self.types: dict[int, Type] = {}
        self.references: dict[int, ast.Reference] = {}
        self.substitution = Substitution()
        self.scopes: list[tuple[str, Type]] = []

    def settled(self) -> dict[int, Type]:
        known: dict[str, Type] = {}
        settle = self.substitution.settle
        return {node: settle(declared, known) for node, declared in self.types.items()}

    def undeclared(self, pos: int, name: str) -> Type:
        self.report(pos, f"undeclared reference to '{name}' (in container '')", "undeclared-reference", name)
        return ERROR

    def check(self, node: ast.Node) -> Type:
        declared = _RULES[type(node)](self, node)
        self.types[id(node)] = declared
        return declared

    # Names

    def local(self, name: str) -> Type | None:
        for known, declared in reversed(self.scopes):
            if known == name:
                return declared
        return None

    def global_name(self, name: str) -> Type | None:
        return self.environment.variables.get(name) or GLOBAL_NAMES.get(name)

    def literal(self, node: ast.Literal) -> Type:
        return _LITERAL_TYPES[node.kind]

    def ident(self, node: ast.Ident) -> Type:
        local = None if node.absolute else self.local(node.name)
        if local is not None:
            return local
        declared = self.global_name(node.name)
        if declared is None:
            return self.undeclared(node.pos, _written(node))
        self.references[id(node)] = ast.Reference(name=node.name)
        return declared

    def select(self, node: ast.Select) -> Type:
        if not node.test_only:
            name = self.qualified_value(node)
            if name is not None:
                self.references[id(node)] = ast.Reference(name=name, constant=ENUM_CONSTANTS.get(name))
                return self.global_name(name) or ERROR
        selected = self.field(node, node.operand, node.name)
        return BOOL if node.test_only else self.substitution.resolve(selected)

    def qualified_value(self, node: ast.Select) -> str | None:
        """The qualified name that the selection spells, if it is global and no local variable hides it."""
        name, root = ast.qualified_name(node)
        if root is None or self.global_name(name) is None:
            return None
        return None if not root.absolute and self.local(root.name) is not None else name

    def field(self, node: ast.Node, operand: ast.Node, name: str, optional: bool = False) -> Type:
        """The type of selecting ``name``, wrapped as optional if the operand or the selection is."""
        target = self.substitution.resolve(self.check(operand))
        if _is_optional(target):
            target = target.params[0]
            optional = True
        selected = self.field_of(node, target, name)
        return optional_of(selected) if optional else selected

    def field_of(self, node: ast.Node, target: Type, name: str) -> Type:
        if target.kind == "map":
            return target.params[1]
        if target.kind == "object":
            return self.object_field(node.pos, target.name, name)
        if target.kind == "param":
            self.substitution.assignable(DYN, target)
        elif target.kind not in _DYNAMIC:
            message = f"type '{short_text(target)}' does not support field selection"
            self.report(node.pos, message, "not-selectable", name)
        return DYN

    def object_field(self, pos: int, message: str, name: str) -> Type:
        fields = self.message_fields(message)
        if fields is None:
            self.report(pos, f"unexpected failed resolution of '{message}'", "not-selectable", name)
        elif name in fields:
            return fields[name]
        else:
            self.report(pos, f"undefined field '{name}'", "undefined-field", name)
        return ERROR

    def message_fields(self, name: str) -> Mapping[str, Type] | None:
        if name == "kubernetes.DRADevice":
            return self.environment.device_fields
        return MESSAGES[name][1] if name in MESSAGES else _NO_FIELDS if name in TYPE_NAMES else None

    # Calls

    def call(self, node: ast.Call) -> Type:
        if node.function == "_?._":
            return self.optional_selection(node)
        args = []
        for arg in node.args:
            args.append(self.check(arg))  # noqa: PERF401  a loop, so that deep trees need no C stack
        if node.target is None:
            declared = overloads(node.function, self.environment)
            name = f".{node.function}" if node.absolute else node.function
            return self.resolve(node, declared, args) if declared else self.undeclared(node.pos, name)
        if self.resolve_qualified_function(node):
            return self.resolve(node, overloads(node.function, self.environment), args)
        args.insert(0, self.check(node.target))
        declared = overloads(node.function, self.environment)
        return self.resolve(node, declared, args) if declared else self.undeclared(node.pos, node.function)

    def optional_selection(self, node: ast.Call) -> Type:
        operand, name = node.args
        self.check(name)
        self.references[id(node)] = ast.Reference(overloads=("select_optional_field",))
        assert isinstance(name, ast.Literal) and isinstance(name.value, str)  # noqa: S101  the parser makes it so
        return self.substitution.resolve(self.field(node, operand, name.value, optional=True))

    def resolve_qualified_function(self, node: ast.Call) -> bool:
        """Makes ``optional.of(x)`` a call of the function of that name; variables don't hide functions."""
        if not isinstance(node.target, (ast.Ident, ast.Select)):
            return False
        prefix, root = ast.qualified_name(node.target)
        if root is None or root.name not in _FUNCTION_ROOTS:
            return False
        name = f"{prefix}.{node.function}"
        if not overloads(name, self.environment):
            return False
        node.target = None
        node.function = name
        return True

    def resolve(self, node: ast.Call, declared: tuple[Overload, ...], args: list[Type]) -> Type:
        """The type of a call; records the overloads that match."""
        if node.function in ("_&&_", "_||_"):
            return self.logical(node, declared[0], args)
        result, matching = self.matches(node, declared, args)
        if result is None:
            return self.no_overload(node, args)
        self.references[id(node)] = ast.Reference(overloads=tuple(matching))
        return result

    def matches(
        self, node: ast.Call, declared: tuple[Overload, ...], args: list[Type]
    ) -> tuple[Type | None, list[str]]:
        member = node.target is not None
        result: Type | None = None
        matching: list[str] = []
        for overload in declared:
            if overload.member != member:
                continue
            params, returns = self.signature(overload)
            if not self.substitution.all_assignable(args, params):
                continue
            matching.append(overload.id)
            returned = self.substitution.resolve(returns)
            if result is None:
                result = returned
            elif result.kind not in ("dyn", "any") and not exact(returned, result):
                result = DYN
        return result, matching

    def signature(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Parameters and result with type parameters of their own."""
        if not overload.type_params:
            return overload.params, overload.result
        fresh = {name: self.substitution.new() for name in overload.type_params}
        return tuple([instantiate(each, fresh) for each in overload.params]), instantiate(overload.result, fresh)

    def logical(self, node: ast.Call, overload: Overload, args: list[Type]) -> Type:
        valid = True
        for operand, declared in zip(node.args, args, strict=True):
            if not self.substitution.assignable(declared, BOOL):
                self.mismatch(operand, BOOL, declared)
                valid = False
        if not valid:
            return ERROR
        self.references[id(node)] = ast.Reference(overloads=(overload.id,))
        return BOOL

    def no_overload(self, node: ast.Call, args: list[Type]) -> Type:
        known: dict[str, Type] = {}
        texts = [short_text(self.substitution.settle(declared, known)) for declared in args]
        target = f"{texts.pop(0)}." if node.target is not None else ""
        signature = f"{target}({', '.join(texts)})"
        message = f"found no matching overload for '{node.function}' applied to '{signature}'"
        self.report(node.pos, message, "no-overload", node.function)
        return ERROR

    # Aggregates

    def join(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        return most_general(previous, current) if self.substitution.assignable(previous, current) else DYN

    def present(self, node: ast.Node, declared: Type) -> Type:
        """The type within the optional that an element or entry marked ``?`` must be."""
        if _is_optional(declared):
            return declared.params[0]
        if declared.kind not in ("dyn", "any"):
            self.mismatch(node, optional_of(declared), declared)
        return declared

    def list_literal(self, node: ast.ListLit) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            declared = self.check(element)
            if index in node.optional:
                declared = self.present(element, declared)
            joined = self.join(joined, declared)
        return list_of(joined or self.substitution.new())

    def map_literal(self, node: ast.MapLit) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            assert not isinstance(entry.key, str)  # noqa: S101  only messages have plain field names
            keys = self.join(keys, self.check(entry.key))
            values = self.join(values, self.entry_value(entry))
        return map_of(keys or self.substitution.new(), values or self.substitution.new())

    def entry_value(self, entry: ast.Entry) -> Type:
        declared = self.check(entry.value)
        return self.present(entry.value, declared) if entry.optional else declared

    def message_literal(self, node: ast.MessageLit) -> Type:
        name = node.name.removeprefix(".")
        if name not in TYPE_NAMES:
            return self.undeclared(node.pos, node.name)
        declared = self.message_type(node, name)
        for entry in node.entries:
            self.message_field(name, entry)
        return declared

    def message_type(self, node: ast.MessageLit, name: str) -> Type:
        if name in MESSAGES:
            return MESSAGES[name][0]
        self.report(node.pos, f"'{name}' is not a message type", "type-mismatch", name)
        return ERROR

    def message_field(self, message: str, entry: ast.Entry) -> None:
        field = str(entry.key)
        # Upstream reports an undefined field between the value's own problems and an optional's.
        value = self.check(entry.value)
        declared = self.object_field(entry.pos, message, field)
        if entry.optional:
            value = self.present(entry.value, value)
        if not self.substitution.assignable(declared, value):
            text = f"expected type of field '{field}' is '{short_text(declared)}'"
            self.report(entry.pos, f"{text} but provided type is '{short_text(value)}'", "type-mismatch", field)

    # Comprehensions

    def comprehension(self, node: ast.Comprehension) -> Type:
        in_range = self.check(node.range)
        accumulated = self.check(node.init)
        variables = self.loop_variables(node, self.substitution.resolve(in_range))
        outside = len(self.scopes)
        self.scopes.append((node.acc, accumulated))
        self.scopes.extend(variables)
        self.expect(node.cond, BOOL)
        self.expect(node.step, accumulated)
        del self.scopes[outside + 1 :]
        result = self.check(node.result)
        del self.scopes[outside:]
        return self.substitution.resolve(result)

    def expect(self, node: ast.Node, declared: Type) -> None:
        found = self.check(node)
        if not self.substitution.assignable(declared, found):
            self.mismatch(node, declared, found)

    def loop_variables(self, node: ast.Comprehension, in_range: Type) -> list[tuple[str, Type]]:
        first, second = self.element_types(node, in_range)
        if node.var2 is not None:
            return [(node.var1, first), (node.var2, second)]
        return [(node.var1, second if in_range.kind == "list" else first)]

    def element_types(self, node: ast.Comprehension, in_range: Type) -> tuple[Type, Type]:
        """Types of index or key, and of the element or value."""
        if in_range.kind == "list":
            return INT, in_range.params[0]
        if in_range.kind == "map":
            return in_range.params[0], in_range.params[1]
        if in_range.kind in ("dyn", "error", "param"):
            self.substitution.assignable(DYN, in_range)
            return DYN, DYN
        what = "cannot be range of a comprehension (must be list, map, or dynamic)"
        self.report(node.range.pos, f"expression of type '{short_text(in_range)}' {what}", "not-a-range")
        return ERROR, ERROR


# Each rule is only called with nodes of its class.
_RULES: Final[Mapping[type, Callable[[_Checker, Any], Type]]] = {
    ast.Literal: _Checker.literal,
    ast.Ident: _Checker.ident,
    ast.Select: _Checker.select,
    ast.Call: _Checker.call,
    ast.ListLit: _Checker.list_literal,
    ast.MapLit: _Checker.map_literal,
    ast.MessageLit: _Checker.message_literal,
    ast.Comprehension: _Checker.comprehension,
}


def _written(node: ast.Ident) -> str:
    return f".{node.name}" if node.absolute else node.name


def _is_optional(declared: Type) -> bool:
    return declared.kind == "opaque" and declared.name == "optional_type"
