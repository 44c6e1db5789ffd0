"""Walking a tree as its author wrote it: macros are their calls, chains of ``&&`` and ``||`` their terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_dra.cel.syntax import ast
from kubectl_dra.cel.syntax.printer import chain_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def written(node: ast.Node, macros: Mapping[int, ast.MacroCall]) -> list[ast.Node]:
    """The parts of a node from left to right; ``macros`` is that of the ``Parsed`` it comes from."""
    macro = macros.get(id(node))
    if macro is not None:
        return [*([macro.target] if macro.target is not None else ()), *macro.args]
    match node:
        case ast.Select():
            return [node.operand]
        case ast.Call(function="_&&_" | "_||_"):
            return chain_terms(node)
        case ast.Call():
            return [*([node.target] if node.target is not None else ()), *node.args]
        case ast.ListLit():
            return list(node.elements)
        case ast.MapLit() | ast.MessageLit():
            return [part for entry in node.entries for part in (entry.key, entry.value) if not isinstance(part, str)]
        case ast.Literal() | ast.Ident() | ast.Comprehension():
            return []


def walk(root: ast.Node, macros: Mapping[int, ast.MacroCall]) -> Iterator[tuple[ast.Node, int]]:
    """All nodes with their depth, each before its parts."""
    pending: list[tuple[ast.Node, int]] = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        pending += [(part, depth + 1) for part in reversed(written(node, macros))]
