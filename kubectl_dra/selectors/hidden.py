"""CEL expressions with other names and literals, and the same answer on every device of the snapshot.

Tokens are replaced one by one: comparisons, memberships, presence and order survive that. A condition that takes
strings apart (``startsWith``, ``matches``, ``size``, ``+``) cannot: it is evaluated on every device now, and reads the
answer from an attribute that the devices get for it, or fails where the device has none.

An attribute by another name in an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import msgspec

from kubectl_dra import cel
from kubectl_dra.cel.declarations import FUNCTIONS, MESSAGES, TYPE_NAMES
from kubectl_dra.cel.read.mentions import mentions
from kubectl_dra.cel.syntax.clauses import clauses
from kubectl_dra.cel.syntax.lexer import Token, tokenize
from kubectl_dra.cel.syntax.literals import LiteralError, string_value
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.model.classic import NamedInstance
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.selectors.edits import parsed, replaced
from kubectl_dra.selectors.evaluate import Outcome, SelectorSet, admits_instance, derive, instance_problem

#: The domain of the attributes that hold answers.
ANSWERS: Final = "redacted"
#: What replaces text that is no CEL, and is none itself.
_BROKEN: Final = "#"
_COMMENT: Final = re.compile(r"//[^\n]*")
# Functions and macros whose result depends on which strings are equal, and on their order, alone.
_PLAIN: Final = frozenset(
    {
        *("has", "all", "exists", "exists_one", "existsOne", "map", "filter", "bind", "optMap", "optFlatMap", "sortBy"),
        *("transformList", "transformMap", "transformMapEntry", "dyn", "type", "orValue", "or", "hasValue", "of"),
        *("ofNonZeroValue", "none", "value", "compareTo", "isGreaterThan", "isLessThan", "includes", "in", "sign"),
        *("asInteger", "asApproximateFloat", "isInteger", "sub", "add", "bool", "equals"),
    }
)
# They take one text that is no name: it stays, or becomes another version.
_OF_LITERALS: Final = frozenset({"quantity", "isQuantity", "semver", "isSemver"})
_VERSIONS: Final = frozenset({"semver", "isSemver"})
_AROUND_INDEX: Final = frozenset({"IDENTIFIER", "ESC_IDENTIFIER", ")", "]"})
_NUMBERS: Final = frozenset({"NUM_INT", "NUM_UINT", "NUM_FLOAT"})

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Functions, macros, types and fields, which expressions need as they are; and words that the language reserves.
CEL: Final = frozenset(
    word
    for text in (
        *FUNCTIONS,
        *TYPE_NAMES,
        *MESSAGES,
        "device attributes capacity driver allowMultipleAllocations quantity bool int intslice string stringslice",
        "version has all exists exists_one existsOne map filter transformList transformMap transformMapEntry bind",
        "optMap optFlatMap sortBy cel optional in true false null google protobuf NullValue NULL_VALUE",
        "as break const continue else for function if import let loop package namespace return var void while",
    )
    for word in _WORD.findall(text)
)


class HiddenNames(Protocol):
    """What stands for the strings of a snapshot; until ``settled`` they are only collected."""

    settled: bool

    def name(self, text: str) -> str:
        """A name, or any other text that is compared as a whole."""

    def id(self, text: str) -> str:
        """The id of an attribute or capacity, or a variable."""

    def version(self, text: str) -> str:
        """A semantic version."""


class SelectorText(msgspec.Struct, frozen=True):
    """An expression, or one condition of one, with the rules that it is compiled under."""

    text: str
    environment: cel.Environment = cel.SCHEDULER
    derived: bool = False


class Expressions:
    """Rewrites expressions; ``answers`` are those of the conditions that devices answer beforehand.

    ``shows_sharing``: whether expressions see that a device may be shared (``Features.shows_sharing``).
    """

    def __init__(self, names: HiddenNames, shows_sharing: bool) -> None:
        self._names = names
        self._shows_sharing = shows_sharing
        self._sets: dict[str, SelectorSet] = {}
        self._numbers: dict[SelectorText, int] = {}
        self._seen: dict[SelectorText, None] = {}

    def selector(self, text: str) -> str:
        """A selector with everything replaced."""
        return self.rewritten(SelectorText(text))

    def derived(self, text: str) -> str:
        return self.rewritten(SelectorText(text, derived=True))

    def named_resources(self, text: str) -> str:
        """A selector of v1alpha2."""
        return self.rewritten(SelectorText(text, cel.NAMED_RESOURCES))

    def rewritten(self, asked: SelectorText) -> str:
        self._seen.setdefault(asked)
        tokens = tokenize(asked.text)[0][:-1]
        spans = self._answered(asked, tokens)
        return self._joined(asked, tokens, spans)

    def settle(self) -> None:
        """After the names are settled: what would compile no longer, or only now, is not left to tokens."""
        for asked in list(self._seen):
            other = SelectorText(self.rewritten(asked), asked.environment, asked.derived)
            if _program(asked) is not None and _program(other) is None:
                self._number(asked)

    @property
    def has_answers(self) -> bool:
        """Whether devices have to answer anything."""
        return bool(self._numbers)

    @property
    def has_values(self) -> bool:
        """Whether some of the answers are values and not only yes or no."""
        return any(asked.derived for asked in self._numbers)

    def answers(self, driver: str, device: Device) -> dict[str, DeviceAttribute]:
        """The answers of one device by name; none where the evaluation fails."""
        found = ((number, self._answer(asked, driver, device)) for asked, number in self._asked_of(cel.SCHEDULER))
        return {_id(number): answer for number, answer in found if answer is not None}

    def instance_answers(self, instance: NamedInstance) -> dict[str, DeviceAttribute]:
        """The answers of one instance of v1alpha2."""
        value = cel.InstanceValue(instance)
        asked = [(number, asked.text) for asked, number in self._asked_of(cel.NAMED_RESOURCES)]
        found = [(number, admits_instance(text, value)) for number, text in asked if not instance_problem(text)]
        return {_id(number): DeviceAttribute(bool_value=each) for number, each in found if isinstance(each, bool)}

    def _asked_of(self, environment: cel.Environment) -> Iterator[tuple[SelectorText, int]]:
        return ((asked, number) for asked, number in self._numbers.items() if asked.environment == environment)

    def _answer(self, asked: SelectorText, driver: str, device: Device) -> DeviceAttribute | None:
        if asked.derived:
            value = derive(asked.text, driver, device, self._shows_sharing)
            return value if isinstance(value, DeviceAttribute) else None
        if asked.text not in self._sets:
            self._sets[asked.text] = SelectorSet.of_text(asked.text, self._shows_sharing)
        outcome = self._sets[asked.text].of(driver, device).outcome
        decided = outcome in (Outcome.MATCHES, Outcome.NO)
        return DeviceAttribute(bool_value=outcome is Outcome.MATCHES) if decided else None

    # --- which conditions need an answer ----------------------------------------------------------------------------

    def _answered(self, asked: SelectorText, tokens: Sequence[Token]) -> list[tuple[int, int, int]]:
        """Start, end and number of the conditions that devices answer."""
        if asked in self._numbers:
            return [(0, len(asked.text), self._numbers[asked])]
        if not _is_hard(tokens):
            return []
        program = _program(asked)
        if program is None:
            return []
        if asked.derived:
            return [(0, len(asked.text), self._number(asked))]
        found = []
        for clause in clauses(program.checked):
            within = [token for token in tokens if clause.start <= token.pos < clause.end]
            if _is_hard(within):
                found.append((clause.start, clause.end, self._number(SelectorText(clause.text, asked.environment))))
        return found

    def _number(self, asked: SelectorText) -> int:
        return self._numbers.setdefault(asked, len(self._numbers) + 1)

    # --- the text ---------------------------------------------------------------------------------------------------

    def _joined(self, asked: SelectorText, tokens: Sequence[Token], spans: Sequence[tuple[int, int, int]]) -> str:
        parts: list[str] = []
        done = 0
        for index, token in enumerate(tokens):
            span = next((span for span in spans if span[0] <= token.pos < span[1]), None)
            if span is not None and done > span[0]:
                continue
            start = span[0] if span is not None else token.pos
            parts.append(_gap(asked.text[done:start]))
            parts.append(self._token(tokens, index) if span is None else _reading(span[2], asked.environment))
            done = token.pos + len(token.text) if span is None else span[1]
        text = "".join([*parts, _gap(asked.text[done:])])
        if (
            self._names.settled
            and _program(asked) is None
            and _program(SelectorText(text, asked.environment, asked.derived))
        ):
            return f"{text} {_BROKEN}"
        return text

    def _token(self, tokens: Sequence[Token], index: int) -> str:
        token = tokens[index]
        match token.kind:
            case "IDENTIFIER":
                return token.text if token.text in CEL else self._names.id(token.text)
            case "ESC_IDENTIFIER":
                return f"`{self._names.id(token.text[1:-1])}`"
            case "STRING":
                return self._string(tokens, index)
            case "BYTES":
                return f"b{self._literal(token.text[1:])}"
        return token.text

    def _string(self, tokens: Sequence[Token], index: int) -> str:
        try:
            value = string_value(tokens[index].text)
        except LiteralError:
            return '"\\uD800"'  # as little of a text as it was
        if index >= 2 and tokens[index - 1].kind == "(" and tokens[index - 2].text in _OF_LITERALS:
            return string_source(self._constant(tokens[index - 2].text, value))
        if _is_key(tokens, index):
            return string_source(self._names.id(value))
        return string_source(self._names.name(value))

    def _constant(self, function: str, value: str) -> str:
        if function in _VERSIONS:
            return self._names.version(value)
        return value if _is_quantity(value) else self._names.name(value)

    def _literal(self, text: str) -> str:
        try:
            return string_source(self._names.name(string_value(text)))
        except LiteralError:
            return '"\\uD800"'


def _reading(number: int, environment: cel.Environment) -> str:
    if environment.kind == "namedResources":
        return f'attributes.bool["{_id(number)}"]'
    return f'device.attributes["{ANSWERS}"].{_id(number)}'


def _id(number: int) -> str:
    return f"p{number:03}"


def _gap(text: str) -> str:
    """What stands between tokens: space, comments, and what is no token."""
    space = _COMMENT.sub("", text)
    return space if not space.strip() else _BROKEN


def _is_hard(tokens: Sequence[Token]) -> bool:
    """Whether something here looks into strings, or makes new ones."""
    return any(_looks_inside(tokens, index) for index in range(len(tokens)))


def _looks_inside(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    following = tokens[index + 1 : index + 4]
    if token.kind == "+":
        return not {tokens[index - 1].kind, *(each.kind for each in following[:1])} <= _NUMBERS
    if token.kind != "IDENTIFIER" or not following or following[0].kind != "(":
        return False
    if token.text in _OF_LITERALS:
        return [each.kind for each in following] != ["(", "STRING", ")"]
    return token.text not in _PLAIN


def _is_key(tokens: Sequence[Token], index: int) -> bool:
    """Whether a text asks for an attribute: ``x["model"]``, ``x[?"model"]``, ``"model" in device.attributes[…]``."""
    kinds = [token.kind for token in tokens]
    before = index - 1 - (kinds[index - 1 : index] == ["?"])
    if kinds[index + 1 : index + 2] == ["]"] and before >= 1 and kinds[before] == "[":
        return kinds[before - 1] in _AROUND_INDEX
    texts = [token.text for token in tokens[index + 1 : index + 8]]
    inside = texts[:3] == ["in", "device", "."] and texts[3:5] in (["attributes", "["], ["capacity", "["])
    return inside and texts[6:7] == ["]"] and kinds[index + 8 : index + 9] not in (["."], ["["])


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _program(asked: SelectorText) -> cel.Program | None:
    try:
        return cel.compile_expression(asked.text, asked.environment, derived=asked.derived)
    except cel.CompileError:
        return None


def with_attribute(expression: str, domain: str, name: str, after: str) -> str:
    """The expression with ``after`` where ``DOMAIN/NAME`` stands, and where its name is asked for as a text.

    As it is where it cannot be parsed.
    """
    tree = parsed(expression)
    named = [(each.domain.text, each.name) for each in mentions(tree) if each.name is not None] if tree else []
    others = {found.start for of, found in named if of != domain}
    edits = []
    for token in tokenize(expression)[0] if tree else ():
        text = token.text[1:-1] if token.kind == "STRING" else token.text
        if text == name and token.pos not in others:
            new = string_source(after) if token.kind == "STRING" else after
            edits.append((token.pos, token.pos + len(token.text), new))
    return replaced(expression, edits) or expression
