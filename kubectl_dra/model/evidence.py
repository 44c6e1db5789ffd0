"""How complete the facts are: per kind and namespace what was read, what was refused, what was not asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.invocation import HERE, Address

ALL_NAMESPACES: Final = ""
#: How the note ends on kinds that a plain list does not have.
TAKEN_AS_NONE: Final = "taken as if the cluster had none"
# Fields of objects, by their paths, with the value that they have: a field selector, or what a question is about.
Fields = frozenset[tuple[str, str]]
DRIVER_FIELD: Final = "spec.driver"
POOL_FIELD: Final = "spec.pool.name"
NODE_FIELD: Final = "spec.nodeName"


#: The kinds that every server has that serves resource.k8s.io.
_ALWAYS: Final = frozenset({"ResourceClaim", "ResourceSlice", "DeviceClass"})
#: Kubernetes 1.26 has the API in a version that is not read.
_PROTOTYPE: Final = (1, 26)


class Coverage(StrEnum):
    """What is known of one kind in one scope."""

    COMPLETE = "complete"
    ASSUMED = "assumed"  # a plain list without a header: a kind that does not occur is taken as none
    FILTERED = "filtered"  # only objects with certain fields were asked for, and of those all were read
    PARTIAL = "partial"  # read, but some objects could not be decoded or the list broke off
    FORBIDDEN = "forbidden"
    NOT_SERVED = "notServed"  # the server does not know the kind: complete, and empty
    FAILED = "failed"  # asked for, and the server broke off before it gave any of it
    NOT_READ = "notRead"


#: Asked for, and not all of it came.
LACKING: Final = frozenset({Coverage.PARTIAL, Coverage.FORBIDDEN, Coverage.FAILED})


class Read(msgspec.Struct, frozen=True):
    """One list that was taken: ``namespace`` is empty for the whole cluster. ``time`` is RFC 3339, UTC.

    With ``fields`` it says nothing about objects whose fields differ. ``note`` says why it was refused, or how the list
    was limited.
    """

    kind: str
    namespace: str = ALL_NAMESPACES
    coverage: Coverage = Coverage.COMPLETE
    resource_version: str = ""
    time: str = ""
    note: str = ""
    fields: Fields = frozenset()


class BadObject(msgspec.Struct, frozen=True):
    """An object that could not be decoded: where it stood, which it is if known, and the path that is wrong."""

    kind: str
    namespace: str
    name: str
    error: str
    origin: str = ""


# forbiddenMessage of apiserver/pkg/endpoints/handlers/responsewriters/errors.go.
_REFUSED: Final = re.compile(r'\bUser "([^"]+)" cannot ')
_REASON: Final = re.compile(
    r'\bUser "[^"]+" cannot [^:]* (?:at the cluster scope|in the namespace "[^"]*"): (?P<reason>.+)', re.DOTALL
)
_SUFFICIENT: Final = frozenset({Coverage.COMPLETE, Coverage.ASSUMED, Coverage.NOT_SERVED})


def user_of_refusal(words: str) -> str:
    """Who was refused, as the API server's ``words`` of a refusal call them; empty where they do not say."""
    match = _REFUSED.search(words)
    return match[1] if match is not None else ""


def reason_of_refusal(words: str) -> str:
    """What the server's authorizer adds to a refusal, as those of clouds do; empty where it adds nothing."""
    match = _REASON.search(words)
    return " ".join(match["reason"].split()) if match is not None else ""


@dataclass(frozen=True)
class Evidence:
    """All reads of one Inventory. ``origin`` names where they come from, ``address`` is how commands get there.

    ``written_in``: the versions of resource.k8s.io in which a plain list has its objects. ``absent``: kinds and keys of
    objects that were asked for by name and do not exist, whatever lists say.
    """

    reads: tuple[Read, ...] = ()
    bad_objects: tuple[BadObject, ...] = ()
    server_version: tuple[int, int] | None = None
    origin: str = ""
    notes: tuple[str, ...] = ()
    address: Address = HERE
    written_in: frozenset[str] = frozenset()
    absent: frozenset[tuple[str, Key]] = frozenset()
    _index: Mapping[tuple[str, str], Read] = field(init=False, repr=False, compare=False)
    _filtered: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index: dict[tuple[str, str], Read] = {}
        for read in self.reads:
            known = index.get((read.kind, read.namespace))
            # Of several filtered lists one that lacks something tells.
            if known is None or known.coverage not in (Coverage.PARTIAL, Coverage.FAILED):
                index[(read.kind, read.namespace)] = read
        object.__setattr__(self, "_index", index)
        # Asked about once for each pool.
        object.__setattr__(self, "_filtered", any(read.fields for read in self.reads))

    def coverage(self, kind: str, namespace: str = ALL_NAMESPACES) -> Coverage:
        """What is known of ``kind`` in ``namespace``; a cluster-wide read that suffices covers every namespace."""
        whole = self._index.get((kind, ALL_NAMESPACES))
        if namespace == ALL_NAMESPACES or (whole is not None and whole.coverage in _SUFFICIENT):
            return whole.coverage if whole is not None else Coverage.NOT_READ
        part = self._index.get((kind, namespace))
        if part is not None:
            return part.coverage
        return whole.coverage if whole is not None else Coverage.NOT_READ

    @property
    def lacks_api(self) -> bool:
        """Whether the server serves nothing of resource.k8s.io, so that lists are empty for that reason."""
        found = {read.coverage for read in self.reads if read.kind in _ALWAYS}
        return found == {Coverage.NOT_SERVED} and self.server_version != _PROTOTYPE

    def complete(self, kind: str, namespace: str = ALL_NAMESPACES) -> bool:
        """Whether every object of ``kind`` in ``namespace`` (empty: in the cluster) is in the Inventory."""
        return self.coverage(kind, namespace) in _SUFFICIENT

    def namespaces_read(self, kind: str) -> tuple[str, ...]:
        """The namespaces of which every object of ``kind`` was read by itself, sorted."""
        return tuple(
            sorted(
                read.namespace
                for read in self.reads
                if read.kind == kind and read.namespace and read.coverage in _SUFFICIENT
            )
        )

    @property
    def refused_user(self) -> str:
        """Who was refused, as the server calls them; empty where it refused nothing or does not say."""
        notes = (read.note for read in self.reads if read.coverage is Coverage.FORBIDDEN)
        return next(filter(None, map(user_of_refusal, notes)), "")

    def reason_refused(self, kind: str, namespace: str = ALL_NAMESPACES) -> str:
        """What the authorizer added to the refusal of ``kind`` in ``namespace``, or in the whole cluster."""
        reads = (self._index.get((kind, where)) for where in dict.fromkeys((namespace, ALL_NAMESPACES)))
        notes = (read.note for read in reads if read is not None and read.coverage is Coverage.FORBIDDEN)
        return next(filter(None, map(reason_of_refusal, notes)), "")

    def users_known(self, namespace: str = ALL_NAMESPACES) -> bool:
        """Whether a pod that is not there is gone: a plain list without any Pod does not say so."""
        return self.complete("Pod", namespace) and self.coverage("Pod", namespace) is not Coverage.ASSUMED

    @property
    def extent(self) -> tuple[object, ...]:
        """All that decides how sure an answer is: what was read how completely, but not when."""
        return tuple((read.kind, read.namespace, read.coverage, read.fields) for read in self.reads)

    def within(self, fields: Fields) -> Evidence:
        """The evidence for a question about objects with these ``fields`` only: filtered lists may answer it."""
        if not self._filtered:
            return self
        return replace(self, reads=tuple(_unfiltered(read) for read in self.reads if read.fields <= fields))

    def missing(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Those of ``kinds`` that are not complete in the whole cluster."""
        return tuple(kind for kind in kinds if not self.complete(kind))


def pool_fields(pool: PoolId) -> Fields:
    """What all slices of a pool, and no others, have in common."""
    return frozenset({(DRIVER_FIELD, pool.driver), (POOL_FIELD, pool.pool)})


def _unfiltered(read: Read) -> Read:
    coverage = Coverage.COMPLETE if read.coverage is Coverage.FILTERED else read.coverage
    return msgspec.structs.replace(read, coverage=coverage, fields=frozenset())
