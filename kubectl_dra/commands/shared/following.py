"""Following a live cluster for ``-w``: the newest state after every change, until somebody stops looking."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import Scoped, features_of, gates_of, spec_and_namespace
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console
from kubectl_dra.model.evidence import Fields
from kubectl_dra.model.pace import LONGEST, SHOWN, Pace
from kubectl_dra.output.progress import PROGRESS
from kubectl_dra.output.safe import fmt
from kubectl_dra.source.needs import Needs

if TYPE_CHECKING:
    from kubectl_dra.source.live.feed import FeedTrouble

# A big cluster changes faster than it can be explained.
_PACE: Final = Pace(SHOWN, LONGEST)
#: Seconds after which the first answer is one without what the server fails to give.
_PATIENCE: Final = 10.0
T = TypeVar("T")


def check_watch(options: Options) -> None:
    """Raises a usage error where there is nothing to follow."""
    if options.from_ is not None:
        raise UsageProblem("-w follows a live cluster, and --from names a file", "leave out -w or --from")


def follow(
    options: Options,
    needs: Iterable[str],
    pods: Iterable[str] = (),
    *,
    slices: Iterable[Fields] = (),
    local: bool = False,
    demanded: Iterable[str] = (),
) -> Iterator[Scoped]:
    """The cluster of now, and again after changes; states that are outdated before anybody asks are left out.

    ``needs``, ``pods``, ``slices``, ``local`` and ``demanded`` limit what is followed, as for :func:`read_cluster`.
    Never ends by itself. What can't be followed at the moment is noted on stderr. Raises ``SourceError``.
    """
    from kubectl_dra.source.live import needs_of  # the kubernetes package is heavy
    from kubectl_dra.source.live.feed import FedState, Feed

    PROGRESS.end()  # to wait is no work
    gates = gates_of(options)
    limits = Needs(frozenset(needs), slices=frozenset(slices), local=local, demanded=frozenset(demanded))
    spec, namespace = spec_and_namespace(options, limits, pods)
    inbox: queue.SimpleQueue[FedState | BaseException] = queue.SimpleQueue()
    feed = Feed(spec.connection, needs_of(spec), inbox.put, inbox.put)
    feed.start()
    told = frozenset[str]()
    state: ClusterState | None = None
    try:
        while True:
            published = _newest(inbox)
            if isinstance(published, BaseException):
                raise published
            told = _tell(options, published.troubles, told)
            if not (published.whole or _lasts(published.troubles)):
                # What is not there may only not have been read.
                continue
            began = options.clock.monotonic()
            evidence = published.evidence
            features = features_of(published.inventory, evidence, gates)
            if state is None:
                state = ClusterState(published.inventory, evidence, features, options.clock)
                check_namespace(options, Scoped(state, namespace))
            else:
                state = state.later(published.inventory, evidence, features)
            yield Scoped(state, namespace)
            took = options.clock.monotonic() - began
            options.clock.sleep(_PACE.rest_after(took))
    finally:
        feed.close()


def _tell(options: Options, troubles: Iterable[FeedTrouble], told: frozenset[str]) -> frozenset[str]:
    """Note what has not been noted yet; all that is wrong now."""
    now = frozenset(trouble.what for trouble in troubles)
    for what in sorted(now - told):
        console(options).note(fmt("note: {}; trying again", what))
    return now


def _lasts(troubles: Iterable[FeedTrouble]) -> bool:
    """Whether a server fails to give something for longer than anybody would wait for the first answer."""
    return any(time.monotonic() - each.since >= _PATIENCE for each in troubles)


def _newest(inbox: queue.SimpleQueue[T]) -> T:
    found = inbox.get()
    while not inbox.empty():
        found = inbox.get()
    return found
