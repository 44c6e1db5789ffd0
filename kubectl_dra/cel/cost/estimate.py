"""The estimated maximum cost of an expression, which the API server bounds: upstream's numbers, quirks included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from kubectl_dra.cel.check.types import Type, unwrapped
from kubectl_dra.cel.cost.rule import LIST_COST, Estimate, Operand
from kubectl_dra.cel.cost.rules import call_estimate
from kubectl_dra.cel.cost.sizes import ONE, UNKNOWN, Size, ValuePath, add, fixed, multiply
from kubectl_dra.cel.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MAP_COST: Final = 30
_MESSAGE_COST: Final = 40
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_ACCUMULATORS: Final = frozenset({"@result", "__result__"})
_CONCATENATIONS: Final = frozenset({"add_string", "add_bytes", "add_list"})


def estimate_cost(checked: ast.Checked) -> int:
    """The most that evaluation is thought to cost, at most 2^64-1; admission refuses more than 1,000,000."""
    return _Estimator(checked).cost(checked.parsed.root)


class _Entries(NamedTuple):
    """Sizes of what a container holds; ``kind`` is ``list`` or ``map``."""

    kind: str
    key: Size
    value: Size


class _Variable(msgspec.Struct, frozen=True):
    path: ValuePath | None
    size: Size | None
    entries: _Entries | None = None


class _Estimator:
    def __init__(self, checked: ast.Checked) -> None:
        self.types = checked.types
        self.references = checked.references
        self.variables: dict[str, list[_Variable]] = {}
        self.paths: dict[int, ValuePath | None] = {}
        self.sizes: dict[int, Size] = {}
        self.entry_sizes: dict[int, _Entries] = {}

    def cost(self, node: ast.Node) -> int:
        return _RULES[type(node)](self, node)

    # What is known of a node

    def variable_name(self, node: ast.Node) -> str | None:
        """The name that the node is, if it is one; a selection may spell the name of a type."""
        if isinstance(node, ast.Ident):
            hidden = node.absolute and self.variables.get(node.name)
            return f".{node.name}" if hidden else node.name
        if isinstance(node, ast.Select) and id(node) in self.references:
            return self.references[id(node)].name
        return None

    def local(self, node: ast.Node) -> _Variable | None:
        name = self.variable_name(node)
        stack = self.variables.get(name) if name is not None else None
        return stack[-1] if stack else None

    def path(self, node: ast.Node) -> ValuePath | None:
        local = self.local(node)
        return local.path if local else self.paths.get(id(node))

    def size(self, node: ast.Node) -> Size | None:
        known = self.sizes.get(id(node)) or _literal_size(node)
        if known is not None:
            return known
        path = self.path(node)
        known = path.size() if path else None
        if known is not None:
            self.sizes[id(node)] = known
            return known
        if _is_scalar(self.types[id(node)]):
            return ONE
        local = self.local(node)
        return local.size if local else None

    def size_or_unknown(self, node: ast.Node) -> Size:
        return self.size(node) or UNKNOWN

    def entries(self, node: ast.Node) -> _Entries | None:
        known = self.entry_sizes.get(id(node))
        if known is None:
            local = self.local(node)
            known = local.entries if local else None
        return known

    def copy_sizes(self, node: ast.Node, source: ast.Node) -> None:
        self.set_sizes(node, self.size(source), self.entries(source))

    def set_sizes(self, node: ast.Node, size: Size | None, entries: _Entries | None) -> None:
        if size is not None:
            self.sizes[id(node)] = size
        if entries is not None:
            self.entry_sizes[id(node)] = entries

    def operand(self, node: ast.Node) -> Operand:
        path = self.path(node)
        if path is not None and path.starts_with(_ACCUMULATORS):
            path = None
        return Operand(node, self.types[id(node)], self.size(node), path)

    # Names and selections

    def literal(self, _: ast.Literal) -> int:
        return 0

    def ident(self, node: ast.Node) -> int:
        local = self.local(node)
        self.paths[id(node)] = local.path if local else ValuePath.root(self.variable_name(node) or "")
        return 1

    def select(self, node: ast.Select) -> int:
        if id(node) in self.references:
            return self.ident(node)
        cost = self.cost(node.operand)
        if node.test_only:
            return cost
        if self.types[id(node.operand)].kind in ("map", "object"):
            cost = add(cost, 1)
        self.paths[id(node)] = ValuePath.extend(self.path(node.operand), node.name)
        return cost

    # Calls

    def call(self, node: ast.Call) -> int:
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self.copy_sizes(node, node.args[0])
            return add(cost, 1)
        costs = []
        args = []
        for arg in node.args:
            costs.append(self.cost(arg))
            args.append(self.operand(arg))
        total = 0
        target = None
        if node.target is not None:
            total = self.cost(node.target)
            target = self.operand(node.target)
        return add(total, self.overloads(node, target, args, costs))

    def overloads(self, node: ast.Call, target: Operand | None, args: list[Operand], costs: list[int]) -> int:
        """The largest cost among the matching overloads, arguments included; records the size of the result."""
        largest = 0
        size: Size | None = None
        for overload in self.references[id(node)].overloads:
            estimate = self.overload(node, overload, target, args, costs)
            largest = max(largest, estimate.cost)
            if estimate.size is not None:
                size = size.union(estimate.size) if size is not None else estimate.size
            if overload in ("index_list", "index_map"):
                size = self.element(node, "@items" if overload == "index_list" else "@values")
            if size is None:
                size = self.size(node)
        self.set_sizes(node, size, None)
        return largest

    def overload(
        self, node: ast.Call, overload: str, target: Operand | None, args: list[Operand], costs: list[int]
    ) -> Estimate:
        if overload == "conditional":
            self.set_sizes(node, None, _union(self.entries(node.args[1]), self.entries(node.args[2])))
            cost = add(costs[0], max(costs[1], costs[2]))
            return Estimate(cost, args[1].known.union(args[2].known))
        if overload in ("logical_and", "logical_or"):
            return Estimate(add(costs[0], costs[1]))
        if overload in _CONCATENATIONS:
            self.set_sizes(node, None, _union(self.entries(node.args[0]), self.entries(node.args[1])))
        estimate = call_estimate(node.function, overload, target, args)
        cost = estimate.cost
        for each in costs:
            cost = add(cost, each)
        return Estimate(cost, estimate.size)

    def element(self, node: ast.Call, step: str) -> Size | None:
        entries = self.entries(node.args[0])
        self.paths[id(node)] = ValuePath.extend(self.path(node.args[0]), step)
        return entries.value if entries else None

    # Aggregates

    def list_literal(self, node: ast.ListLit) -> int:
        cost = 0
        sizes: Size | None = None
        for element in node.elements:
            cost = add(cost, self.cost(element))
            sizes = _either(sizes, self.size_or_unknown(element))
        self.set_sizes(node, None, _Entries("list", ONE, sizes or fixed(0)))
        return add(cost, LIST_COST)

    def map_literal(self, node: ast.MapLit) -> int:
        cost = 0
        keys: Size | None = None
        values: Size | None = None
        for entry in node.entries:
            assert not isinstance(entry.key, str)  # noqa: S101  only messages have plain field names
            cost = add(add(cost, self.cost(entry.key)), self.cost(entry.value))
            keys = _either(keys, self.size_or_unknown(entry.key))
            values = _either(values, self.size_or_unknown(entry.value))
        self.set_sizes(node, None, _Entries("map", keys or fixed(0), values or fixed(0)))
        return add(cost, _MAP_COST)

    def message_literal(self, node: ast.MessageLit) -> int:
        cost = _MESSAGE_COST
        for entry in node.entries:
            cost = add(cost, self.cost(entry.value))
        return cost

    # Comprehensions

    def comprehension(self, node: ast.Comprehension) -> int:
        cost = add(self.cost(node.range), self.cost(node.init))
        accumulator = _Variable(self.path(node.init), self.size(node.init), self.entries(node.init))
        self.push(node.acc, accumulator)
        if _is_bind(node):
            cost = add(cost, self.cost(node.result))
            self.pop(node.acc)
            self.copy_sizes(node, node.result)
            return cost
        names = self.push_loop_variables(node)
        each = add(self.cost(node.cond), self.cost(node.step))
        for name in names:
            self.pop(name)
        cost = add(cost, self.cost(node.result))
        self.pop(node.acc)
        rounds = self.size_or_unknown(node.range)
        self.size_of_loop(node, rounds)
        return add(cost, multiply(rounds.max, each))

    def size_of_loop(self, node: ast.Comprehension, rounds: Size) -> None:
        if isinstance(node.init, ast.Literal):
            self.set_sizes(node, self.size(node.init), None)
        elif isinstance(node.init, (ast.ListLit, ast.MapLit)):
            self.set_sizes(node, rounds, self.entries(node.step))

    def push_loop_variables(self, node: ast.Comprehension) -> list[str]:
        entries = self.entries(node.range)
        kind = entries.kind if entries else self.types[id(node.range)].kind
        is_list = kind == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        if node.var2 is not None:
            self.push_loop_variable(node, node.var1, "@indices" if is_list else "@keys", key)
            self.push_loop_variable(node, node.var2, "@items" if is_list else "@values", value)
            return [node.var1, node.var2]
        self.push_loop_variable(node, node.var1, "@items" if is_list else "@keys", value if is_list else key)
        return [node.var1]

    def push_loop_variable(self, node: ast.Comprehension, name: str, step: str, size: Size | None) -> None:
        self.push(name, _Variable(ValuePath.extend(self.path(node.range), step), size))

    def push(self, name: str, variable: _Variable) -> None:
        self.variables.setdefault(name, []).append(variable)

    def pop(self, name: str) -> None:
        self.variables[name].pop()


_RULES: Final[Mapping[type, Callable[[_Estimator, Any], int]]] = {
    ast.Literal: _Estimator.literal,
    ast.Ident: _Estimator.ident,
    ast.Select: _Estimator.select,
    ast.Call: _Estimator.call,
    ast.ListLit: _Estimator.list_literal,
    ast.MapLit: _Estimator.map_literal,
    ast.MessageLit: _Estimator.message_literal,
    ast.Comprehension: _Estimator.comprehension,
}


def _is_bind(node: ast.Comprehension) -> bool:
    if not isinstance(node.range, ast.ListLit) or node.range.elements or node.acc == "__result__":
        return False
    return isinstance(node.cond, ast.Literal) and node.cond.value is False


def _literal_size(node: ast.Node) -> Size | None:
    match node:
        case ast.Literal(value=str() | bytes() as text):
            return fixed(len(text))
        case ast.Literal():
            return ONE
        case ast.ListLit():
            return fixed(len(node.elements))
        case ast.MapLit():
            return fixed(len(node.entries))
    return None


def _is_scalar(declared: Type) -> bool:
    while declared.kind == "opaque" and declared.name == "optional_type":
        declared = declared.params[0]
    return unwrapped(declared).kind in _SCALARS


def _either(left: Size | None, right: Size) -> Size:
    return right if left is None else left.union(right)


def _union(left: _Entries | None, right: _Entries | None) -> _Entries | None:
    if left is None or right is None:
        return None
    return _Entries(left.kind, left.key.union(right.key), left.value.union(right.value))
