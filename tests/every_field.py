"""An object of any shape with every field set: made by walking the struct's types, so a new field is in it at once.

Every string (keys of maps included) is another one that starts with :data:`MARK`; every whole number is another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec
from msgspec import inspect

MARK = "zq"
Tree = dict[str, Any]


class EveryField:
    """Fills shapes. ``list_of`` members stand in every list, ``depth`` bounds shapes that contain themselves."""

    def __init__(self, list_of: int = 2, depth: int = 12) -> None:
        self._number = count(1)
        self._list_of = list_of
        self._depth = depth

    def object(self, struct: type[msgspec.Struct]) -> Tree:
        """The object as JSON, without ``apiVersion`` and ``kind`` unless they are fields of the struct."""
        made: Tree = self._value(inspect.type_info(struct), 0)
        return made

    def mark(self) -> str:
        """A string that stands nowhere else, and that no other one contains."""
        return f"{MARK}{next(self._number):05d}q"

    def _value(self, wanted: inspect.Type, depth: int) -> Any:
        match wanted:
            case inspect.StructType():
                return {field.encode_name: self._value(field.type, depth + 1) for field in wanted.fields}
            case inspect.UnionType():
                choices = [choice for choice in wanted.types if not isinstance(choice, inspect.NoneType)]
                # Of a number or a text the text: it is what can be marked.
                return self._value(next((c for c in choices if isinstance(c, inspect.StrType)), choices[0]), depth)
            case inspect.VarTupleType():
                return [self._value(wanted.item_type, depth + 1) for _ in range(self._list_of)]
            case inspect.DictType():
                return {self.mark(): self._value(wanted.value_type, depth + 1) for _ in range(self._list_of)}
            case inspect.RawType():
                return {self.mark(): [self.mark(), {self.mark(): self.mark()}]}
            case inspect.StrType():
                return self.mark()
            case inspect.BoolType():
                return True
            case inspect.IntType():
                return 100_000 + next(self._number)
            case inspect.CustomType():
                return f"{100_000 + next(self._number)}Mi"
        raise TypeError(f"no value for {wanted}")


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar and every key of a map that is marked, with its path."""
    match value:
        case dict():
            for key, member in value.items():
                below = f"{path}.{key}" if path else key
                if key.startswith(MARK):
                    yield below, key
                yield from leaves(member, below)
        case list():
            for index, member in enumerate(value):
                yield from leaves(member, f"{path}[{index}]")
        case _:
            yield path, value
