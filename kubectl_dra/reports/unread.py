"""Whether what could not be read can change a list: the one rule that lists, totals, badges and exit codes follow.

Lines are made of *objects*. Other kinds *select* which of those become lines, or are *details* that only change what
lines say. A missing kind of objects always decides; one that selects does where there may be objects, and a detail
where there may be lines. What cannot decide is never mentioned.

Which kinds a view of pools, devices and claims misses, and the RBAC rules that would give them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pending import unserved
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.pod.missing import missing
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.scope import places_on_nodes

_SEEN: Final = frozenset({Coverage.PARTIAL, Coverage.FILTERED})

SLICES: Final = "ResourceSlice"


class Subject(msgspec.Struct, frozen=True):
    """What a list is about, as kinds: ``objects`` become lines, ``selects`` say which, ``details`` what lines say."""

    objects: tuple[str, ...]
    selects: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*self.objects, *self.selects, *self.details)

    def selecting(self, *kinds: str) -> Subject:
        """The same where a filter makes ``kinds`` say which lines there are."""
        more = (kind for kind in kinds if kind not in (*self.objects, *self.selects))
        return Subject(self.objects, (*self.selects, *more), tuple(k for k in self.details if k not in kinds))


POOLS: Final = Subject((SLICES,), details=("ResourceClaim", "DeviceTaintRule", "Node"))
DEVICES: Final = Subject(POOLS.objects, details=("ResourceClaim", "DeviceTaintRule", "Pod", "Node"))
CLAIMS: Final = Subject(("ResourceClaim",), details=("Pod",))
CLASSES: Final = Subject(("DeviceClass",), details=("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Node"))
TAINTS: Final = Subject(("DeviceTaintRule", "ResourceSlice"), details=("ResourceClaim",))
#: Taints with the pods that they evict.
TAINTED_PODS: Final = Subject(TAINTS.objects, details=("ResourceClaim", "Pod"))
#: Pods that wait for devices; what their diagnoses lack stands in each of them.
PENDING_PODS: Final = Subject(("Pod",), selects=("DeviceClass",))
POD_GROUPS: Final = Subject(("PodGroup",), details=("Pod",))
#: Nodes that were not read may still be named by slices.
NODES: Final = Subject(("Node",), details=(SLICES, "ResourceClaim", "DeviceTaintRule"))
#: Room for a shape, node by node.
ROOM: Final = Subject(("Node",), selects=("DeviceClass",), details=(SLICES, "ResourceClaim", "DeviceTaintRule"))
SLICE_OBJECTS: Final = Subject((SLICES,))
TEMPLATES: Final = Subject(("ResourceClaimTemplate",), details=("Pod",))
#: Groups of pods that wait: whether one does depends on its pods.
PENDING_GROUPS: Final = Subject(("PodGroup",), selects=("Pod",))
#: Claims that wait, are wasted or can't go: whether one is depends on its pods.
PENDING_CLAIMS: Final = Subject(("ResourceClaim",), selects=("Pod",))


class ListGaps(msgspec.Struct, frozen=True):
    """What a list lacks: what is ``missing`` and can change it; ``hides_lines``: lines may be absent.

    ``objects`` of ``missing`` become lines. ``answered`` is False where nothing that could make a line was read.
    """

    missing: tuple[Missing, ...] = ()
    objects: tuple[Missing, ...] = ()
    hides_lines: bool = False
    answered: bool = True

    @property
    def bound(self) -> Bound:
        """How sure the number of lines is."""
        return Bound.UNKNOWN if not self.answered else Bound.AT_LEAST if self.hides_lines else Bound.EXACT

    def count(self, number: int) -> Count:
        return Count(number, self.bound)


def unread(
    state: ClusterState,
    subject: Subject,
    namespace: str = "",
    *,
    shown: bool,
    known: Collection[str] = frozenset(),
) -> ListGaps:
    """What a list about ``subject`` lacks; ``shown``: whether it has any line.

    With ``namespace`` kinds that live in namespaces are wanted in that one only. Of ``known`` kinds everything that is
    asked for was read.
    """
    evidence = state.evidence
    lacking = missing_rights(evidence, (kind for kind in subject.objects if kind not in known), namespace)
    # Of a pod they may only explain; of a list they are the lines.
    objects = tuple(msgspec.structs.replace(each, decides=True) for each in lacking)
    exist = bool(objects) or any(_exists(kind, namespace, state.inventory) for kind in subject.objects)
    # What is there is never asked whether it matters, which takes a look at all pods or slices.
    wanting = missing_rights(evidence, subject.selects if exist else (), namespace)
    selects = tuple(each for each in wanting if _matters(each.kind, subject, state, namespace))
    hides = bool(objects or selects)
    wanting = missing_rights(evidence, subject.details if shown or hides else (), namespace)
    details = (each for each in wanting if _matters(each.kind, subject, state, namespace))
    missing = (*objects, *selects, *details)
    return ListGaps(missing, objects, hides, shown or _is_seen(evidence, subject, objects))


def together(found: Iterable[ListGaps], more: Iterable[Missing] = ()) -> ListGaps:
    """Of several lists, or of one with what its single answers lack: ``more``, as far as it decides."""
    parts = tuple(found)
    decisive = [each for part in parts for each in part.missing] + [each for each in more if each.decides]
    objects = dict.fromkeys(each for part in parts for each in part.objects)
    answered = not parts or any(part.answered for part in parts)
    hides = any(part.hides_lines for part in parts)
    return ListGaps(tuple(dict.fromkeys(decisive)), tuple(objects), hides, answered)


def _is_seen(evidence: Evidence, subject: Subject, lacking: Iterable[Missing]) -> bool:
    """Whether a kind of objects was read at all, be it in part or in one namespace."""
    unseen = {each.kind for each in lacking if evidence.coverage(each.kind, each.namespace) not in _SEEN}
    partly = {read.kind for read in evidence.reads if read.namespace and evidence.complete(read.kind, read.namespace)}
    return not unseen - partly >= set(subject.objects)


def _exists(kind: str, namespace: str, inventory: Inventory) -> bool:
    of_kind: Mapping[str, Iterable[object]] = {
        "ResourceSlice": inventory.slices,
        "DeviceClass": inventory.classes,
        "DeviceTaintRule": inventory.taint_rules,
        "ResourceClaim": (key for key in inventory.claims if namespace in ("", key.namespace)),
        "Pod": (key for key in inventory.pods if namespace in ("", key.namespace)),
        "Node": inventory.nodes,
        "ResourceClaimTemplate": (key for key in inventory.templates if namespace in ("", key.namespace)),
        "PodGroup": (key for key in inventory.groups.pod_groups if namespace in ("", key.namespace)),
    }
    return any(True for _ in of_kind[kind])


def _matters(kind: str, subject: Subject, state: ClusterState, namespace: str) -> bool:
    """Whether a kind that selects or tells details can do so, given what is known of the others."""
    if kind == "Node" and state.evidence.complete("ResourceSlice"):
        return places_on_nodes(state)
    if kind == "DeviceClass" and subject is PENDING_PODS:
        return not state.evidence.complete("Pod", namespace) or bool(unserved(state, namespace))
    return True


def missing_rights(evidence: Evidence, kinds: Iterable[str], namespace: str = "") -> tuple[Missing, ...]:
    """Those of ``kinds`` that are not completely known, in their order.

    With ``namespace`` kinds that live in namespaces are wanted in that one only, else everywhere.
    """
    wanted = (needs.BY_KIND[kind] for kind in kinds)
    here = (dataclasses.replace(need, cluster_wide=not (namespace and _namespaced(need.kind))) for need in wanted)
    return missing(evidence, here, namespace)


def _namespaced(kind: str) -> bool:
    return BY_NAME[kind].namespaced
