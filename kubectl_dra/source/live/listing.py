"""One list of one kind in one scope: in chunks, each decoded before the next is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol
from urllib.parse import quote

import msgspec

from kubectl_dra.api.decode import DecodeError, ListMeta, ListPage, decode_page
from kubectl_dra.api.kinds import EVENT, Kind
from kubectl_dra.model.base import Record
from kubectl_dra.model.clock import timestamp
from kubectl_dra.model.evidence import BadObject, Coverage, Read
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.invocation import CommandLine
from kubectl_dra.model.names import is_label, is_subdomain
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.source.errors import ClusterError, InvalidNameError
from kubectl_dra.source.limits import Allowance, TooLargeError
from kubectl_dra.source.live.errors import BadAnswerError, ExpiredError, TooLongListError
from kubectl_dra.source.live.session import Session
from kubectl_dra.source.live.telling import NOTE, tells

CHUNK: Final = 500
# A chunk may be empty and others follow, where a server looks only through so many objects at once.
_MOST_EMPTY: Final = 100


class Sink(Protocol):
    """Takes the records of a list chunk by chunk, and keeps some or all; ``usage`` is what pods take per node."""

    kept: list[Record]

    @property
    def usage(self) -> dict[str, NodeUsage]:
        """Sums per node, once all chunks are there."""

    def add(self, records: Iterable[Record]) -> None:
        """Take one chunk."""

    def take(self, data: bytes, api_version: str) -> Taken | None:
        """Take one chunk straight from its bytes; None where it has to be decoded first."""


class Taken(msgspec.Struct, frozen=True):
    """A chunk that was taken: its header, and its first object; None where it holds none."""

    metadata: ListMeta
    first: Key | None


class KeepAll:
    def __init__(self) -> None:
        self.kept: list[Record] = []
        self.usage: dict[str, NodeUsage] = {}

    def add(self, records: Iterable[Record]) -> None:
        self.kept += records

    def take(self, data: bytes, api_version: str) -> Taken | None:
        """Every chunk is decoded."""
        return None


class Listed(msgspec.Struct, frozen=True):
    """A list that was taken: what it is evidence of, what could not be decoded, and the sink with the rest.

    ``broken``: how it broke off, where the chunks before are kept.
    """

    read: Read
    bad_objects: tuple[BadObject, ...]
    sink: Sink
    broken: ClusterError | None = None


def take_list(
    session: Session,
    kind: Kind,
    api_version: str,
    new_sink: Callable[[], Sink] = KeepAll,
    namespace: str = "",
    field_selector: str = "",
    *,
    in_part: tuple[type[ClusterError], ...] = (),
) -> Listed:
    """List ``kind``; an empty namespace means the whole cluster. Raises ``ClusterError``.

    Where it breaks off for a reason that is ``in_part``, the chunks that came are the answer. When a continue token
    expires halfway the list is taken again in one piece, as kubectl does: the chunks would never fit together.
    """
    query = {"fieldSelector": field_selector} if field_selector else {}
    path = list_path(kind, api_version, namespace)
    try:
        return _take(session, kind, api_version, path, new_sink(), {**query, "limit": str(CHUNK)}, namespace, in_part)
    except ExpiredError:
        return _take(session, kind, api_version, path, new_sink(), query, namespace, ())


def list_path(kind: Kind, api_version: str, namespace: str = "", name: str = "") -> str:
    """The URL path of a list, or of one object. Raises ``InvalidNameError`` for names that the API can't hold.

    Names come from users, from kubeconfigs and from objects: none may lead to another place than is meant.
    """
    if namespace and not is_label(namespace):
        raise InvalidNameError(
            f'"{namespace}" is not a valid namespace name', CommandLine(("kubectl", "get", "namespaces"))
        )
    if name and not is_subdomain(name):
        raise InvalidNameError(
            f'"{name}" is not a valid name of a {kind.singular}', CommandLine(("kubectl", "get", kind.plural))
        )
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    path = f"/{'apis' if kind.group else 'api'}/{api_version}{scope}/{kind.plural}"
    return f"{path}/{quote(name, safe='')}" if name else path


def _take(
    session: Session,
    kind: Kind,
    api_version: str,
    path: str,
    sink: Sink,
    query: dict[str, str],
    namespace: str,
    in_part: tuple[type[ClusterError], ...],
) -> Listed:
    bad: list[BadObject] = []
    time, version = timestamp(session.clock), ""
    progress = _Progress(session, kind)
    broken: ClusterError | None = None
    try:
        for data in _chunks(session, kind, path, query, progress):
            taken = sink.take(data, api_version)
            if taken is None:
                page = _page(data, api_version, kind, session.server)
                sink.add(filter(tells, page.records))
                bad += page.bad_objects
                taken = Taken(page.metadata, _first(page))
            version = version or taken.metadata.resource_version
            progress.check(taken, len(data))
    except in_part as error:
        if not progress.token or isinstance(error, ExpiredError):
            raise
        broken = error
    coverage = Coverage.PARTIAL if bad or broken is not None else Coverage.COMPLETE
    limits = query.get("fieldSelector", "")
    note = NOTE if kind is EVENT else f"only {limits}" if limits else ""
    note = broken.what if broken is not None else note
    return Listed(Read(kind.name, namespace, coverage, version, time, note), tuple(bad), sink, broken)


def _chunks(session: Session, kind: Kind, path: str, query: dict[str, str], progress: _Progress) -> Iterator[bytes]:
    """The bodies; who takes one has told ``progress`` of it before the next is asked for."""
    while True:
        more = {"continue": progress.token} if progress.token else {}
        data = session.get(path, f"list {kind.plural}", {**query, **more})
        _check_list(data, kind, session.server)
        yield data
        if not progress.token:
            return


class _Progress:
    """Whether a list comes to an end: chunks bring objects that were not there before, and not too many."""

    def __init__(self, session: Session, kind: Kind) -> None:
        self._server = session.server
        self._kind = kind
        name = f"the list of {kind.plural} from {session.server}"
        self._allowance = Allowance(name, session.max_bytes, "ask for less: a namespace, or a driver")
        self._seen: set[object] = set()
        self._empty = 0
        #: Where the list goes on; empty at its end.
        self.token = ""

    def check(self, page: Taken, size: int) -> None:
        """Take one chunk into account. Raises ``BadAnswerError``."""
        try:
            self._allowance.take(size)
        except TooLargeError as error:
            raise TooLongListError(error.what, error.hint) from error
        self.token = page.metadata.continue_
        if not self.token:
            return
        self._empty = 0 if page.first is not None else self._empty + 1
        marks: set[object] = {self.token}
        if page.first is not None and page.first.name:
            marks.add(page.first)
        if self._empty > _MOST_EMPTY or marks & self._seen:
            what = f"{self._server} lists {self._kind.plural} without end: its chunks bring nothing new"
            raise BadAnswerError(what, "try again; is there a proxy that repeats answers?")
        self._seen |= marks


def _first(page: ListPage) -> Key | None:
    if page.records:
        return key_of(page.records[0].metadata)  # type: ignore[attr-defined]
    if page.bad_objects:
        return Key(page.bad_objects[0].namespace, page.bad_objects[0].name)
    return None


def _check_list(data: bytes, kind: Kind, server: str) -> None:
    # An object without items would pass for an empty list, and nothing may be taken for "there are none" but a list.
    if not re.search(rb'"kind"\s*:\s*"%bList"' % kind.name.encode(), data[:512]):
        raise BadAnswerError(f"{server} does not answer with a list of {kind.plural}", "is this an API server?")


def _page(data: bytes, api_version: str, kind: Kind, server: str) -> ListPage:
    try:
        return decode_page(data, api_version, kind)
    except DecodeError as error:
        raise BadAnswerError(f"{server} sent a broken answer: {error}", "try again") from error
