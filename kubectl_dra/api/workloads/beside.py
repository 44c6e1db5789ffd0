"""What objects beside a workload make of its pods: autoscalers their number, LimitRanges and RuntimeClasses the rest.

Autoscalers: pkg/controller/podautoscaler/horizontal.go (convertDesiredReplicasWithRules; 0 replicas switch it off) and
KEDA's ScaledObject, which makes one; Knative's annotations (serving, pkg/apis/autoscaling). Admission: plugin/pkg/
admission/limitranger (mergePodResourceRequirements) with the defaults of the API (SetDefaults_LimitRangeItem), and
plugin/pkg/admission/runtimeclass (setOverhead, setScheduling).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from kubectl_dra.api.trees import Tree, at, mapping
from kubectl_dra.api.workloads.domains import TOGETHER
from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Container, Pod, Toleration
from kubectl_dra.model.quantity import Quantity

_RUNTIME_CLASS: Final = "RuntimeClass"
_LIMIT_RANGE: Final = "LimitRange"
#: Kind of an autoscaler -> its group, the fields of its bounds, and the lower one where it says none.
_SCALERS: Final[Mapping[str, tuple[str, str, str, int]]] = {
    "HorizontalPodAutoscaler": ("autoscaling", "minReplicas", "maxReplicas", 1),
    "ScaledObject": ("keda.sh", "minReplicaCount", "maxReplicaCount", 0),
}
_KNATIVE: Final = "autoscaling.knative.dev"
_MIN_SCALE: Final = (f"{_KNATIVE}/min-scale", f"{_KNATIVE}/minScale")
_COSCHEDULING_LABELS: Final = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io/name",
    "pod-group.scheduling.sigs.k8s.io",
)
#: Groups of objects by which other programs refuse pods, or change them.
_ADMITTING: Final = (
    "admissionregistration.k8s.io",
    "kyverno.io",
    "policies.kyverno.io",
    "mutations.gatekeeper.sh",
    "constraints.gatekeeper.sh",
)
_DEPTH: Final = 12
#: Kind, name and namespace of an object.
_Reference = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Scaled:
    """The number of pods that an autoscaler starts from, and which of its fields says so."""

    copies: int
    field: str


class Autoscalers:
    """Those of some files, by what they scale; ``namespace`` is meant by objects that name none."""

    def __init__(self, trees: Sequence[Tree], namespace: str) -> None:
        self._namespace = namespace
        self._scalers = {self._target(each): each for each in reversed(trees) if _is_scaler(each)}
        self._targets = {self._own(each) for each in trees} if self._scalers else frozenset()

    def has_target(self, scaler: Tree) -> bool:
        """Whether an object is an autoscaler, and what it scales among the files."""
        return _is_scaler(scaler) and self._target(scaler) in self._targets

    def scaled(self, tree: Tree, copies: int) -> Scaled | None:
        """What an autoscaler, or an annotation, makes of the ``copies`` of a workload; None: nothing."""
        annotations = at(tree, "spec.template.metadata").get("annotations")
        for name in _MIN_SCALE if _group(tree) == "serving.knative.dev" else ():
            value = str(mapping(annotations).get(name, ""))
            if value.isdecimal() and int(value) > 0:
                return Scaled(int(value), f"annotation {name}")
        scaler = self._scalers.get(self._own(tree)) if copies else None
        return _bounded(scaler, copies) if scaler is not None else None

    def _target(self, scaler: Tree) -> _Reference:
        target = at(scaler, "spec.scaleTargetRef")
        return self._reference(target.get("kind") or "Deployment", target.get("name"), scaler)

    def _own(self, tree: Tree) -> _Reference:
        return self._reference(tree.get("kind"), mapping(tree.get("metadata")).get("name"), tree)

    def _reference(self, kind: object, name: object, tree: Tree) -> _Reference:
        return str(kind), str(name), str(mapping(tree.get("metadata")).get("namespace") or self._namespace)


def _is_scaler(tree: Tree) -> bool:
    kind = str(tree.get("kind"))
    return kind in _SCALERS and _group(tree) == _SCALERS[kind][0]


def _bounded(scaler: Tree, copies: int) -> Scaled:
    kind, spec = str(scaler.get("kind")), mapping(scaler.get("spec"))
    _, low, high, default = _SCALERS[kind]
    least, most = _number(spec.get(low), default), _number(spec.get(high), copies)
    number = max(min(copies, most), least)
    of = f"{kind} {mapping(scaler.get('metadata')).get('name')}"
    up_to = f", which may make up to {most}" if most > number else ""
    if number == copies:
        return Scaled(number, f"the workload itself, within the bounds of {of}{up_to}")
    return Scaled(number, f"spec.{low if number > copies else high} of {of}{up_to}")


def kept_together(tree: Tree) -> tuple[str, ...]:
    """Annotations of a workload that keep its pods within a domain of nodes: ``annotation KEY: LABEL``."""
    return tuple(dict.fromkeys(_together(tree, 0)))


def _together(value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _together(item, depth + 1)
    if not isinstance(value, dict):
        return
    annotations = at(value, "metadata").get("annotations")
    for key in TOGETHER:
        label = mapping(annotations).get(key)
        if isinstance(label, str) and label:
            yield f"annotation {key}: {label}"
    for child in value.values():
        yield from _together(child, depth + 1)


def changes_pods(tree: Tree) -> bool:
    """Whether it is an object of a kind, but for autoscalers, that changes pods of others."""
    of = str(tree.get("kind")), _group(tree)
    return of in ((_LIMIT_RANGE, ""), (_RUNTIME_CLASS, "node.k8s.io")) or _is_pod_group(tree)


def may_admit(api_version: str) -> bool:
    """Whether objects of this group may have pods refused or changed, in ways that are not tried."""
    return api_version.rpartition("/")[0] in _ADMITTING


def _group(tree: Tree) -> str:
    return str(tree.get("apiVersion")).rpartition("/")[0]


def _number(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


# --- gangs of other programs ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods of which another program starts ``least`` at once or none; ``name``: the object that says so, with its kind.

    ``labels``: its pods have one of them, with the name of that object; none where nothing tells which pods are its.

    Sources: scheduler-plugins, apis/scheduling/v1alpha1 (PodGroup spec.minMember); volcano.sh/apis batch/v1alpha1 (Job
    spec.minAvailable, by default all of its pods: pkg/webhooks/admission/jobs/mutate).
    """

    program: str
    name: str
    namespace: str
    least: int
    labels: tuple[str, ...] = ()

    def has(self, pod: Pod) -> bool:
        """Whether a pod of the cluster is one of them."""
        meta, name = pod.metadata, self.name.partition(" ")[2]
        return meta.namespace == self.namespace and any(meta.labels.get(label) == name for label in self.labels)


class Gangs:
    """The PodGroups of some files; ``namespace`` is meant by objects that name none."""

    def __init__(self, trees: Iterable[Tree], namespace: str) -> None:
        self._least: dict[tuple[str, str], int] = {}
        for tree in filter(_is_pod_group, trees):
            meta = mapping(tree.get("metadata"))
            key = str(meta.get("namespace") or namespace), str(meta.get("name"))
            self._least.setdefault(key, _number(at(tree, "spec").get("minMember"), 1))

    def of(self, tree: Tree, pod: Pod, copies: int) -> Gang | None:
        """The gang of a pod that an object makes, of ``copies`` pods in all."""
        labels, namespace = pod.metadata.labels, pod.metadata.namespace
        if (tree.get("kind"), _group(tree)) == ("Job", "batch.volcano.sh"):
            name = mapping(tree.get("metadata")).get("name")
            return Gang("Volcano", f"Job {name}", namespace, _number(at(tree, "spec").get("minAvailable"), copies))
        wanted = next((labels[name] for name in _COSCHEDULING_LABELS if name in labels), "")
        least = self._least.get((namespace, wanted))
        if least is None:
            return None
        return Gang("The coscheduling plugin", f"PodGroup {wanted}", namespace, least, _COSCHEDULING_LABELS)


def _is_pod_group(tree: Tree) -> bool:
    return (tree.get("kind"), _group(tree)) == ("PodGroup", "scheduling.x-k8s.io")


# --- admission --------------------------------------------------------------------------------------------------------


class AdmissionObjects:
    """The LimitRanges and RuntimeClasses of some files; ``namespace`` is meant by objects that name none."""

    def __init__(self, trees: Sequence[Tree], namespace: str) -> None:
        self._limits: dict[str, list[Tree]] = {}
        self._classes: dict[str, Tree] = {}
        for tree in trees:
            meta = mapping(tree.get("metadata"))
            if tree.get("kind") == _LIMIT_RANGE and not _group(tree):
                limits = mapping(tree.get("spec")).get("limits")
                of_namespace = self._limits.setdefault(str(meta.get("namespace") or namespace), [])
                of_namespace += [each for each in limits if isinstance(each, dict)] if isinstance(limits, list) else []
            elif tree.get("kind") == _RUNTIME_CLASS and _group(tree) == "node.k8s.io":
                self._classes[str(meta.get("name"))] = tree

    def knows(self, runtime_class: str | None) -> bool:
        """Whether what the class adds to a pod is known."""
        return runtime_class in self._classes

    def admitted(self, pod: Pod) -> Pod:
        """The pod as the API server stores it."""
        runtime = self._classes.get(pod.spec.runtime_class_name or "")
        pod = _with_runtime(pod, runtime) if runtime is not None else pod
        for limit in self._limits.get(pod.metadata.namespace, ()):
            if limit.get("type") == "Container":
                pod = _limited(pod, limit)
        return pod


def _limited(pod: Pod, limit: Tree) -> Pod:
    most, least = _amounts(limit.get("max")), _amounts(limit.get("min"))
    limits = most | _amounts(limit.get("default"))
    requests = least | limits | _amounts(limit.get("defaultRequest"))

    def given(container: Container) -> Container:
        own = container.resources
        # A request that is not written is the limit, before admission.
        asked = requests | own.limits | own.requests
        resources = msgspec.structs.replace(own, requests=asked, limits=limits | own.limits)
        return msgspec.structs.replace(container, resources=resources)

    spec = pod.spec
    return with_spec(
        pod, containers=tuple(map(given, spec.containers)), init_containers=tuple(map(given, spec.init_containers))
    )


def _with_runtime(pod: Pod, runtime: Tree) -> Pod:
    scheduling = mapping(runtime.get("scheduling"))
    selector = {key: str(value) for key, value in mapping(scheduling.get("nodeSelector")).items()}
    try:
        tolerations = msgspec.convert(scheduling.get("tolerations") or (), tuple[Toleration, ...])
    except msgspec.ValidationError:
        tolerations = ()  # what the server refuses it keeps for nobody
    spec = pod.spec
    new = tuple(each for each in tolerations if each not in spec.tolerations)
    return with_spec(
        pod,
        node_selector={**spec.node_selector, **selector},
        tolerations=(*spec.tolerations, *new),
        overhead=_amounts(at(runtime, "overhead").get("podFixed")) or spec.overhead,
    )


def _amounts(value: object) -> dict[str, Quantity]:
    found = {}
    for name, amount in mapping(value).items():
        try:
            found[name] = Quantity.parse(str(amount))
        except ValueError:
            continue
    return found
