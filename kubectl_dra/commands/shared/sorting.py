"""``--sort-by``: a path into the JSON of each item, as kubectl reads simple ones: ``.metadata.name``, ``{.spec.x}``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from typing import Any, Final, Protocol, TypeVar

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.model.quantity import Quantity, QuantityError

_STEP: Final = re.compile(r"\.((?:[A-Za-z0-9_/-]|\\\.)+)|\[['\"]([^'\"]+)['\"]\]|\[([0-9]{1,6})\]")


class HasDocument(Protocol):
    """What can be sorted: anything with a document."""

    @property
    def document(self) -> Callable[[], bytes]: ...


ItemT = TypeVar("ItemT", bound=HasDocument)


def sort(items: Sequence[ItemT], path: str, columns: Iterable[str]) -> list[ItemT]:
    """The items by the value at ``path``, those without it first; numbers and quantities by amount.

    Raises a usage error for a path that is none, or that no item has; it names the ``columns`` that exist.
    """
    steps = parse_path(path)
    values = [value_at(json.loads(item.document()), steps) for item in items]
    if items and all(value is None for value in values):
        # A title with a space in it is one word on the command line.
        names = ", ".join(f"'{name}'" if " " in name else name for name in columns)
        problem = f'"{path}" is not a column, and no item has such a field'
        raise UsageProblem(problem, f"--sort-by {names}, or a field that -o json shows")
    by_value = cmp_to_key(_compare)
    pairs = sorted(zip(map(by_value, values), range(len(items)), strict=True))
    return [items[index] for _, index in pairs]


def parse_path(path: str) -> list[str | int]:
    """The steps of a path. Raises a usage error."""
    text = path.strip().removeprefix("{").removesuffix("}")
    text = text if text.startswith((".", "[")) else f".{text}"
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise UsageProblem(f'"{path}" is not a valid path to a field', "--sort-by .metadata.creationTimestamp")
        steps.append(int(match[3]) if match[3] is not None else (match[1] or match[2]).replace("\\.", "."))
        position = match.end()
    return steps


def value_at(document: Any, steps: Sequence[str | int]) -> Any:  # noqa: ANN401 - JSON
    """The value at the end of the path, None if there is none."""
    for step in steps:
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            document = document.get(step) if isinstance(document, dict) else None
    return document


def _compare(a: Any, b: Any) -> int:  # noqa: ANN401 - JSON
    if a is None or b is None:
        return (a is not None) - (b is not None)
    x, y = _amount(a), _amount(b)
    if x is not None and y is not None:
        return x.cmp(y)
    left, right = _text(a), _text(b)
    return (left > right) - (left < right)


def _amount(value: Any) -> Quantity | None:  # noqa: ANN401 - JSON
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Quantity.parse(str(value))
    except QuantityError:
        return None


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
