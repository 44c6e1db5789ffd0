"""NodePorts: host ports that are taken.

Upstream: plugins/nodeports and HostPortInfo.CheckConflict. 0.0.0.0 collides with every address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import ClassVar, Final

import msgspec

from kubectl_dra.model.podinfo import PodShape
from kubectl_dra.model.requests import HostPort, host_ports
from kubectl_dra.scheduler import kinds
from kubectl_dra.scheduler.framework import PASS, Cycle, Plugin, PodsMatter, PreFilterResult
from kubectl_dra.scheduler.snapshot import NodeInfo
from kubectl_dra.scheduler.status import SKIP, SUCCESS, Status, unschedulable

TEXT: Final = "node(s) didn't have free ports for the requested pod ports"
ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - the wildcard of the API, nothing is bound
_READING: Final = kinds.Reading(kinds.of_usage, "ports", lambda nodes: [frozenset(node.usage.ports) for node in nodes])


def conflicts(wanted: Iterable[HostPort], taken: AbstractSet[HostPort]) -> Iterator[HostPort]:
    for address, protocol, port in wanted:
        if address == ANY_ADDRESS:
            hit = any((p, n) == (protocol, port) for _, p, n in taken)
        else:
            hit = (address, protocol, port) in taken or (ANY_ADDRESS, protocol, port) in taken
        if hit:
            yield address, protocol, port


def port_text(port: HostPort) -> str:
    """``IP:PORT/PROTOCOL``."""
    return f"{port[0]}:{port[2]}/{port[1]}"


class _HostPorts(msgspec.Struct, frozen=True):
    ports: tuple[HostPort, ...]


class NodePorts(Plugin):
    """``hostPort`` of containers and sidecars."""

    name: ClassVar[str] = "NodePorts"
    pods: ClassVar[PodsMatter] = PodsMatter.FEWER_IS_BETTER

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Few pods ask for host ports."""
        ports = tuple(host_ports(cycle.pod))
        if not ports:
            return PreFilterResult(SKIP)
        cycle.write(_HostPorts(ports))
        return PASS

    def reads(self, cycle: Cycle) -> kinds.Reading:
        return _READING

    def filter(self, cycle: Cycle, node: NodeInfo) -> Status:
        taken = tuple(conflicts(cycle.read(_HostPorts).ports, node.usage.ports))
        return unschedulable(TEXT, detail=taken) if taken else SUCCESS

    def minds(self, cycle: Cycle, shape: PodShape) -> bool:
        return bool(shape.ports)
