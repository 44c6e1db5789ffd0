"""What may come next in a selector that is being written: domains, names, values that devices have, functions.

Looks at the tokens before the cursor only, so that it works in the middle of what does not compile yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeVar

import msgspec

from kubectl_dra.cel.check.types import BOOL, DOUBLE, DYN, INT, QUANTITY, SEMVER, STRING, Type
from kubectl_dra.cel.declarations import FUNCTIONS
from kubectl_dra.cel.syntax.lexer import Token, tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.selectors.catalog import Catalog, Named
from kubectl_dra.selectors.values import ValueIndex, type_of, type_text

KeyT = TypeVar("KeyT", str, Named)
_FIELDS: Final = ("attributes", "capacity")
_COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">="})
_COMPARING: Final = frozenset({"isGreaterThan", "isLessThan", "compareTo"})
_MAKERS: Final = frozenset({"semver", "quantity"})
_OPERANDS: Final = frozenset({"IDENTIFIER", "STRING", "NUM_INT", "NUM_UINT", "NUM_FLOAT"})
#: A word for a value has so many letters; an attribute with more values than these has them of several devices each.
_SHORTEST_VALUE: Final = 2
_FEW_VALUES: Final = 8
_LOGIC: Final = ("&&", "||", "==", "!=")
_EQUALITY: Final = ("==", "!=", "in")
_ORDERING: Final = (">=", ">", "==", "!=", "<", "<=", "in")
_DEVICE: Final = (
    ("driver", "string"),
    ("attributes", "by domain"),
    ("capacity", "by domain"),
    ("allowMultipleAllocations", "bool"),
)


class Completion(msgspec.Struct, frozen=True):
    """``text`` would replace what stands from ``start`` to the cursor; ``devices`` have it (None: does not apply)."""

    text: str
    start: int
    kind: str
    type: str
    devices: int | None = None


class NamedValue(msgspec.Struct, frozen=True):
    """An attribute or capacity that ``devices`` have."""

    field: str
    domain: str
    name: str
    type: str
    devices: int


def named_values(catalog: Catalog) -> tuple[NamedValue, ...]:
    """Everything that a selector can name, by domain, the most frequent first."""
    keys = sorted(catalog.counts.items(), key=lambda item: (item[0][1], item[0][0], -item[1], item[0][2]))
    return tuple(NamedValue(*key, _type(key, catalog), number) for key, number in keys)


def completions(source: str, cursor: int, catalog: Catalog, values: ValueIndex) -> tuple[Completion, ...]:
    """What fits at ``cursor`` (code points), the most likely first."""
    before = source[:cursor]
    tokens, skipped = tokenize(before)
    known: Sequence[Token] = tokens[:-1]
    if skipped and skipped[-1].text[:1] in ("'", '"'):
        start = skipped[-1].pos
        found = _in_string(known, start, before[start + 1 :], catalog, values)
    else:
        start, word = cursor, ""
        if known and known[-1].kind == "IDENTIFIER" and known[-1].pos + len(known[-1].text) == cursor:
            start, word = known[-1].pos, known[-1].text
            known = known[:-1]
        found = _at_word(known, start, word, catalog, values)
    return tuple(each for each in found if each.text != before[start:])


def name_at(source: str, cursor: int, catalog: Catalog) -> Named | None:
    """The attribute or capacity that is named around ``cursor``, or just before it."""
    tokens, _ = tokenize(source)
    best = None
    for index, token in enumerate(tokens):
        if token.pos > cursor:
            break
        name = _path(tokens[: index + 1])
        best = name if name is not None and name in catalog.counts else best
    return best


# --- inside of quotes -----------------------------------------------------------------------------------------------


def _in_string(
    tokens: Sequence[Token], start: int, typed: str, catalog: Catalog, values: ValueIndex
) -> Iterator[Completion]:
    field = _field_before_bracket(tokens)
    if field is not None:
        yield from _domains(field, start, typed, catalog)
        return
    maker = tokens[-2].text if len(tokens) > 1 and tokens[-1].text == "(" and tokens[-2].text in _MAKERS else ""
    name = _compared(tokens[:-2] if maker else tokens)
    if name is None:
        return
    for literal, devices in _ranked(values.literals(name)):
        text = literal.removeprefix(f"{maker}(").removesuffix(")") if maker else literal
        if text.startswith(string_source(typed)[:-1]):
            yield Completion(text, start, "value", "", devices)


def _field_before_bracket(tokens: Sequence[Token]) -> str | None:
    if len(tokens) > 3 and tokens[-1].text == "[" and tokens[-2].text in _FIELDS and tokens[-3].text == ".":
        return tokens[-2].text
    return None


def _domains(field: str, start: int, typed: str, catalog: Catalog) -> Iterator[Completion]:
    counts: dict[str, int] = {}
    for (kind, domain, _), number in catalog.counts.items():
        if kind == field and domain.startswith(typed):
            counts[domain] = max(counts.get(domain, 0), number)
    for domain, number in _ranked(counts):
        yield Completion(string_source(domain) + "]", start, "domain", "", number)


# --- at a word ------------------------------------------------------------------------------------------------------


def _at_word(
    tokens: Sequence[Token], start: int, word: str, catalog: Catalog, values: ValueIndex
) -> Iterator[Completion]:
    base = _before_dot(tokens)
    if base is not None:
        yield from _members(base, start, word, catalog)
        return
    if _is_operand(tokens):
        yield from _operators(_type_before(tokens, catalog), start, word)
        return
    name = _compared(tokens)
    if name is not None:
        for literal, devices in _ranked(values.literals(name)):
            if literal.startswith(word):
                yield Completion(literal, start, "value", "", devices)
    field = _field_before_bracket(tokens)
    if field is not None:
        yield from _domains(field, start, "", catalog)
        return
    if word or not tokens or name is None:
        yield from _beginnings(start, word, catalog, values)


def _is_operand(tokens: Sequence[Token]) -> bool:
    """Whether a value is complete, so that only an operator can follow."""
    return bool(tokens) and (tokens[-1].kind in _OPERANDS or tokens[-1].text in (")", "]", "true", "false"))


def _operators(left: Type | None, start: int, word: str) -> Iterator[Completion]:
    chosen = _LOGIC if left == BOOL or left is None else _EQUALITY if left not in (INT, DOUBLE) else _ORDERING
    yield from (Completion(each, start, "operator", "bool") for each in chosen if each.startswith(word))


def _before_dot(tokens: Sequence[Token]) -> Sequence[Token] | None:
    if tokens and tokens[-1].text == ".":
        return tokens[:-1]
    if len(tokens) > 1 and tokens[-1].text == "?" and tokens[-2].text == ".":
        return tokens[:-2]
    return None


def _members(base: Sequence[Token], start: int, word: str, catalog: Catalog) -> Iterator[Completion]:
    if base and base[-1].text == "device":
        yield from (Completion(name, start, "field", type_, None) for name, type_ in _DEVICE if name.startswith(word))
        return
    domain = _domain(base)
    if domain is not None:
        names = {key: number for key, number in catalog.counts.items() if key[:2] == domain and key[2].startswith(word)}
        for key, number in _ranked(names):
            yield Completion(key[2], start, domain[0].rstrip("s"), _type(key, catalog), number)
        return
    yield from _functions(_type_before(base, catalog), start, word)


def _beginnings(start: int, word: str, catalog: Catalog, values: ValueIndex) -> Iterator[Completion]:
    """Whole paths to attributes of which only the name is typed; then what an expression may begin with, and values."""
    if "device".startswith(word):
        yield Completion("device", start, "field", "device")
    lower = word.lower()
    names = {key: number for key, number in catalog.counts.items() if word and lower in key[2].lower()}
    for key, number in _ranked(names):
        path = f"device.{key[0]}[{string_source(key[1])}].{key[2]}"
        yield Completion(path, start, key[0].rstrip("s"), _type(key, catalog), number)
    if not word:
        return
    for name, result in _globals():
        if name.startswith(word):
            yield Completion(f"{name}(", start, "function", result)
    yield from with_value(word, start, catalog, values)


def with_value(word: str, start: int, catalog: Catalog, values: ValueIndex) -> Iterator[Completion]:
    """Conditions that a text attribute has a value which begins or goes on with ``word``, whole values first.

    Attributes with a value of its own for nearly each device, as serial numbers, are not looked through.
    """
    lower, found = word.casefold(), []
    for key, sample in catalog.samples.items():
        if len(lower) < _SHORTEST_VALUE or key[0] != "attributes" or type_of(sample) != STRING:
            continue
        literals = values.literals(key)
        if len(literals) > max(_FEW_VALUES, sum(literals.values()) // 2):
            continue
        for literal, devices in literals.items():
            text = literal[1:-1].casefold()
            if lower in text:
                path = f"device.{key[0]}[{string_source(key[1])}].{key[2]}"
                completion = Completion(f"{path} == {literal}", start, "condition", "bool", devices)
                found.append((text != lower, not text.startswith(lower), -devices, completion.text, completion))
    yield from (completion for *_, completion in sorted(found, key=lambda each: each[:-1]))


def _functions(target: Type | None, start: int, word: str) -> Iterator[Completion]:
    for name, arguments, result in _methods(target):
        if name.startswith(word):
            yield Completion(f"{name}(" if arguments else f"{name}()", start, "function", result)


@lru_cache(maxsize=64)
def _methods(target: Type | None) -> tuple[tuple[str, bool, str], ...]:
    """The methods that a type has: name, whether it takes arguments, what it gives."""
    found: dict[str, tuple[bool, str]] = {}
    for name, overloads in FUNCTIONS.items():
        for overload in overloads:
            fits = target is None or overload.params[0] in (target, DYN) if overload.params else False
            if name.isidentifier() and overload.member and overload.requires != "never" and fits:
                found.setdefault(name, (len(overload.params) > 1, type_text(overload.result)))
    return tuple((name, *rest) for name, rest in sorted(found.items()))


@lru_cache(maxsize=1)
def _globals() -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, type_text(overloads[0].result))
        for name, overloads in sorted(FUNCTIONS.items())
        if name.isidentifier() and any(not each.member and each.requires != "never" for each in overloads)
    )


# --- what stands before ---------------------------------------------------------------------------------------------


def _compared(tokens: Sequence[Token]) -> Named | None:
    """The name that what comes next is compared with: after ``==``, in a list after ``in``, in ``isGreaterThan(``."""
    if not tokens:
        return None
    last = tokens[-1].text
    if last in _COMPARISONS:
        return _path(tokens[:-1])
    if last == "(" and len(tokens) > 2 and tokens[-2].text in _COMPARING and tokens[-3].text == ".":
        return _path(tokens[:-3])
    if last in ("[", ","):
        opening = max((i for i, token in enumerate(tokens) if token.text == "["), default=0)
        return _path(tokens[: opening - 1]) if opening and tokens[opening - 1].text == "in" else None
    return None


def _path(tokens: Sequence[Token]) -> Named | None:
    """The name that tokens end with: ``device.attributes["DOMAIN"].NAME``, also with ``.?`` and ``.orValue(…)``."""
    tokens = _without_default(tokens)
    if len(tokens) < 2 or tokens[-1].kind != "IDENTIFIER":
        return None
    base = _before_dot(tokens[:-1])
    domain = _domain(base) if base is not None else None
    return (*domain, tokens[-1].text) if domain is not None else None


def _without_default(tokens: Sequence[Token]) -> Sequence[Token]:
    texts = [token.text for token in tokens]
    if texts[-1:] == [")"] and "orValue" in texts:
        return tokens[: len(texts) - 1 - texts[::-1].index("orValue") - 1]
    return tokens


def _domain(tokens: Sequence[Token]) -> tuple[str, str] | None:
    """``device.attributes["DOMAIN"]`` at the end of tokens."""
    if [token.text for token in tokens[-6:-4]] != ["device", "."]:
        return None
    if (tokens[-3].text, tokens[-1].text) != ("[", "]"):
        return None
    field, literal = tokens[-4].text, tokens[-2]
    if field not in _FIELDS or literal.kind != "STRING":
        return None
    return field, literal.text[1:-1]


def _type_before(tokens: Sequence[Token], catalog: Catalog) -> Type | None:
    if not tokens:
        return None
    name = _path(tokens)
    if name is not None:
        return QUANTITY if name[0] == "capacity" else type_of(catalog.samples.get(name))
    literals = {"STRING": BOOL if _is_compared(tokens) else STRING, "NUM_INT": BOOL if _is_compared(tokens) else INT}
    if tokens[-1].kind in literals:
        return literals[tokens[-1].kind]
    makers = [token.text for token in tokens if token.text in _MAKERS]
    if tokens[-1].text == ")" and makers:
        return SEMVER if makers[-1] == "semver" else QUANTITY
    return BOOL if tokens[-1].text in ("true", "false") else None


def _is_compared(tokens: Sequence[Token]) -> bool:
    """Whether the last value is the right side of a comparison, which makes the whole a condition."""
    return len(tokens) > 1 and tokens[-2].text in _COMPARISONS


def _type(key: Named, catalog: Catalog) -> str:
    return "quantity" if key[0] == "capacity" else type_text(type_of(catalog.samples.get(key)))


def _ranked(counts: Mapping[KeyT, int]) -> list[tuple[KeyT, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
