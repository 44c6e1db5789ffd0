"""What an expression is said to read is all that its answer depends on."""

import msgspec
import pytest

from kubectl_dra.cel import SCHEDULER, CompileError, compile_expression, device_value
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.read.reads import Reads, reads
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.kit.evaluated import evaluated
from tests.kit.sample import sampled
from tests.vectors.answer_cel import device_of
from tests.vectors.rows import rows

A = 'device.attributes["d"]'
#: Of the recorded expressions.
PARTS = 4
NOTHING = Reads(driver=False, allow_multiple=False, attributes=frozenset(), capacity=frozenset(), all=False)


def of(expression: str) -> Reads:
    return reads(check(expression, SCHEDULER))


def some(*attributes: str, capacity: tuple[str, ...] = ()) -> Reads:
    def named(names):
        return frozenset(("d", name) for name in names)

    return Reads(False, False, named(attributes), named(capacity), False)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("true", NOTHING),
        ('device.driver == "d"', Reads(True, False, frozenset(), frozenset(), False)),
        ("device.allowMultipleAllocations", Reads(False, True, frozenset(), frozenset(), False)),
        (f"{A}.x", some("x")),
        (f'{A}["x"] == 1', some("x")),
        (f"{A}.?x.orValue(1) == 1", some("x")),
        (f'{A}[?"x"].hasValue()', some("x")),
        ("device.attributes.d.x && device.attributes.?d.?y.hasValue()", some("x", "y")),
        (f"has({A}.x)", some("x")),
        (f'"x" in {A}', some("x")),
        (f"{A}.x.foo.bar[0] == 1", some("x")),
        (f"{A}[{A}.x] == 1", Reads(False, False, frozenset({("d", "x")}), frozenset(), True)),
        ('device.capacity["d"].m.compareTo(quantity("1")) > 0', some(capacity=("m",))),
        (f"cel.bind(a, {A}, a.x && has(a.y))", some("x", "y")),
        ("cel.bind(d, device, d.attributes.d.x)", some("x")),
        (f"cel.bind(a, {A}, [1].all(a, a == 1))", NOTHING),
        (f"cel.bind(a, {A}, [1].exists(b, a.x == b))", some("x")),
        ('device.attributes[?"d"].optMap(a, a.x).hasValue()', some("x")),
        (f"dyn({A}).x", some("x")),
        (f"(true ? {A} : {A}).x", some("x")),
        ("has(device.attributes.d)", NOTHING),
        ('device.attributes[?"d"].hasValue()', NOTHING),
        (".device.attributes.d.x", some("x")),
        (f"{A}.x.exists(v, v == 1)", some("x")),
    ],
)
def test_literal_names(expression, expected):
    assert of(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        f"{A}.size() > 0",
        f"{A}.all(k, true)",
        f'{A}["x" + "y"] == 1',
        f"{A} == {A}",
        '"d" in device.attributes',
        "device.attributes[device.driver].x",
        "device.attributes.exists(d, d == 'x')",
        f"cel.bind(a, {A}, a == {{}})",
        f"cel.bind(k, 'x', k in {A})",
        f"(device.allowMultipleAllocations ? {A} : {{}}).x",
        f"[{A}][0].x",
        'device.attributes[?"d"].orValue({}).x',
        f"optional.of({A}).value().x",
        f"{A}.includes(1)",
        "device == device",
        f"dyn({A})[1] == 1",
    ],
)
def test_what_is_not_a_literal_name_reads_everything(expression):
    assert of(expression).all


def test_the_device_itself_has_a_driver():
    found = of("[device].size() == 1")
    assert found.driver and found.allow_multiple and found.all


def qualified(device: Device, driver: str) -> tuple[dict[str, DeviceAttribute], dict[str, DeviceCapacity]]:
    def spelled(held):
        return {name if "/" in name else f"{driver}/{name}": value for name, value in held.items()}

    return spelled(device.attributes), spelled(device.capacity)


def read_only(device: Device, driver: str, found: Reads) -> tuple[str, Device]:
    """A device that agrees in what is read and in nothing else; where nothing is read, things appear and disappear."""
    attributes, capacity = qualified(device, driver)
    kept_attributes = {f"{domain}/{name}" for domain, name in found.attributes}
    kept_capacity = {f"{domain}/{name}" for domain, name in found.capacity}
    unread = {
        "a.example.com/x": DeviceAttribute(string="other"),
        "gpu.example.com/unread": DeviceAttribute(int_value=7),
    }
    changed = msgspec.structs.replace(
        device,
        attributes={name: held for name, held in attributes.items() if name in kept_attributes} | unread,
        capacity={name: held for name, held in capacity.items() if name in kept_capacity}
        | {"unread.example.com/c": DeviceCapacity(value=Quantity.parse("1"))},
        allow_multiple_allocations=device.allow_multiple_allocations
        if found.allow_multiple
        else not device.allow_multiple_allocations,
    )
    return driver if found.driver else "another.example.com", changed


@pytest.mark.parametrize("part", sampled(range(PARTS), PARTS))
def test_recorded_expressions_answer_the_same_on_devices_that_agree_in_what_they_read(part):
    compared = 0
    for row in rows("cel")[part::PARTS]:
        try:
            program = compile_expression(row["expression"], SCHEDULER, derived=row.get("derived", False))
        except CompileError:
            continue
        found = reads(program.checked)
        device = device_of(row)
        value = device_value(row["driver"], device)
        answer = evaluated(program, value)
        if found.all or value.error is not None:
            continue
        other = evaluated(program, device_value(*read_only(device, row["driver"], found)))
        assert other == answer, row["id"]
        compared += 1
    assert compared > 3000 // PARTS
