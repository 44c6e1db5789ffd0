"""Whether a quota or a LimitRange refuses what a remedy makes anew: claims and pods are deleted and created.

What exists is never looked at again, so that a quota may have been exceeded since, or a bound set: then even the same
claim or pod is refused. Upstream: plugin/pkg/admission/resourcequota, CheckRequest; limitranger, PodValidateLimitFunc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.gates.pod_admission import admitted, refusing_limit_range
from kubectl_dra.diagnosis.gates.quota_scopes import counts
from kubectl_dra.diagnosis.records import Unspecified
from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, EditPod, RaiseQuota, RenewClaim
from kubectl_dra.model.core import Pod, ResourceQuota
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.scheduler.extended import asked, served_resources


def refused(state: ClusterState, changed: ClusterState, actions: Iterable[Action]) -> bool:
    """Whether what the actions make anew would exceed a quota or be out of bounds, in the ``changed`` cluster."""
    quotas = state.inventory.quotas.values()
    if not (quotas or changed.inventory.limit_ranges):
        return False
    pods, claims = _made_anew(state.inventory, actions)
    if any(_is_out_of_bounds(changed.inventory, key) for key in pods):
        return True
    for namespace in {key.namespace for key in (*pods, *claims)}:
        own = [each for each in quotas if each.metadata.namespace == namespace]
        if own:
            here = [key for key in claims if key.namespace == namespace], [p for p in pods if p.namespace == namespace]
            if any(_exceeds(each, _charge(state, each, *here), _charge(changed, each, *here)) for each in own):
                return True
    return False


def are_unread(state: ClusterState, pod: Pod, actions: Iterable[Action]) -> bool:
    """Whether quotas that could not be read may refuse what the actions make anew, or the scheduler for the pod.

    A quota that is to be raised may be known by its words alone, and others forbid the same.
    """
    actions = tuple(actions)
    pods, claims = _made_anew(state.inventory, actions)
    namespaces = {key.namespace for key in (*pods, *claims)}
    namespaces.update(each.quota.namespace for each in actions if isinstance(each, RaiseQuota))
    served = served_resources(state)
    if any(name in served for name in asked(pod)):
        namespaces.add(pod.metadata.namespace)
    return not all(quota.are_read(state, namespace) for namespace in namespaces)


def unspecified(state: ClusterState, actions: Iterable[Action]) -> Iterator[Unspecified]:
    """What quotas require of pods that the actions make anew and that were there before: a LimitRange may give it.

    Pods of one owner lack the same; it is told once.
    """
    inventory = state.inventory
    if not inventory.quotas:
        return
    made = (inventory.pods[key] for key in sorted(_made_anew(inventory, actions)[0]) if key in inventory.pods)
    yield from dict.fromkeys(each for pod in made for each in quota.unspecified(inventory.quotas.values(), pod))


def _made_anew(inventory: Inventory, actions: Iterable[Action]) -> tuple[set[Key], set[Key]]:
    """Pods and claims. With a pod goes what its templates have made, and a claim of a pod is made with its pod."""
    pods, claims = set[Key](), set[Key]()
    for action in actions:
        match action:
            case EditPod(pod=pod, also=also):
                pods.update(ref.key for ref in (pod, *also))
            case EditClaim(claim=claim) | RenewClaim(claim=claim):
                claims.add(claim.key)
                found = inventory.claims.get(claim.key)
                owner = found.metadata.controller if found is not None else None
                if owner is not None and owner.kind == "Pod":
                    pods.add(Key(claim.key.namespace, owner.name))
    uids = {inventory.pods[key].metadata.uid for key in pods if key in inventory.pods}
    for claim_ in inventory.claims.values() if uids else ():
        owner = claim_.metadata.controller
        if owner is not None and owner.uid in uids:
            claims.add(key_of(claim_.metadata))
    return pods, claims


def _is_out_of_bounds(inventory: Inventory, key: Key) -> bool:
    """Whether a LimitRange refuses the pod, with the defaults that it gets when it is created."""
    pod = inventory.pods.get(key)
    return pod is not None and bool(refusing_limit_range(admitted(pod, inventory), inventory)[0])


def _charge(state: ClusterState, own: ResourceQuota, claims: Iterable[Key], pods: Iterable[Key]) -> Counter[str]:
    inventory, total = state.inventory, Counter[str]()
    for key in claims if counts(own, None) else ():
        if key in inventory.claims:
            total.update(quota.usage(inventory.claims[key].spec, inventory.classes, state.features.extended_resource))
    for key in pods:
        if key in inventory.pods and counts(own, inventory.pods[key]):
            total.update(quota.pod_usage(inventory.pods[key]))
    return total


def _exceeds(own: ResourceQuota, given_back: Counter[str], charge: Counter[str]) -> bool:
    limits, used = own.status.hard or own.spec.hard, own.status.used
    more = {name: quota.quantity(name, charge[name] - given_back[name]) for name in limits if charge[name] > 0}
    return any(used.get(name, quota.NOTHING).add(amount).cmp(limits[name]) > 0 for name, amount in more.items())
