"""What a server serves: its version, and for each kind that had several versions the best one that it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from kubectl_dra.api.kinds import GROUPS, RESOURCE_GROUP, Kind
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.errors import (
    BadAnswerError,
    NotServedError,
    RefusedError,
    ServerFailedError,
    ThrottledError,
)
from kubectl_dra.source.live.parallel import in_parallel
from kubectl_dra.source.live.session import Session

S = TypeVar("S", bound=msgspec.Struct)
# A server before 1.27 says "27+" or the like in builds of vendors.
_LEADING_DIGITS: Final = re.compile(r"\d{1,4}")
#: Versions of groups of pods that had other shapes, in Kubernetes 1.35 and 1.36, and are not read.
_OLDER: Final = ("v1alpha2", "v1alpha1")


class Served(msgspec.Struct, frozen=True):
    """``api_versions`` maps the name of a kind to ``group/version``; a kind that is not served is not in it.

    ``older``: the versions of such kinds that are served in a shape that is not read. ``failed``: groups of which the
    server failed to say what it serves.
    """

    server_version: tuple[int, int] | None
    git_version: str
    api_versions: Mapping[str, str]
    older: Mapping[str, str] = msgspec.field(default_factory=dict)
    failed: Mapping[str, ClusterError] = msgspec.field(default_factory=dict)

    def why_not(self, kind: Kind) -> str:
        """Why a kind that is not served is not; empty where the server has nothing of it."""
        older = self.older.get(kind.name)
        return f"{kind.plural} are only served as {older}, a shape that is not read" if older else ""


_NOTHING: Final = Served(None, "", {})


class _Version(msgspec.Struct, rename="camel"):
    major: str = ""
    minor: str = ""
    git_version: str = ""


class _GroupVersion(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct):
    versions: list[_GroupVersion]


class _Resource(msgspec.Struct):
    name: str = ""


class _ResourceList(msgspec.Struct):
    resources: list[_Resource] | None


# Made before there are threads: two that describe a struct to msgspec at the same time read a null pointer.
_DECODERS: Final[Mapping[type[msgspec.Struct], msgspec.json.Decoder[Any]]] = {
    struct: msgspec.json.Decoder(struct) for struct in (_Version, _Group, _ResourceList)
}


def discover(session: Session, kinds: Iterable[Kind], *, strict: bool = True) -> Served:
    """Ask for the version, and which of ``kinds`` are served how. Raises ``ClusterError``.

    Not ``strict``: a group of which the server fails to say it is one that ``failed``.
    """
    wanted = tuple(kinds)
    calls: tuple[Callable[[], Served], ...] = (
        lambda: Served(*server_version(session), {}),
        lambda: discover_more(session, _NOTHING, wanted, strict=strict),
    )
    version, served = in_parallel(calls)
    return replace(served, server_version=version.server_version, git_version=version.git_version)


def discover_more(session: Session, served: Served, kinds: Iterable[Kind], *, strict: bool = True) -> Served:
    """With further kinds, as they begin to matter. Raises ``ClusterError``, as :func:`discover` does."""
    wanted = tuple(kinds)
    asked = {kind.group: [other for other in wanted if other.group == kind.group] for kind in wanted if _varies(kind)}
    failed: dict[str, ClusterError] = {}

    def served_plurals(group: str) -> Mapping[str, frozenset[str]] | None:
        try:
            return _served_plurals(session, group, asked[group])
        except (ServerFailedError, ThrottledError) as error:
            if strict:
                raise
            failed[group] = error
            return {}

    answers = in_parallel([partial(served_plurals, group) for group in asked])
    plurals = dict(zip(asked, answers, strict=True))
    best = {kind.name: _best(kind, plurals.get(kind.group)) for kind in wanted}
    older = {kind.name: _older(kind, plurals.get(kind.group)) for kind in wanted if not best[kind.name]}
    return replace(
        served,
        api_versions={**served.api_versions, **{name: found for name, found in best.items() if found}},
        older={**served.older, **{name: found for name, found in older.items() if found}},
        failed={**served.failed, **failed},
    )


def _varies(kind: Kind) -> bool:
    return kind.group == RESOURCE_GROUP or kind in GROUPS


def server_version(session: Session) -> tuple[tuple[int, int] | None, str]:
    """Major and minor number, and the full text; None and nothing where asking for it is forbidden."""
    try:
        version = _decoded(session.get("/version", "read the version"), _Version, session)
    except (RefusedError, NotServedError):
        return None, ""
    major, minor = _LEADING_DIGITS.match(version.major), _LEADING_DIGITS.match(version.minor)
    return ((int(major[0]), int(minor[0])) if major and minor else None), version.git_version


def _served_plurals(session: Session, name: str, kinds: Iterable[Kind]) -> Mapping[str, frozenset[str]] | None:
    """Plural names by version of a group; None where discovery is forbidden."""
    path = f"/apis/{name}"
    try:
        group = _decoded(session.get(path, f"discover {name}"), _Group, session)
    except NotServedError:
        return {}
    except RefusedError:
        return None
    known = {version for kind in kinds for version in (*kind.versions, *(_OLDER if kind in GROUPS else ()))}
    served = [each.version for each in group.versions if each.version in known]
    lists = in_parallel([lambda version=version: _plurals(session, f"{path}/{version}") for version in served])  # type: ignore[misc]
    return dict(zip(served, lists, strict=True))


def _plurals(session: Session, path: str) -> frozenset[str]:
    try:
        listed = _decoded(session.get(path, f"discover {path}"), _ResourceList, session)
    except (NotServedError, RefusedError):
        return frozenset()
    return frozenset(resource.name for resource in listed.resources or ())


def _best(kind: Kind, plurals: Mapping[str, frozenset[str]] | None) -> str:
    # Where nobody tells, the best version is tried; a kind that is not there answers 404.
    if not _varies(kind) or plurals is None:
        return kind.api_version
    versions = (version for version in kind.versions if kind.plural in plurals.get(version, ()))
    return next(map(kind.api_version_of, versions), "")


def _older(kind: Kind, plurals: Mapping[str, frozenset[str]] | None) -> str:
    versions = (version for version in _OLDER if kind in GROUPS and kind.plural in (plurals or {}).get(version, ()))
    return next(map(kind.api_version_of, versions), "")


def _decoded(data: bytes, struct: type[S], session: Session) -> S:
    try:
        answer: S = _DECODERS[struct].decode(data)
    except (ValueError, RecursionError) as error:
        page = data.lstrip()[:1] == b"<"
        why = "it sends a web page, as a sign-in or a proxy does" if page else str(error)
        text = f"{session.server} does not answer as an API server: {why}"
        raise BadAnswerError(text, "check the server's URL in the kubeconfig") from error
    return answer
