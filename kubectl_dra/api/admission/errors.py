"""Field errors as the API server words them, and the collector that knows the path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.model.gotext import quote

T = TypeVar("T")
_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refusal: ``path: problem``, as in ``spec.devices.requests: Too many: 33: must have at most 32 items``."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class Field:
    """A place in an object at which errors are noted; places of one object share the list of errors.

    ``alpha``: the declarative rules of fields behind alpha gates count too.
    """

    __slots__ = ("_found", "alpha", "path")

    def __init__(self, path: str, found: list[FieldError], alpha: bool = False) -> None:
        self.path = path
        self._found = found
        self.alpha = alpha

    def at(self, *names: str) -> Field:
        """A field below this one."""
        return Field(".".join((self.path, *names)) if self.path else ".".join(names), self._found, self.alpha)

    def index(self, index: int) -> Field:
        return Field(f"{self.path}[{index}]", self._found, self.alpha)

    def key(self, key: str) -> Field:
        return Field(f"{self.path}[{key}]", self._found, self.alpha)

    def invalid(self, value: object, problem: str) -> None:
        """``value`` does not satisfy a rule."""
        self._add(f"Invalid value: {shown(value)}", problem)

    def invalid_for_each(self, value: object, problems: Iterable[str], prefix: str = "") -> None:
        """One error for each of ``problems``."""
        for problem in problems:
            self.invalid(value, prefix + problem)

    def required(self, detail: str = "") -> None:
        self._add("Required value", detail)

    def forbidden(self, detail: str = "") -> None:
        """The field, or its value, is not allowed here."""
        self._add("Forbidden", detail)

    def internal(self, detail: str) -> None:
        """The server itself failed on the value."""
        self._add("Internal error", detail)

    def duplicate(self, value: object) -> None:
        self._add(f"Duplicate value: {shown(value)}")

    def not_found(self, value: object) -> None:
        """What the field refers to does not exist."""
        self._add(f"Not found: {shown(value)}")

    def not_supported(self, value: object, supported: Iterable[str]) -> None:
        """The value is none of an enumeration's."""
        allowed = ", ".join(quote(text) for text in sorted(supported))
        self._add(f"Unsupported value: {shown(value)}", f"supported values: {allowed}")

    def too_long(self, limit: int, unit: str = "bytes") -> None:
        self._add("Too long", f"may not be more than {limit} {unit}")

    def too_many(self, count: int, limit: int) -> None:
        """A list or map has more than ``limit`` entries."""
        self._add(f"Too many: {count}", f"must have at most {limit} {'item' if limit == 1 else 'items'}")

    def items(self, items: Sequence[T], limit: int | None, check: Callable[[T, Field], None]) -> None:
        """Check a list's items, or only say that there are more than ``limit``."""
        if limit is not None and len(items) > limit:
            self.too_many(len(items), limit)
            return
        for index, item in enumerate(items):
            check(item, self.index(index))

    def unique(
        self, items: Sequence[T], limit: int | None, key: Callable[[T], object], value: Callable[[T], object]
    ) -> None:
        """Note every item whose key occurred before, printed as ``value``; nothing if there are too many items."""
        seen: set[object] = set()
        for index, item in enumerate(items if limit is None or len(items) <= limit else ()):
            if key(item) in seen:
                self.index(index).duplicate(value(item))
            seen.add(key(item))

    def _add(self, problem: str, detail: str = "") -> None:
        error = FieldError(self.path, f"{problem}: {detail}" if detail else problem)
        self._found.append(error)


def itself(item: T) -> T:
    """The item as its own key."""
    return item


def shown(value: object) -> str:
    """A value as the server prints it: texts quoted as in Go, structures as JSON."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return quote(value)
        case msgspec.Struct() | tuple() | list() | dict():
            return encode_part(value).decode().translate(_HTML)
        case None:
            return "null"
        case _:
            return json.dumps(str(value))
