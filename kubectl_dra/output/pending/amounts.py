"""Amounts of node resources in the units that people use: ``only 1 of the 2 requested CPUs free``."""

from __future__ import annotations

from functools import partial
from typing import Final

from kubectl_dra.diagnosis.gates.pod_admission import VERTICAL_AUTOSCALER
from kubectl_dra.diagnosis.records import AddedRequest, NodeShortage, RequestNodes
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.request_parts import INIT, OF_POD
from kubectl_dra.output.pending.pods_there import most_of
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import article

_BYTES: Final = ("memory", "ephemeral-storage")
_GIB: Final = 1 << 30
_MIB: Final = 1 << 20
#: How many milli-cores are one of what they are counted in.
_UNIT: Final = {"cpu": 1000}
_NOTHING: Final = Safe("")


def shortage_text(shortage: NodeShortage) -> Safe:
    """``no pod slots left``, ``only 1 of the 2 requested CPUs free (in use by ml/nb: 3)``."""
    free, users = max(shortage.allocatable - shortage.used, 0), in_use_by(shortage)
    origin = _origin(shortage)
    said = Safe("; ").join(filter(None, (_largest(shortage, Safe("requested ")), origin, users)))
    beside = fmt(" ({})", said) if said else said
    if shortage.resource == "pods":
        return fmt("no pod slots left{}", beside)
    one, noun = _nouns(shortage.resource)
    want, most = _held(shortage.resource, shortage.requested), _largest(shortage)
    asked = Safe(", ").join(filter(None, (fmt("{} requested{}", want, most), origin)))
    if not shortage.allocatable:
        return fmt("no {} at all ({})", one, asked)
    if shortage.allocatable < shortage.requested:
        unit = one if shortage.allocatable == _UNIT.get(shortage.resource) else noun
        there = _held(shortage.resource, shortage.allocatable)
        return fmt("only {} {} in all ({})", there, unit, asked)
    if not free:
        return fmt("no free {} ({}{})", one, asked, fmt("; {}", users) if users else users)
    unit = one if shortage.requested == _UNIT.get(shortage.resource) else noun
    if shortage.others_less:
        return fmt(
            "at most {} of the {} requested {} free ({})", _held(shortage.resource, free), want, unit, shortage.node
        )
    return fmt("only {} of the {} requested {} free{}", _held(shortage.resource, free), want, unit, beside)


def _nouns(resource: str) -> tuple[Safe, Safe]:
    """What one, and what several of a resource are called."""
    return (Safe("CPU"), Safe("CPUs")) if resource == "cpu" else (safe(resource), safe(resource))


def _origin(shortage: NodeShortage) -> Safe:
    """What of it nobody wrote into the pod: ``2 of them the overhead of RuntimeClass kata``; empty for none."""
    return Safe(", ").join(_added(shortage, each) for each in shortage.added)


def _largest(shortage: NodeShortage, verb: Safe = _NOTHING) -> Safe:
    """`` by init container fetch``, ``, 40 of them by container main``: whose request makes the sum; empty for none.

    ``verb``: where nothing stands before it that says that it is requested.
    """
    found = shortage.largest
    of_default = {each.container for each in shortage.added if each.container}
    if found is None or not found.amount or found.container in of_default:
        return _NOTHING
    kind = Safe("init container" if found.field == INIT else "container")
    who = Safe("the pod's own spec.resources") if found.field == OF_POD else fmt("{} {}", kind, found.container)
    if found.amount == shortage.requested:
        return fmt("{}by {}", verb or Safe(" "), who)
    of = Safe("of them" if shortage.resource == "cpu" else "of it")
    return fmt(
        "{}{} {} {}by {}", _NOTHING if verb else Safe(", "), _held(shortage.resource, found.amount), of, verb, who
    )


def _added(shortage: NodeShortage, added: AddedRequest) -> Safe:
    object_ = fmt("{} {}", added.kind, added.name) if added.name else fmt("a {}", added.kind)
    whole = added.amount == shortage.requested
    of = Safe("of them" if shortage.resource == "cpu" else "of it")
    lead = Safe("") if whole else fmt("{} {} ", _held(shortage.resource, added.amount), of)
    if not added.container:
        return fmt("{}the overhead of {}", lead, object_)
    if added.kind == VERTICAL_AUTOSCALER:
        return fmt("{}set by {} for container {}", lead, object_, added.container)
    return fmt("{}the default of {}, as container {} requests none", lead, object_, added.container)


def in_use_by(shortage: NodeShortage) -> Safe:
    """Who has what a node lacks, where that is known."""
    held = most_of(shortage.by, partial(_held, shortage.resource), shortage.used)
    return fmt("in use by {}", held) if held else Safe("")


def free_amount(resource: str, number: int) -> Safe:
    """``60 free CPUs``, ``512Gi of free memory``: what a node has to have left; ``free cpu`` where that is unknown."""
    if not number:
        return fmt("free {}", resource)
    one, noun = _nouns(resource)
    many = one if number == _UNIT.get(resource) else noun
    return fmt("{} {}free {}", _held(resource, number), Safe("of " if resource in _BYTES else ""), many)


def part_of(resource: str, there: int, wanted: int) -> Safe:
    """``2 of the 4 CPUs``, ``8Gi of the 16Gi of memory``, ``0 of the 1 pods``."""
    of_it = fmt("of {}", resource) if resource in _BYTES else _nouns(resource)[1]
    return fmt("{} of the {} {}", _held(resource, there), _held(resource, wanted), of_it)


def _held(resource: str, number: int) -> Safe:
    return _cores(number) if resource == "cpu" else _amount(resource, number)


def amount_phrase(request: RequestNodes, *, free: bool = False) -> Safe:
    """``4 free gpu.example.com devices``, ``a rdma device``: what one request needs on a node."""
    word, kind = Safe("free ") if free else Safe(""), request.device_class
    if request.all_devices:
        return fmt("all {} devices", kind)
    if request.needed > 1:
        return fmt("{} {}{} devices", request.needed, word, kind)
    return fmt("{} {}{} device", article(word or kind), word, kind)


def _cores(milli: int) -> Safe:
    return Safe(f"{milli / 1000:g}")


def _amount(resource: str, number: int) -> Safe:
    if resource not in _BYTES and not resource.startswith("hugepages-"):
        return Safe(f"{number:,}")
    for unit, size in (("Gi", _GIB), ("Mi", _MIB)):
        if number >= size:
            return Safe(f"{round(number / size, 1):g}{unit}")
    return Safe(str(Quantity(number, format="BinarySI")))
