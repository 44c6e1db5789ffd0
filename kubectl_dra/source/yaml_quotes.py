"""Quotes inside quotes, the usual mistake in selectors that are not valid YAML: parsers blame what follows them."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

#: The first words of the error of a text that a parser refuses.
NOT_YAML: Final = "not valid YAML"
#: A key, and behind it a text in quotes that is not all of its value. Both may stand in an object with braces.
_NESTED: Final = re.compile(
    r"""(?P<key>[A-Za-z][\w./-]*):[ \t]+(?:
        (?P<double>"(?:[^"\\]|\\.)*")
      | (?P<single>'(?:[^']|'')*'(?!'))
    )(?P<rest>[ \t]*[^\s,:}\]\#]|[}\]][^\s,:}\]])""",
    re.VERBOSE,
)
#: Whose text is no secret.
_SHOWN: Final = "expression"


class NestedQuotes(NamedTuple):
    """What is wrong with a line, what to write instead, and the line as it is meant, empty where that is not known."""

    problem: str
    hint: str
    meant: str


def nested_quotes(line: str) -> NestedQuotes | None:
    """What to say of a line whose value is not all in the quotes that it begins with; None for all others."""
    found = _NESTED.search(line)
    if found is None:
        return None
    key, quote, kind = found["key"], *(('"', "double") if found["double"] else ("'", "single"))
    start = found.start("double" if found["double"] else "single")
    braces = any(each in "{[" for each in line[:start])
    end, whole = line.rstrip("}], \t\r") if braces else line.rstrip(), found["rest"][:1] in " \t"
    problem = f"the value of {key} stands in {kind} quotes and has such quotes in it, which end it"
    if whole:
        problem = f"the value of {key} begins with a text in quotes and goes on behind it"
    # With braces it is not known which of them belong to the value.
    text = "" if whole and braces else end[start:] if whole else end[start + 1 : -1] if end.endswith(quote) else ""
    meant = f"{line[:start]}{json.dumps(text, ensure_ascii=False)}{line[len(end) :]}" if text else ""
    block = f"write {key}: |- and its text on the next line, indented by two spaces more and without quotes around it"
    return NestedQuotes(f"{NOT_YAML}: {problem}", f"{block}: {text}" if text and key == _SHOWN else block, meant)
