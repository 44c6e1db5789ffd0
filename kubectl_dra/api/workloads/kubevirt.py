"""What KubeVirt's virtual machines certainly request of the node, beside their claims.

Upstream: kubevirt/kubevirt, pkg/virt-controller/services/renderresources.go (WithMemoryRequests, WithHugePages,
WithCPUPinning). What it adds for itself is left out, and shares of processors, whose number its configuration says.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from kubectl_dra.api.trees import Tree, at, mapping, number_of, text_at

_MEMORY: Final = "memory"
_CPU: Final = "cpu"
_RESOURCES: Final = "domain.resources"
#: More than any machine has, and not so many that their product can't be written.
_MOST: Final = 10**6


def amounts(machine: Tree) -> Iterator[tuple[str, str, str]]:
    """Of the spec of an instance: resources, how much of each, and the field that says so, below that spec.

    Memory by the default of memoryOvercommit: as much as the guest has.
    """
    yield from _memory(machine)
    stated, cpu = _stated(machine, _CPU), at(machine, "domain.cpu")
    if cpu.get("dedicatedCpuPlacement") is True and cpu.keys() & {"sockets", "cores", "threads"}:
        numbers = (number_of(cpu.get(name), 1) or 1 for name in ("sockets", "cores", "threads"))
        processors = prod(min(number, _MOST) for number in numbers)
        yield _CPU, str(processors), "domain.cpu.cores"
    elif stated is not None:
        yield (_CPU, *stated)


def _memory(machine: Tree) -> Iterator[tuple[str, str, str]]:
    memory = at(machine, "domain.memory")
    stated, guest = _stated(machine, _MEMORY), text_at(memory, "guest")
    size = text_at(mapping(memory.get("hugepages")), "pageSize")
    of_guest = (guest, "domain.memory.guest") if guest else None
    # Of what is requested beyond the guest's memory there are no huge pages.
    found = (of_guest or stated) if size else (stated or of_guest)
    if found is not None:
        yield (f"hugepages-{size}" if size else _MEMORY, *found)


def _stated(machine: Tree, name: str) -> tuple[str, str] | None:
    """What a machine requests itself; a limit without a request is one."""
    for field in ("requests", "limits"):
        value = at(machine, f"{_RESOURCES}.{field}").get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value:
            return str(value), f"{_RESOURCES}.{field}.{name}"
    return None
