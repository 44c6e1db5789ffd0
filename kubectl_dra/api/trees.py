"""Objects as plain JSON trees, for what has to see fields that no record holds; paths into them, and broken JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
# No object of ours nests deeper; opaque parameters may, and stay unread where they are only passed on.
_MAX_DEPTH: Final = 200
_ESCAPE: Final = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
_HALF: Final = re.compile("[\ud800-\udfff]")
#: What the standard library says, in words for whoever wrote the file.
_WORDS: Final = (
    ("',' delimiter", "a comma or a closing bracket is missing"),
    ("':' delimiter", "a colon is missing"),
    ("property name", "a name in double quotes is missing"),
    ("Expecting value", "a value is missing"),
    ("Unterminated string", "a text in double quotes is not closed"),
    ("Invalid control character", "a text has a line break or another control character in it"),
    ("escape", "a text has a backslash that begins no escape"),
    ("Illegal trailing comma", "a comma stands before a closing bracket"),
    ("Extra data", "something follows where the document ends"),
)
_any: Final = msgspec.json.Decoder(object)
_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])

Tree = Mapping[str, Any]
DefaultT = TypeVar("DefaultT", bound=int | None)
Fields = dict[str, msgspec.Raw]


def below(path: str, key: str) -> str:
    """The path of a field or of a map's value: ``spec.devices[0].capacity["memory.x"]``."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{json.dumps(key)}]"
    return f"{path}.{key}" if path else key


def mapping(value: object) -> dict[str, Any]:
    """The value if it is a mapping; else an empty one."""
    return value if isinstance(value, dict) else {}


def at(tree: object, path: str) -> dict[str, Any]:
    """The mapping at a path of fields (``spec.template``); an empty one where there is none."""
    for field in path.split("."):
        tree = mapping(tree).get(field)
    return mapping(tree)


def list_at(tree: Tree, name: str) -> list[Any]:
    """The list in a field; an empty one where there is none."""
    value = tree.get(name)
    return value if isinstance(value, list) else []


def move_up(tree: dict[str, Any], name: str) -> None:
    """Put the fields of the mapping in a field in its place; those that are there already stay."""
    inner = tree.pop(name)
    tree.update({field: value for field, value in inner.items() if field not in tree})


def text_at(tree: Tree, name: str) -> str:
    """The text in a field; an empty one where there is none."""
    value = tree.get(name)
    return value if isinstance(value, str) else ""


def number_of(value: object, default: DefaultT) -> int | DefaultT:
    """A whole number from 0, as fields count pods; anything else is the default."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def group_of(api_version: object) -> str:
    """The group of an ``apiVersion``; empty for the core group."""
    return str(api_version).rpartition("/")[0]


def read_tree(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The value of JSON in valid UTF-8; None if it can't be read or nests without end."""
    try:
        tree = _any.decode(data)
    except (ValueError, RecursionError):
        return None
    return tree if _is_shallow(tree) else None


def read_fields(data: bytes | msgspec.Raw) -> Fields:
    """The fields of an object, each as it was written; none if it is not an object."""
    try:
        return _fields.decode(data)
    except (ValueError, RecursionError):
        return {}


def in_utf8(data: bytes) -> bytes:
    """The same JSON in valid UTF-8, so that all of it can be read; what is no JSON stays as it is.

    Like Go's decoder, what is no text becomes U+FFFD: bytes that are not UTF-8, and escapes of half a character. All
    else stays as it was written; :func:`broken_texts` names the places.
    """
    if _is_readable(data):
        return data
    text = _ESCAPE.sub(_whole, data.decode("utf-8", "replace")).encode()
    return text if _is_readable(text) else data


def broken_texts(data: bytes) -> list[str]:
    """The paths of texts (or of keys) in which :func:`in_utf8` replaces something, in the order of the document."""
    if _is_readable(data):
        return []
    try:
        tree = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return []
    return list(dict.fromkeys(_broken(tree, ""))) if _is_shallow(tree) else [""]


def _broken(value: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    match value:
        case str() if _HALF.search(value):
            yield path
        case list():
            for index, item in enumerate(value):
                yield from _broken(item, f"{path}[{index}]")
        case dict():
            for key, item in value.items():
                here = below(path, _HALF.sub("\ufffd", key))
                if _HALF.search(key):
                    yield here
                yield from _broken(item, here)


def _whole(escape: re.Match[str]) -> str:
    """A backslash stands only in strings, so all escapes are met in turn; only a lone surrogate has a group."""
    return "\\ufffd" if escape[1] else escape[0]


def _is_readable(data: bytes) -> bool:
    try:
        _any.decode(data)
    except (ValueError, RecursionError):
        return False
    return True


def _is_shallow(tree: Any) -> bool:  # noqa: ANN401 - any JSON value
    level = [tree]
    for _ in range(_MAX_DEPTH):
        nested = [value for value in level if isinstance(value, dict | list)]
        level = [item for value in nested for item in (value.values() if isinstance(value, dict) else value)]
        if not level:
            return True
    return False


def json_words(message: str) -> str:
    """The message of a ``json.JSONDecodeError`` in plain words."""
    return next((words for part, words in _WORDS if part in message), "it is not valid")
