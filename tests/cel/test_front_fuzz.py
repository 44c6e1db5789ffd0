"""No text makes the front end do anything but accept or raise CompileError, however hostile, and in bounded time."""

import json
import sys
import threading

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_dra.cel.check.environment import SCHEDULER, Environment
from kubectl_dra.cel.check.errors import CompileError
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.cost.estimate import estimate_cost
from kubectl_dra.cel.read.reads import reads
from kubectl_dra.cel.syntax.clauses import clauses
from kubectl_dra.cel.syntax.parser import parse
from kubectl_dra.cel.syntax.printer import to_source
from kubectl_dra.cel.syntax.walk import allow_deep_trees
from tests.cel.trees import EXPRESSIONS
from tests.kit import work
from tests.vectors.rows import rows

pytestmark = pytest.mark.one_in(6)

ADMISSION = Environment("admission")
RECORDED = [row["expression"] for row in rows("cel")]


def compile_fully(source: str, environment: Environment = SCHEDULER) -> str:
    """The error text, or nothing; goes through everything that looks at a tree."""
    try:
        checked = check(source, environment)
    except CompileError as error:
        assert str(error) == error.text
        assert error.text.startswith(("compilation failed: ", "must evaluate to "))
        return error.text
    assert 0 <= estimate_cost(checked) < 2**64
    reads(checked)
    assert clauses(checked)
    to_source(checked.parsed)
    return ""


@settings(deadline=None)
@given(st.text(max_size=80), st.sampled_from([SCHEDULER, ADMISSION]))
def test_any_text(source, environment):
    compile_fully(source, environment)


@settings(deadline=None)
@given(EXPRESSIONS, st.sampled_from([SCHEDULER, ADMISSION]))
def test_expressions(source, environment):
    compile_fully(source, environment)


@settings(deadline=None)
@given(st.lists(st.sampled_from(" ".join(RECORDED[::40]).split()), max_size=12).map(" ".join))
def test_shuffled_words(source):
    compile_fully(source)


@settings(deadline=None)
@given(st.sampled_from(RECORDED), st.integers(0, 200), st.integers(0, 10), st.text(max_size=3))
def test_damaged_expressions(source, at, length, inserted):
    compile_fully(source[:at] + inserted + source[at + length :])


DEPTH = "expression recursion limit exceeded: 250"
HEIGHT = "max recursion depth exceeded"
SIZE = 10_240
HOSTILE = {
    "!": "Syntax error: mismatched input '<EOF>'",
    "-": "Syntax error: no viable alternative",
    "(": DEPTH,
    "[": DEPTH,
    "{": DEPTH,
    "a.b(": DEPTH,
    "f(": DEPTH,
    "a[": DEPTH,
    "!(": DEPTH,
    "-(": DEPTH,
    "[{1:": DEPTH,
    "a?b:": DEPTH,
    "[].all(x,": DEPTH,
    "1+(": DEPTH,
    "1<(": DEPTH,
    "1+": HEIGHT,
    "a.b.": HEIGHT,
    "a==": HEIGHT,
    "a?a:": DEPTH,
    '"': "Syntax error",
    "'a": "Syntax error",
    "'''": "Syntax error",
    "`": "Syntax error: token recognition error",
    "\\": "Syntax error: token recognition error",
    "&": "Syntax error",
    "0": "",
    "9": "invalid int literal",
    "{}": "Syntax error",
    "\n": "Syntax error",
    "é": "Syntax error: token recognition error",
    "//": "Syntax error",
}


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_repetitions_take_what_their_length_takes(unit):
    assert HOSTILE[unit] in compile_fully(unit * (SIZE // len(unit)))
    work.grows_with_its_size(lambda size: compile_fully(unit * (size // len(unit))), SIZE // 2)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("(" * 249 + "true" + ")" * 249, ""),
        ("(" * 250 + "true" + ")" * 250, DEPTH),
        ("0" + "+1" * 250 + " == 250", HEIGHT),
        ("0" + "+1" * 249 + " == 249", ""),
        ("[" * 249 + "]" * 249 + " == []", ""),
        ("true" + ".a" * 250, "does not support field selection"),
        ("true" + ".a" * 251, HEIGHT),
        ("1+(" * 124 + "1" + ")" * 124 + " == 125", ""),
        ("1+(" * 125 + "1" + ")" * 125 + " == 126", DEPTH),
        ("1+1*(" * 90 + "1" + ")" * 90 + " == 91", DEPTH),
        (" && ".join(["true"] * 5000), ""),
        (" || ".join(["false"] * 5000), ""),
        ("!" * 10_001 + "true", ""),
        ("!" * 10_000 + "true", ""),
        ("--" * 5000 + "1 == 1", ""),
        ("true" + " ? true : true" * 249, ""),
        ("true" + " ? true : true" * 250, DEPTH),
        ("true " * 30_000, "expression code point size exceeds limit: size: 150000, limit 100000"),
        ("[" + "1," * 40_000 + "] == []", ""),
        ('"' + "a" * 90_000 + '" == ""', ""),
    ],
    ids=lambda value: value[:20],
)
def test_limits(source, text):
    found = compile_fully(source)
    assert text in found
    assert bool(text) == bool(found)


def test_limits_have_no_position():
    with pytest.raises(CompileError) as raised:
        check("(" * 300, SCHEDULER)
    assert raised.value.text == f"compilation failed: ERROR: <input>:-1:0: {DEPTH}"
    assert [(issue.pos, issue.line, issue.column, issue.kind) for issue in raised.value.issues] == [
        (-1, -1, 0, "limit")
    ]


def nested(macro: str, depth: int) -> str:
    return macro * depth + "true" + ")" * depth


@pytest.mark.parametrize(
    "source",
    [
        nested("[1].all(x, [!", 120).replace(")", "].size() == 1)"),
        nested("cel.bind(x, [1], [x].exists(y, ", 120) + ")" * 120,
        "[1]" + ".map(x, x)" * 249 + " == [1]",
        "[1]" + ".sortBy(x, x)" * 249 + " == [1]",
        "optional.of(1)" + ".optMap(x, x)" * 249 + ".hasValue()",
        "optional.of(1)" + ".optFlatMap(x, optional.of(x))" * 9 + ".hasValue()",
        "{}" + ".a" * 249 + " == {}",
        pytest.param(
            "cel.bind(a0, 1, "
            + "".join(f"cel.bind(a{n + 1}, {{a{n}: a{n}}}, " for n in range(100))
            + "true"
            + ")" * 101,
            # It meets the bound only after seconds.
            marks=pytest.mark.rows,
        ),
        "cel.bind(a0, [], " + "".join(f"cel.bind(a{n + 1}, a{n} + [[a{n}]], " for n in range(60)) + "true" + ")" * 61,
        "cel.bind(a, [], " + " && ".join(["a == []"] * 3000) + ")",
        "[" + ", ".join(["[]"] * 5000) + "] == []",
        "cel.bind(a, {}, " + " && ".join(f"a == {{[{{}}]: {n}}}" for n in range(500)) + ")",
    ],
    ids=range(12),
)
def test_macros_and_types_that_multiply_are_given_up(source):
    """What multiplies meets a bound, whatever its size: that of the types lets seven million calls happen."""
    for environment in (SCHEDULER, ADMISSION):
        assert work.calls(lambda environment=environment: compile_fully(source, environment)) < 10_000_000


def test_deep_trees_in_a_thread_with_a_small_stack():
    """Nothing recurses on the C stack."""
    source = nested("[1].all(x, !(", 120).replace(")", "))")
    results = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(compile_fully(source)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [""]


def test_deep_json_is_no_crash_after_deep_trees() -> None:
    """Python's limit bounds decoders in C too, which would otherwise run off the end of their thread's stack."""
    allow_deep_trees()
    deep = b'{"a":' * 100_000

    def decode() -> None:
        for read in (msgspec.json.decode, json.loads):
            with pytest.raises(RecursionError):
                read(deep)

    thread = threading.Thread(target=decode)
    thread.start()
    thread.join()
    decode()


def test_shallow_expressions_leave_the_recursion_limit_alone():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        for source in RECORDED[:200]:
            compile_fully(source)
        assert sys.getrecursionlimit() == 1000
    finally:
        sys.setrecursionlimit(before)


def test_lone_surrogates_are_replaced():
    assert parse('"\ud800"').root.value == "\ufffd"
