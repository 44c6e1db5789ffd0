"""A checked tree becomes Python closures with upstream's semantics and exact run-time costs.

One pass from the leaves up, as upstream's planner: each node becomes a :class:`Constant` or a :class:`Step`. What the
steps do lives in ``chains``, ``calls``, ``logic``, ``loops`` and ``fold``; here is which of them a node becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_dra.cel.cost.rule import ChargeRule
from kubectl_dra.cel.cost.rules import charge_rule
from kubectl_dra.cel.declarations import OVERLOADS_BY_ID, overloads
from kubectl_dra.cel.functions import regex
from kubectl_dra.cel.functions.registry import OPERATORS
from kubectl_dra.cel.run import calls, chains, fold, logic, loops
from kubectl_dra.cel.run.state import Constant, KnownCall, Plan, PlanError, State, Step, as_step
from kubectl_dra.cel.run.values import TYPE_VALUES, CelError, Uint, Value
from kubectl_dra.cel.syntax import ast

if TYPE_CHECKING:
    from kubectl_dra.cel.check.environment import Environment

JUNCTIONS: Final = {"_&&_": logic.both, "_||_": logic.either}
_INDEXING: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_EQUALITY: Final = {"_==_": True, "_!=_": False}
_CONSTANT_PATTERN: Final = frozenset({"matches", "find", "findAll"})
_EAGER: Final = frozenset({"slice", "format"})
# Overloads whose result depends on their one text alone (but no two URLs are the same key of a map); overloads of
# cost 1 that leave their second argument alone.
_CONSTRUCTORS: Final = frozenset({"string_to_quantity", "string_to_semver", "string_to_ip", "string_to_cidr"})
_READING: Final = frozenset(
    f"{kind}_{test}" for kind in ("quantity", "semver") for test in ("compare_to", "is_greater_than", "is_less_than")
)
# Functions that may walk through nested values or write long texts, which their cost does not show.
_LABORIOUS: Final = frozenset(
    {"isSorted", "sum", "min", "max", "indexOf", "lastIndexOf", "includes", "@in", "flatten", "distinct", "sort"}
    | {"sets.contains", "sets.intersects", "sets.equivalent", "join", "replace", "format", "getQuery"}
    | {"optional.unwrap", "unwrapOpt", "@sortByAssociatedKeys"}
)
_ALTERNATIVES: Final = {"or": False, "orValue": True}


@dataclass(slots=True)
class Compiler:
    """Compiles one expression. ``laborious``: it can do work that its cost does not show."""

    checked: ast.Checked
    environment: Environment
    scope: dict[str, Variable] = field(default_factory=dict)
    slot_count: int = 0
    laborious: bool = False

    def plan(self, node: ast.Node) -> Plan:
        """The plan of a node. Raises :class:`PlanError` where upstream refuses to instantiate the program."""
        match node:
            case ast.Literal():
                return Constant(Uint(node.value) if node.kind == "uint" else node.value)  # type: ignore[arg-type]
            case ast.Call():
                return self._call(node)
            case ast.Ident() | ast.Select():
                return self._name(node) or self.chain(node, bare=False)
            case ast.ListLit():
                return self._list(node)
            case ast.MapLit():
                return self._map(node)
            case ast.Comprehension():
                return self._comprehension(node)
            case ast.MessageLit():
                from kubectl_dra.cel.run import messages

                return messages.message(node, [self.step(entry.value) for entry in node.entries])

    def step(self, node: ast.Node) -> Step:
        """The plan of a node as a step."""
        return as_step(self.plan(node))

    def bare(self, node: ast.Node) -> Plan:
        """The plan of a node as a branch or an index: the root of a chain is not charged there."""
        if self._is_chain(node):
            return self._name(node) or self.chain(node, bare=True)
        return self.plan(node)

    @staticmethod
    def _is_chain(node: ast.Node) -> bool:
        return isinstance(node, ast.Ident | ast.Select) or (
            isinstance(node, ast.Call) and (node.function in _INDEXING or node.function == "_?_:_")
        )

    # --- names and chains ---------------------------------------------------------------------------------------------

    def _name(self, node: ast.Node) -> Constant | None:
        """A type or an enum constant, if that is what the name means."""
        reference = self.checked.references.get(id(node))
        if reference is not None and reference.constant is not None:
            return Constant(reference.constant)
        if not isinstance(node, ast.Ident) and (reference is None or not reference.name):
            return None
        name = reference.name if reference is not None and reference.name else getattr(node, "name", "")
        if self.checked.types[id(node)].kind != "type":
            return None
        if name not in TYPE_VALUES:
            raise PlanError(f"reference to undefined type: {name}")
        return Constant(TYPE_VALUES[name])

    def chain(self, node: ast.Node, bare: bool) -> Step:
        """A chain of selections and indexes down to its root."""
        written: list[ast.Node] = []
        root = node
        while True:
            if isinstance(root, ast.Select) and self._name(root) is None and not self._is_variable(root):
                written.append(root)
                root = root.operand
            elif isinstance(root, ast.Call) and root.function in _INDEXING:
                written.append(root)
                root = root.args[0]
            else:
                break
        start, root_cost = self._root(root, not written, bare)
        qualifiers = tuple(map(self._qualifier, reversed(written)))
        tested = bool(qualifiers) and qualifiers[-1].test
        if tested:
            root_cost = 0
        if not qualifiers:
            return start
        shortcut = self._device_chain(root, qualifiers, root_cost)
        return shortcut or chains.chain(start, qualifiers, root_cost, wrap_presence=tested and not bare)

    def _root(self, root: ast.Node, alone: bool, bare: bool) -> tuple[Step, int]:
        """The step that gives the root's value, and what the chain itself charges for the root at its end."""
        cost = 0 if bare else 1
        if isinstance(root, ast.Ident) and self._name(root) is None:
            return self._variable(root, cost if alone else 0), cost
        if isinstance(root, ast.Select) and self._is_variable(root):
            return _input(self.checked.references[id(root)].name, cost if alone else 0), cost
        if isinstance(root, ast.Call) and root.function == "_?_:_":
            condition, then, otherwise = self.step(root.args[0]), self.bare(root.args[1]), self.bare(root.args[2])
            return logic.conditional(condition, as_step(then), as_step(otherwise)), 0
        return self.step(root), cost

    def _is_variable(self, node: ast.Select) -> bool:
        """Whether names with dots between them are one variable."""
        reference = self.checked.references.get(id(node))
        return reference is not None and reference.name in self.environment.variables

    def _variable(self, node: ast.Ident, cost: int) -> Step:
        variable = None if node.absolute else self.scope.get(node.name)
        if variable is None:
            return _input(node.name, cost)
        if variable.init is None:
            return loops.loop_variable(variable.slot, cost)
        return loops.accumulator(variable.slot, variable.init, cost)

    def _qualifier(self, node: ast.Node) -> chains.Qualifier:
        if isinstance(node, ast.Select):
            return chains.Qualifier(key=node.name, test=node.test_only)
        assert isinstance(node, ast.Call)  # noqa: S101 (nothing else is collected)
        optional = node.function != "_[_]"
        index = self.bare(node.args[1])
        if not isinstance(index, Constant):
            return chains.Qualifier(index=as_step(index), optional=optional)
        if index.value.__class__ not in chains.KEY_CLASSES:
            raise PlanError(chains.invalid_key(index.value))
        return chains.Qualifier(key=index.value, optional=optional)

    def _device_chain(self, root: ast.Node, qualifiers: Sequence[chains.Qualifier], root_cost: int) -> Step | None:
        """A faster step for the commonest chains: constant names below the variable ``device``."""
        if not isinstance(root, ast.Ident) or (root.name in self.scope and not root.absolute):
            return None
        last = qualifiers[-1]
        plain = not last.optional and not last.test
        if any(q.key.__class__ is not str for q in qualifiers) or any(q.optional for q in qualifiers[:-1]):
            return None
        cost = len(qualifiers) + root_cost
        match [q.key for q in qualifiers]:
            case ["driver"] if plain:
                return chains.device_driver(cost)
            case [("attributes" | "capacity") as name] if plain:
                return chains.device_field(name, cost)
            case [("attributes" | "capacity") as name, domain] if plain:
                return chains.domain_map(name, domain, cost)
            case ["attributes", domain, name] if chains.has_plain_names(domain, name):
                if last.test:
                    return chains.has_attribute(domain, name)
                if last.optional:
                    return chains.optional_attribute(domain, name, root_cost)
                return chains.attribute(domain, name, cost)
            case ["capacity", domain, name] if plain and chains.has_plain_names(domain, name):
                return chains.capacity(domain, name, cost)
        return None

    # --- literals -----------------------------------------------------------------------------------------------------

    def _list(self, node: ast.ListLit) -> Plan:
        plans = [self.plan(element) for element in node.elements]
        if all(isinstance(plan, Constant) for plan in plans):
            return fold.fold_list([plan.value for plan in plans if isinstance(plan, Constant)], node.optional)
        return fold.list_literal(tuple(map(as_step, plans)), node.optional)

    def _map(self, node: ast.MapLit) -> Plan:
        entries: list[tuple[Plan, Plan, bool]] = []
        for entry in node.entries:
            assert not isinstance(entry.key, str)  # noqa: S101 (only messages have field names)
            entries.append((self.plan(entry.key), self.plan(entry.value), entry.optional))
        constant = [(k.value, v.value, o) for k, v, o in entries if isinstance(k, Constant) and isinstance(v, Constant)]
        if len(constant) == len(entries):
            return fold.fold_map(constant)
        return fold.map_literal(tuple((as_step(key), as_step(value), optional) for key, value, optional in entries))

    # --- comprehensions -----------------------------------------------------------------------------------------------

    def _comprehension(self, node: ast.Comprehension) -> Step:
        self.laborious = True
        init = self.step(node.init)
        elements = self.plan(node.range)
        slot = self._new_slot()
        outer = dict(self.scope)
        self.scope[node.acc] = Variable(slot, init)
        if isinstance(elements, Constant) and elements.value == [] and node.var1.startswith("#"):
            # Upstream plans the bound name even if nothing uses it, and refuses types there.
            self._name(node.step)
            step = loops.binding(slot, self.step(node.result))
            self.scope = outer
            return step
        names = [node.var1] if node.var2 is None else [node.var1, node.var2]
        variables = [Variable(self._new_slot(), None) for _ in names]
        with_variables = {**self.scope, **dict(zip(names, variables, strict=True))}
        result_scope, self.scope = self.scope, with_variables
        condition, advance = self.plan(node.cond), self.step(node.step)
        self.scope = result_scope
        result = self.step(node.result)
        self.scope = outer
        always = isinstance(condition, Constant) and condition.value is True
        parts = (None if always else as_step(condition), advance, result)
        if len(variables) == 1:
            return loops.loop(as_step(elements), loops.single, loops.store_one(variables[0].slot), slot, parts)
        store = loops.store_two(variables[0].slot, variables[1].slot)
        return loops.loop(as_step(elements), loops.double, store, slot, parts)

    def _new_slot(self) -> int:
        self.slot_count += 1
        return self.slot_count - 1

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Plan:
        function = node.function
        if function in JUNCTIONS:
            return JUNCTIONS[function]([self.step(term) for term in ast.operands(node, function)])
        if function in _INDEXING or function == "_?_:_":
            return self.chain(node, bare=False)
        nodes = node.args if node.target is None else [node.target, *node.args]
        arguments = [self.plan(argument) for argument in nodes]
        if function in _EQUALITY:
            self.laborious = self.laborious or not _is_scalar(arguments[1])
            return _equality(arguments[0], arguments[1], _EQUALITY[function])
        if function == "@not_strictly_false":
            return logic.not_strictly_false(as_step(arguments[0]))
        if function in _ALTERNATIVES and len(arguments) == 2:
            return logic.alternative(as_step(arguments[0]), as_step(arguments[1]), unwrap=_ALTERNATIVES[function])
        return self._function(node, arguments)

    def _function(self, node: ast.Call, arguments: list[Plan]) -> Plan:
        function = node.function
        self.laborious = self.laborious or function in _LABORIOUS
        resolved = self._resolved(node)
        rule = charge_rule(function, resolved)
        if function in _CONSTANT_PATTERN and isinstance(arguments[1], Constant) and arguments[1].value.__class__ is str:
            return self._constant_pattern(function, rule, arguments)
        if resolved == "in_list" and isinstance(arguments[1], Constant):
            folded = fold.fold_membership(as_step(arguments[0]), arguments[1].value)
            if folded is not None:
                return folded
        definition = OPERATORS.get(function)
        declared = overloads(function, self.environment)
        run = (
            calls.implementation(function, resolved, declared)
            if definition is None
            else calls.operator(function, definition, len(arguments))
        )
        if function in fold.CONVERSION_FUNCTIONS and len(arguments) == 1 and isinstance(arguments[0], Constant):
            return fold.fold_conversion(run, arguments[0])
        return _known(resolved, run, rule, arguments) or self._invocation(node, run, rule, arguments)

    def _invocation(self, node: ast.Call, run: calls.Run, rule: ChargeRule | None, arguments: list[Plan]) -> Step:
        function, resolved = node.function, self._resolved(node)
        steps = [as_step(argument) for argument in arguments]
        if not steps:
            return calls.nullary(run)
        if len(steps) == 1:
            return calls.unary(run, rule, steps[0])
        second = arguments[1]
        if isinstance(second, KnownCall) and resolved in _READING:
            return calls.binary_known(function, OVERLOADS_BY_ID[resolved], steps[0], second)
        if isinstance(second, Constant) and second.value.__class__ is int and rule is None:
            ordered = logic.order_by_int(function, run, steps[0], second.value)
            if ordered is not None:
                return ordered
        declared = overloads(function, self.environment)
        definition = OPERATORS.get(function)
        several = definition is None and resolved is None and len(declared) > 1
        if len(steps) == 2 and not several and function not in _EAGER:
            return calls.binary(run, rule, steps[0], steps[1])
        return calls.eager(run, rule, steps)

    def _resolved(self, node: ast.Call) -> str | None:
        """The overload of a call if the checker found exactly one."""
        matching = self.checked.references[id(node)].overloads
        return matching[0] if len(matching) == 1 else None

    @staticmethod
    def _constant_pattern(function: str, rule: ChargeRule | None, arguments: list[Plan]) -> Step:
        pattern = arguments[1]
        assert isinstance(pattern, Constant)  # noqa: S101 (the caller tested it)
        try:
            regex.compile_regex(pattern.value)
        except regex.RegexError as error:
            raise PlanError(str(error)) from None
        run = {"matches": regex.matches_constant, "find": regex.find, "findAll": regex.find_all}[function]
        return calls.eager(run, rule, [as_step(argument) for argument in arguments])


def _known(resolved: str | None, run: calls.Run, rule: ChargeRule | None, arguments: list[Plan]) -> KnownCall | None:
    """A constructor of a constant text: parsed now, charged each time."""
    if resolved not in _CONSTRUCTORS or not isinstance(arguments[0], Constant):
        return None
    text = arguments[0].value
    try:
        value = run(text)
    except CelError:
        return None
    cost = 1 if rule is None else rule(text)
    return KnownCall(value, cost, partial(run, text) if resolved == "string_to_quantity" else None)


class Variable(msgspec.Struct, frozen=True):
    """A local variable; ``init`` is what an accumulator or a bound name begins as."""

    slot: int
    init: Step | None


def _input(name: str, cost: int) -> Step:
    def step(state: State) -> Value:
        state.spend(cost)
        return state.device.variable(name)

    return step


def _is_scalar(plan: Plan) -> bool:
    return isinstance(plan, Constant) and plan.value.__class__ in (str, bool, int, float, Uint)


def _equality(left: Plan, right: Plan, wanted: bool) -> Step:
    if isinstance(right, Constant) and _is_scalar(right):
        if right.value.__class__ is str:
            return logic.equals_text(as_step(left), right.value, wanted)
        return logic.equals_scalar(as_step(left), right.value, wanted)
    make = logic.equality if wanted else logic.inequality
    return make(as_step(left), as_step(right))
