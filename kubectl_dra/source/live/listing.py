"""One list of one kind in one scope: in chunks, each decoded before the next is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote

from kubectl_dra.api.decode import DecodeError, Page, decode_page
from kubectl_dra.api.kinds import Kind
from kubectl_dra.model.base import Record
from kubectl_dra.model.clock import timestamp
from kubectl_dra.model.evidence import BadObject, Coverage, Read
from kubectl_dra.model.names import is_label, is_subdomain
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.source.errors import InvalidNameError
from kubectl_dra.source.live.errors import BadAnswerError, ExpiredError
from kubectl_dra.source.live.session import Session

CHUNK: Final = 500


class Sink(Protocol):
    """Takes the records of a list chunk by chunk, and keeps some or all; ``usage`` is what pods take per node."""

    kept: list[Record]
    usage: dict[str, NodeUsage]

    def add(self, records: Iterable[Record]) -> None:
        """Take one chunk."""


class KeepAll:
    """The sink that keeps everything."""

    def __init__(self) -> None:
        self.kept: list[Record] = []
        self.usage: dict[str, NodeUsage] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Take one chunk."""
        self.kept += records


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that was taken: what it is evidence of, what could not be decoded, and the sink with the rest."""

    read: Read
    bad_objects: tuple[BadObject, ...]
    sink: Sink


def take_list(
    session: Session,
    kind: Kind,
    api_version: str,
    new_sink: Callable[[], Sink] = KeepAll,
    namespace: str = "",
    field_selector: str = "",
) -> Listed:
    """List ``kind``; an empty namespace means the whole cluster. Raises ``ClusterError``.

    When a continue token expires halfway the list is taken again in one piece, as kubectl does: the chunks would
    never fit together.
    """
    query = {"fieldSelector": field_selector} if field_selector else {}
    path = list_path(kind, api_version, namespace)
    try:
        return _take(session, kind, api_version, path, new_sink(), {**query, "limit": str(CHUNK)}, namespace)
    except ExpiredError:
        return _take(session, kind, api_version, path, new_sink(), query, namespace)


def list_path(kind: Kind, api_version: str, namespace: str = "", name: str = "") -> str:
    """The URL path of a list, or of one object. Raises ``InvalidNameError`` for names that the API can't hold.

    Names come from users, from kubeconfigs and from objects: none may lead to another place than is meant.
    """
    if namespace and not is_label(namespace):
        raise InvalidNameError(f'"{namespace}" is no name of a namespace', "kubectl get namespaces")
    if name and not is_subdomain(name):
        raise InvalidNameError(f'"{name}" is no name that a {kind.singular} can have', f"kubectl get {kind.plural}")
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    path = f"/{'apis' if kind.group else 'api'}/{api_version}{scope}/{kind.plural}"
    return f"{path}/{quote(name, safe='')}" if name else path


def _take(
    session: Session, kind: Kind, api_version: str, path: str, sink: Sink, query: dict[str, str], namespace: str
) -> Listed:
    bad: list[BadObject] = []
    time, version, token = timestamp(session.clock), "", ""
    while True:
        chunk = {**query, "continue": token} if token else query
        page = _page(session.get(path, f"list {kind.plural}", chunk), api_version, kind, session.server)
        sink.add(page.records)
        bad += page.bad_objects
        version = version or page.metadata.resource_version
        token = page.metadata.continue_
        if not token:
            coverage = Coverage.PARTIAL if bad else Coverage.COMPLETE
            limits = query.get("fieldSelector", "")
            note = f"only {limits}" if limits else ""
            return Listed(Read(kind.name, namespace, coverage, version, time, note), tuple(bad), sink)


def _page(data: bytes, api_version: str, kind: Kind, server: str) -> Page:
    # An object without items would pass for an empty list, and nothing may be taken for "there are none" but a list.
    if not re.search(rb'"kind"\s*:\s*"%bList"' % kind.name.encode(), data[:512]):
        raise BadAnswerError(f"{server} does not answer with a list of {kind.plural}", "is this an API server?")
    try:
        return decode_page(data, api_version, kind)
    except DecodeError as error:
        raise BadAnswerError(f"{server} sent a broken answer: {error}", "try again") from error
