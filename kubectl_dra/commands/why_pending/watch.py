"""``why-pending -w``: the answer again whenever it changes, until the pods that were named run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from kubectl_dra.commands.shared.cluster import Scoped, goes_on, read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.following import check_watch, follow
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document
from kubectl_dra.output.console import captured, flush, write_data
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import Safe, fmt

# Answers are compared as if given at this time, so that ages alone make no change.
_FIXED: Final = datetime(2000, 1, 1, tzinfo=UTC)

# Prints the answer from a cluster, with ages as of a time (None: now); the exit code. May raise CommandError.
Respond = Callable[[Options, Scoped, datetime | None], int]


def watch(
    options: Options,
    kinds: Sequence[str],
    pods: Sequence[str],
    respond: Respond,
    done: Callable[[Scoped], bool],
) -> int:
    """Answer again and again until ``done``; the exit code of the last answer. ``pods`` are the names asked for."""
    check_watch(options)
    shown, code = "", int(ExitCode.OK)
    for cluster in follow(options, kinds, pods):
        try:
            answer = _as_compared(options, cluster, respond)
        except CommandError as problem:
            # Finished pods are not followed: only reading them tells what has become of one.
            finished = _finished(options, kinds, pods, respond, new=not shown)
            if finished is not None:
                return finished
            answer = f"{problem.what}\n"
            if answer != shown:
                console(options).note(fmt("note: {}; waiting for it", problem.what))
        else:
            if answer != shown:
                _separate(options, first=not shown)
                code = respond(options, cluster, None)
        shown = answer
        flush()
        if done(cluster):
            return code
    return code


def _as_compared(options: Options, cluster: Scoped, respond: Respond) -> str:
    """The whole text of an answer, without what changes with every read."""
    with captured() as paper:
        respond(dataclasses.replace(options, output="wide" if options.output else ""), cluster, _FIXED)
    return f"{paper.getvalue()}\n"


def _finished(
    options: Options, kinds: Sequence[str], pods: Sequence[str], respond: Respond, *, new: bool
) -> int | None:
    """The last answer about pods that have finished, printed; None for a pod that is only gone for now.

    A name that was never there is an error from the start: raises ``CommandError``.
    """
    cluster = read_cluster(options, kinds, pods)
    goes_on()
    try:
        return respond(options, cluster, None)
    except CommandError:
        if new:
            raise
        return None


def _separate(options: Options, *, first: bool) -> None:
    if first:
        return
    if options.output == "yaml":
        write_data("---")
    elif not is_document(options):
        now = options.clock.now().astimezone().strftime("%H:%M:%S")
        console(options).out(Safe(""))
        console(options).out(fmt("--- {} ---", now))
