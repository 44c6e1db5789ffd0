"""What the arguments of each command stand for: TYPE and NAME words, pools, devices, selectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kubectl_dra.commands.completion import Completions, Directive
from kubectl_dra.commands.completion.line import TypedLine
from kubectl_dra.commands.completion.names import Names, Tables, Values, column, devices, fitting, named, pools
from kubectl_dra.commands.completion.selector import selector_candidates


def selector(line: TypedLine, tables: Tables) -> Completions:
    """The ends of a CEL expression."""
    found = selector_candidates(line.current, tables.devices)
    return Completions(found, Directive.NO_FILES | Directive.NO_SPACE)


def _expression(line: TypedLine, tables: Tables) -> Completions:
    return Completions() if line.words or line.value("--filename") else selector(line, tables)


def _pending(line: TypedLine, tables: Tables) -> Completions:
    """TYPE, TYPE NAME…, TYPE/NAME…, or names of pending pods."""
    from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, WORKLOADS, Kind, kind_for_word

    def objects(kind: Kind) -> Names:
        flags = ["--field-selector=status.phase=Pending"] if kind is POD else []
        rows = tables.table(kind.resource, *flags, namespaced=True)
        return column(rows, {POD: 2, RESOURCE_CLAIM: 1}.get(kind, 0))

    def of_type(word: str) -> Names | None:
        kind = kind_for_word(word)
        return objects(kind) if kind in (POD, POD_GROUP, RESOURCE_CLAIM, *WORKLOADS) and kind is not None else None

    types = [POD.singular, POD_GROUP.singular, RESOURCE_CLAIM.short_names[0], *(kind.singular for kind in WORKLOADS)]
    return _typed(line, types, of_type, lambda: objects(POD))


def _get(line: TypedLine, tables: Tables) -> Completions:
    from kubectl_dra.commands.get.query import (
        CLAIMS,
        CLASSES,
        DEVICES,
        NODES,
        POD_GROUPS,
        POOLS,
        SLICES,
        TAINTS,
        TEMPLATES,
        TYPES,
        type_of,
    )

    if len(line.words) == 1 and type_of(line.words[0]) == DEVICES:
        return devices(line, tables)
    if len(line.words) == 1 and type_of(line.words[0]) == POOLS:
        return pools(line, tables)
    resources = {CLAIMS: ("resourceclaims", 1, True), CLASSES: ("deviceclasses", 0, False)}
    resources[TAINTS] = ("devicetaintrules", 1, False)
    resources[SLICES] = ("resourceslices", 1, False)
    resources[TEMPLATES] = ("resourceclaimtemplates", 1, True)
    groups = "podgroups.scheduling.k8s.io"

    def of_type(word: str) -> Names | None:
        if type_of(word) == NODES:
            return column(tables.table("nodes"), 0)
        if type_of(word) == POD_GROUPS:
            return column(tables.table(groups, namespaced=True), 0)
        if type_of(word) not in resources:
            return None
        resource, description, namespaced = resources[type_of(word) or ""]
        return column(tables.table(f"{resource}.resource.k8s.io", namespaced=namespaced), description)

    return _typed(line, [*TYPES], of_type, list)


def _typed(
    line: TypedLine, types: list[str], of_type: Callable[[str], Names | None], of_default: Callable[[], Names]
) -> Completions:
    """Words as kubectl reads them: a first word that is a type is the type of all others."""
    word, slash, _ = line.current.partition("/")
    if slash:
        return Completions(fitting(line, of_type(word) or (), prefix=f"{word}/"))
    if line.words and "/" in line.words[0]:
        return Completions(fitting(line, ((f"{name}/", "") for name in types)), Directive.NO_FILES | Directive.NO_SPACE)
    if line.words:
        names = of_type(line.words[0])
        return Completions(fitting(line, of_default() if names is None else names))
    return Completions([*fitting(line, of_default()), *fitting(line, ((name, "TYPE") for name in types))])


def _taint(line: TypedLine, tables: Tables) -> Completions:
    """Devices, then ``KEY[=VALUE]:EFFECT``, whose effect can be completed."""
    from kubectl_dra.allocation.input.taints import PREVENTING

    key, colon, _ = line.current.partition(":")
    if colon:
        return Completions(fitting(line, ((effect, "") for effect in sorted(PREVENTING)), prefix=f"{key}:"))
    return devices(line, tables) if not line.words or "/" in line.current else Completions()


ARGUMENTS: Final[Mapping[str, Values]] = MappingProxyType(
    {
        "why-pending": _pending,
        "describe-pool": pools,
        "describe-node": named("nodes"),
        "describe-claim": named("resourceclaims.resource.k8s.io", 1, namespaced=True),
        "describe-podgroup": named("podgroups.scheduling.k8s.io", namespaced=True),
        "test-selector": _expression,
        "get": _get,
        "taint-device": _taint,
    }
)
