"""Following one kind in one scope: LIST, then WATCH from there, again and again, in a thread of its own.

After client-go's reflector: bookmarks move the position on, a broken watch resumes at the last position, an expired
position leads to a new list. Nothing here changes shared state; everything goes as messages into a queue.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from kubectl_dra.api.decode import DecodeError, bad_object, decode_object
from kubectl_dra.api.kinds import POD, Kind
from kubectl_dra.model.base import Record
from kubectl_dra.model.evidence import BadObject, Coverage, Fields
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live import errors
from kubectl_dra.source.live.listing import KeepAll, Listed, Sink, list_path, take_list
from kubectl_dra.source.live.pauses import Pauses
from kubectl_dra.source.live.pods import Placed, PodTracker
from kubectl_dra.source.live.session import Session
from kubectl_dra.source.live.sharing import Sharer, kept
from kubectl_dra.source.live.slices import BAD_REQUEST, field_selector, slice_fields
from kubectl_dra.source.live.telling import tells
from kubectl_dra.source.needs import Needs

IDLE_SECONDS: Final = 90.0  # servers send a bookmark about once a minute
_WATCH_SECONDS: Final = (240, 480)
_BACK_OFF_SECONDS: Final = (0.5, 30.0)
_LONGEST_WISH_SECONDS: Final = 60.0  # for which a Retry-After is respected
_REFUSED_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 30.0
_SHORT_SECONDS: Final = 1.0  # a watch that ends sooner was not really one


class WatchScope(msgspec.Struct, frozen=True):
    """What one reflector follows; an empty namespace is the whole cluster. Of slices, only those with ``fields``."""

    kind: Kind
    namespace: str = ""
    fields: Fields = frozenset()

    def has(self, key: Key, record: object) -> bool:
        """Whether an object lies in it."""
        if self.namespace not in ("", key.namespace):
            return False
        return not self.fields or not isinstance(record, ResourceSlice) or self.fields <= slice_fields(record)


class Relisted(msgspec.Struct, frozen=True):
    """A whole list: what is not in it is gone."""

    scope: WatchScope
    listed: Listed


class Changed(msgspec.Struct, frozen=True):
    """An object was added or changed, or is gone."""

    scope: WatchScope
    record: Record
    deleted: bool
    resource_version: str


class UnreadableObject(msgspec.Struct, frozen=True):
    """An object was added or changed, or is gone, and can't be decoded."""

    scope: WatchScope
    bad: BadObject
    deleted: bool
    resource_version: str


class Progressed(msgspec.Struct, frozen=True):
    """Nothing has changed up to this position; also sent when a broken connection is back."""

    scope: WatchScope
    resource_version: str


class Refused(msgspec.Struct, frozen=True):
    """The list or watch is forbidden, or the kind is not served."""

    scope: WatchScope
    coverage: Coverage
    what: str


class BrokenWatch(msgspec.Struct, frozen=True):
    """The connection is broken, or the server fails; the reflector tries again."""

    scope: WatchScope
    error: ClusterError


class Crashed(msgspec.Struct, frozen=True):
    """An error of the program: the reflector has ended."""

    scope: WatchScope
    error: BaseException


class Unselectable(msgspec.Struct, frozen=True):
    """The server can't select by the scope's fields: the reflector has ended."""

    scope: WatchScope


Message = Relisted | Changed | UnreadableObject | Progressed | Refused | BrokenWatch | Crashed | Unselectable


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Positioned(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Failure(msgspec.Struct):
    code: int = 500


_event: Final = msgspec.json.Decoder(_Event)
_failure: Final = msgspec.json.Decoder(_Failure)
_positioned: Final = msgspec.json.Decoder(_Positioned)


class _KeepShared(KeepAll):
    """Keeps everything, what is known already as the same object."""

    def __init__(self, known: Callable[[Key], Any], sharer: Sharer) -> None:
        super().__init__()
        self._known = known
        self._sharer = sharer

    def add(self, records: Iterable[Record]) -> None:
        super().add(kept(record, self._known, self._sharer) for record in records)


class Reflector:
    """A thread that follows ``scope`` and puts messages into ``out`` until ``closed`` is set.

    ``session`` gives the session to use; ``renew`` is told when its login is no longer accepted. ``known`` says which
    version of an object is there already, so that a list that is taken again does not bring everything a second time,
    and ``placed`` the same of what pods take.
    """

    def __init__(
        self,
        scope: WatchScope,
        api_version: str,
        needs: Needs,
        session: Callable[[], Session],
        renew: Callable[[Session], None],
        known: Callable[[Key], Any],
        placed: Callable[[Key], Placed | None],
        out: queue.Queue[Message],
        closed: Pauses,
    ) -> None:
        self.scope = scope
        self._api_version = api_version
        self._needs = needs
        self._session = session
        self._renew = renew
        self._known = known
        self._placed = placed
        self._sharer = Sharer()
        self._out = out
        self._closed = closed
        self._position = ""
        self._failures = 0
        self._accepted = 0.0
        self._has_watched = False

    def start(self) -> None:
        """Begin; the thread does not keep the process alive."""
        name = f"{self.scope.kind.plural}/{self.scope.namespace or 'all'}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        try:
            while not self._closed.is_set() and self._attempt():
                continue
        except BaseException as error:
            # A thread has nobody to raise to.
            self._put(Crashed(self.scope, error))

    def _attempt(self) -> bool:
        """Follow until something goes wrong, say so, and wait; whether it makes sense to try again."""
        session: Session | None = None
        try:
            session = self._session()
            self._follow(session)
        except errors.ExpiredError:
            self._position = ""
            if self._failures:
                self._closed.wait(self._back_off())
        except (errors.RefusedError, errors.NotServedError) as error:
            coverage = Coverage.FORBIDDEN if isinstance(error, errors.RefusedError) else Coverage.NOT_SERVED
            self._put(Refused(self.scope, coverage, error.what))
            self._position = ""
            self._closed.wait(_REFUSED_SECONDS)
        except ClusterError as error:
            if self.scope.fields and isinstance(error, errors.ApiError) and error.code == BAD_REQUEST:
                self._put(Unselectable(self.scope))
                return False
            self._failures += session is None
            self._put(BrokenWatch(self.scope, error))
            asked = error.retry_after if isinstance(error, errors.ApiError) else 0
            self._closed.wait(max(self._back_off(), min(asked, _LONGEST_WISH_SECONDS)))
            if session is not None and isinstance(error, errors.LoginError):
                self._renew_or_report(session)
        return True

    def _renew_or_report(self, session: Session) -> None:
        try:
            self._renew(session)
        except ClusterError as error:
            self._put(BrokenWatch(self.scope, error))

    def _follow(self, session: Session) -> None:
        if not self._position:
            self._relist(session)
        while not self._closed.is_set():
            try:
                self._watch(session)
            except errors.RefusedError:
                # The list was allowed: without the right to watch, it is taken again and again. Where it was watched,
                # rights were withdrawn, and perhaps that to list as well: that is told at once.
                if not self._has_watched:
                    self._closed.wait(_POLL_SECONDS)
                self._has_watched = False
                self._relist(session)
                continue
            if self._failures:
                self._closed.wait(self._back_off())

    def _relist(self, session: Session) -> None:
        kind, fields = self.scope.kind, self._field_selector()
        self._failures += 1
        listed = take_list(session, kind, self._api_version, self._new_sink, self.scope.namespace, fields)
        self._failures -= 1
        self._position = listed.read.resource_version
        self._put(Relisted(self.scope, listed))

    def _field_selector(self) -> str:
        return field_selector(self.scope.fields) or self._needs.field_selector(self.scope.kind)

    def _new_sink(self) -> Sink:
        if self.scope.kind is POD:
            needs = self._needs
            return PodTracker(needs.pods, needs.all_pods, self._known, self._placed, self._sharer, needs.whole_nodes)
        return _KeepShared(self._known, self._sharer)

    def _watch(self, session: Session) -> None:
        """Watch until the server ends it or falls silent; a watch that held for a while ends a row of failures."""
        self._accepted = 0.0
        self._failures += 1
        try:
            self._stream(session)
        except errors.TimedOutError:
            # Silence is no failure: if the server is gone, the next connection tells.
            if not self._accepted:
                raise
        finally:
            self._has_watched |= bool(self._accepted)
            if self._accepted and time.monotonic() - self._accepted >= _SHORT_SECONDS:
                self._failures = 0

    def _stream(self, session: Session) -> None:
        kind, fields = self.scope.kind, self._field_selector()
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._position,
            "timeoutSeconds": str(random.randint(*_WATCH_SECONDS)),  # noqa: S311 - spreads load, hides nothing
            **({"fieldSelector": fields} if fields else {}),
        }
        path = list_path(kind, self._api_version, self.scope.namespace)
        for line in session.lines(path, f"watch {kind.plural}", query, IDLE_SECONDS):
            if self._closed.is_set():
                return
            if not line:
                self._accepted = time.monotonic()
                self._put(Progressed(self.scope, self._position))
                continue
            self._take(line, session.server)
            self._failures = min(self._failures, 1)

    def _take(self, line: bytes, server: str) -> None:
        try:
            event = _event.decode(line)
            data = bytes(event.object)
            if event.type == "ERROR":
                failure = _failure.decode(data)
                raise errors.error_from_status(failure.code, data, f"watch {self.scope.kind.plural}", server)
            self._position = _later(self._position, _positioned.decode(data).metadata.resource_version)
        except (ValueError, RecursionError) as error:
            raise errors.BadAnswerError(f"{server} sent a broken event: {error}", "try again") from error
        self._put(self._message(event.type, data))

    def _message(self, kind_of_event: str, data: bytes) -> Message:
        if kind_of_event == "BOOKMARK":
            return Progressed(self.scope, self._position)
        deleted = kind_of_event == "DELETED"
        try:
            record = decode_object(data, self._api_version, self.scope.kind)
        except DecodeError as error:
            return UnreadableObject(
                self.scope, bad_object(data, self.scope.kind.name, str(error)), deleted, self._position
            )
        if not tells(record):
            return Progressed(self.scope, self._position)
        self._sharer.record(record)
        return Changed(self.scope, record, deleted, self._position)

    def _put(self, message: Message) -> None:
        """A full queue makes us wait, and in the end the server."""
        while not self._closed.is_set():
            try:
                self._out.put(message, timeout=0.5)
                return
            except queue.Full:
                continue

    def _back_off(self) -> float:
        """Seconds to wait after ``_failures`` in a row."""
        first, longest = _BACK_OFF_SECONDS
        seconds: float = min(longest, first * 2 ** min(max(self._failures - 1, 0), 10))
        return seconds * random.uniform(0.7, 1.3)  # noqa: S311 - keeps many clients from coming at once


def _later(position: str, version: str) -> str:
    """Where to go on after an event: copies of old events, which come from proxies, lead nowhere back."""
    if position.isdecimal() and version.isdecimal():
        return max(position, version, key=int)
    return version or position
