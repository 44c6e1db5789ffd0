"""TYPE and NAME arguments, read as kubectl reads them.

Kinds that are known by the ownerReferences of pods only: the words for them, and whether a word means a kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.kinds import KINDS, Kind, kind_for_word
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.reports.invocations import of, plain_word, shell_line, try_kubectl

#: Short names that look like typing errors of other types (the ``shortNames`` of their CustomResourceDefinitions).
# "workflow" is like "workload", and another project's kind.
_SHORT: Final = {
    "wf": "workflow",
    "workflow": "workflow",
    "workflows": "workflow",
    "vcjob": "job",
    "vj": "job",
    "vm": "virtualmachine",
    "vms": "virtualmachine",
}
_HUMPS: Final = re.compile(r"[A-Z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class ObjectArg:
    """One object that is asked for by name."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class ObjectArgs:
    """What the words ask for: all of ``kind`` in scope, or the ``named`` objects (which may be of several kinds)."""

    kind: Kind
    named: tuple[ObjectArg, ...] = ()

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset({self.kind, *(target.kind for target in self.named)})

    @property
    def single(self) -> ObjectArg | None:
        """The one object, if exactly one is named: then the answer is an object and not a list."""
        return self.named[0] if len(self.named) == 1 else None


def parse_targets(
    arguments: Sequence[str], default: Kind, options: Options, more: Sequence[Kind] = (), *, owners: bool = False
) -> ObjectArgs:
    """Read ``TYPE``, ``TYPE NAME…``, ``TYPE/NAME…`` or ``NAME…`` (of the default type). Raises a usage error.

    ``more``: kinds that are words here only. ``owners``: ``TYPE/NAME`` may be of any kind, whose pods name it.
    """
    if any("/" in word for word in arguments):
        targets = ObjectArgs(default, tuple(_slashed(word, more, owners=owners) for word in arguments))
    else:
        kind = kind_for_word(arguments[0], more) if arguments else None
        names = arguments if kind is None else arguments[1:]
        targets = ObjectArgs(kind or default, tuple(ObjectArg(kind or default, _name(name)) for name in names))
    check_scope([target.name for target in targets.named], options)
    return targets


def parse_names(arguments: Sequence[str], kind: Kind, options: Options) -> tuple[str, ...]:
    """Read ``NAME…`` or ``TYPE/NAME…`` for a command of one type, where no word is a type. Raises a usage error."""
    names = []
    for word in arguments:
        target = _slashed(word) if "/" in word else ObjectArg(kind, _name(word))
        if target.kind is not kind:
            what = f'"{word}" is no {kind.singular}'
            raise UsageProblem(what, try_kubectl("describe", of(target.kind.singular, target.name, options.namespace)))
        names.append(target.name)
    check_scope(names, options)
    return tuple(names)


def check_scope(names: Sequence[str], options: Options) -> None:
    """Names exclude ``-A`` and ``-l``, as in kubectl. Raises a usage error."""
    if not names:
        return
    name = names[0]
    if options.all_namespaces:
        raise UsageProblem(
            f'the name "{name}" can\'t be looked up in all namespaces',
            f"-n NAMESPACE {shell_line(plain_word(name)) or 'NAME'}",
        )
    if options.selector:
        raise UsageProblem(f'the name "{name}" and a selector cannot be combined', "leave out -l or the name")


def _slashed(word: str, more: Sequence[Kind] = (), *, owners: bool = False) -> ObjectArg:
    type_word, slash, name = word.partition("/")
    if not slash:
        raise UsageProblem(f'"{word}" has no type, but other arguments are TYPE/NAME', "write every one as TYPE/NAME")
    kind = kind_for_word(type_word, more)
    if kind is None:
        known = (kind.singular for kind in (*KINDS, *more))
        meant = did_you_mean(type_word, known)
        if not owners or (meant and not _is_owner_word(type_word)):
            raise UsageProblem(f'unknown type "{type_word}"{meant}')
        kind = _owner_kind(type_word)
    if "/" in name:
        raise UsageProblem(f'"{word}" has more than one slash', "write TYPE/NAME")
    return ObjectArg(kind, _name(name))


def _name(name: str) -> str:
    if not name:
        raise UsageProblem("a name is empty", "write TYPE/NAME or TYPE NAME")
    return name


def _owner_kind(word: str) -> Kind:
    """What stands for the kind that a word means."""
    return Kind(word, "", (), word, word, (), True, WorkloadObject, workload=True)


def is_any_owner(kind: Kind) -> bool:
    return kind.workload and not kind.versions and kind.name == kind.plural


def _is_owner_word(word: str) -> bool:
    """Whether a word is a short name of such a kind, or names an API group."""
    return word.lower() in _SHORT or "." in word


def means(word: str, kind: str) -> bool:
    """Whether a word is for a kind: its name, a plural of it, the letters of its humps, or a known short name."""
    plain = word.lower().partition(".")[0]
    plain = _SHORT.get(plain, plain)
    name, letters = kind.lower(), "".join(hump[0] for hump in _HUMPS.findall(kind)).lower()
    return plain in (name, f"{name}s", f"{name}es", letters, f"{letters}s")
