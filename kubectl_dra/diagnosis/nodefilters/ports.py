"""NodePorts: host ports that are taken.

Upstream: plugins/nodeports and HostPortInfo.CheckConflict. 0.0.0.0 collides with every address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.model.requests import HostPort

TEXT: Final = "node(s) didn't have free ports for the requested pod ports"
ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - the wildcard of the API, nothing is bound


def conflicts(wanted: Iterable[HostPort], taken: frozenset[HostPort]) -> Iterator[HostPort]:
    """Those of ``wanted`` that can't be had."""
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
