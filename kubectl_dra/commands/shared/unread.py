"""How commands say what a list lacks: around it, in its document, and in the exit code."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from kubectl_dra.api.kinds import BY_NAME, RESOURCE_SLICE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, tell
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import Address, CommandLine, Words, flag
from kubectl_dra.output.console import flush
from kubectl_dra.output.devices.unpublished import held_in_brief
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.unread import incomplete_lines, lacking_lines, rights_lines
from kubectl_dra.reports.devices.unpublished import held_in_pools
from kubectl_dra.reports.invocations import try_dra, try_kubectl, within
from kubectl_dra.reports.unread import ListGaps
from kubectl_dra.source import current_namespace

_AFTER_FAILURE: Final = "again in a moment; kubectl get --raw '/readyz?verbose' shows whether the server is well"


@contextmanager
def noted_around(missing: Sequence[Missing], options: Options, address: Address) -> Iterator[None]:
    """Notes around what is printed for programs, ``grep`` and the like: what it lacks, and below who can give that."""
    terminal = console(options)
    for line in incomplete_lines(missing):
        terminal.note(line)
    yield
    flush()
    for line in rights_lines(missing, address):
        terminal.note(line)


def nothing_read(
    found: ListGaps, options: Options, address: Address, again: Words = (), known: Iterable[Safe] = ()
) -> CommandError:
    """The error of a list of which nothing could be read, with the kinds that are lacking and who could permit them.

    ``again``: the words of the command, which of the whole cluster may be asked for one namespace. ``known``: what
    other objects tell all the same.
    """
    first = found.objects[0]
    hint = way_to(first)
    if options.all_namespaces and BY_NAME[first.kind].namespaced:
        narrower = _of_one_namespace(options, again) if again and address.live else CommandLine(())
        shown = narrower or hint
        hint = shown.then("; without -A only one namespace is read") if isinstance(shown, CommandLine) else shown
    code = finding_code(asked=options.exit_code, bad=False, partial=True, answered=False)
    names = " and ".join(dict.fromkeys(BY_NAME[each.kind].resource for each in found.objects))
    refused = f"forbidden{f' for user {first.user}' if first.user else ''}"
    reasons: dict[str, str] = {Coverage.FORBIDDEN: refused, Coverage.FAILED: "the server failed"}
    why = reasons.get(first.coverage, "not read")
    decisive = [item for item in found.missing if item.decides]
    details = (*known, *lacking_lines(decisive, address))
    return CommandError(f"{names} could not be listed: {why}", hint, code, details)


def known_from_claims(state: ClusterState, found: ListGaps) -> Iterator[Safe]:
    """Of slices that could not be read claims tell which devices are in use."""
    if any(each.kind == RESOURCE_SLICE.name for each in found.objects):
        yield from held_in_brief(held_in_pools(state), state.now)


def way_to(item: Missing) -> CommandLine | str:
    """What shows whether it may be read; of a server that failed to give it, what may help there."""
    if item.coverage == Coverage.FAILED:
        return _AFTER_FAILURE
    kind = BY_NAME[item.kind]
    scope = () if not kind.namespaced else within(item.namespace) if item.namespace else ("-A",)
    return try_kubectl("auth", "can-i", "list", kind.resource, scope)


def _of_one_namespace(options: Options, again: Words) -> CommandLine:
    """The same of the namespace that is read without ``-A``; the right to that one is the one people have."""
    namespace = current_namespace(source_spec(dataclasses.replace(options, all_namespaces=False)))
    selected = flag("-l", options.selector) if options.selector else ()
    return try_dra(*again, within(namespace), selected)


def code_of(
    found: ListGaps,
    options: Options,
    address: Address,
    again: Words = (),
    *,
    bad: bool = False,
    known: Iterable[Safe] = (),
) -> ExitCode:
    """The exit code of a list that was printed; says on stderr where nothing could be read."""
    if not found.answered:
        tell(nothing_read(found, options, address, again, known), options)
    return finding_code(asked=options.exit_code, bad=bad, partial=bool(found.missing), answered=found.answered)
