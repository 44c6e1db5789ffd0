"""What objects of other projects make of a workload's pods: their number, one domain for all, all or none at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, mapping, number_of
from kubectl_dra.api.workloads.domains import TOGETHER
from kubectl_dra.model.core import Pod, WorkloadRef

_KNATIVE: Final = "autoscaling.knative.dev"
_MIN_SCALE: Final = (f"{_KNATIVE}/min-scale", f"{_KNATIVE}/minScale")
_MAX_SCALE: Final = (f"{_KNATIVE}/max-scale", f"{_KNATIVE}/maxScale")
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


def least_scale(tree: Tree) -> tuple[int, str] | None:
    """The number of pods that a Knative Service starts with, and the annotation that says so; None where none does.

    Source: knative.dev/serving, pkg/apis/autoscaling.
    """
    return next(_of_knative(tree, _MIN_SCALE), None)


def most_scale(tree: Tree) -> int | None:
    """The number of pods that a Knative Service may grow to; None where nothing limits it (0, upstream)."""
    return next((number for number, _ in _of_knative(tree, _MAX_SCALE)), None)


def most_jobs(tree: Tree) -> int | None:
    """How many Jobs KEDA makes of a ScaledJob at once; None of any other object.

    Upstream: kedacore/keda, apis/keda/v1alpha1/scaledjob_types.go (MaxReplicaCount).
    """
    if (group_of(tree.get("apiVersion")), tree.get("kind")) != ("keda.sh", "ScaledJob"):
        return None
    return number_of(at(tree, "spec").get("maxReplicaCount"), 100)


def _of_knative(tree: Tree, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    annotations = at(tree, "spec.template.metadata").get("annotations")
    for name in names if group_of(tree.get("apiVersion")) == "serving.knative.dev" else ():
        value = str(mapping(annotations).get(name, ""))
        if value.isdecimal() and int(value) > 0:
            yield int(value), f"annotation {name}"


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
    """Whether it is an object of another project that says something of the pods of others, or of their queues."""
    return _is_pod_group(tree) or _configures_queues(tree)


def _configures_queues(tree: Tree) -> bool:
    """Whether Kueue's own configuration may be inside of a ConfigMap."""
    texts = mapping(tree.get("data")).values() if tree.get("kind") == "ConfigMap" else ()
    return any(isinstance(text, str) and _KUEUE_CONFIG in text for text in texts)


def may_admit(api_version: str) -> bool:
    """Whether objects of this group may have pods refused or changed, in ways that are not tried."""
    return group_of(api_version) in _ADMITTING


# --- gangs of other programs ------------------------------------------------------------------------------------------


_KUEUE_CONFIG: Final = "config.kueue.x-k8s.io"
_COSCHEDULING: Final = "The coscheduling plugin"
#: Of which pods name a Workload.
OLD_SCHEDULER: Final = "The scheduler of Kubernetes 1.35"


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods of which another program starts ``least`` at once or none; ``name``: the object that says so, with its kind.

    ``labels``: its pods have one of them, with the name of that object, or name it by ``ref``; neither where nothing
    tells which pods are its. ``field`` of the object says ``least``; ``follows``: it need not, and then all of its pods
    are meant.

    Sources: scheduler-plugins, apis/scheduling/v1alpha1 (PodGroup spec.minMember); volcano.sh/apis batch/v1alpha1 (Job
    spec.minAvailable, by default all of its pods: pkg/webhooks/admission/jobs/mutate).
    """

    program: str
    name: str
    namespace: str
    least: int
    labels: tuple[str, ...] = ()
    ref: WorkloadRef | None = None
    field: str = ""
    follows: bool = False

    @property
    def counts_pods(self) -> bool:
        """Whether pods of the cluster may be some of them."""
        return bool(self.labels) or self.ref is not None

    def has(self, pod: Pod) -> bool:
        """Whether a pod of the cluster is one of them."""
        meta, name = pod.metadata, self.name.partition(" ")[2]
        named = self.ref is not None and pod.spec.workload_ref == self.ref
        return meta.namespace == self.namespace and (
            named or any(meta.labels.get(label) == name for label in self.labels)
        )


class Gangs:
    """The PodGroups of some files. ``namespace`` is meant by objects that name none."""

    def __init__(self, trees: Sequence[Tree], namespace: str) -> None:
        self._least: dict[tuple[str, str], int] = {}
        for tree in filter(_is_pod_group, trees):
            meta = mapping(tree.get("metadata"))
            key = str(meta.get("namespace") or namespace), str(meta.get("name"))
            self._least.setdefault(key, number_of(at(tree, "spec").get("minMember"), 1))

    def of(self, tree: Tree, pod: Pod, copies: int) -> Gang | None:
        """The gang of a pod that an object makes, of ``copies`` pods in all."""
        labels, namespace = pod.metadata.labels, pod.metadata.namespace
        if (tree.get("kind"), group_of(tree.get("apiVersion"))) == ("Job", "batch.volcano.sh"):
            name, least = mapping(tree.get("metadata")).get("name"), at(tree, "spec").get("minAvailable")
            program, field, follows = "Volcano", "spec.minAvailable", least is None
            return Gang(program, f"Job {name}", namespace, number_of(least, copies), field=field, follows=follows)
        wanted = next((labels[name] for name in _COSCHEDULING_LABELS if name in labels), "")
        least = self._least.get((namespace, wanted))
        if least is None:
            return None
        name, labels_ = f"PodGroup {wanted}", _COSCHEDULING_LABELS
        return Gang(_COSCHEDULING, name, namespace, least, labels_, field="spec.minMember")


def gang_of_runtime(runtime: Tree, name: str, namespace: str, pods: int) -> Gang | None:
    """The gang of all pods of a TrainJob, for which its runtime asks a program.

    Upstream: kubeflow/trainer, pkg/runtime/framework/plugins/coscheduling and volcano (Build): a PodGroup with the name
    of the job, whose minMember is the number of its pods.
    """
    policy, group = at(runtime, "spec.podGroupPolicy"), f"PodGroup {name}"
    if isinstance(policy.get("coscheduling"), dict):
        return Gang(_COSCHEDULING, group, namespace, pods, _COSCHEDULING_LABELS, follows=True)
    return Gang("Volcano", group, namespace, pods, follows=True) if isinstance(policy.get("volcano"), dict) else None


def _is_pod_group(tree: Tree) -> bool:
    return (tree.get("kind"), group_of(tree.get("apiVersion"))) == ("PodGroup", "scheduling.x-k8s.io")
