"""What ``get`` was asked for: the flags, and TYPE and NAME words, of which pools and devices are types of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from kubectl_dra.api.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    kind_for_word,
)
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.types import check_scope
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.reports.invocations import try_dra, try_kubectl

POOLS: Final = "pools"
DEVICES: Final = "devices"
CLAIMS: Final = "claims"
CLASSES: Final = "classes"
TAINTS: Final = "taints"
POD_GROUPS: Final = "podgroups"
NODES: Final = "nodes"
SLICES: Final = "slices"
TEMPLATES: Final = "templates"
#: The kinds of the types that are none of our own.
KINDS: Final = {
    CLAIMS: RESOURCE_CLAIM,
    CLASSES: DEVICE_CLASS,
    TAINTS: DEVICE_TAINT_RULE,
    POD_GROUPS: POD_GROUP,
    NODES: NODE,
    SLICES: RESOURCE_SLICE,
    TEMPLATES: RESOURCE_CLAIM_TEMPLATE,
}
#: Types whose objects live in namespaces.
NAMESPACED: Final = frozenset(type_ for type_, kind in KINDS.items() if kind.namespaced)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        POOLS: ("pool", "pools", "resourcepool", "resourcepools"),
        DEVICES: ("device", "devices", "dev"),
        CLAIMS: ("claim", "claims", "resourceclaim", "resourceclaims"),
        CLASSES: ("class", "classes", "deviceclass", "deviceclasses"),
        TAINTS: ("taint", "taints", "devicetaintrule", "devicetaintrules"),
        POD_GROUPS: ("podgroup", "podgroups"),
        NODES: ("node", "nodes", "no"),
        SLICES: ("slice", "slices", "resourceslice", "resourceslices"),
        TEMPLATES: ("template", "templates", "resourceclaimtemplate", "resourceclaimtemplates"),
    }
)
#: All types, as they are listed.
TYPES: Final = tuple(_WORDS)
_TYPES: Final = MappingProxyType({word: type_ for type_, words in _WORDS.items() for word in words})
#: Words for types whose objects live in none, as they are typed.
WITHOUT_NAMESPACE: Final = frozenset(word for word, type_ in _TYPES.items() if type_ not in NAMESPACED)
_GROUPS: Final = (".resource.k8s.io", ".scheduling.k8s.io")
_FOR_DEVICES: Final = ("free", "used", "tainted", "class_", "node", "match")


@dataclass(frozen=True, slots=True)
class GetQuery:
    """The words and flags as typed; empty texts are not given."""

    words: tuple[str, ...]
    free: bool = False
    used: bool = False
    tainted: bool = False
    class_: str = ""
    node: str = ""
    match: str = ""
    unused: bool = False
    sort_by: str = ""
    no_headers: bool = False
    show_labels: bool = False


@dataclass(frozen=True, slots=True)
class TypeArgs:
    """One type, and the names asked for (none: all in scope)."""

    type: str
    names: tuple[str, ...] = ()


def singular(type_: str) -> str:
    return _WORDS[type_][0]


def type_of(word: str) -> str | None:
    """The type that a word names, any case, also with the API group behind it."""
    lowered = word.lower()
    return _TYPES.get(next((lowered.removesuffix(each) for each in _GROUPS if lowered.endswith(each)), lowered))


def parse_query(query: GetQuery, options: Options) -> tuple[TypeArgs, ...]:
    """What the words ask for, type by type. Raises a usage error."""
    wanted = _parse_words(query.words)
    _check_flags(query, wanted)
    check_scope([name for each in wanted for name in each.names], options)
    if options.selector and any(each.type in (POOLS, DEVICES) for each in wanted):
        raise UsageProblem("pools and devices have no labels", "use --match with a CEL expression")
    if query.show_labels and any(each.type in (POOLS, DEVICES) for each in wanted):
        raise UsageProblem("pools and devices have no labels", "leave out --show-labels, or name another type")
    return wanted


def _parse_words(words: Sequence[str]) -> tuple[TypeArgs, ...]:
    several = [type_of(word) for word in words[0].split(",")]
    if len(several) > 1 and len(words) == 1 and None not in several:
        return tuple(TypeArgs(each) for each in dict.fromkeys(several) if each is not None)
    first = type_of(words[0])
    if first is not None:
        return (TypeArgs(first, tuple(words[1:])),)
    names: dict[str, tuple[str, ...]] = {}
    for word in words:
        type_word, slash, name = word.partition("/")
        type_ = type_of(type_word)
        if type_ is None:
            _refuse_other(type_word)
            # A comma stands between types in kubectl.
            raise UsageProblem(
                f'unknown type "{type_word}"{did_you_mean(type_word, _TYPES)}', f"types: {', '.join(_WORDS)}"
            )
        if not slash or not name:
            raise UsageProblem(f'"{word}" has no name', "write every word as TYPE/NAME, or the type once: TYPE NAME…")
        names[type_] = (*names.get(type_, ()), name)
    return tuple(TypeArgs(type_, found) for type_, found in names.items())


def _refuse_other(word: str) -> None:
    """Raise a usage error for a kind that is known and has no list here."""
    kind = kind_for_word(word)
    if kind is None:
        return
    if kind is POD:
        hint = try_dra("why-pending", "-A").then(" lists those that wait for devices")
        raise UsageProblem("get has no list of pods", hint)
    only = f", which only {kind.api_version} has" if kind.versions[0].startswith("v1alpha") else ""
    hint = try_kubectl("get", kind.resource, ("-A",) if kind.namespaced else (), ("-o", "yaml"))
    raise UsageProblem(f"get has no list of {kind.plural}{only}", hint.then("; a snapshot has them, too"))


def _check_flags(query: GetQuery, wanted: Sequence[TypeArgs]) -> None:
    types = {each.type for each in wanted}
    for flag in _FOR_DEVICES:
        if getattr(query, flag) and types != {DEVICES}:
            raise UsageProblem(f"--{flag.removesuffix('_')} is for devices", try_dra("get", "devices"))
    if query.unused and types != {CLAIMS}:
        raise UsageProblem("--unused is for claims", try_dra("get", "claims", "--unused"))
