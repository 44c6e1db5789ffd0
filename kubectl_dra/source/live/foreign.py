"""Objects of kinds that belong to other projects, and that a cluster may or may not have.

What is served is asked first, and every refusal is evidence instead of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from kubectl_dra.api.sources import Source
from kubectl_dra.model.evidence import Coverage, user_of_refusal
from kubectl_dra.model.ids import Key
from kubectl_dra.source.limits import Allowance, TooLargeError
from kubectl_dra.source.live.errors import (
    BadAnswerError,
    ExpiredError,
    NotServedError,
    RefusedError,
    ServerFailedError,
    ThrottledError,
    TooLongListError,
    in_words,
)
from kubectl_dra.source.live.listing import CHUNK
from kubectl_dra.source.live.parallel import in_parallel
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.spec import Connection

T = TypeVar("T")
#: Kinds by plural by group of the API.
Kinds = Mapping[str, Mapping[str, str]]
_VERSION_LENGTH: Final = 32
_FILE: Final = "name a file instead"
_NO: Final = Coverage.FORBIDDEN
_NO_CRD: Final = "check --context: its custom resource definition is not installed there"


class UnreadKind(msgspec.Struct, frozen=True):
    """A kind that is served and could not be read, or not to its end.

    ``user``: who was refused, as the server says. ``what``: how it failed, in its words.
    """

    kind: str
    group: str
    plural: str
    coverage: Coverage
    user: str = ""
    what: str = ""


class ForeignObjects(msgspec.Struct, frozen=True):
    """Objects as the server sent them. ``complete``: the kinds of which all were read."""

    objects: tuple[Source, ...] = ()
    unread: tuple[UnreadKind, ...] = ()
    complete: tuple[str, ...] = ()


class _Version(msgspec.Struct, rename="camel", frozen=True):
    group_version: str = ""


class _Group(msgspec.Struct, rename="camel", frozen=True):
    versions: tuple[_Version, ...] = ()
    preferred_version: _Version = _Version()


class _Resource(msgspec.Struct, frozen=True):
    name: str = ""


class _Resources(msgspec.Struct, frozen=True):
    resources: list[_Resource] | None = None


class _Meta(msgspec.Struct, rename={"token": "continue"}, frozen=True):
    token: str = ""


class _Page(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    items: list[msgspec.Raw] | None = None


_groups: Final = msgspec.json.Decoder(_Group)
_resources: Final = msgspec.json.Decoder(_Resources)
_lists: Final = msgspec.json.Decoder(_Page)


def read_foreign(connection: Connection, kinds: Kinds, namespaces: Mapping[str, str] | None = None) -> ForeignObjects:
    """All of them, over a connection of its own; of a plural in ``namespaces`` those of one namespace.

    Raises ``ClusterError`` where the server does not answer.
    """
    with closing(open_session(connection)) as session:
        return _together(in_parallel([partial(_of_group, session, g, kinds[g], namespaces or {}) for g in kinds]))


def get_foreign(connection: Connection, group: str, plural: str, kind: str, key: Key) -> Source | None:
    """One object, in the version that the server prefers; None where there is none of this name.

    Raises ``NotServedError`` where the kind is not served, ``RefusedError`` where it may not be read.
    """
    with closing(open_session(connection)) as session:
        try:
            version = _served(session, group).get(plural)
        except NotServedError:
            version = None
        if version is None:
            raise NotServedError(f"{session.server} does not serve {plural}.{group}", _NO_CRD)
        where = f"namespaces/{quote(key.namespace, safe='')}/" if key.namespace else ""
        path = f"/apis/{group}/{version}/{where}{plural}/{quote(key.name, safe='')}"
        try:
            return Source(session.get(path, f"get {kind} {key}"), f"{group}/{version}", kind)
        except NotServedError:
            return None


def _together(found: Iterable[ForeignObjects]) -> ForeignObjects:
    found = list(found)
    return ForeignObjects(
        tuple(source for each in found for source in each.objects),
        tuple(kind for each in found for kind in each.unread),
        tuple(kind for each in found for kind in each.complete),
    )


def _of_group(session: Session, group: str, wanted: Mapping[str, str], namespaces: Mapping[str, str]) -> ForeignObjects:
    """The kinds of one group; nothing where the group is not served."""
    try:
        versions = _served(session, group)
    except NotServedError:
        return ForeignObjects()
    except RefusedError as error:
        user = user_of_refusal(error.what)
        return ForeignObjects(
            unread=tuple(UnreadKind(kind, group, plural, _NO, user) for plural, kind in wanted.items())
        )
    found = [
        _List(session, group, versions[plural], plural, kind, namespaces.get(plural, ""))
        for plural, kind in wanted.items()
        if plural in versions
    ]
    return _together(in_parallel([each.read for each in found]))


def _served(session: Session, group: str) -> dict[str, str]:
    """The version of each plural that is served, the one that the server prefers where it can be."""
    what = f"discover {group}"
    told = _decoded(session, _groups.decode, session.get(f"/apis/{group}", what))
    preferred = told.preferred_version.group_version
    found: dict[str, str] = {}
    for name in dict.fromkeys((preferred, *(each.group_version for each in told.versions))):
        version = name.removeprefix(f"{group}/")
        # It becomes part of a path.
        if not (version.isascii() and version.isalnum() and len(version) <= _VERSION_LENGTH):
            continue
        listed = _decoded(session, _resources.decode, session.get(f"/apis/{group}/{version}", what))
        for resource in listed.resources or ():
            found.setdefault(resource.name, version)
    return found


class _List(msgspec.Struct, frozen=True):
    session: Session
    group: str
    version: str
    plural: str
    kind: str
    namespace: str

    def read(self) -> ForeignObjects:
        """The objects of the kind; of a list that breaks off those that had come."""
        server, objects = self.session.server, list[Source]()
        try:
            for item in self._items(
                Allowance(f"the list of {self.plural} from {server}", self.session.max_bytes, _FILE)
            ):
                objects.append(item)
        except TooLargeError as error:
            raise TooLongListError(error.what, error.hint) from error
        except (RefusedError, NotServedError) as error:
            return ForeignObjects(tuple(objects), (self._unread(_NO, user_of_refusal(error.what)),))
        except (ExpiredError, ServerFailedError, ThrottledError) as error:
            # As where the webhook that converts objects of one kind does not answer.
            coverage = Coverage.PARTIAL if objects else Coverage.FAILED
            return ForeignObjects(tuple(objects), (self._unread(coverage, what=in_words(error)),))
        return ForeignObjects(tuple(objects), complete=(self.kind,))

    def _items(self, allowance: Allowance) -> Iterator[Source]:
        version = f"{self.group}/{self.version}"
        within = f"namespaces/{self.namespace}/" if self.namespace else ""
        token, seen = "", set[str]()
        while True:
            query = {"limit": str(CHUNK), **({"continue": token} if token else {})}
            data = self.session.get(f"/apis/{version}/{within}{self.plural}", f"list {self.plural}", query)
            allowance.take(len(data))
            page = _decoded(self.session, _lists.decode, data)
            yield from (Source(bytes(item), version, self.kind) for item in page.items or ())
            token = page.metadata.token
            if not token:
                return
            if token in seen:
                raise BadAnswerError(f"{self.session.server} lists {self.plural} without end", "try again")
            seen.add(token)

    def _unread(self, coverage: Coverage, user: str = "", what: str = "") -> UnreadKind:
        return UnreadKind(self.kind, self.group, self.plural, coverage, user, what)


def _decoded(session: Session, decode: Callable[[bytes], T], data: bytes) -> T:
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        raise BadAnswerError(f"{session.server} sent a broken answer: {error}", "try again") from error
