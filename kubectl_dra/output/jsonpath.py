"""``-o jsonpath=TEMPLATE``: kubectl's JSONPath over documents.

Upstream: k8s.io/client-go/util/jsonpath. Texts with ``{...}`` blocks: fields, indexes, slices, unions, wildcards,
recursive descent, filters, ``range``/``end`` and quoted texts. Missing fields print nothing, as in kubectl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kubectl_dra.output.safe import Safe, multiline, safe

_MAX_DEPTH: Final = 64
_NAME: Final = re.compile(r"(?:[^\\.\[\]{}()'\"\s,|=<>!@$*?:]|\\.)+")
_QUOTED: Final = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_INDEXES: Final = re.compile(r"\s*(-?[0-9]{1,9})?\s*(?:(:)\s*(-?[0-9]{1,9})?\s*(?:(:)\s*([0-9]{1,9})?)?)?\s*")
_COMPARISON: Final = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}

Step = Callable[[Any, Any], Iterator[Any]]


class JsonPathError(ValueError):
    """Raised for a template that can't be read; says where."""


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """One path: what it finds below a value; ``relative`` ones start at the current item, others at the document."""

    steps: tuple[Step, ...]
    relative: bool = True

    def find(self, current: Any, root: Any) -> list[Any]:  # noqa: ANN401 - JSON
        """The values, none where nothing is there."""
        found = [current if self.relative else root]
        for step in self.steps:
            found = [each for value in found for each in step(value, root)]
        return found


@dataclass(slots=True)
class _Range:
    path: Path
    body: list[_Text | Path | _Range] = field(default_factory=list)


class JsonPath:
    """A template that has been read; raises ``JsonPathError`` with the place for one that can't be."""

    def __init__(self, text: str) -> None:
        self._nodes = _Reader(text).template()

    def lines(self, document: Any) -> Safe:  # noqa: ANN401 - JSON
        """What it prints about a document. Values are escaped, texts of the template are not changed."""
        return Safe("").join(_printed(self._nodes, document, document))


def path_of(text: str) -> Path:
    """A path as columns and ``--sort-by`` write it: with or without braces and the first dot."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    if not inner.startswith((".", "[", "$", "@")):
        inner = f".{inner}"
    reader = _Reader(inner)
    path = reader.path()
    if reader.rest.strip():
        raise JsonPathError(f'"{reader.rest.strip()}" is left over')
    return path


def printed(value: Any) -> Safe:  # noqa: ANN401 - JSON
    """One value: texts as they are, others as JSON."""
    return safe(value) if isinstance(value, str) else safe(json.dumps(value, separators=(",", ":")))


def _printed(nodes: Sequence[_Text | Path | _Range], current: Any, root: Any) -> Iterator[Safe]:  # noqa: ANN401
    for node in nodes:
        if isinstance(node, _Text):
            yield multiline(node.text)
        elif isinstance(node, Path):
            yield Safe(" ").join(map(printed, node.find(current, root)))
        else:
            for value in node.path.find(current, root):
                yield from _printed(node.body, value, root)


# --- steps ------------------------------------------------------------------------------------------------------------


def _field(name: str) -> Step:
    def step(value: Any, _root: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _every(value: Any, _root: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _below(value: Any, root: Any, depth: int = 0) -> Iterator[Any]:  # noqa: ANN401
    """The value itself and everything below it."""
    yield value
    if depth < _MAX_DEPTH:
        for each in _every(value, root):
            if isinstance(each, dict | list):
                yield from _below(each, root, depth + 1)


def _sliced(part: slice | int) -> Step:
    def step(value: Any, _root: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(value, list):
            if isinstance(part, slice):
                yield from value[part]
            elif -len(value) <= part < len(value):
                yield value[part]

    return step


def _union(steps: Sequence[Step]) -> Step:
    def step(value: Any, root: Any) -> Iterator[Any]:  # noqa: ANN401
        for each in steps:
            yield from each(value, root)

    return step


def _filtered(left: Path | Any, operator: str, right: Path | Any) -> Step:  # noqa: ANN401
    def step(value: Any, root: Any) -> Iterator[Any]:  # noqa: ANN401
        yield from (each for each in _every(value, root) if _holds(left, operator, right, each, root))

    return step


def _holds(left: Path | Any, operator: str, right: Path | Any, item: Any, root: Any) -> bool:  # noqa: ANN401
    one, other = (each.find(item, root) if isinstance(each, Path) else [each] for each in (left, right))
    if not operator:
        return bool(one)
    if not one or not other:
        return False
    a, b = one[0], other[0]
    if operator in ("==", "!="):
        return (a == b and isinstance(a, bool) == isinstance(b, bool)) is (operator == "==")
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if not numbers and not (isinstance(a, str) and isinstance(b, str)):
        return False
    return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator])


# --- reading ----------------------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def rest(self) -> str:
        """What was not read yet."""
        return self._text[self._at :]

    def template(self) -> list[_Text | Path | _Range]:
        """All of it, with ranges nested."""
        top: list[_Text | Path | _Range] = []
        open_: list[_Range] = []
        while self._at < len(self._text):
            into = open_[-1].body if open_ else top
            start = self._text.find("{", self._at)
            if start != self._at:
                into.append(_Text(self._text[self._at : start if start >= 0 else None]))
                self._at = start if start >= 0 else len(self._text)
                continue
            self._at += 1
            self._block(into, open_)
        if open_:
            raise JsonPathError("a {range} has no {end}")
        return top

    def _block(self, into: list[_Text | Path | _Range], open_: list[_Range]) -> None:
        """What stands in one pair of braces."""
        self._spaces()
        if self._takes("end"):
            if not open_:
                raise JsonPathError("an {end} has no {range}")
            open_.pop()
        elif self._takes("range "):
            self._spaces()
            found = _Range(self.path())
            into.append(found)
            open_.append(found)
        else:
            while not self._peek("}"):
                quoted = _QUOTED.match(self._text, self._at)
                if quoted is not None:
                    self._at = quoted.end()
                    into.append(_Text(_unquoted(quoted)))
                else:
                    into.append(self.path())
                self._spaces()
        self._spaces()
        self._expect("}")

    def path(self) -> Path:
        relative, start = True, self._at
        if self._takes("$"):
            relative = False
        elif not self._takes("@") and not self._peek(".", "["):
            self._fail("a path starts with a dot")
        steps: list[Step] = []
        while True:
            if self._takes(".."):
                steps.append(_below)
                if not self._peek("["):
                    steps.append(self._named())
            elif self._takes("."):
                if not self._peek("[") and (_NAME.match(self._text, self._at) or self._peek("*")):
                    steps.append(self._named())
            elif self._takes("["):
                steps.append(self._bracket())
                self._spaces()
                self._expect("]")
            else:
                break
        if self._at == start:
            self._fail("a path starts with a dot")
        return Path(tuple(steps), relative)

    def _named(self) -> Step:
        if self._takes("*"):
            return _every
        match = _NAME.match(self._text, self._at)
        if match is None:
            self._fail("a name is missing")
        assert match is not None  # noqa: S101 - else it has failed
        self._at = match.end()
        return _field(re.sub(r"\\(.)", r"\1", match[0]))

    def _bracket(self) -> Step:
        """What stands between brackets."""
        self._spaces()
        if self._takes("?("):
            return self._filter()
        parts = [self._member()]
        while self._takes(","):
            parts.append(self._member())
        return parts[0] if len(parts) == 1 else _union(parts)

    def _member(self) -> Step:
        self._spaces()
        if self._takes("*"):
            return _every
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            self._spaces()
            return _field(_unquoted(quoted))
        match = _INDEXES.match(self._text, self._at)
        if match is None or not match[0].strip():
            self._fail("an index, a quoted name, * or ?(...) belongs between brackets")
        assert match is not None  # noqa: S101 - else it has failed
        self._at = match.end()
        first, colon, last, _, every = match.groups()
        if not colon:
            return _sliced(int(first))
        begin, end = (int(each) if each else None for each in (first, last))
        return _sliced(slice(begin, end, int(every or 1) or 1))

    def _filter(self) -> Step:
        self._spaces()
        left = self._operand()
        match = _COMPARISON.match(self._text, self._at)
        if match is None:
            self._spaces()
            self._expect(")")
            return _filtered(left, "", None)
        self._at = match.end()
        right = self._operand()
        self._spaces()
        self._expect(")")
        return _filtered(left, match[1], right)

    def _operand(self) -> Path | Any:  # noqa: ANN401 - JSON
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            return _unquoted(quoted)
        if self._peek("@", "$", ".", "["):
            return self.path()
        match = re.compile(r"[^\s)=<>!]+").match(self._text, self._at)
        try:
            value = json.loads(match[0] if match is not None else "")
        except ValueError:
            self._fail("a value to compare with is missing")
        assert match is not None  # noqa: S101 - else it has failed
        self._at = match.end()
        return value

    # --- small parts ----------------------------------------------------------------------------------------------

    def _spaces(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _peek(self, *texts: str) -> bool:
        return self._text.startswith(texts, self._at)

    def _takes(self, text: str) -> bool:
        if not self._peek(text):
            return False
        self._at += len(text)
        return True

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            self._fail(f'"{text}" is missing')

    def _fail(self, what: str) -> None:
        raise JsonPathError(f"{what} at position {self._at + 1}")


def _unquoted(match: re.Match[str]) -> str:
    text = match[1] if match[1] is not None else match[2]
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), text)
