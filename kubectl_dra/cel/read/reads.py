"""What of a device an expression can look at: two devices that agree in all of it give the same answer.

The answer errs on the safe side: whatever is not an attribute or capacity with literal domain and name counts as
reading everything. Presence is part of a value. A device with an attribute that cannot be converted (no value, no valid
version) fails every expression before it is evaluated, whatever that reads: the caller must tell such devices apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from kubectl_dra.cel.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Reads(msgspec.Struct, frozen=True):
    """``attributes`` and ``capacity`` hold (domain, name); with ``all`` every attribute and capacity matters."""

    driver: bool
    allow_multiple: bool
    attributes: frozenset[tuple[str, str]]
    capacity: frozenset[tuple[str, str]]
    all: bool


def reads(checked: ast.Checked) -> Reads:
    reader = _Reader()
    reader.use(reader.visit(checked.parsed.root))
    return Reads(
        reader.driver,
        reader.allow_multiple,
        frozenset(reader.names["attributes"]),
        frozenset(reader.names["capacity"]),
        reader.all,
    )


class _Part(NamedTuple):
    """A part of the device that has not been looked at yet.

    Without ``kind`` it is the device itself; ``attributes`` or ``capacity`` are the maps by domain, with ``domain`` the
    maps by name. An optional of a part counts as the part.
    """

    kind: str = ""
    domain: str | None = None


class _Reader(msgspec.Struct):
    driver: bool = False
    allow_multiple: bool = False
    all: bool = False
    names: dict[str, set[tuple[str, str]]] = msgspec.field(
        default_factory=lambda: {"attributes": set(), "capacity": set()}
    )
    scopes: list[tuple[str, _Part | None]] = msgspec.field(default_factory=list)

    def visit(self, node: ast.Node) -> _Part | None:
        """Notes what evaluating the node reads; returns the part of the device that its value is, not yet read."""
        return _RULES[type(node)](self, node)

    def use(self, part: _Part | None) -> None:
        """The part is looked at as a whole."""
        if part is not None:
            self.all = True
            if not part.kind:
                self.driver = self.allow_multiple = True

    def use_all(self, nodes: list[ast.Node]) -> None:
        for node in nodes:
            self.use(self.visit(node))

    def literal(self, _: ast.Literal) -> None:
        return None

    def ident(self, node: ast.Ident) -> _Part | None:
        if not node.absolute:
            for name, part in reversed(self.scopes):
                if name == node.name:
                    return part
        return _Part() if node.name == "device" else None

    def select(self, node: ast.Select) -> _Part | None:
        part = self.lookup(self.visit(node.operand), node.name)
        return None if node.test_only else part

    def lookup(self, part: _Part | None, name: str) -> _Part | None:
        """The value of looking up ``name`` in a part."""
        if part is None:
            return None
        if part.domain is not None:
            self.names[part.kind].add((part.domain, name))
            return None
        if part.kind:
            return _Part(part.kind, name)
        return self.device_field(name)

    def device_field(self, name: str) -> _Part | None:
        if name in self.names:
            return _Part(name)
        self.driver = self.driver or name == "driver"
        self.allow_multiple = self.allow_multiple or name == "allowMultipleAllocations"
        return None

    def call(self, node: ast.Call) -> _Part | None:
        rule = _CALLS.get(node.function)
        if rule is not None:
            return rule(self, node)
        if node.target is not None:
            self.use(self.visit(node.target))
        self.use_all(node.args)
        return None

    def index(self, node: ast.Call) -> _Part | None:
        part = self.visit(node.args[0])
        key = node.args[1]
        if isinstance(key, ast.Literal) and isinstance(key.value, str):
            return self.lookup(part, key.value)
        self.use(part)
        self.use(self.visit(key))
        return None

    def contains(self, node: ast.Call) -> None:
        key, container = node.args
        part = self.visit(container)
        if part is not None and part.domain is not None and isinstance(key, ast.Literal) and isinstance(key.value, str):
            self.lookup(part, key.value)
        else:
            self.use(part)
            self.use(self.visit(key))

    def choose(self, node: ast.Call) -> _Part | None:
        condition, first, second = node.args
        self.use(self.visit(condition))
        one, other = self.visit(first), self.visit(second)
        if one == other:
            return one
        self.use(one)
        self.use(other)
        return None

    def same(self, node: ast.Call) -> _Part | None:
        """``dyn(x)`` and the value of an optional are the part itself."""
        operand = node.target or node.args[0]
        return self.visit(operand)

    def has_value(self, node: ast.Call) -> None:
        """Of an optional part it is always true: looking up a domain never misses."""
        self.same(node)

    def list_literal(self, node: ast.ListLit) -> None:
        self.use_all(node.elements)

    def entries(self, node: ast.MapLit | ast.MessageLit) -> None:
        for entry in node.entries:
            if not isinstance(entry.key, str):
                self.use(self.visit(entry.key))
            self.use(self.visit(entry.value))

    def comprehension(self, node: ast.Comprehension) -> _Part | None:
        if node.var1 == "#unused":
            self.scopes.append((node.acc, self.visit(node.init)))
            part = self.visit(node.result)
            self.scopes.pop()
            return part
        self.use_all([node.range, node.init])
        outside = len(self.scopes)
        self.scopes.append((node.acc, None))
        self.scopes += [(name, None) for name in (node.var1, node.var2) if name is not None]
        self.use_all([node.cond, node.step])
        del self.scopes[outside + 1 :]
        self.use(self.visit(node.result))
        del self.scopes[outside:]
        return None


_CALLS: Final[Mapping[str, Callable[[_Reader, ast.Call], _Part | None]]] = {
    "_[_]": _Reader.index,
    "_[?_]": _Reader.index,
    "_?._": _Reader.index,
    "@in": _Reader.contains,
    "_?_:_": _Reader.choose,
    "dyn": _Reader.same,
    "value": _Reader.same,
    "hasValue": _Reader.has_value,
}
_RULES: Final[Mapping[type, Callable[[_Reader, Any], _Part | None]]] = {
    ast.Literal: _Reader.literal,
    ast.Ident: _Reader.ident,
    ast.Select: _Reader.select,
    ast.Call: _Reader.call,
    ast.ListLit: _Reader.list_literal,
    ast.MapLit: _Reader.entries,
    ast.MessageLit: _Reader.entries,
    ast.Comprehension: _Reader.comprehension,
}
