"""What else happens when a way out is taken, and why one has no commands, in a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kubectl_dra.api.controllers import resource_of
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.reports.invocations import kubectl, shell_line, within
from kubectl_dra.reports.remedies import RemedyReport
from kubectl_dra.reports.renewal import CountsAsFailed, Hindrance, NoCommand, Restarts, StartsOver


def note_texts(remedy: RemedyReport) -> Iterator[Safe]:
    """One text for each note of a remedy."""
    return (_WORDS[type(note)](note) for note in remedy.notes)


def _restarts(note: Restarts) -> Safe:
    return fmt("replaces all pods of {}", _named(note.owner))


def _starts_over(note: StartsOver) -> Safe:
    return fmt("deletes {} and creates it again; what it has finished is done again", _named(note.owner))


def _counts_as_failed(note: CountsAsFailed) -> Safe:
    return fmt("counts as failed pod {} of the {} that {} may have", note.failed, note.limit, _named(note.owner))


def _no_command(note: NoCommand) -> Safe:
    owner, field = _named(note.owner), safe(note.field)
    match note.why:
        case Hindrance.UNKNOWN_KIND:
            return fmt("no command: change {} in the pod template of {}, then delete the pod", field, owner)
        case Hindrance.NOT_READABLE:
            return fmt("no command: {} could not be read{}", owner, _may_get(note.owner))
        case Hindrance.NOT_READ:
            return fmt("no command: {} makes the pod and was not read", owner)
        case Hindrance.NOT_IN_TEMPLATE:
            return fmt("no command: {} is not in the pod template of {}; something else adds it", field, owner)


def _may_get(owner: ObjectRef) -> Safe:
    resource = resource_of(owner.kind)
    line = shell_line(kubectl("auth", "can-i", "get", resource, within(owner.namespace))) if resource else ""
    return fmt(" ({})", line) if line else Safe("")


def _named(owner: ObjectRef) -> Safe:
    return fmt("{} {}", owner.kind, owner.name)


_WORDS: Final[dict[type, Callable[[Any], Safe]]] = {
    Restarts: _restarts,
    StartsOver: _starts_over,
    CountsAsFailed: _counts_as_failed,
    NoCommand: _no_command,
}
