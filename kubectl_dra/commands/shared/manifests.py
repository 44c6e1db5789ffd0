"""Manifests of ``-f``, ``-R`` and ``-k`` for every command that takes them; what can't be read is said on stderr.

PodGroups of files that are only supposed: what they say of the server that is to take them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import click

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.address import completed
from kubectl_dra.commands.shared.carried import carried_out
from kubectl_dra.commands.shared.cluster import features_of, gates_of
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console
from kubectl_dra.model.features import Features
from kubectl_dra.model.features import gates_of as gates_in
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.output.safe import Safe, safe
from kubectl_dra.output.words import counted
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.reading import FoundObjects, FoundRecords, read_objects, read_records

FoundT = TypeVar("FoundT", FoundObjects, FoundRecords)
#: Stands for the command in hints of those who read files.
_ANY_COMMAND: Final = "kubectl dra …"


def objects_of(options: Options, *, patches: bool = False) -> FoundObjects:
    """The objects as they were written. Raises :class:`SourceError` if there are none and one thing is wrong.

    Patches of a kustomization are not objects by themselves; only a command that changes files takes them.
    """
    found = _told(lambda: read_objects(options.manifests, patches=patches), options)
    return found if patches else carried_out(found, console(options))


def check_namespaces(written: Sequence[Source], options: Options) -> None:
    """Raises ``UsageProblem`` where an object names another namespace than ``-n``, as kubectl refuses to create it.

    See cli-runtime's ``RequireNamespace`` in pkg/resource/visitor.go. Without ``-n`` objects may name any.
    """
    if not options.namespace:
        return
    for each in read_all(written, ""):
        own = each.key.namespace
        if own and own != options.namespace and not each.made_by and _is_namespaced(each.kind):
            raise UsageProblem(
                f'the namespace "{own}" of {each.kind} {each.name} does not match -n {options.namespace}',
                "leave out -n: objects that name a namespace are meant for it",
            )


def _is_namespaced(kind: str) -> bool:
    """Whether objects live in namespaces; those of unknown kinds that name one do."""
    return BY_NAME[kind].namespaced if kind in BY_NAME else True


def records_of(options: Options) -> FoundRecords:
    """The objects of known kinds, decoded. Raises as :func:`objects_of`."""
    return _told(lambda: read_records(options.manifests), options)


def _told(read: Callable[[], FoundT], options: Options) -> FoundT:
    try:
        found = read()
    except SourceError as error:
        error.hint = _of_this_command(error.hint, options)
        raise
    terminal = console(options)
    for note in found.notes:
        terminal.note(Safe("note: ") + safe(note))
    for problem in found.problems:
        terminal.error(problem.what, _of_this_command(problem.hint, options))
    if found.problems and not found.read_any:
        raise CommandError(f"nothing could be read: {counted(len(found.problems), 'problem')}, each named above")
    return found


def _of_this_command(hint: str, options: Options) -> str:
    """A hint that ends in a command of any name, as the command that runs."""
    before, found, after = hint.partition(_ANY_COMMAND)
    context = click.get_current_context(silent=True)
    if not found or context is None:
        return hint
    from kubectl_dra.reports.invocations import try_dra  # only for who is told of a problem

    return before + completed(try_dra(str(context.info_name), *shlex.split(after)), options)


def with_groups(options: Options, state: ClusterState, objects: Sequence[Planned]) -> ClusterState:
    """With the features that groups of the files need, where nothing says that the server lacks them."""
    pods = {key_of(plan.pod.metadata): plan.pod for each in objects for plan in each.pods if in_group(plan.pod)}
    if not pods:
        return state
    inventory = state.inventory
    found = {each.key: each.record for each in objects if isinstance(each.record, PodGroup)}
    groups = replace(inventory.groups, pod_groups={**inventory.groups.pod_groups, **found})
    shown = inventory.replace(groups=groups, pods={**inventory.pods, **pods})
    return replace(state, features=features_of(shown, state.evidence, gates_of(options)))


def supposed_gates(before: Features, after: Features) -> tuple[str, ...]:
    """The gates that are on only because groups of the files need them."""
    known = gates_in(before)
    return tuple(gate for gate, on in gates_in(after).items() if on and not known[gate])
