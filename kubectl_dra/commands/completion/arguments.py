"""What the arguments of each command stand for: TYPE and NAME words, pools, devices, selectors."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kubectl_dra.commands.completion import Completions, Directive, NextWord
from kubectl_dra.commands.completion.cache import Rows
from kubectl_dra.commands.completion.line import TypedLine
from kubectl_dra.commands.completion.names import Names, Tables, Values, column, devices, fitting, named, pools

if TYPE_CHECKING:
    from kubectl_dra.api.kinds import Kind


def selector(line: TypedLine, tables: Tables) -> Completions:
    """The ends of a CEL expression."""
    found = selector_candidates(line.current, tables.devices)
    return Completions(found, Directive.NO_FILES | Directive.NO_SPACE)


def _expression(line: TypedLine, tables: Tables) -> Completions:
    return Completions() if line.words or line.value("--filename") else selector(line, tables)


def _pending(line: TypedLine, tables: Tables) -> Completions:
    """TYPE, TYPE NAME…, TYPE/NAME…, or names of pending pods."""
    from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, WORKLOADS, kind_for_word

    def of_type(word: str) -> Names | None:
        kind = kind_for_word(word)
        known = kind in (POD, POD_GROUP, RESOURCE_CLAIM, *WORKLOADS)
        return _objects(tables, kind) if known and kind is not None else None

    types = [POD.singular, POD_GROUP.singular, RESOURCE_CLAIM.short_names[0], *(kind.singular for kind in WORKLOADS)]
    return _typed(line, types, of_type, lambda: _objects(tables, POD))


def _get(line: TypedLine, tables: Tables) -> Completions:
    from kubectl_dra.commands.get.query import DEVICES, KINDS, POOLS, TYPES, type_of

    if len(line.words) == 1 and type_of(line.words[0]) == DEVICES:
        return devices(line, tables)
    if len(line.words) == 1 and type_of(line.words[0]) == POOLS:
        return pools(line, tables)

    def of_type(word: str) -> Names | None:
        kind = KINDS.get(type_of(word) or "")
        return _objects(tables, kind) if kind is not None else None

    return _typed(line, [*TYPES], of_type, list)


#: Of kubectl's tables, the column that describes an object best, by kind.
_DESCRIBING: Final = {
    "Pod": 2,
    **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceTaintRule"), 1),
}


def _objects(tables: Tables, kind: Kind) -> Names:
    """The objects of a kind; of pods those that are pending."""
    flags = ["--field-selector=status.phase=Pending"] if kind.name == "Pod" else []
    rows = tables.table(kind.resource, *flags, namespaced=kind.namespaced)
    return column(rows, _DESCRIBING.get(kind.name, 0))


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
    """Devices, then ``KEY[=VALUE]:EFFECT``: those of the rules that there are, and what ends them, or the effect."""
    from kubectl_dra.model.taint_text import PREVENTING

    key, colon, _ = line.current.partition(":")
    if colon:
        return Completions(fitting(line, ((effect, "") for effect in sorted(PREVENTING)), prefix=f"{key}:"))
    if not line.words:
        return devices(line, tables)
    # Keys have slashes as well.
    known = fitting(line, _known_taints(tables))
    return Completions(known) if known or "/" not in line.current else devices(line, tables)


def _known_taints(tables: Tables) -> Iterator[tuple[str, str]]:
    """As they are added, then as they are removed."""
    rows = tables.taints()
    yield from ((f"{key}={value}:{effect}" if value else f"{key}:{effect}", rule) for key, value, effect, rule in rows)
    yield from ((f"{key}-", "remove it") for key in dict.fromkeys(row[0] for row in rows))


def _reasons(line: TypedLine, _tables: Tables) -> Completions:
    """Codes with what they stand for, in either case; a message to explain is nothing to complete."""
    from kubectl_dra.diagnosis.codes import Code

    if line.words:
        return Completions()
    typed = dataclasses.replace(line, current=line.current.upper())
    return Completions(fitting(typed, ((code.value, code.label) for code in Code)))


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
        "explain": _reasons,
    }
)


# --- selectors --------------------------------------------------------------------------------------------------------

_FIELDS: Final = {
    "driver": "name of the DRA driver",
    "attributes": "by domain, then by name",
    "capacity": "by domain, then by name",
    "allowMultipleAllocations": "whether requests can share it",
}
_DEVICE: Final = re.compile(r"\bdevice\.([A-Za-z]*)$")
_DOMAIN: Final = re.compile(r"""\bdevice\.(attributes|capacity)\[(["']?)([A-Za-z0-9./-]*)$""")
_NAME: Final = re.compile(r"""\bdevice\.(attributes|capacity)\[(["'])([^"'\]]+)\2\]\.\??([A-Za-z0-9_]*)$""")
_START: Final = re.compile(r"(?:^|[\s(!&|])(d[a-z]*)?$")


def selector_candidates(text: str, devices: Callable[[], Rows]) -> list[NextWord]:
    """The whole text with each of its possible ends. ``devices`` gives the rows of :meth:`Tables.devices`."""
    return [NextWord(text[:start] + end, description) for start, end, description in _ends(text, devices)]


def _ends(text: str, devices: Callable[[], Rows]) -> Iterator[tuple[int, str, str]]:
    """Where an end begins, the end, and what it is."""
    if match := _NAME.search(text):
        for name, seen in sorted(_names(devices(), match[1], match[3]).items()):
            if name.startswith(match[4]):
                yield match.start(4), name, seen
    elif match := _DOMAIN.search(text):
        quote = match[2] or '"'
        for domain in sorted({row[4].rpartition("/")[0] for row in devices() if row[3] == match[1]}):
            if domain.startswith(match[3]):
                yield match.start(2), f"{quote}{domain}{quote}].", ""
    elif match := _DEVICE.search(text):
        for name, description in _FIELDS.items():
            if name.startswith(match[1]):
                yield match.start(1), name, description
    elif (match := _START.search(text)) and "device.".startswith(match[1] or ""):
        yield match.start(1) if match[1] else len(text), "device.", ""


def _names(rows: Rows, field: str, domain: str) -> dict[str, str]:
    """Names in a domain, each with the values that were seen, the first few of them."""
    seen: dict[str, list[str]] = {}
    for row in rows:
        there, _, name = row[4].rpartition("/")
        if row[3] == field and there == domain:
            values = seen.setdefault(name, [])
            if row[5] not in values and len(values) < 4:
                values.append(row[5])
    return {name: f"seen: {', '.join(values[:3])}{', ...' if len(values) > 3 else ''}" for name, values in seen.items()}
