"""What fits at a place of the command line: commands, flags, values of flags, TYPE and NAME words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import click

from kubectl_dra.commands.app import COMMANDS
from kubectl_dra.commands.completion import Completions, Directive, NextWord
from kubectl_dra.commands.completion.arguments import ARGUMENTS, selector
from kubectl_dra.commands.completion.columns import sort_columns
from kubectl_dra.commands.completion.line import TypedLine, long_name
from kubectl_dra.commands.completion.names import (
    Tables,
    Values,
    configured,
    devices,
    drivers,
    fitting,
    named,
    pools,
)


def answer(line: TypedLine, tables: Callable[[], Tables]) -> Completions:
    """The candidates for ``line``; ``tables`` is opened only where names are needed."""
    if line.option is not None:
        return _option_values(line, line.option, tables)
    if line.current.startswith("-") and not line.ended:
        return Completions(_flags(line))
    if not line.in_command:
        return Completions(
            [NextWord(name, text) for name, (_, text) in COMMANDS.items() if name.startswith(line.current)]
        )
    if isinstance(choice := _argument(line), click.Choice):
        return Completions(fitting(line, ((name, "") for name in choice.choices))) if not line.words else Completions()
    values = ARGUMENTS.get(line.command.name or "")
    return values(line, tables()) if values is not None else Completions()


def _argument(line: TypedLine) -> click.ParamType[Any] | None:
    """The type of the command's first argument."""
    return next((each.type for each in line.command.params if isinstance(each, click.Argument)), None)


def _flags(line: TypedLine) -> list[NextWord]:
    """Flags that may still come, with their help; one-letter names only while nothing else is typed."""
    found: list[NextWord] = []
    for option in line.options():
        if option.hidden or (long_name(option) in line.values and not option.multiple):
            continue
        names = [name for name in option.opts if name.startswith("--") or line.current == "-"]
        found += [NextWord(name, option.help or "") for name in names if name.startswith(line.current)]
    return found


def _option_values(line: TypedLine, option: click.Option, tables: Callable[[], Tables]) -> Completions:
    """What the declaration itself knows (choices, formats), else what its name or its metavar stands for."""
    context = click.Context(line.command, resilient_parsing=True)
    declared = option.shell_complete(context, line.current)
    if declared:
        return Completions([NextWord(item.value, item.help or "") for item in declared])
    values = _OPTIONS.get(long_name(option)) or _METAVARS.get(option.metavar or "")
    return values(line, tables()) if values is not None else Completions()


# --- values of options ----------------------------------------------------------------------------------------------


def _files(_line: TypedLine, _tables: Tables) -> Completions:
    return Completions([], Directive.DEFAULT)


def _sources(line: TypedLine, _tables: Tables) -> Completions:
    return Completions(fitting(line, [("demo", "the built-in demo cluster")]), Directive.DEFAULT)


def _group_sources(line: TypedLine, _tables: Tables) -> Completions:
    return Completions(fitting(line, [("cluster", "the groups of the nodes that are there")]), Directive.DEFAULT)


def _gates(line: TypedLine, _tables: Tables) -> Completions:
    from kubectl_dra.model.features import known_gates

    return Completions(
        fitting(line, ((f"{gate}={value}", "") for gate in known_gates() for value in ("true", "false")))
    )


_LIKE: Final = "like="


def _after(prefix: str, values: Values, end: str = "") -> Values:
    """The same behind a prefix that the value begins with; ``end`` stands behind each."""

    def found(line: TypedLine, tables: Tables) -> Completions:
        if not line.current.startswith(prefix):
            return Completions(fitting(line, [(prefix, "")]), Directive.NO_FILES | Directive.NO_SPACE)
        rest = dataclasses.replace(line, current=line.current.removeprefix(prefix))
        answer = values(rest, tables)
        candidates = [NextWord(f"{prefix}{each.value}{end}", each.description) for each in answer.candidates]
        return Completions(candidates, answer.directive | (Directive.NO_SPACE if end else Directive.NO_FILES))

    return found


def _targets(line: TypedLine, tables: Tables) -> Completions:
    return devices(line, tables) if "/" in line.current else named("nodes", 1)(line, tables)


_OPTIONS: Final[Mapping[str, Values]] = MappingProxyType(
    {
        "--namespace": named("namespaces"),
        "--context": configured("get-contexts", "--output=name"),
        "--cluster": configured("get-clusters"),
        "--user": configured("get-users"),
        "--node": named("nodes", 1),
        "--class": named("deviceclasses.resource.k8s.io"),
        "--driver": drivers,
        "--sort-by": sort_columns,
        "--remove-node": named("nodes", 1),
        "--drain": named("nodes", 1),
        "--add-node": _after(_LIKE, named("nodes", 1)),
        "--add-devices": _after(_LIKE, devices),
        "--taint": _after("", _targets, ","),
        "--untaint": _after("", _targets, ","),
    }
)
_METAVARS: Final[Mapping[str, Values]] = MappingProxyType(
    {
        "FILE": _files,
        "FILE|cluster": _group_sources,
        "DIR": _files,
        "FILE|-|demo": _sources,
        "GATE=BOOL": _gates,
        "[DRIVER/]POOL": pools,
        "DRIVER/POOL/DEVICE": devices,
        "EXPR": selector,
    }
)
