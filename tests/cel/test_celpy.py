"""Random expressions of plain CEL, evaluated by an independent implementation, too.

cel-python knows nothing of Kubernetes' libraries and has rules of its own for errors, so only what both define alike is
generated: integers, texts, lists and logic without failing operands.
"""

from functools import cache

import celpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.model.resource import Device
from tests.kit import sample
from tests.kit.evaluated import evaluated

DEVICE = device_value("d.example.com", Device())


@cache
def environment():
    """Made where it is used, because its grammar costs a second."""
    return celpy.Environment()


@pytest.fixture(autouse=True, scope="module")
def made():
    """It sets the limit of recursion, which Hypothesis wants to stay while a test runs."""
    environment()


NUMBERS = st.integers(-20, 20).map(lambda number: str(number) if number >= 0 else f"({number})")
TEXTS = st.text("abé☃ ", max_size=4).map(lambda text: f'"{text}"')


def lists_of(elements):
    return st.lists(elements, min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]")


def numbers(inner):
    return st.one_of(
        NUMBERS,
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(inner, st.sampled_from("/%"), st.integers(1, 9)).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        TEXTS.map("size({})".format),
        lists_of(inner).map("size({})".format),
        lists_of(inner).map("{}[0]".format),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} < {pair[1]} ? {pair[0]} : {pair[1]})"),
    )


INTEGERS = st.recursive(NUMBERS, numbers, max_leaves=6)
COMPARED = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
TESTS = st.one_of(
    st.tuples(INTEGERS, COMPARED, INTEGERS).map(" ".join),
    st.tuples(TEXTS, COMPARED, TEXTS).map(" ".join),
    st.tuples(TEXTS, st.sampled_from(["contains", "startsWith", "endsWith"]), TEXTS).map(
        lambda p: f"{p[0]}.{p[1]}({p[2]})"
    ),
    st.tuples(INTEGERS, lists_of(INTEGERS)).map(" in ".join),
    st.tuples(lists_of(INTEGERS), st.sampled_from(["all", "exists", "exists_one"]), COMPARED, INTEGERS).map(
        lambda p: f"{p[0]}.{p[1]}(x, x {p[2]} {p[3]})"
    ),
    st.tuples(lists_of(INTEGERS), INTEGERS).map(lambda p: f"{p[0]}.map(x, x + 1) == {p[0]}.filter(x, x > {p[1]})"),
    st.tuples(lists_of(INTEGERS), lists_of(INTEGERS)).map(lambda p: f"{p[0]} + {p[1]} == {p[1]} + {p[0]}"),
)


def logic(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map("!({})".format),
        st.tuples(inner, inner, inner).map(lambda parts: f"(({parts[0]}) ? ({parts[1]}) : ({parts[2]}))"),
    )


@given(st.recursive(TESTS, logic, max_leaves=5))
@settings(max_examples=50 if sample.leaves_out_rows else 150)
def test_plain_expressions_agree(expression):
    theirs = bool(environment().program(environment().compile(expression)).evaluate({}))
    assert compile_expression(expression, SCHEDULER).test(DEVICE)[0] is theirs, expression


@pytest.mark.parametrize("index", ["-1", "3"])
def test_where_the_other_implementation_is_wrong(index):
    """The reason not to evaluate selectors with it: it takes indexes that CEL refuses."""
    answer = evaluated(compile_expression(f"[1, 2][{index}] == 2", SCHEDULER), DEVICE)
    assert answer.error == f"index out of bounds: {index}"
