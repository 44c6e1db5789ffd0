"""The pods that hold devices and may be restarted, those that only end, and kinds that no search can tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis import classic
from kubectl_dra.diagnosis.gates.gates import other_scheduler
from kubectl_dra.diagnosis.remedies.changes import after_deletion
from kubectl_dra.diagnosis.whatif.displaced import covers
from kubectl_dra.diagnosis.whatif.nodes import stays_with_node
from kubectl_dra.model.core import Pod
from kubectl_dra.model.held import device_of, results_of
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.podinfo import pod_info
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import claims_of


@dataclass(frozen=True, slots=True)
class Movable:
    """A pod that may be restarted, and the claims with devices that its end releases. Equal ``kind``: alike."""

    pod: Pod
    claims: tuple[ResourceClaim, ...]
    kind: Hashable

    @property
    def key(self) -> Key:
        return key_of(self.pod.metadata)

    @property
    def node(self) -> str:
        return self.pod.spec.node_name

    @property
    def devices(self) -> tuple[DeviceId, ...]:
        """What it holds alone."""
        results = (each for claim in self.claims for each in results_of(claim))
        return tuple(device_of(each) for each in results if not each.admin_access)


def movable(state: ClusterState) -> tuple[Movable, ...]:
    """All of them, in the order of their keys.

    A controller makes the pod again, no disruption budget stands in the way now, and its devices are its own. What
    belongs to a node, to a gang or to another scheduler stays.
    """
    found = (_movable(state, pod) for pod in _holders(state))
    return tuple(each for each in found if each is not None)


def bare(state: ClusterState) -> tuple[Movable, ...]:
    """Those that nothing makes again, whose end releases devices, in the order of their keys."""
    found = (_bare(state, pod) for pod in _holders(state))
    return tuple(each for each in found if each is not None)


def _holders(state: ClusterState) -> Iterator[Pod]:
    """The pods whose claims have devices, in the order of their keys."""
    inventory = state.inventory
    holding = {key for key, claim in inventory.claims.items() if claim.status.allocation is not None}
    users: dict[Key, None] = {}
    for key in holding:
        for pod in inventory.pods_by_claim.get(key, ()):
            users[key_of(pod.metadata)] = None
    return (inventory.pods[key] for key in sorted(users))


def _movable(state: ClusterState, pod: Pod) -> Movable | None:
    if pod.metadata.controller is None or stays_with_node(pod) or in_group(pod):
        return None
    if other_scheduler(pod, state.schedulers) is not None or not _may_be_disrupted(state, pod):
        return None
    return _with_claims(state, pod)


def _bare(state: ClusterState, pod: Pod) -> Movable | None:
    if pod.metadata.controller is not None or stays_with_node(pod) or in_group(pod):
        return None
    return _with_claims(state, pod)


def _with_claims(state: ClusterState, pod: Pod) -> Movable | None:
    """None for a pod that has no node or ends anyway, and where its end would leave its devices to others."""
    if not pod.spec.node_name or is_terminal(pod) or pod.metadata.deletion_timestamp is not None:
        return None
    claims = [c for c in claims_of(pod, state.inventory) if c.status.allocation is not None]
    if not claims or classic.concerns(claims):
        return None
    left = (after_deletion(claim, {pod.metadata.uid}) for claim in claims)
    if any(claim is not None and claim.status.allocation is not None for claim in left):
        return None
    return Movable(pod, tuple(claims), _kind(pod, claims))


def _may_be_disrupted(state: ClusterState, pod: Pod) -> bool:
    budgets = [budget for budget in state.inventory.budgets.values() if covers(budget, pod)]
    return len(budgets) <= 1 and all(budget.status.disruptions_allowed > 0 for budget in budgets)


def _kind(pod: Pod, claims: Iterable[ResourceClaim]) -> Hashable:
    """Equal for pods that ask for the same in the same way; what plugins read of others plays no part here."""
    spec, shape = pod.spec, pod_info(pod).shape
    placing = (repr(spec.node_selector), repr(spec.affinity), repr(spec.tolerations))
    amounts = (tuple(sorted(shape.requests.items())), tuple(sorted(map(repr, shape.ports))))
    return shape.namespace, placing, amounts, tuple(repr(claim.spec) for claim in claims)


def by_node(pods: Iterable[Movable]) -> Mapping[str, Sequence[Movable]]:
    found: dict[str, list[Movable]] = {}
    for each in pods:
        found.setdefault(each.node, []).append(each)
    return found
