"""What is asked of a cluster and of its snapshot, by command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

#: Commands that answer nothing from a cluster, and why nothing is to be compared.
ELSEWHERE: Final[Mapping[str, str]] = {
    "convert": "reads manifests alone",
    "lint": "reads manifests alone",
    "explain": "reads its own pages",
    "completion": "writes a script",
    "version": "tells of the plugin and of the server, which a file has not",
    "tui": "shows the reports that the other commands print",
}
OTHER: Final = "e2e-live-other"
DRIVER: Final = "gpu.example.com"


def calls_of(namespace: str, claims: Sequence[str], manifests: Sequence[Path]) -> Mapping[str, Sequence[Sequence[str]]]:
    """What is asked, by command. ``claims`` are all of this namespace; ``manifests`` also of another one."""
    here, selector = ("-n", namespace), f'device.driver == "{DRIVER}"'
    files = [("-f", str(path)) for path in manifests]
    return {
        "why-pending": [
            ("-A",),
            ("-A", "--remedies"),
            ("pod/pod", *here, "--remedies"),
            ("claim", "-A"),
            ("podgroups", "-A"),
            (*here,),
            ("-n", OTHER),
        ],
        "describe-pool": [(), (f"{DRIVER}/node-1",)],
        "describe-podgroup": [("nothing", *here)],
        "describe-node": [("node-1",)],
        "describe-claim": [(name, *here) for name in claims],
        "test-selector": [(selector,), (selector, "--class", DRIVER)],
        "simulate": [
            *((*file, *more) for file in files for more in ((), ("--remedies",), ("--copies", "3"))),
            *((*file, *here) for file in files[:1]),
            ("--drain", "node-1"),
        ],
        "capacity": [("--class", DRIVER), ("--class", DRIVER, "--count", "2", "-n", OTHER), *files],
        "top": [(), ("nodes",), ("classes",), ("namespaces",), ("pods", "-A")],
        "get": [
            *((what,) for what in ("pools", "devices", "nodes", "classes", "slices", "taints")),
            *((what, "-A") for what in ("claims", "templates", "podgroups")),
            ("devices", "--free"),
            ("devices", "--class", DRIVER, "--node", "node-1"),
            ("claims", *here),
            ("claims", "-A", "--unused"),
        ],
        "taint-device": [("--list",)],
    }
