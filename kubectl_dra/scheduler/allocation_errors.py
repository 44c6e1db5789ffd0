"""The scheduler's literal texts for the allocator's typed errors.

Upstream: the format strings of the structured allocator, of component-helpers' node affinity and of apimachinery's
field errors and label validation (1.37). Nothing is decided here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kubectl_dra.allocation import errors as e
from kubectl_dra.allocation.checks.requests import MAX_RESULTS
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.model.gotext import quote
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.names import label_key, label_value
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, DeviceAttribute

CANNOT_ALLOCATE: Final = "cannot allocate all claims"
INVALID_POOLS: Final = "invalid resource pools were encountered"
_NAMES_DEVICE_SINCE: Final = 37
_NAMES_REQUEST_SINCE: Final = 37
_KEY_HINT: Final = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() "
    "for optional fields"
)


def allocation_error(error: e.AllocationError, minor: int = NEWEST_MINOR) -> str:
    """The text with which the allocator of Kubernetes 1.``minor`` ends the attempt."""
    match error:
        case e.SelectorFailed() if minor < _NAMES_DEVICE_SINCE:
            return f"{_owner(error)}: selector #{error.selector}: CEL runtime error: {error.detail}"
        case e.TooManyDevices() if minor < _NAMES_REQUEST_SINCE:
            limit = f"exceeds the claim limit of {MAX_RESULTS}"
            return f"claim {error.claim}: number of requested devices {error.adding} {limit}"
    render: Callable[[Any], str] = _RENDERERS[type(error)]
    return render(error)


# --- requests -------------------------------------------------------------------------------------------------------


def _at(error: e.RequestError) -> str:
    return f"claim {error.claim}, request {error.request}"


def _capacity_disabled(error: e.CapacityRequestsDisabled) -> str:
    kind = "subrequest" if error.is_subrequest else "request"
    feature = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
    return f"claim {error.claim}, {kind} {error.request}: {feature}"


def _class_not_found(error: e.DeviceClassNotFound) -> str:
    reason = f"deviceclass.resource.k8s.io {quote(error.device_class)} not found"
    return f"{_at(error)}: could not retrieve device class {error.device_class}: {reason}"


def _pool_not_usable(error: e.PoolNotUsableForAll) -> str:
    state = "being updated" if error.incomplete else "invalid"
    return f"{_at(error)}: asks for all devices, but resource pool {error.pool} is currently {state}"


def _too_many(error: e.TooManyDevices) -> str:
    limit = f"exceeds the claim limit of {MAX_RESULTS}, with {error.accounted_for} already accounted for"
    return f"{_at(error)}: adding {error.adding} devices {limit}"


def _constraint_refuses(error: e.ConstraintRefusesAll) -> str:
    return f"{_at(error)}: cannot add device {error.device} because a claim constraint would not be satisfied"


_CAPACITY_FAULTS: Final[Mapping[e.CapacityFault, str]] = {
    e.CapacityFault.NOT_MILLI: "request {} is not a representable milli value",
    e.CapacityFault.MILLI_OVERFLOW: "rounding request {} up to the next step passes the milli-value range",
    e.CapacityFault.EXCEEDS_INT64: "request {} exceeds MaxInt64",
    e.CapacityFault.INT64_OVERFLOW: "rounding request {} up to the next step passes MaxInt64",
}


def _capacity(error: e.CapacityNotComputable) -> str:
    if error.fault is e.CapacityFault.NEGATIVE:
        reason = "capacity value is negative"
    else:
        detail = _CAPACITY_FAULTS[error.fault].format(error.amount)
        reason = f"capacity request cannot be represented in the device's range arithmetic: {detail}"
    device = error.device.device if error.enumerating else error.device
    return f"{_at(error)}: checking capacity for device {device}: capacity {quote(error.capacity)}: {reason}"


# --- CEL ------------------------------------------------------------------------------------------------------------


def _owner(error: e.SelectorNotCompiled | e.SelectorFailed) -> str:
    return f"claim {error.claim}" if error.device_class is None else f"class {error.device_class}"


def _selector_failed(error: e.SelectorFailed) -> str:
    where = f"{_owner(error)}: selector #{error.selector} on device {error.device}"
    return f"{where}: CEL runtime error: {runtime_error(error.detail)}"


def runtime_error(detail: str) -> str:
    """A selector's run-time error with the hint that the scheduler adds to missing keys."""
    return detail + _KEY_HINT if "no such key:" in detail else detail


# --- node selectors -------------------------------------------------------------------------------------------------


def selector_problems(error: e.NodeSelectorUnparsable) -> str:
    """What is wrong with a node selector, as an aggregate of field errors says it."""
    problems = list(dict.fromkeys(map(_problem, error.problems)))
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def _unparsable(error: e.NodeSelectorUnparsable) -> str:
    text = f"failed to parse node selector {dump_selector(error.selector)}: {selector_problems(error)}"
    if error.slice_name is None:
        return text
    where = f"slice {error.slice_name}"
    if error.device is not None:
        where = f"device {_dump_device(error.device)} in {where}"
    return f"gather pool information: failed to perform node selection for {where}: {text}"


def _problem(problem: e.SelectorProblem) -> str:
    path = f"nodeSelectorTerms[{problem.term}].{problem.part}[{problem.index}]"
    return path + _FAULTS[problem.fault](problem)


def _invalid(field: str, problem: e.SelectorProblem, detail: str) -> str:
    value = problem.value
    shown = quote(value) if isinstance(value, str) else _json(value or None)
    return f".{field}: Invalid value: {shown}: {detail}"


def _unsupported_operator(problem: e.SelectorProblem) -> str:
    label = problem.part == "matchExpressions"
    operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt") if label else ("In", "NotIn")
    supported = ", ".join(map(quote, operators))
    return f".operator: Unsupported value: {quote(str(problem.value))}: supported values: {supported}"


_FAULTS: Final[Mapping[e.SelectorFault, Callable[[e.SelectorProblem], str]]] = {
    e.SelectorFault.OPERATOR: _unsupported_operator,
    e.SelectorFault.KEY: lambda p: _invalid("key", p, "; ".join(label_key(str(p.value)))),
    e.SelectorFault.VALUES_MISSING: lambda p: _invalid(
        "values", p, "for 'in', 'notin' operators, values set can't be empty"
    ),
    e.SelectorFault.VALUES_UNWANTED: lambda p: _invalid(
        "values", p, "values set must be empty for exists and does not exist"
    ),
    e.SelectorFault.ONE_INTEGER: lambda p: _invalid(
        "values", p, "for 'Gt', 'Lt' operators, exactly one value is required"
    ),
    e.SelectorFault.NOT_INTEGER: lambda p: _invalid(
        f"values[{p.value_index}]", p, "for 'Gt', 'Lt' operators, the value must be an integer"
    ),
    e.SelectorFault.LABEL_VALUE: lambda p: _invalid(
        f"values[{p.value_index}][{p.key}]", p, "; ".join(label_value(str(p.value)))
    ),
    e.SelectorFault.ONE_VALUE: lambda p: _invalid("values", p, "must have one element"),
}


# --- Go's way of printing -------------------------------------------------------------------------------------------


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _list(values: Iterable[str]) -> str:
    return f"[{' '.join(values)}]"


def dump_selector(selector: NodeSelector) -> str:
    """A node selector as Go's generated String prints it."""
    terms = "".join(f"{_dump_term(term)}," for term in selector.node_selector_terms)
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _dump_term(term: NodeSelectorTerm) -> str:
    expressions = "".join(map(_dump_requirement, term.match_expressions))
    fields = "".join(map(_dump_requirement, term.match_fields))
    kind = "[]NodeSelectorRequirement"
    return f"NodeSelectorTerm{{MatchExpressions:{kind}{{{expressions}}},MatchFields:{kind}{{{fields}}},}}"


def _dump_requirement(requirement: NodeSelectorRequirement) -> str:
    values = _list(requirement.values)
    return f"NodeSelectorRequirement{{Key:{requirement.key},Operator:{requirement.operator},Values:{values},}},"


def _dump_device(device: Device) -> str:
    """A device as Go's generated String prints it; pointers inside attributes are shown by their values instead."""
    selector = "nil" if device.node_selector is None else dump_selector(device.node_selector)
    parts = {
        "Name": device.name,
        "Attributes": _dump_map("QualifiedName]DeviceAttribute", device.attributes, _dump_attribute),
        "Capacity": _dump_map(
            "QualifiedName]DeviceCapacity", device.capacity, lambda c: f"{{{_dump_quantity(c.value)}}}"
        ),
        "ConsumesCounters": "[]DeviceCounterConsumption{"
        + "".join(map(_dump_consumption, device.consumes_counters))
        + "}",
        "NodeName": _pointer(device.node_name),
        "NodeSelector": selector.replace("NodeSelector", "v11.NodeSelector", 1),
        "AllNodes": _pointer(device.all_nodes),
        "Taints": "[]DeviceTaint{"
        + "".join(f"{{{taint.key} {taint.value} {taint.effect} <nil>}}," for taint in device.taints)
        + "}",
        "BindsToNode": _pointer(device.binds_to_node),
        "BindingConditions": _list(device.binding_conditions or ()),
        "BindingFailureConditions": _list(device.binding_failure_conditions or ()),
        "AllowMultipleAllocations": _pointer(device.allow_multiple_allocations),
        "NodeAllocatableResources": "map[k8s_io_api_core_v1.ResourceName]NodeAllocatableResource{}",
    }
    return "&Device{" + "".join(f"{name}:{value}," for name, value in parts.items()) + "}"


def _dump_map(kind: str, values: Mapping[str, Any], dump: Callable[[Any], str]) -> str:
    return f"map[{kind}{{" + "".join(f"{key}: {dump(values[key])}," for key in sorted(values)) + "}"


def _dump_attribute(attribute: DeviceAttribute) -> str:
    scalars = (attribute.int_value, attribute.bool_value, attribute.string, attribute.version)
    lists = (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    shown = ["<nil>" if value is None else _go(value) for value in scalars]
    return "{" + " ".join([*shown, *(_list(map(_go, values or ())) for values in lists)]) + "}"


def _dump_quantity(quantity: Quantity) -> str:
    kept = quantity.text or ""
    return f"{{{{{quantity.unscaled} {quantity.scale}}} {{<nil>}} {kept} {quantity.format}}} <nil>"


def _dump_consumption(consumption: Any) -> str:  # noqa: ANN401
    counters = _dump_map("string]Counter", consumption.counters, lambda c: f"{{{_dump_quantity(c.value)}}}")
    groups = _list(consumption.compatibility_groups)
    kind = "DeviceCounterConsumption"
    return f"{kind}{{CounterSet:{consumption.counter_set},Counters:{counters},CompatibilityGroups:{groups},}},"


def _pointer(value: object) -> str:
    return "nil" if value is None else f"*{_go(value)}"


def _go(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_RENDERERS: Final[Mapping[type[e.AllocationError], Callable[[Any], str]]] = {
    e.NodeSelectorUnparsable: _unparsable,
    e.SubrequestsDisabled: lambda x: f"{_at(x)}: has subrequests, but the DRAPrioritizedList feature is disabled",
    e.CapacityRequestsDisabled: _capacity_disabled,
    e.DerivedAttributesDisabled: lambda x: (
        f"{_at(x)}: cannot handle request with derived attributes, the feature is disabled"
    ),
    e.UnknownSelectorType: lambda x: (
        f"{_at(x)}, selector #{x.selector}: CEL expression empty (unsupported selector type?)"
    ),
    e.AdminAccessDisabled: lambda x: f"{_at(x)}: admin access is requested, but the feature is disabled",
    e.DeviceClassMissing: lambda x: f"{_at(x)}: missing device class name (unsupported request type?)",
    e.DeviceClassNotFound: _class_not_found,
    e.UnsupportedAllocationMode: lambda x: f"{_at(x)}: unsupported count mode {x.mode}",
    e.PoolNotUsableForAll: _pool_not_usable,
    e.InvalidPoolMet: lambda x: f"pool {x.pool.pool} is invalid: duplicate device name {x.device}",
    e.TooManyDevices: _too_many,
    e.EmptyConstraint: lambda x: (
        f"claim {x.claim}, constraint #{x.constraint}: empty constraint (unsupported constraint type?)"
    ),
    e.SelectorNotCompiled: lambda x: f"{_owner(x)}: selector #{x.selector}: CEL compile error: {x.detail}",
    e.SelectorFailed: _selector_failed,
    e.DerivedAttributeNotCompiled: lambda x: f"compile derived attribute {x.attribute} failed: {x.detail}",
    e.DerivedAttributeFailed: lambda x: (
        f"evaluate derived attribute {x.attribute} on device {x.device} failed: {x.detail}"
    ),
    e.CapacityNotComputable: _capacity,
    e.ConstraintRefusesAll: _constraint_refuses,
    e.UnsupportedNodeSelector: lambda x: (
        f"create NodeSelector for claim {x.claim.name}: unsupported ResourceSlice.NodeSelector with {x.terms} terms"
    ),
}
