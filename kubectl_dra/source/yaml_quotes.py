"""Quotes inside of quotes, the mistake of most selectors that are no YAML: parsers blame what follows them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: How what a parser says of a text that is no YAML begins.
NOT_YAML: Final = "not valid YAML"
#: A value in quotes that goes on behind the quote that ends it. A key and its value may stand in an object with braces.
_NESTED: Final = re.compile(
    r"""(?P<key>[A-Za-z][\w./-]*):[ \t]+(?:
        (?P<double>"(?:[^"\\]|\\.)*"(?:[ \t]*[^\s,:}\]\#]|[}\]][^\s,:}\]]))
      | (?P<single>'(?:[^']|'')*'(?!')(?:[ \t]*[^\s,:}\]\#]|[}\]][^\s,:}\]]))
    )""",
    re.VERBOSE,
)
#: Whose text is no secret.
_SHOWN: Final = "expression"


class NestedQuotes(NamedTuple):
    """What is wrong with a line, and what to write instead."""

    problem: str
    hint: str


def nested_quotes(line: str) -> NestedQuotes | None:
    """What to say of a line whose value has the quotes in it that it stands in; None for all others."""
    found = _NESTED.search(line)
    if found is None:
        return None
    key, quote, kind = found["key"], *(('"', "double") if found["double"] else ("'", "single"))
    problem = f"{NOT_YAML}: the value of {key} stands in {kind} quotes and has such quotes in it, which end it"
    text = line[found.end("key") + 1 : line.rindex(quote)].strip()[1:]
    block = f"write {key}: |- and its text on the next line, indented by two spaces more and without quotes around it"
    return NestedQuotes(problem, f"{block}: {text}" if key == _SHOWN else block)
