"""Which pods a ResourceQuota with scopes is about.

Upstream: pkg/quota/v1/evaluator/core/pods.go, podMatchesScopeFunc. What is no pod matches no scope of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kubectl_dra.model.core import Pod, QuotaScope, ResourceQuota

_EXISTS: Final = "Exists"
_BEST_EFFORT: Final = "BestEffort"
_QUALITIES: Final = (_BEST_EFFORT, "NotBestEffort")


def counts(quota: ResourceQuota, pod: Pod | None) -> bool:
    """Whether the quota is about a pod, or (None) about another object of its namespace."""
    scopes = tuple(_scopes(quota))
    return not scopes or (pod is not None and all(_matches(scope, pod) for scope in scopes))


def scope_by_defaults(quota: ResourceQuota, pod: Pod) -> str:
    """The scope by which the quota is about a pod that is not made yet only by what a LimitRange sets; or empty.

    Upstream: plugin/pkg/admission/limitranger gives containers requests before quotas are looked at, and takes none.
    """
    by_quality = [scope for scope in _scopes(quota) if scope.scope_name in _QUALITIES]
    others = (scope for scope in _scopes(quota) if scope.scope_name not in _QUALITIES)
    if not by_quality or not _best_effort(by_quality[0], pod) or not all(_matches(scope, pod) for scope in others):
        return ""
    return by_quality[0].scope_name


def _scopes(quota: ResourceQuota) -> Iterator[QuotaScope]:
    yield from (QuotaScope(name, _EXISTS) for name in quota.spec.scopes)
    if quota.spec.scope_selector is not None:
        yield from quota.spec.scope_selector.match_expressions


def _matches(scope: QuotaScope, pod: Pod) -> bool:
    matches = _MATCHING.get(scope.scope_name)
    return matches is not None and matches(scope, pod)


def _terminating(_scope: QuotaScope, pod: Pod) -> bool:
    return pod.spec.active_deadline_seconds is not None and pod.spec.active_deadline_seconds >= 0


def _best_effort(_scope: QuotaScope, pod: Pod) -> bool:
    """Upstream: GetPodQOS; only cpu and memory count, and amounts of nothing don't."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    resources = [container.resources for container in containers]
    if pod.spec.resources is not None:
        resources = [pod.spec.resources]
    return not any(
        amount.sign > 0
        for each in resources
        for amounts in (each.requests, each.limits)
        for name, amount in amounts.items()
        if name in ("cpu", "memory")
    )


def _priority(scope: QuotaScope, pod: Pod) -> bool:
    name = pod.spec.priority_class_name
    match scope.operator:
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
        case "DoesNotExist":
            return not name
        case _:
            return bool(name)


def _across_namespaces(_scope: QuotaScope, pod: Pod) -> bool:
    affinity = pod.spec.affinity
    for kind in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if kind is None:
            continue
        weighted = kind.preferred_during_scheduling_ignored_during_execution
        terms = (
            *kind.required_during_scheduling_ignored_during_execution,
            *(each.pod_affinity_term for each in weighted),
        )
        if any(term.namespaces or term.namespace_selector is not None for term in terms):
            return True
    return False


_MATCHING: Final[Mapping[str, Callable[[QuotaScope, Pod], bool]]] = {
    "Terminating": _terminating,
    "NotTerminating": lambda scope, pod: not _terminating(scope, pod),
    _BEST_EFFORT: _best_effort,
    "NotBestEffort": lambda scope, pod: not _best_effort(scope, pod),
    "PriorityClass": _priority,
    "CrossNamespacePodAffinity": _across_namespaces,
}
