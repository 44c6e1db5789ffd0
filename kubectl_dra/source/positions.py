"""Where a field of an object stands in its file: line and column, from the text as it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import yaml

from kubectl_dra.source.manifests import Origin

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STEP: Final = re.compile(r'\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\[([^\]]+)\]|([^.\[\]]+)')
_BEGINS: Final = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
#: Longer documents are not gone through again: the line where the object begins is enough.
_MOST: Final = 4 << 20


class Positions:
    """Places in the texts of some files, by name."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._document = lru_cache(maxsize=64)(self._composed)

    def of(self, origin: Origin, path: str) -> tuple[int, int]:
        """Line and column of the field, or of the nearest one around it that is there; both count from 1."""
        found = self._document(origin.file, origin.line)
        if found is None:
            return origin.line, 1
        root, earlier = found
        node = _object_at(root, origin.line - earlier)
        if node is None:
            return origin.line, 1
        mark = _below(node, path)
        return mark.line + 1 + earlier, mark.column + 1

    def _composed(self, file: str, line: int) -> tuple[Any, int] | None:
        """The tree of the document around a line, and how many lines stand before the document."""
        text = self._texts.get(file)
        if text is None or line < 1:
            return None
        start = _offset(text, line)
        begins = [match.start() for match in _BEGINS.finditer(text)]
        first = max((at for at in begins if at <= start), default=0)
        end = min((at for at in begins if at > start), default=len(text))
        if end - first > _MOST:
            return None
        try:
            root = yaml.compose(text[first:end], Loader=_LOADER)
        except (yaml.YAMLError, RecursionError, ValueError):
            return None
        return None if root is None else (root, text.count("\n", 0, first))


def _offset(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


def _object_at(root: Any, line: int) -> Any | None:  # noqa: ANN401 - nodes of PyYAML
    """The outermost mapping that begins in a line and is an object."""
    for node in _mappings(root):
        keys = {key.value for key, _ in node.value}
        if node.start_mark.line + 1 == line and "items" not in keys:
            return node
    return None


def _mappings(root: Any) -> Iterator[Any]:  # noqa: ANN401
    """Mappings, the outer ones first; only lists of objects are gone into."""
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, yaml.MappingNode):
            yield node
            waiting += [value for key, value in node.value if key.value == "items"]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _below(node: Any, path: str) -> Any:  # noqa: ANN401
    mark = node.start_mark
    for match in _STEP.finditer(path):
        index, quoted, plain, name = match.groups()
        key = next(each for each in (quoted, plain, name, "") if each is not None)
        if isinstance(node, yaml.SequenceNode) and index is not None and int(index) < len(node.value):
            node = node.value[int(index)]
            mark = node.start_mark
        elif isinstance(node, yaml.MappingNode):
            inner = next(((k, v) for k, v in node.value if k.value == (key or index)), None)
            if inner is None:
                return mark
            mark, node = inner[0].start_mark, inner[1]
        else:
            return mark
    return mark
