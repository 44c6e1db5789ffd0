"""A cluster that is followed: reflectors for all kinds, one owner of the state, and Inventories as it changes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.api.kinds import POD, RESOURCE_SLICE, Kind
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.pace import BEHIND, Pace
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live import watch
from kubectl_dra.source.live.demand import Demand, at_once
from kubectl_dra.source.live.discovery import Served, discover, discover_more
from kubectl_dra.source.live.errors import ApiError
from kubectl_dra.source.live.pauses import Pauses
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.live.slices import selections_to_follow, without_pool
from kubectl_dra.source.live.store import Store
from kubectl_dra.source.needs import Needs
from kubectl_dra.source.spec import Connection

INTERVAL_SECONDS: Final = 0.25
_QUEUE_SIZE: Final = 1000
_PAUSE_SECONDS: Final = 0.02


class FeedTrouble(msgspec.Struct, frozen=True):
    """A kind that can't be followed at the moment; ``since`` is a ``time.monotonic()``."""

    kind: str
    namespace: str
    what: str
    hint: str
    since: float


class FedState(msgspec.Struct, frozen=True):
    """The state at one moment. With ``troubles``, parts of it may be old; ``heard`` is when anything came last.

    What has not changed since the last publication is the same object. ``whole`` says whether every kind has been read
    or refused: before, what is not there may only not have been read yet.
    """

    inventory: Inventory
    evidence: Evidence
    troubles: tuple[FeedTrouble, ...]
    heard: float
    whole: bool


class Feed:
    """Calls ``publish`` from its own thread: once when everything was read, then after changes, at most every 0.25 s.

    Changes that come closer together are published together; none is lost. A kind that can't be read is told as trouble
    in a publication that is not whole. After ``crash``, which gets an error of the program, nothing more comes.

    ``former`` is what a feed of the same cluster has ``heard`` that was closed: what is found unchanged stays the same
    object.
    """

    def __init__(
        self,
        connection: Connection,
        needs: Needs,
        publish: Callable[[FedState], None],
        crash: Callable[[BaseException], None],
        former: Store | None = None,
    ) -> None:
        self._connection = connection
        self._needs = needs
        self._publish = publish
        self._crash = crash
        self._store = Store(needs, connection.clock, former)
        self._demand = Demand(needs)
        self._inbox: queue.Queue[watch.Message] = queue.Queue(_QUEUE_SIZE)
        self._closed = Pauses()
        self._login = threading.Lock()
        self._session: Session | None = None
        self._served: Served | None = None
        self._waiting: set[watch.WatchScope] = set()
        self._unread: set[watch.WatchScope] = set()
        self._evidence = Evidence()
        self._scopes: set[watch.WatchScope] = set()
        self._troubles: dict[watch.WatchScope, FeedTrouble] = {}
        self._heard = time.monotonic()
        self._news = False

    def start(self) -> None:
        """Connect, find out what is served, and begin to follow it. Raises ``ClusterError``."""
        self._session = open_session(self._connection)
        kinds = at_once(self._needs)
        self._served = discover(self._session, kinds)
        for kind in kinds:
            self._follow_kind(kind)
        threading.Thread(target=self._run, name="feed", daemon=True).start()

    @property
    def heard(self) -> Store | None:
        """What was heard of the cluster, for the feed that follows this one: here, or by the one before."""
        return self._store.heard

    def wake(self) -> None:
        """Try again now what failed: the server answers again."""
        self._closed.wake()

    def close(self) -> None:
        """Stop; nothing is published afterwards but what is being published now."""
        self._closed.set()
        if self._session is not None:
            self._session.close()

    # --- reflectors ---

    def _follow_kind(self, kind: Kind) -> None:
        for namespace in self._needs.scopes(kind):
            for fields in selections_to_follow(self._needs.slices) if kind is RESOURCE_SLICE else (frozenset(),):
                self._follow(watch.WatchScope(kind, namespace, fields))

    def _follow_demanded(self, messages: Iterable[watch.Message]) -> None:
        """What pods make matter now; it stays followed, as the next pod is likely to need it again."""
        changed: list[Pod] = []
        for message in messages:
            if isinstance(message, watch.Relisted) and message.scope.kind is POD:
                changed += (each for each in message.listed.sink.kept if isinstance(each, Pod))
            elif isinstance(message, watch.Changed) and isinstance(message.record, Pod):
                changed.append(message.record)
        if changed:
            everyone = self._store.objects.get(POD.name, {})
            kinds = self._demand.of(changed, self._store.priorities, everyone.values)
            self._look_for(kinds)
            for kind in kinds:
                self._follow_kind(kind)

    def _look_for(self, kinds: Sequence[Kind]) -> None:
        """Find out how they are served; where nobody can tell just now, their best versions are tried."""
        if not kinds or self._served is None:
            return
        try:
            self._served = discover_more(self._current(), self._served, kinds)
        except ClusterError:
            best = {kind.name: kind.api_version for kind in kinds}
            self._served = replace(self._served, api_versions={**self._served.api_versions, **best})

    def _follow(self, scope: watch.WatchScope) -> None:
        if scope in self._scopes or self._served is None:
            return
        self._scopes.add(scope)
        self._waiting.add(scope)
        self._unread.add(scope)
        version = self._served.api_versions.get(scope.kind.name)
        if version is None:
            why = self._served.why_not(scope.kind) or "not served"
            self._inbox.put(watch.Refused(scope, Coverage.NOT_SERVED, why))
            return
        known = partial(self._store.known, scope.kind.name)
        placed = self._store.placed
        watch.Reflector(
            scope, version, self._needs, self._current, self._renew, known, placed, self._inbox, self._closed
        ).start()

    def _current(self) -> Session:
        with self._login:
            if self._session is None:
                self._session = open_session(self._connection)
            return self._session

    def _renew(self, refused: Session) -> None:
        """Log in anew, unless another reflector has done so already. Raises ``ClusterError``."""
        with self._login:
            if self._session is refused:
                self._session = open_session(self._connection)

    # --- the owner's thread ---

    def _run(self) -> None:
        try:
            self._own()
        except BaseException as error:
            # A thread has nobody to raise to.
            self._closed.set()
            self._crash(error)

    def _own(self) -> None:
        pace, dirty = Pace(BEHIND), False
        while not self._closed.is_set():
            ready = dirty and not self._waiting
            messages = self._next(max(0.0, pace.left) if ready else 1.0)
            for message in messages:
                dirty |= self._apply(message)
            self._follow_demanded(messages)
            if dirty and not self._waiting and pace.left <= 0:
                began = time.thread_time()
                self._send()
                pace.worked(time.thread_time() - began)
                pace.wait(INTERVAL_SECONDS)
                dirty = False
            elif messages:
                # One waking for many events; what comes alone is taken at once.
                self._closed.wait(_PAUSE_SECONDS)

    def _next(self, seconds: float) -> list[watch.Message]:
        """All messages that are there; waits for the first one."""
        found: list[watch.Message] = []
        with suppress(queue.Empty):
            found.append(self._inbox.get(timeout=seconds) if seconds > 0 else self._inbox.get_nowait())
            while len(found) < _QUEUE_SIZE:
                found.append(self._inbox.get_nowait())
        return found

    def _apply(self, message: watch.Message) -> bool:
        if isinstance(message, watch.Crashed):
            raise message.error
        scope = message.scope
        self._waiting.discard(scope)
        if isinstance(message, watch.Unselectable):
            self._unread.discard(scope)
            self._follow(replace(scope, fields=without_pool(scope.fields)))
            return True
        if isinstance(message, watch.BrokenWatch):
            since = self._troubles[scope].since if scope in self._troubles else time.monotonic()
            error = message.error
            self._troubles[scope] = FeedTrouble(scope.kind.name, scope.namespace, error.what, error.hint, since)
            self._news |= self._store.apply(message)
            if scope in self._unread and isinstance(error, ApiError):
                self._follow_namespaces(scope)
            return True
        self._heard = time.monotonic()
        recovered = self._troubles.pop(scope, None) is not None
        if isinstance(message, watch.Refused) and message.coverage is Coverage.FORBIDDEN:
            self._follow_namespaces(scope)
        first = scope in self._unread
        self._unread.discard(scope)
        news = self._store.apply(message)
        self._news |= news or first
        return news or recovered or first

    def _follow_namespaces(self, scope: watch.WatchScope) -> None:
        """What may be had of a kind that the whole cluster does not give."""
        for namespace in self._needs.fallback(scope.kind) if not scope.namespace else ():
            self._follow(watch.WatchScope(scope.kind, namespace))

    def _send(self) -> None:
        if self._served is None or self._session is None or self._closed.is_set():
            return
        if self._news:
            session = self._session
            self._evidence = self._store.evidence(self._served.server_version, session.server, session.address)
            self._news = False
        troubles, whole = tuple(self._troubles.values()), not self._unread
        inventory = self._store.inventory()
        if whole:
            self._store.forget_former()
        self._publish(FedState(inventory, self._evidence, troubles, self._heard, whole))
