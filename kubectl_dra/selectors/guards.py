"""Guards for attributes that only some devices have: ``.?name.orValue(default)``, else a presence test in front."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.cel.read.mentions import Mention, mentions
from kubectl_dra.cel.run.program import Program
from kubectl_dra.cel.syntax.clauses import Clause, clauses
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.selectors.catalog import Catalog
from kubectl_dra.selectors.clauses import is_loose
from kubectl_dra.selectors.edits import replaced
from kubectl_dra.selectors.values import type_of, type_text

_DEFAULTS: Final = {
    "int": "0",
    "bool": "false",
    "string": '""',
    "semver": 'semver("0.0.0")',
    "quantity": 'quantity("0")',
}


def guarded(program: Program, keys: Iterable[str], catalog: Catalog) -> Iterator[str]:
    """The expression with every unguarded mention of ``keys`` guarded, in the ways to try, best first."""
    wanted = frozenset(keys)
    found = [
        mention
        for mention in mentions(program.checked.parsed)
        if mention.name is not None
        and mention.name.text in wanted
        and not mention.guarded
        # What no device has is a wrong name, and a guard would only hide it.
        and catalog.counts[mention.field, mention.domain.text, mention.name.text]
    ]
    if not found:
        return
    expression = program.expression
    with_default = replaced(expression, [_default(expression, mention, catalog) for mention in found])
    if with_default is not None:
        yield with_default
    tested = replaced(expression, list(_tests(expression, clauses(program.checked), found)))
    if tested is not None:
        yield tested


def _default(expression: str, mention: Mention, catalog: Catalog) -> tuple[int, int, str]:
    assert mention.name is not None  # noqa: S101 - the caller chose those with a name
    key = (mention.field, mention.domain.text, mention.name.text)
    kind = "quantity" if mention.field == "capacity" else type_text(type_of(catalog.samples.get(key)))
    written = expression[mention.name.start : mention.name.end]
    access = f"[?{written}]" if mention.bracket else f".?{written}"
    return mention.at, mention.end, f"{access}.orValue({_DEFAULTS.get(kind, '[]')})"


def _tests(expression: str, conditions: Iterable[Clause], found: Iterable[Mention]) -> Iterator[tuple[int, int, str]]:
    for clause in conditions:
        inside = [mention for mention in found if clause.start <= mention.start < clause.end]
        tests = list(dict.fromkeys(_test(expression, mention) for mention in inside))
        if tests:
            loose = is_loose(clause.node)
            text = f"({clause.text})" if loose else clause.text
            whole = " && ".join([*tests, text])
            # Within parentheses of its own, so that what stands around the condition keeps its meaning.
            yield clause.start, clause.end, f"({whole})" if loose else whole


def _test(expression: str, mention: Mention) -> str:
    assert mention.name is not None  # noqa: S101 - the caller chose those with a name
    if not mention.bracket:
        return f"has({expression[mention.start : mention.end]})"
    return f"{string_source(mention.name.text)} in {expression[mention.start : mention.at]}"


def behind_driver(program: Program, driver: str) -> str:
    """The expression for devices of one driver only."""
    loose = is_loose(program.checked.parsed.root)
    condition = f"({program.expression})" if loose else program.expression
    return f"device.driver == {string_source(driver)} && {condition}"
