"""Output that its reader shapes, from the documents of ``-o json``: ``-o jsonpath=…`` and ``-o custom-columns=…``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from kubectl_dra.output.jsonpath import JsonPath, JsonPathError, path_of, printed
from kubectl_dra.output.layout import Column, long_table
from kubectl_dra.output.safe import Safe, safe

JSONPATH: Final = "jsonpath"
CUSTOM_COLUMNS: Final = "custom-columns"
#: The names of the formats that take a text behind ``=``.
NAMES: Final = (JSONPATH, CUSTOM_COLUMNS)

Writer = Callable[[bytes], Safe]


def is_template(output: str) -> bool:
    return output.partition("=")[0] in NAMES


def writer_of(output: str) -> Writer:
    """What prints a document. Raises ``JsonPathError`` for a text that can't be read."""
    name, _, text = output.partition("=")
    if not text:
        raise JsonPathError("no text stands behind =")
    if name == JSONPATH:
        template = JsonPath(text)
        return lambda data: template.lines(json.loads(data))
    columns = _columns(text)
    return lambda data: _table(columns, json.loads(data))


def _columns(text: str) -> list[tuple[str, Any]]:
    found = []
    for part in _split(text):
        title, colon, path = part.partition(":")
        if not colon or not title or not path:
            raise JsonPathError(f'"{part}" is not TITLE:PATH')
        found.append((title, path_of(path)))
    return found


def _split(text: str) -> list[str]:
    """The columns between commas, but not between those in brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _table(columns: list[tuple[str, Any]], document: Any) -> Safe:  # noqa: ANN401 - JSON
    listed = isinstance(document, dict) and isinstance(document.get("items"), list)
    items = document["items"] if listed else [document]
    rows = ([_cell(path.find(item, item)) for _, path in columns] for item in items)
    return Safe("\n").join(long_table([Column(safe(title)) for title, _ in columns], rows))


def _cell(values: list[Any]) -> Safe:
    return Safe(",").join(map(printed, values)) if values else Safe("<none>")
