"""The pods that have what a quota of pods lacks: whose end makes room for another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.records import ObjectRef, PodUse, QuotaShortage
from kubectl_dra.model.podinfo import PodInfo, pod_info
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import quantity_of
from kubectl_dra.model.usage import is_terminal

#: Of more nobody takes a look.
_NAMED: Final = 5
_CPU: Final = "cpu"
_REQUESTS: Final = "requests."


def with_pods(state: ClusterState, namespace: str, shortage: QuotaShortage) -> QuotaShortage:
    """The shortage with the pods of the namespace that request most of it; as it is where not all of them were read.

    Of ``pods`` each has as much, and limits are not kept. Upstream: pkg/quota/v1/evaluator/core/pods.go.
    """
    name = shortage.resource.removeprefix(_REQUESTS)
    counted = name == shortage.resource and name != _CPU and name != "memory"
    if counted or not state.evidence.complete("Pod", namespace):
        return shortage
    found = [(info.shape.requests.get(name, 0), info.key) for info in _pods(state, namespace)]
    most = sorted((each for each in found if each[0]), key=lambda each: (-each[0], each[1]))[:_NAMED]
    lacks = Quantity.parse(shortage.requested).add(Quantity.parse(shortage.used)).sub(Quantity.parse(shortage.hard))
    uses = ((ObjectRef.of("Pod", key), quantity_of(name, amount)) for amount, key in most)
    return replace(shortage, pods=tuple(PodUse(ref, str(has), has.cmp(lacks) >= 0) for ref, has in uses))


def _pods(state: ClusterState, namespace: str) -> Iterator[PodInfo]:
    """Those on nodes and those that wait, but for the ones that are going."""
    for usage in state.inventory.usage.values():
        yield from (each for each in usage.placed if each.key.namespace == namespace and not each.shape.terminating)
    for pod in state.inventory.pods.values():
        waits = not pod.spec.node_name and not is_terminal(pod) and pod.metadata.deletion_timestamp is None
        if waits and pod.metadata.namespace == namespace:
            yield pod_info(pod)
