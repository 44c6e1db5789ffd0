"""What LimitRanges and RuntimeClasses make of a pod that is created, and which pods they refuse.

Upstream: plugin/pkg/admission/limitranger/admission.go (mergePodResourceRequirements, PodValidateLimitFunc) with the
defaults that the API writes into each LimitRange (SetDefaults_LimitRangeItem), and
plugin/pkg/admission/runtimeclass/admission.go (setOverhead, setScheduling, validateOverhead).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.admission import Amounts, LimitRange, LimitRangeItem, RuntimeClass
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Container, Pod
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.quantity import Format, Quantity
from kubectl_dra.model.requests import pod_limits, pod_requests

LIMIT_RANGE: Final = "LimitRange"
RUNTIME_CLASS: Final = "RuntimeClass"
VERTICAL_AUTOSCALER: Final = "VerticalPodAutoscaler"
#: The annotation of pods in which the admission plugin tells what it has set.
LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"
_CONTAINER, _POD = "Container", "Pod"
_Given = Mapping[str, Quantity]
#: Scale and format in which sums are written; what is not here is counted in whole units.
_FORMS: Final[Mapping[str, tuple[int, Format]]] = {
    "cpu": (-3, "DecimalSI"),
    **dict.fromkeys(("memory", "ephemeral-storage"), (0, "BinarySI")),
}
#: What is counted in thousandths (resource.MaxMilliValue); amounts beyond are compared in whole units.
_MAX_MILLI: Final = ((1 << 63) - 1) // 1000


def admitted(pod: Pod, inventory: Inventory) -> Pod:
    """The pod as the API server stores it; what it refuses stays as it is."""
    runtime = inventory.runtime_classes.get(pod.spec.runtime_class_name or "")
    if runtime is not None:
        pod = _with_runtime(pod, runtime)
    for limits in _limit_ranges(inventory, pod.metadata.namespace):
        pod = _with_defaults(pod, limits)
    return pod


def runtime_is_known(pod: Pod, state: ClusterState) -> bool:
    """Whether what the RuntimeClass adds to the pod is known: the pod may have it already."""
    name = pod.spec.runtime_class_name
    known = bool(pod.spec.overhead) or name in state.inventory.runtime_classes
    return not name or known or state.evidence.complete(RUNTIME_CLASS)


def missing_runtime_class(state: ClusterState, pod: Pod) -> str:
    """The RuntimeClass that a pod names and that does not exist, so that the pod is refused; empty if it can be."""
    name = pod.spec.runtime_class_name or ""
    return "" if name in state.inventory.runtime_classes or not state.evidence.complete(RUNTIME_CLASS) else name


def refusals(pod: Pod, inventory: Inventory) -> Iterator[str]:
    """Why the API server refuses a pod that was :func:`admitted`, in its words; of several LimitRanges one speaks."""
    runtime = inventory.runtime_classes.get(pod.spec.runtime_class_name or "")
    if runtime is not None or not pod.spec.runtime_class_name:
        yield from _runtime_refusals(pod, runtime or RuntimeClass())
    for limits in _limit_ranges(inventory, pod.metadata.namespace):
        found = list(dict.fromkeys(each for item in limits.spec.limits for each in _exceeded(item, pod)))
        if found:
            yield found[0] if len(found) == 1 else f"[{', '.join(found)}]"
            return


def refusing_limit_range(pod: Pod, inventory: Inventory) -> tuple[str, tuple[str, ...]]:
    """The LimitRange that speaks in :func:`refusals`, empty where none does, and the fields that it means."""
    for limits in _limit_ranges(inventory, pod.metadata.namespace):
        fields = dict.fromkeys(path for item in limits.spec.limits for path in _out_of_bounds(item, pod))
        if fields:
            return limits.metadata.name, tuple(fields)
    return "", ()


def _out_of_bounds(item: LimitRangeItem, pod: Pod) -> Iterator[str]:
    """Where the amounts stand that :func:`_exceeded` speaks of: of a whole pod, in any container."""
    whole = item.type == _POD and any(_exceeded(item, pod))
    for field, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        for index, container in enumerate(containers):
            own = container.resources
            if whole or (item.type == _CONTAINER and any(_of_amounts(item, own.requests, own.limits))):
                yield f"{field}[{index}].resources"


# --- RuntimeClass -----------------------------------------------------------------------------------------------------


def _with_runtime(pod: Pod, runtime: RuntimeClass) -> Pod:
    spec, scheduling = pod.spec, runtime.scheduling
    new = tuple(each for each in scheduling.tolerations if each not in spec.tolerations)
    overhead = runtime.overhead.pod_fixed if runtime.overhead is not None else {}
    return with_spec(
        pod,
        node_selector={**scheduling.node_selector, **spec.node_selector},
        tolerations=(*spec.tolerations, *new),
        overhead=spec.overhead or overhead,
    )


def selected_by_runtime(state: ClusterState, pod: Pod) -> dict[str, str]:
    """What of a pod's node selector its RuntimeClass sets, and would set again in a pod without it."""
    runtime = state.inventory.runtime_classes.get(pod.spec.runtime_class_name or "", RuntimeClass())
    mine = pod.spec.node_selector
    return {key: value for key, value in runtime.scheduling.node_selector.items() if mine.get(key) == value}


def with_other_runtime(pod: Pod, inventory: Inventory, name: str) -> Pod:
    """The pod with another RuntimeClass, or with none, and without what the present one has put into it."""
    old = inventory.runtime_classes.get(pod.spec.runtime_class_name or "", RuntimeClass()).scheduling
    bare = with_spec(
        pod,
        runtime_class_name=name or None,
        node_selector={k: v for k, v in pod.spec.node_selector.items() if old.node_selector.get(k) != v},
        tolerations=tuple(each for each in pod.spec.tolerations if each not in old.tolerations),
        overhead={},
    )
    new = inventory.runtime_classes.get(name)
    return bare if new is None else _with_runtime(bare, new)


def _runtime_refusals(pod: Pod, runtime: RuntimeClass) -> Iterator[str]:
    own, wanted = pod.spec.overhead, runtime.overhead.pod_fixed if runtime.overhead is not None else {}
    if runtime.overhead is None and own:
        yield "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    elif own.keys() != wanted.keys() or any(own[name].cmp(wanted[name]) for name in own):
        yield "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    for key, value in runtime.scheduling.node_selector.items():
        other = pod.spec.node_selector.get(key, value)
        if other != value:
            field = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}"
            yield f"conflict: {field}; pod.spec.nodeSelector[{key}] = {other}"


# --- LimitRange -------------------------------------------------------------------------------------------------------


def _limit_ranges(inventory: Inventory, namespace: str) -> Iterator[LimitRange]:
    """Those of a namespace; the server takes them in an order that nobody knows."""
    return (each for key, each in inventory.limit_ranges.items() if key.namespace == namespace)


def _with_defaults(pod: Pod, limits: LimitRange) -> Pod:
    default, default_request = Amounts(), Amounts()
    for item in limits.spec.limits:
        if item.type == _CONTAINER:
            of_item = item.max | item.default
            default |= of_item
            default_request |= item.min | of_item | item.default_request

    said: list[str] = []

    def given(container: Container, kind: str) -> Container:
        own = container.resources
        if new := sorted(default_request.keys() - own.limits.keys() - own.requests.keys()):
            said.append(f"{', '.join(new)} request for {kind} {container.name}")
        if new := sorted(default.keys() - own.limits.keys()):
            said.append(f"{', '.join(new)} limit for {kind} {container.name}")
        # A request that is not written is the limit, before admission.
        requests = default_request | own.limits | own.requests
        return msgspec.structs.replace(
            container, resources=msgspec.structs.replace(own, requests=requests, limits=default | own.limits)
        )

    spec = pod.spec
    if not (default or default_request):
        return pod
    containers = tuple(given(each, "container") for each in spec.containers)
    init_containers = tuple(given(each, "init container") for each in spec.init_containers)
    pod = with_spec(pod, containers=containers, init_containers=init_containers)
    if not said:
        return pod
    known = pod.metadata.annotations.get(LIMIT_RANGER)
    # Upstream keeps the words of the last LimitRange only.
    words = "; ".join((*((known,) if known else ()), *said)) if known else f"LimitRanger plugin set: {'; '.join(said)}"
    annotations = {**pod.metadata.annotations, LIMIT_RANGER: words}
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, annotations=annotations))


def sets_request(limits: LimitRange, resource: str) -> bool:
    """Whether a LimitRange has containers request a resource that say nothing of it."""
    items = (item for item in limits.spec.limits if item.type == _CONTAINER)
    return any(resource in {**item.max, **item.min, **item.default, **item.default_request} for item in items)


def _exceeded(item: LimitRangeItem, pod: Pod) -> Iterator[str]:
    if item.type == _CONTAINER:
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            yield from _of_amounts(item, container.resources.requests, container.resources.limits)
    elif item.type == _POD:
        bare = with_spec(pod, overhead={})
        yield from _of_amounts(item, _quantities(pod_requests(bare)), _quantities(pod_limits(bare)))


def _quantities(amounts: Mapping[str, int]) -> Amounts:
    return {name: Quantity(amount, *_FORMS.get(name, (0, "DecimalSI"))) for name, amount in amounts.items()}


def _of_amounts(item: LimitRangeItem, requests: _Given, limits: _Given) -> Iterator[str]:
    """What is out of bounds: minConstraint, maxConstraint and limitRequestRatioConstraint."""
    for name, least in sorted(item.min.items()):
        told = f"minimum {name} usage per {item.type} is {least}"
        if name not in requests:
            yield f"{told}.  No request is specified"
        elif _less(requests[name], least):
            yield f"{told}, but request is {requests[name]}"
        elif name in limits and _less(limits[name], least):
            yield f"{told}, but limit is {limits[name]}"
    for name, most in sorted(item.max.items()):
        told = f"maximum {name} usage per {item.type} is {most}"
        if name not in limits:
            yield f"{told}.  No limit is specified"
        elif _less(most, limits[name]):
            yield f"{told}, but limit is {limits[name]}"
        elif name in requests and _less(most, requests[name]):
            yield f"{told}, but request is {requests[name]}"
    for name, ratio in sorted(item.max_limit_request_ratio.items()):
        told = f"{name} max limit to request ratio per {item.type} is {ratio}"
        if name not in requests or not requests[name].sign:
            yield f"{told}, but no request is specified or request is 0"
        elif name not in limits or not limits[name].sign:
            yield f"{told}, but no limit is specified or limit is 0"
        elif (found := _milli(limits[name]) / _milli(requests[name])) * 1000 > _milli(ratio):
            yield f"{told}, but provided ratio is {found:f}"


def _milli(amount: Quantity) -> int:
    return amount.at_scale(-3)[0]


def _less(one: Quantity, other: Quantity) -> bool:
    """As requestLimitEnforcedValues compares: in thousandths, or where they are too many in whole units."""
    if max(one.ceil(), other.ceil()) > _MAX_MILLI:
        return one.ceil() < other.ceil()
    return _milli(one) < _milli(other)
