"""Amounts of node resources in the units that people use: ``only 1 of the 2 requested CPUs free``."""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis.records import NodeShortage, RequestNodes
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import article, shortened

_BYTES: Final = ("memory", "ephemeral-storage")
_USERS: Final = 3
_GIB: Final = 1 << 30
_MIB: Final = 1 << 20


def shortage_text(shortage: NodeShortage) -> Safe:
    """``no pod slots left``, ``only 1 of the 2 CPUs that the pod requests``."""
    free = max(shortage.allocatable - shortage.used, 0)
    if shortage.resource == "pods":
        return Safe("no pod slots left")
    if shortage.resource == "cpu":
        noun = Safe("CPU" if shortage.requested == 1000 else "CPUs")
        if shortage.allocatable < shortage.requested:
            unit = Safe("CPU" if shortage.allocatable == 1000 else "CPUs")
            return fmt(
                "only {} {} in all ({} requested)", _cores(shortage.allocatable), unit, _cores(shortage.requested)
            )
        if not free:
            return fmt("no free CPU ({} requested)", _cores(shortage.requested))
        return fmt("only {} of the {} requested {} free", _cores(free), _cores(shortage.requested), noun)
    if not shortage.allocatable:
        return fmt("no {} at all ({} requested)", shortage.resource, _amount(shortage.resource, shortage.requested))
    if shortage.allocatable < shortage.requested:
        have, want = (_amount(shortage.resource, number) for number in (shortage.allocatable, shortage.requested))
        return fmt("only {} {} in all ({} requested)", have, shortage.resource, want)
    users = in_use_by(shortage)
    if not free:
        noted = fmt("; {}", users) if users else users
        want = _amount(shortage.resource, shortage.requested)
        return fmt("no free {} ({} requested{})", shortage.resource, want, noted)
    have, want = (_amount(shortage.resource, number) for number in (free, shortage.requested))
    noted = fmt(" ({})", users) if users else users
    return fmt("only {} of the {} requested {} free{}", have, want, shortage.resource, noted)


def in_use_by(shortage: NodeShortage) -> Safe:
    """Who has what a node lacks, where that is known."""
    return fmt("in use by {}", shortened(shortage.users, _USERS)) if shortage.users else Safe("")


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
