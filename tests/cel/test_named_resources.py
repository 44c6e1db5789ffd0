"""Expressions of 1.30's named resources: variables with dots, one map per type; the cases of upstream's own test."""

import pytest

from kubectl_dra.cel import NAMED_RESOURCES, SCHEDULER, CompileError, InstanceValue, compile_expression
from kubectl_dra.model.classic import IntSlice, NamedAttribute, NamedInstance, StringSlice
from kubectl_dra.model.quantity import Quantity
from tests.kit.evaluated import evaluated

INSTANCE = NamedInstance(
    "gpu-0",
    (
        NamedAttribute("quantity", quantity=Quantity.parse("1")),
        NamedAttribute("bool", bool_value=True),
        NamedAttribute("int", int_value=1),
        NamedAttribute("intslice", int_slice=IntSlice((1, 2, 3))),
        NamedAttribute("none", int_slice=IntSlice()),
        NamedAttribute("string", string="fish"),
        NamedAttribute("stringslice", string_slice=StringSlice(("a", "b", "c"))),
        NamedAttribute("version", version="1.2.3"),
    ),
)


@pytest.mark.parametrize(
    ("expression", "match"),
    [
        ("true", True),
        ("false", False),
        ('attributes.quantity["quantity"].isGreaterThan(quantity("0"))', True),
        ('attributes.bool["bool"] && attributes.int["int"] > 0', True),
        ('attributes.intslice["intslice"].isSorted() && attributes.intslice["intslice"].indexOf(3) == 2', True),
        ('size(attributes.intslice["none"]) == 0', True),
        ('attributes.string["string"] == "fish" && attributes.string.string == "fish"', True),
        ('attributes.stringslice["stringslice"].indexOf("a") == 0', True),
        ('attributes.version["version"].isLessThan(semver("2.0.0"))', True),
        ('"int" in attributes.string', False),
        ('has(attributes.string.string) && attributes.string.?nope.orValue("x") == "x"', True),
        ('attributes.string.all(k, attributes.string[k] == "fish")', True),
        ("[1].exists(attributes, attributes == 1)", True),
    ],
)
def test_what_matches(expression: str, match: bool) -> None:
    assert evaluated(compile_expression(expression, NAMED_RESOURCES), InstanceValue(INSTANCE)).match is match


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('attributes.quantity["quantity"]', "must evaluate to bool"),
        ("attributes == 1", "undeclared reference to 'attributes'"),
        ('attributes.double["x"] > 1.0', "undeclared reference to 'attributes'"),
        ("device.driver == 'x'", "undeclared reference to 'device'"),
    ],
)
def test_what_does_not_compile(expression: str, text: str) -> None:
    with pytest.raises(CompileError, match=text):
        compile_expression(expression, NAMED_RESOURCES)


def test_devices_of_later_versions_have_no_such_variables() -> None:
    with pytest.raises(CompileError, match="undeclared reference to 'attributes'"):
        compile_expression('attributes.bool["x"]', SCHEDULER)


def test_errors_are_the_bare_ones_of_that_time() -> None:
    program = compile_expression('attributes.quantity["nope"].isGreaterThan(quantity("0"))', NAMED_RESOURCES)
    assert evaluated(program, InstanceValue(INSTANCE)).error == "no such key: nope"
    broken = NamedInstance("x", (NamedAttribute("a", string="s"), NamedAttribute("b", version="nope")))
    assert evaluated(compile_expression("true", NAMED_RESOURCES), InstanceValue(broken)).error == (
        "extract attributes with type version: attribute '\\x01': "
        "parse semantic version: No Major.Minor.Patch elements found"
    )
