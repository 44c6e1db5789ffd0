"""A second opinion on a selector: cel-python, an independent implementation of plain CEL, on the same device.

It never changes an answer: the scheduler's verdict is that of ``Program``. Loaded only where somebody asks for it.
What it is known not to have is named before anything is evaluated, so that a gap never looks like a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.cel.run.device import split_name

if TYPE_CHECKING:
    from kubectl_dra.cel.run.program import Program
    from kubectl_dra.cel.syntax.ast import Parsed
    from kubectl_dra.model.resource import Device, DeviceAttribute

NAME: Final = "cel-python"
#: Functions and operators that it has, by the names that parsing gives them.
_OPERATORS: Final = frozenset(
    ("!_", "-_", "_!=_", "_%_", "_&&_", "_*_", "_+_", "_-_", "_/_", "_<=_", "_<_", "_==_", "_>=_", "_>_", "_?_:_")
)
_FUNCTIONS: Final = frozenset(("_[_]", "@in", "_||_", "@not_strictly_false", "contains", "endsWith", "matches", "size"))
_CONVERSIONS: Final = frozenset(("startsWith", "bool", "double", "int", "string"))
_KNOWN: Final = _OPERATORS | _FUNCTIONS | _CONVERSIONS


class SecondEngine:
    """One selector in cel-python. ``gaps`` are the names of what it lacks; with any of them it evaluates nothing."""

    def __init__(self, program: Program) -> None:
        self.gaps = tuple(sorted(set(_lacking(program.checked.parsed))))
        self._expression = program.expression
        self._runner: Any = None

    def match(self, driver: str, device: Device, shows_sharing: bool) -> bool | str:
        """Whether the selector matches, or the text of its error."""
        from celpy import Environment

        try:
            if self._runner is None:
                environment = Environment()
                self._runner = environment.program(environment.compile(self._expression))
            found = self._runner.evaluate({"device": _device(driver, device, shows_sharing)})
        except Exception as error:  # an engine that is not ours fails in ways of its own
            return str(error.args[0]) if error.args else type(error).__name__
        return bool(found)


def _lacking(parsed: Parsed) -> Iterator[str]:
    """What the expression uses and cel-python does not have."""
    macros = {macro.function for macro in parsed.macros.values()}
    yield from (f"{name}()" for name in macros - {"has", "all", "exists", "exists_one", "map", "filter"})
    waiting: list[Any] = [parsed.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list | tuple):
            waiting += node
            continue
        function = getattr(node, "function", "")
        if function and function not in _KNOWN:
            yield "optional values" if "?" in function else f"{function}()"
        fields = getattr(type(node), "__struct_fields__", ())
        waiting += [getattr(node, name) for name in fields]


def _device(driver: str, device: Device, shows_sharing: bool) -> Any:  # noqa: ANN401 - of an untyped package
    from celpy import celtypes

    text, mapping = celtypes.StringType, celtypes.MapType
    # A domain that the device does not have holds nothing.
    domains = type("Domains", (mapping,), {"__getitem__": lambda own, key: dict.get(own, key, mapping())})
    attributes, capacity = domains(), domains()
    for name, attribute in device.attributes.items():
        domain, own = split_name(name, driver)
        attributes.setdefault(text(domain), mapping())[text(own)] = _value(attribute)
    for name in device.capacity:
        domain, own = split_name(name, driver)
        capacity.setdefault(text(domain), mapping())[text(own)] = _Opaque()
    fields = {"driver": text(driver), "attributes": attributes, "capacity": capacity}
    if shows_sharing:
        fields["allowMultipleAllocations"] = celtypes.BoolType(bool(device.allow_multiple_allocations))
    return mapping({text(name): value for name, value in fields.items()})


class _Opaque:
    """A value of one of Kubernetes' types: it is there, and equals nothing of plain CEL."""


def _value(attribute: DeviceAttribute) -> Any:  # noqa: ANN401 - of an untyped package
    from celpy import celtypes

    makes: dict[str, Callable[[Any], Any]] = {
        "string": celtypes.StringType,
        "int_value": celtypes.IntType,
        "bool_value": celtypes.BoolType,
        "strings": lambda values: celtypes.ListType(map(celtypes.StringType, values)),
        "ints": lambda values: celtypes.ListType(map(celtypes.IntType, values)),
        "bools": lambda values: celtypes.ListType(map(celtypes.BoolType, values)),
    }
    for field, make in makes.items():
        value = getattr(attribute, field)
        if value is not None:
            return make(value)
    return _Opaque()
