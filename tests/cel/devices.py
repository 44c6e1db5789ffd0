"""Devices for tests of evaluation, and short ways to evaluate on them."""

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.kit.evaluated import Evaluated, evaluated

DRIVER = "d.example.com"
A = f'device.attributes["{DRIVER}"]'
C = f'device.capacity["{DRIVER}"]'

CARD = Device(
    name="card",
    attributes={
        "kind": DeviceAttribute(string="big-card"),
        "slot": DeviceAttribute(int_value=4),
        "ver": DeviceAttribute(version="1.2.3"),
        "tags": DeviceAttribute(strings=("red", "green")),
        "other.example.com/a/b": DeviceAttribute(bool_value=True),
    },
    capacity={
        "mem": DeviceCapacity(value=Quantity.parse("16Gi")),
        "shared.example.com/n": DeviceCapacity(value=Quantity.parse("1")),
    },
)


def on(device: Device, expression: str, limit: int = 1_000_000, derived: bool = False) -> Evaluated:
    """The answer of the scheduler's environment for a device of :data:`DRIVER`."""
    program = compile_expression(expression, SCHEDULER, derived=derived)
    return evaluated(program, device_value(DRIVER, device), limit)


def card(expression: str, limit: int = 1_000_000) -> Evaluated:
    """The answer for :data:`CARD`."""
    return on(CARD, expression, limit)


def value(expression: str) -> DeviceAttribute | str | None:
    """What a derived attribute gives for :data:`CARD`: a value, or the text of the error."""
    answer = on(CARD, f"dyn({expression})", derived=True)
    return answer.value if answer.error is None else answer.error
