"""The conditions of a selector, each as a program of its own, and the selector without one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from kubectl_dra.cel.check.environment import SCHEDULER
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.run.program import Program, compile_expression
from kubectl_dra.cel.syntax.ast import Call, Node
from kubectl_dra.cel.syntax.clauses import Clause, clauses

# What binds weaker than ``&&``.
_LOOSE: Final = frozenset({"_||_", "_?_:_"})


@lru_cache(maxsize=1024)
def program_clauses(program: Program) -> tuple[tuple[Clause, Program], ...]:
    """The conditions that all must hold; the whole where one means something else on its own."""
    found = clauses(program.checked)
    if len(found) == 1:
        return ((found[0], program),)
    try:
        return tuple((clause, compile_expression(clause.text, SCHEDULER)) for clause in found)
    except CompileError:
        whole = Clause(program.checked.parsed.root, 0, len(program.expression), program.expression)
        return ((whole, program),)


def is_loose(node: Node) -> bool:
    """Whether an operand of ``&&`` needs parentheses."""
    return isinstance(node, Call) and node.function in _LOOSE


def without(conditions: Sequence[Clause], dropped: int) -> str:
    """A selector without one of its conditions; empty where it was the only one."""
    return all_of([clause for index, clause in enumerate(conditions) if index != dropped])


def all_of(kept: Sequence[Clause]) -> str:
    """A selector of these conditions; empty for none."""
    if len(kept) == 1:
        return kept[0].text
    return " && ".join(f"({clause.text})" if is_loose(clause.node) else clause.text for clause in kept)
