"""The switches of a what-if: what simulate, why-pending and capacity suppose of the cluster."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options

if TYPE_CHECKING:
    # Help should not pay for the model.
    from kubectl_dra.cluster import ClusterState
    from kubectl_dra.diagnosis.pod.workloads import ReadOwner
    from kubectl_dra.diagnosis.whatif import Switch, WhatIf

_OPTIONS: Final = (
    click.option(
        "--add-node",
        "add_nodes",
        multiple=True,
        metavar="like=NODE[,count=N][,free]",
        help="Suppose N more nodes like NODE, with its devices; free: untainted and without DaemonSet pods.",
    ),
    click.option("--remove-node", "remove_nodes", multiple=True, metavar="NODE", help="Suppose NODE is gone."),
    click.option(
        "--drain",
        "drains",
        multiple=True,
        metavar="NODE",
        help="Suppose NODE is drained; shows where its pods would go.",
    ),
    click.option(
        "--add-devices",
        multiple=True,
        metavar="like=DEVICE[,count=N]",
        help="Suppose N more devices like DRIVER/POOL/DEVICE.",
    ),
    click.option(
        "--taint",
        "taints",
        multiple=True,
        metavar="TARGET,KEY[=VALUE]:EFFECT",
        help="Suppose a taint on a node, on DRIVER/POOL or on DRIVER/POOL/DEVICE.",
    ),
    click.option(
        "--untaint", "untaints", multiple=True, metavar="TARGET,KEY[:EFFECT]", help="Suppose such taints are gone."
    ),
)
_NAMES: Final = ("add_nodes", "remove_nodes", "drains", "add_devices", "taints", "untaints")


def whatif_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the switches to a command; it gets them as one tuple ``switches``."""

    @functools.wraps(function)
    def called(*args: Any, **values: Any) -> Any:  # noqa: ANN401 - what the command returns
        given = {name: values.pop(name) for name in _NAMES}
        return function(*args, switches=_read(given) if any(given.values()) else (), **values)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


def _read(given: Mapping[str, Iterable[str]]) -> tuple[Switch, ...]:
    from kubectl_dra.reports.switches import SwitchError, read_switches

    try:
        return read_switches(given)
    except SwitchError as error:
        raise UsageProblem(error.what, error.hint) from error


def kinds_demanded(switches: Iterable[Switch]) -> tuple[str, ...]:
    """The kinds that decide where displaced pods go, whatever waits in the cluster."""
    from kubectl_dra.diagnosis.pod import needs

    return needs.kinds((*needs.STORAGE, *needs.PRIORITY, *needs.SPREADING)) if _displacing(switches) else ()


def kinds_everywhere(switches: Iterable[Switch]) -> tuple[str, ...]:
    """The kinds that matter in all namespaces: displaced pods get claims anew, and these keep them apart.

    ReplicaSets, of which there are far more, are told by the hash that Deployments give their pods.
    """
    apart = ("Service", "StatefulSet", "ReplicationController")
    return ("ResourceClaimTemplate", "ResourceQuota", *apart) if _displacing(switches) else ()


def whole_nodes(switches: Iterable[Switch]) -> frozenset[str]:
    """The nodes of which every pod has to be known."""
    return frozenset(name for switch in switches for name in (getattr(switch, "node", ""), getattr(switch, "like", "")))


def check_watch(options: Options, switches: tuple[Switch, ...]) -> None:
    """Raise a usage error for ``-w``: it follows the cluster as it is."""
    if options.watch and switches:
        what = "-w follows the cluster as it is; it cannot be combined with what-if switches"
        raise UsageProblem(what, "leave out -w")


def _displacing(switches: Iterable[Switch]) -> bool:
    from kubectl_dra.diagnosis.whatif import AddTaint, Drain, RemoveNode

    return any(isinstance(switch, Drain | RemoveNode | AddTaint) for switch in switches)


def supposed(
    state: ClusterState, switches: tuple[Switch, ...], read_owner: ReadOwner | None = None
) -> tuple[ClusterState, WhatIf | None]:
    """The cluster with the switches. Raises an error that names what is not there.

    ``read_owner`` gets controllers of displaced pods, where these decide between nodes.
    """
    if not switches:
        return state, None
    from kubectl_dra.diagnosis.whatif import what_if

    with told(state):
        return what_if(state, switches, read_owner)


@contextmanager
def told(state: ClusterState) -> Iterator[None]:
    """What a switch names and is not there becomes an error for people."""
    from kubectl_dra.api.kinds import NODE
    from kubectl_dra.commands.shared.not_found import object_not_found, published_not_found
    from kubectl_dra.diagnosis.whatif import WhatIfError

    try:
        yield
    except WhatIfError as error:
        name, known, evidence = error.name, error.known, state.evidence
        if error.kind == "node":
            raise object_not_found(NODE, name, known, evidence) from error
        raise published_not_found("device", name, known, evidence) from error
