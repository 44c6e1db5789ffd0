"""What a command needs from a cluster: kinds, and where namespaces, names and sums limit what is read and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # Help and usage errors have options, and no objects.
    from kubectl_dra.api.kinds import Kind
    from kubectl_dra.model.evidence import Fields
    from kubectl_dra.model.ids import Key

# Namespaced kinds of which objects in other namespaces matter: they hold devices, take resources of nodes, or belong to
# classes, which have no namespace.
_EVERYWHERE: Final = frozenset(
    {"Pod", "ResourceClaim", "ResourceClassParameters"}
    # Of all pods on a node volumes are counted; storage in any namespace; victims may be anywhere.
    | {"PersistentVolumeClaim", "CSIStorageCapacity", "PodDisruptionBudget", "PodGroup"}
)
#: What is most of a cluster's events, and says nothing of why a pod waits (kube-scheduler, pkg/kubelet/events,
#: pkg/controller/{replicaset,deployment,job,daemon}).
_ROUTINE: Final = (
    *("Scheduled", "Created", "Killing", "SuccessfulCreate", "SuccessfulDelete", "ScalingReplicaSet"),
    *("Completed", "SawCompletedJob"),
)
# Finished pods take nothing; the API server can leave them out, and events of routine.
_FIELDS: Final = {
    "Pod": "status.phase!=Succeeded,status.phase!=Failed",
    "Event": ",".join(f"reason!={reason}" for reason in _ROUTINE),
}


@dataclass(frozen=True, slots=True)
class Needs:
    """``kinds`` are names of kinds, empty for all that we know.

    ``namespaces`` are those that the question is about, empty for all: kinds that only matter there are read only
    there, and the others are read there when the whole cluster may not be read. ``instead``: where it may not be read,
    a question about all namespaces is answered of these. ``pods`` are asked for by name: they are read in any phase,
    and kept. With ``all_pods`` no pod is reduced to its node's sums, and finished ones are read.

    ``slices`` are field selectors, of which a slice must match one. ``local``: pods and claims outside the namespaces
    don't matter, and finished pods do. ``claims``: slices are read of the pools that these claims hold devices of;
    ``node``: of the pools that this node can use something of. ``demanded``: kinds that are read even where no pod of
    the cluster makes them matter. ``whole_nodes``: no pod on these nodes is reduced to its node's sums.
    ``everywhere``: kinds that matter in all namespaces for once.
    """

    kinds: frozenset[str] = frozenset()
    namespaces: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    pods: frozenset[Key] = frozenset()
    all_pods: bool = False
    slices: frozenset[Fields] = frozenset()
    local: bool = False
    claims: frozenset[Key] = frozenset()
    node: str = ""
    demanded: frozenset[str] = frozenset()
    whole_nodes: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()

    def wanted(self) -> tuple[Kind, ...]:
        """The kinds, in the order in which an Inventory lists them."""
        from kubectl_dra.api.kinds import KINDS  # whoever only asks for help should not pay for the model

        return tuple(kind for kind in KINDS if not self.kinds or kind.name in self.kinds)

    def scopes(self, kind: Kind) -> tuple[str, ...]:
        """The namespaces in which to read ``kind``; ``("",)`` is the whole cluster."""
        local = kind.namespaced and (self.local or kind.name not in _EVERYWHERE | self.everywhere)
        return self.namespaces if local and self.namespaces else ("",)

    def fallback(self, kind: Kind) -> tuple[str, ...]:
        """The namespaces to try when the whole cluster may not be read."""
        return (self.namespaces or self.instead) if kind.namespaced else ()

    def field_selector(self, kind: Kind) -> str:
        """The ``fieldSelector`` of the list."""
        whole = kind.name == "Pod" and (self.all_pods or (self.local and bool(self.namespaces)))
        return "" if whole else _FIELDS.get(kind.name, "")


ALL: Final = Needs()
