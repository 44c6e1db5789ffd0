"""The objects of a live cluster that tell what nodes its autoscalers could make.

They are kinds of others, which a cluster may or may not have: what is served is asked first, and every refusal is
evidence instead of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from kubectl_dra.api.convert import Source
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source.limits import Allowance, TooLargeError
from kubectl_dra.source.live.errors import BadAnswerError, ExpiredError, NotServedError, RefusedError, TooLongListError
from kubectl_dra.source.live.listing import CHUNK
from kubectl_dra.source.live.parallel import in_parallel
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.spec import Connection

T = TypeVar("T")
#: Plural and kind by group of the API; deploy/rbac/node-groups.yaml grants them.
READ: Final[Mapping[str, Mapping[str, str]]] = {
    "cluster.x-k8s.io": {
        "machinedeployments": "MachineDeployment",
        "machinepools": "MachinePool",
        "machinesets": "MachineSet",
    },
    "karpenter.sh": {"nodeclaims": "NodeClaim", "nodeoverlays": "NodeOverlay", "nodepools": "NodePool"},
    "test.karpenter.sh": {"draconfigs": "DRAConfig"},
}
_VERSION_LENGTH: Final = 32


@dataclass(frozen=True, slots=True)
class Unread:
    """A kind that is served and could not be read, or not to its end."""

    kind: str
    group: str
    plural: str
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class NodeGroupObjects:
    """Objects as the server sent them."""

    objects: tuple[Source, ...] = ()
    unread: tuple[Unread, ...] = ()


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


class _List(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    items: list[msgspec.Raw] | None = None


_groups: Final = msgspec.json.Decoder(_Group)
_resources: Final = msgspec.json.Decoder(_Resources)
_lists: Final = msgspec.json.Decoder(_List)


def read_node_groups(connection: Connection) -> NodeGroupObjects:
    """All of them, over a connection of its own. Raises ``ClusterError`` where the server does not answer."""
    session = open_session(connection)
    try:
        found = in_parallel([lambda g=group: _of_group(session, g) for group in READ])  # type: ignore[misc]
    finally:
        session.close()
    return NodeGroupObjects(
        tuple(source for each in found for source in each.objects),
        tuple(kind for each in found for kind in each.unread),
    )


def _of_group(session: Session, group: str) -> NodeGroupObjects:
    """The kinds of one group; nothing where the group is not served."""
    try:
        versions = _served(session, group)
    except NotServedError:
        return NodeGroupObjects()
    except RefusedError:
        return NodeGroupObjects(unread=tuple(_unread(group, READ[group])))
    kinds = [(plural, versions[plural]) for plural in READ[group] if plural in versions]
    found = in_parallel([lambda p=p, v=v: _listed(session, group, v, p) for p, v in kinds])  # type: ignore[misc]
    return NodeGroupObjects(
        tuple(source for each in found for source in each.objects),
        tuple(kind for each in found for kind in each.unread),
    )


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


def _listed(session: Session, group: str, version: str, plural: str) -> NodeGroupObjects:
    """The objects of one kind; of a list that breaks off those that had come."""
    allowance = Allowance(f"the list of {plural} from {session.server}", session.max_bytes, "name a file instead")
    objects: list[Source] = []
    kind, token, seen = READ[group][plural], "", set[str]()
    try:
        while True:
            query = {"limit": str(CHUNK), **({"continue": token} if token else {})}
            data = session.get(f"/apis/{group}/{version}/{plural}", f"list {plural}", query)
            allowance.take(len(data))
            page = _decoded(session, _lists.decode, data)
            objects += (Source(bytes(item), f"{group}/{version}", kind) for item in page.items or ())
            token = page.metadata.token
            if token in seen:
                raise BadAnswerError(f"{session.server} lists {plural} without end", "try again")
            seen.add(token)
            if not token:
                return NodeGroupObjects(tuple(objects))
    except TooLargeError as error:
        raise TooLongListError(error.what, error.hint) from error
    except (RefusedError, NotServedError):
        return NodeGroupObjects(tuple(objects), tuple(_unread(group, [plural])))
    except ExpiredError:
        return NodeGroupObjects(tuple(objects), tuple(_unread(group, [plural], Coverage.PARTIAL)))


def _unread(group: str, plurals: Iterable[str], coverage: Coverage = Coverage.FORBIDDEN) -> Iterable[Unread]:
    return (Unread(READ[group][plural], group, plural, coverage) for plural in plurals)


def _decoded(session: Session, decode: Callable[[bytes], T], data: bytes) -> T:
    try:
        return decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadAnswerError(f"{session.server} sent a broken answer: {error}", "try again") from error
