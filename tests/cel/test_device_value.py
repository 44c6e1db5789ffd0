"""The value of ``device``: which of several values counts, names and domains, what makes every evaluation fail."""

import pytest

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.cel.devices import CARD, DRIVER, A, C, card, on


@pytest.mark.parametrize(
    ("attribute", "expression"),
    [
        (DeviceAttribute(ints=(1,), bools=(True,), int_value=2), "x == [1]"),
        (DeviceAttribute(bools=(True,), strings=("a",), string="b"), "x == [true]"),
        (DeviceAttribute(strings=(), versions=("1.0.0",), int_value=2), "x == []"),
        (DeviceAttribute(versions=("1.0.0",), int_value=2), 'x == [semver("1.0.0")]'),
        (DeviceAttribute(int_value=2, bool_value=True, string="a"), "x == 2"),
        (DeviceAttribute(bool_value=False, string="a", version="1.0.0"), "x == false"),
        (DeviceAttribute(string="a", version="no version"), 'x == "a"'),
        (DeviceAttribute(version="1.0.0"), 'x == semver("1.0.0")'),
    ],
)
def test_precedence_of_several_values(attribute, expression):
    assert on(Device(attributes={"x": attribute}), f"{A}.{expression}").match is True


@pytest.mark.parametrize(
    ("attribute", "error"),
    [
        (DeviceAttribute(), "attribute x: unsupported attribute value"),
        (DeviceAttribute(version="v1"), "attribute x: parse semantic version: No Major.Minor.Patch elements found"),
        (
            DeviceAttribute(versions=("1.0.0", "1.0.x"), string="a"),
            'attribute x: parse semantic version: Invalid character(s) found in patch number "x"',
        ),
    ],
)
def test_a_broken_attribute_fails_every_expression_without_cost(attribute, error):
    device = Device(attributes={"fine": DeviceAttribute(string="a"), "x": attribute})
    for expression in ("true", f"{A}.fine == 'a'", 'quantity("1").isInteger()'):
        answer = on(device, expression)
        assert (answer.match, answer.error, answer.cost) == (None, error, None)


def test_names_are_split_at_the_first_slash():
    device = Device(
        attributes={"own": DeviceAttribute(int_value=1), f"{DRIVER}/qualified": DeviceAttribute(int_value=2)}
        | {"a.com/b/c": DeviceAttribute(int_value=3)},
        capacity={"own": DeviceCapacity(Quantity(1)), "a.com/b/c": DeviceCapacity(Quantity(3))},
    )
    assert on(device, f"{A}.own + {A}.qualified == 3").match
    assert on(device, 'device.attributes["a.com"]["b/c"] == 3').match
    assert on(device, 'device.attributes["a.com/b"].c == 3').error == "no such key: c"
    assert on(device, f'{A}["{DRIVER}/qualified"] == 2').error == f"no such key: {DRIVER}/qualified"
    assert on(device, 'device.capacity["a.com"]["b/c"].isInteger()').match
    assert on(device, f'{C}["a.com/b/c"].isInteger()').error == "no such key: a.com/b/c"


def test_the_ways_to_write_a_lookup_agree():
    """Chains of constant names take a shorter way than others; they must not differ."""
    for name in ("kind", "slot", "ver", "tags", "nope"):
        plain = on(CARD, f"dyn({A}.{name})", derived=True)
        for other in (f'{A}["{name}"]', f"device.attributes[device.driver].{name}", f"cel.bind(a, {A}, a.{name})"):
            answer = on(CARD, f"dyn({other})", derived=True)
            assert (answer.value, answer.error) == (plain.value, plain.error), (name, other)


def test_fields_of_the_device():
    assert card(f'device.driver == "{DRIVER}"').match
    assert card("device.allowMultipleAllocations == false").match
    assert on(Device(allow_multiple_allocations=True), "device.allowMultipleAllocations").match
    assert card("dyn(device).size() == 4").match
    assert card("device.attributes.size() == 2 && device.capacity.size() == 2").match


def test_one_value_serves_many_programs():
    device = device_value(DRIVER, CARD)
    programs = [compile_expression(text, SCHEDULER) for text in (f"{A}.slot == 4", "device == device", f"has({A}.ver)")]
    assert [program.test(device)[0] for program in programs * 2] == [True] * 6
