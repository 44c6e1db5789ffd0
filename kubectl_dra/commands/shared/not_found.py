"""What is said of a name that is not there: what was asked for, what it may have meant, and a command that shows more.

Where not everything of a kind could be read nobody knows whether a name is there: then the right is what to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.api.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    NODE,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    Kind,
)
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.unread import way_to
from kubectl_dra.diagnosis.pod.needs import BY_KIND
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import CommandLine, Words
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.output.unread import lacking_lines
from kubectl_dra.reports.invocations import dra, of, shell_line, try_kubectl, within
from kubectl_dra.reports.unread import missing_rights

_NAMED: Final = 3
#: What lists all of a kind; of others, such as pods and workloads, those that wait for devices.
_LISTS: Final[Mapping[str, Words]] = {
    NODE.name: ("get", "nodes"),
    DEVICE_CLASS.name: ("get", "classes"),
    DEVICE_TAINT_RULE.name: ("get", "taints"),
    RESOURCE_SLICE.name: ("get", "slices"),
    RESOURCE_CLAIM.name: ("get", "claims", "-A"),
    RESOURCE_CLAIM_TEMPLATE.name: ("get", "templates", "-A"),
    POD_GROUP.name: ("get", "podgroups", "-A"),
}
_WAITING: Final[Words] = ("why-pending", "-A")
#: The same of what ResourceSlices publish.
_PUBLISHED: Final[Mapping[str, Words]] = {
    "driver": ("get", "pools"),
    "pool": ("get", "pools"),
    "device": ("get", "devices"),
}
_NOTHING: Final = frozenset({Coverage.FORBIDDEN, Coverage.FAILED, Coverage.NOT_READ})


def not_found(what: str, name: str, known: Iterable[str], look: CommandLine | str) -> CommandError:
    """``what "name"`` of which all are ``known``; ``look`` lists them."""
    known = sorted(known)
    return CommandError(f'{what} "{name}" not found{did_you_mean(name, known) or _some(known)}', look)


def object_not_found(kind: Kind, name: str, known: Iterable[str], evidence: Evidence) -> CommandError:
    """A cluster-scoped object of ``kind``."""
    if evidence.complete(kind.name):
        return not_found(kind.resource, name, known, shell_line(dra(_LISTS[kind.name])))
    return unsure(f'{kind.resource} "{name}"', kind, evidence)


def published_not_found(what: str, name: str, known: Iterable[str], evidence: Evidence) -> CommandError:
    """A driver, pool or device: ``what`` ResourceSlices publish."""
    if evidence.complete(RESOURCE_SLICE.name):
        return not_found(what, name, known, shell_line(dra(_PUBLISHED[what])))
    return unsure(f'{what} "{name}"', RESOURCE_SLICE, evidence, f"{RESOURCE_SLICE.name}s")


def key_not_found(kind: Kind, key: Key, known: Iterable[Key], evidence: Evidence, command: Words) -> CommandError:
    """An object in a namespace; ``command`` takes ``TYPE/NAME -n NAMESPACE``."""
    what, all_ = not_there(kind, key), _LISTS.get(kind.name, _WAITING)
    if not evidence.complete(kind.name, key.namespace) and (kind.name, key) not in evidence.absent:
        return unsure(f'{kind.resource} "{key.name}"', kind, evidence, namespace=key.namespace)
    keys = tuple(known)
    elsewhere = sorted(each.namespace for each in keys if each.name == key.name)
    if elsewhere:
        return CommandError(what, shell_line(dra(command, of(_word(kind), key.name, elsewhere[0])), dra(all_) or ()))
    here = (each.name for each in keys if each.namespace == key.namespace)
    where = within(key.namespace)
    if where and "-A" in all_ and evidence.refused_user and not evidence.complete(kind.name):
        # Who may not read the whole cluster can't look there either.
        all_ = (*(word for word in all_ if word != "-A"), *where)
    return CommandError(what + did_you_mean(key.name, here), shell_line(dra(all_)))


def not_there(kind: Kind, key: Key) -> str:
    return f'{kind.resource} "{key.name}" not found in namespace "{key.namespace}"'


def check_node(name: str | None, state: ClusterState) -> None:
    """Raises ``CommandError`` for a node that is known not to exist."""
    nodes = state.inventory.nodes
    if name and name not in nodes and state.evidence.complete(NODE.name):
        raise object_not_found(NODE, name, nodes, state.evidence)


def _some(names: Sequence[str]) -> str:
    """``; the cluster has a, b, c and 5 more``, where none of them is like the one that was asked for."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"; the cluster has {', '.join(names[:_NAMED])}{more}" if names else "; the cluster has none"


def _word(kind: Kind) -> str:
    return "claim" if kind.name == "ResourceClaim" else kind.singular


def unsure(
    what: str,
    kind: Kind,
    evidence: Evidence,
    unread: str = "",
    *,
    namespace: str = "",
    but: str = "not found",
) -> CommandError:
    """What was not found, where objects of ``kind`` were not all read: nobody knows whether it exists.

    ``unread``: what they are called, where they are others than the one that was not found. ``but``: what is known of
    it all the same.
    """
    lacking = missing_rights(evidence, (kind.name,), namespace) if kind.name in BY_KIND else ()
    nothing = any(each.coverage in _NOTHING and not each.read_in for each in lacking)
    where = f' in namespace "{namespace}"' if namespace else ""
    some = f"{unread} could not be read" if nothing else f"not all {unread or 'of them'} could be read"
    said = f"{what} could not be read{where}" if nothing and not unread else f"{what} {but}{where}, but {some}"
    if any(each.coverage == Coverage.FAILED for each in lacking):
        return CommandError(f"{said}: the server failed", way_to(lacking[0]))
    user = f": forbidden for user {evidence.refused_user}" if evidence.refused_user else ""
    hint = try_kubectl("auth", "can-i", "list", kind.resource, within(namespace) if namespace else ())
    refused = [each for each in lacking if each.coverage == Coverage.FORBIDDEN]
    permit = lacking_lines(refused, evidence.address) if refused else ()
    return CommandError(f"{said}{user}", hint, details=permit)
