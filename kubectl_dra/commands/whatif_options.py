"""The switches of a what-if: what simulate, why-pending and capacity suppose of the cluster."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from kubectl_dra.commands.errors import CommandError, UsageProblem
from kubectl_dra.commands.options import Options
from kubectl_dra.commands.suggest import did_you_mean
from kubectl_dra.reports.invocations import try_dra, try_kubectl

if TYPE_CHECKING:
    # Help should not pay for the model.
    from kubectl_dra.cluster import ClusterState
    from kubectl_dra.diagnosis.whatif import Switch, WhatIf

_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_DEVICE_EFFECTS: Final = ("NoSchedule", "NoExecute")
_MOST: Final = 1000
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
        return function(*args, switches=read_switches(given) if any(given.values()) else (), **values)

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


def read_switches(given: Mapping[str, Iterable[str]]) -> tuple[Switch, ...]:
    """The switches that the options say. Raises a usage error."""
    from kubectl_dra.diagnosis import whatif

    found: list[Switch] = []
    for text in given["add_nodes"]:
        like, count, free = _like(text, "--add-node", "like=NODE[,count=N][,free]", flags=("free",))
        found.append(whatif.AddNode(like, count, free))
    found += (whatif.RemoveNode(name) for name in given["remove_nodes"])
    found += (whatif.Drain(name) for name in given["drains"])
    for text in given["add_devices"]:
        like, count, _ = _like(text, "--add-devices", "like=DRIVER/POOL/DEVICE[,count=N]")
        found.append(whatif.MoreDevices(like, count))
    found += (whatif.AddTaint(*_taint(text)) for text in given["taints"])
    found += (whatif.EndTaint(*_end(text)) for text in given["untaints"])
    return tuple(found)


def _like(text: str, option: str, form: str, flags: tuple[str, ...] = ()) -> tuple[str, int, bool]:
    like, count, free = "", 1, False
    for part in text.split(","):
        name, _, value = part.partition("=")
        if part in flags:
            free = True
        elif name == "like" and value:
            like = value
        elif name == "count" and value.isascii() and value.isdecimal() and 0 < int(value[:9]) <= _MOST:
            count = int(value)
        elif name == "count":
            raise UsageProblem(f'"{value}" is not a number from 1 to {_MOST}', f"{option} {form}")
        else:
            raise UsageProblem(f'"{part}" is not a part of {option}', f"{option} {form}")
    if not like:
        raise UsageProblem(f"{option} does not say what the new ones are like", f"{option} {form}")
    return like, count, free


def _taint(text: str) -> tuple[str, str, str, str]:
    target, _, taint = text.partition(",")
    pair, _, effect = taint.rpartition(":")
    key, _, value = pair.partition("=")
    effects = _DEVICE_EFFECTS if "/" in target else _EFFECTS
    if not (target and key and effect in effects):
        what = f'"{text}" is not a taint'
        raise UsageProblem(what, f"--taint TARGET,KEY[=VALUE]:EFFECT with the effect {' or '.join(effects)}")
    return target, key, value, effect


def _end(text: str) -> tuple[str, str, str]:
    target, _, taint = text.partition(",")
    key, _, effect = taint.partition(":")
    if not (target and key and effect in ("", *_EFFECTS)):
        raise UsageProblem(f'"{text}" does not name a taint', "--untaint TARGET,KEY[:EFFECT]")
    return target, key.partition("=")[0], effect


def kinds_demanded(switches: Iterable[Switch]) -> tuple[str, ...]:
    """The kinds that decide where displaced pods go, whatever waits in the cluster."""
    from kubectl_dra.diagnosis import needs

    return needs.kinds((*needs.STORAGE, *needs.PRIORITY)) if _displacing(switches) else ()


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


def supposed(world: ClusterState, switches: tuple[Switch, ...]) -> tuple[ClusterState, WhatIf | None]:
    """The cluster with the switches. Raises an error that names what is not there."""
    if not switches:
        return world, None
    from kubectl_dra.diagnosis.whatif import what_if

    with told(world):
        return what_if(world, switches)


@contextmanager
def told(world: ClusterState) -> Iterator[None]:
    """What a switch names and is not there becomes an error for people."""
    from kubectl_dra.diagnosis.whatif import WhatIfError

    try:
        yield
    except WhatIfError as error:
        complete = world.evidence.complete("Node" if error.kind == "node" else "ResourceSlice")
        unsure = "" if complete else ", but not all of them could be read"
        hint = try_kubectl("get", "nodes") if error.kind == "node" else try_dra("get", "devices")
        what = f'{error.kind}s "{error.name}" not found{unsure}{did_you_mean(error.name, error.known)}'
        raise CommandError(what, hint) from error
