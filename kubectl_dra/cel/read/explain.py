"""What every part of an expression was when it was evaluated on one device, loops included, as it really ran."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_dra.cel.functions.printing import plain
from kubectl_dra.cel.run.compile import JUNCTIONS, Compiler
from kubectl_dra.cel.run.keys import decode_key
from kubectl_dra.cel.run.labor import begin
from kubectl_dra.cel.run.program import COST_LIMIT
from kubectl_dra.cel.run.state import Constant, KnownCall, Plan, State, as_step
from kubectl_dra.cel.run.values import LISTS, MAPS, NONE, Cancelled, CelError, Optional
from kubectl_dra.cel.syntax.ast import Call, Ident, Literal, Node, Select
from kubectl_dra.cel.syntax.printer import node_source, string_source
from kubectl_dra.cel.syntax.traverse import written

if TYPE_CHECKING:
    from kubectl_dra.cel.check.environment import Environment
    from kubectl_dra.cel.run.device import DeviceValue
    from kubectl_dra.cel.run.program import Program
    from kubectl_dra.cel.run.values import Value
    from kubectl_dra.cel.syntax.ast import Checked, MacroCall

# A part inside of a loop has a value per round; the first few show what happens.
MAX_ROUNDS: Final = 8
_MAX_PARTS: Final = 500
_MAX_TEXT: Final = 160
_CHAINS: Final = frozenset({"_[_]", "_[?_]", "_?._"})


class PartValue(NamedTuple):
    """A value as CEL would write it (cut off when long), or the text of the error."""

    text: str
    failed: bool


class Part(NamedTuple):
    """One part: its source, how deep it stands, its first outcomes and how often it was evaluated (0: never)."""

    text: str
    depth: int
    outcomes: tuple[PartValue, ...]
    times: int


def explain(program: Program, device: DeviceValue) -> tuple[Part, ...]:
    """The whole expression and its parts, outer ones first; literals are left out. Empty for a broken device."""
    if not device.ready:
        device.prepare()
    if device.error is not None:
        return ()
    return tuple(_parts(program, _recorded(program, device)))


def failing_place(program: Program, device: DeviceValue, error: str) -> int:
    """The offset of the innermost part that raised an error which ended the evaluation; -1 if nothing says."""
    if not device.ready:
        device.prepare()
    if device.error is not None:
        return -1
    recorder = _recorded(program, device)
    found = next((node for node, text in recorder.raised if text == error), None)
    return found.pos if found is not None else -1


def _recorded(program: Program, device: DeviceValue) -> _Recorder:
    # Planning prints constants: it must not pay for an evaluation that ended before.
    begin()
    recorder = _Recorder(program.checked, program.environment)
    step = recorder.step(program.checked.parsed.root)
    # Errors are noted where they happen.
    with contextlib.suppress(CelError, Cancelled, RecursionError):
        step(State(device, COST_LIMIT, recorder.slot_count))
    return recorder


class _Recorder(Compiler):
    """Plans as always, and notes what each step gives."""

    def __init__(self, checked: Checked, environment: Environment) -> None:
        super().__init__(checked, environment)
        # First outcomes and number of evaluations by id() of the node; errors in the order in which they came up.
        self.noted: dict[int, tuple[list[PartValue], list[int]]] = {}
        self.raised: list[tuple[Node, str]] = []

    def plan(self, node: Node) -> Plan:
        return self._watched(node, super().plan(node))

    def bare(self, node: Node) -> Plan:
        plan = super().bare(node)
        # Other nodes came through plan().
        return self._watched(node, plan) if self._is_chain(node) else plan

    def _call(self, node: Call) -> Plan:
        # Flat chains would hide the value of one within another; how they nest makes no difference.
        if node.function in JUNCTIONS:
            return JUNCTIONS[node.function]([self.step(term) for term in node.args])
        return super()._call(node)

    def _watched(self, node: Node, plan: Plan) -> Plan:
        outcomes, times = self.noted.setdefault(id(node), ([], [0]))
        if isinstance(plan, Constant | KnownCall):
            value = plan.value
            outcomes[:] = [
                PartValue(value.text, True) if isinstance(value, CelError) else PartValue(shown(value), False)
            ]
            times[0] = 1
            return plan
        run = as_step(plan)

        def step(state: State) -> Value:
            times[0] += 1
            first = times[0] <= MAX_ROUNDS
            try:
                value = run(state)
            except (CelError, Cancelled) as error:
                if first:
                    self.raised.append((node, error.text))
                    outcomes.append(PartValue(error.text, True))
                raise
            if first:
                outcomes.append(PartValue(shown(value), False))
            return value

        return step


def _parts(program: Program, recorder: _Recorder) -> Iterable[Part]:
    parsed = program.checked.parsed
    pending: list[tuple[Node, int]] = [(parsed.root, 0)]
    count = 0
    while pending and count < _MAX_PARTS:
        node, depth = pending.pop()
        if isinstance(node, Literal) or (isinstance(node, Ident) and id(node) not in recorder.noted):
            continue
        count += 1
        outcomes, times = recorder.noted.get(id(node), ([], [0]))
        yield Part(node_source(node, parsed.macros), depth, tuple(outcomes), times[0])
        pending += [(part, depth + 1) for part in reversed(_below(node, parsed.macros))]


def _below(node: Node, macros: Mapping[int, MacroCall]) -> list[Node]:
    """The parts of a node; a chain of selections is one, whose parts are its root and its computed indexes."""
    if isinstance(node, Select) and node.test_only:
        node = macros[id(node)].args[0]
    if id(node) in macros or not _is_chain(node):
        return written(node, macros)
    found: list[Node] = []
    while _is_chain(node) and id(node) not in macros:
        if isinstance(node, Call):
            found.insert(0, node.args[1])
            node = node.args[0]
        elif isinstance(node, Select):
            node = node.operand
    return found if isinstance(node, Ident) else [node, *found]


def _is_chain(node: Node) -> bool:
    return isinstance(node, Select) or (isinstance(node, Call) and node.function in _CHAINS)


def shown(value: Value, room: int = _MAX_TEXT) -> str:
    """A value as an expression would write it; long ones end with ``…``."""
    kind = value.__class__
    if kind is str:
        return string_source(value) if len(value) <= room else string_source(value[:room]) + "…"
    if kind is bytes:
        return repr(value[:room]) + ("…" if len(value) > room else "")
    if value is None:
        return "null"
    if kind in LISTS:
        return f"[{_joined(value, room, lambda item: shown(item, room // 2))}]"
    if kind in MAPS:
        items = value.items()
        return f"{{{_joined(items, room, lambda item: f'{shown(decode_key(item[0]))}: {shown(item[1], room // 2)}')}}}"
    if kind is Optional and value is not NONE:
        return f"optional({shown(value.value, room)})"
    return plain(value)


def _joined(items: Iterable[Value], room: int, text: Callable[[Value], str]) -> str:
    pieces: list[str] = []
    left = room
    for item in items:
        if left <= 0:
            pieces.append("…")
            break
        pieces.append(text(item))
        left -= len(pieces[-1]) + 2
    return ", ".join(pieces)
