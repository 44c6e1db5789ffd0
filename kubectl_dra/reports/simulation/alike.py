"""Trials that end alike: of many equal pods and workloads one is tried, and its ways out are looked for once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields
from typing import Final

from msgspec.structs import replace

from kubectl_dra.api.encode import encode_part
from kubectl_dra.api.planned import PodPlan
from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.model.classic import ClassicResourceClaim, ClassicResourceClaimTemplate
from kubectl_dra.model.core import Container, PodResourceClaim, PodSpec
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_dra.model.terms import terms_of
from kubectl_dra.reports.simulation.gangs import group_of
from kubectl_dra.reports.simulation.records import PodSimulation
from kubectl_dra.reports.simulation.trials import PodTrial

#: Their parameters are objects of their own.
_CLASSIC: Final = (ClassicResourceClaim, ClassicResourceClaimTemplate)
#: What is not compared of a plan: its pods are, and what their template is refused for.
_APART: Final = frozenset({"pod", "gang", "written_in", "template"})


def alike_key(state: ClusterState, trial: PodTrial) -> Hashable:
    """What trials have in common that end alike: thousands of equal objects are tried once. None: tried in any case.

    Entries of a catalogue do if they differ in nothing but their names. Pods and workloads of a file do once not one
    pod fits: those before them only take, unless they are what a pod wants to be near to.
    """
    if trial.alone:
        return _of_catalogue(state, trial)
    planned, plan, spec = trial.planned, trial.plan, trial.plan.pod.spec
    if spec.affinity or spec.topology_spread_constraints or group_of(state, trial):
        return None
    # Others wait for these, or these need a place with others; and one that is there already replaces its own pods.
    if plan.after or plan.domains or plan.spanned or plan.kept_together or plan.volume_claims:
        return None
    if (planned.kind, planned.key.namespace, planned.name) in state.inventory.workloads:
        return None
    rest = tuple(repr(getattr(plan, each.name)) for each in fields(plan) if each.name not in _APART)
    own = (planned.queue, planned.suspended, trial.blocked, trial.refused, _labels(state, plan))
    return (*_where(trial), rest, own, encode_part(_nameless(spec)), tuple(_claims(state, trial)))


def settles(done: PodSimulation) -> bool:
    """Whether equal pods after these find no place either."""
    evicts = done.pending.preemption if done.pending is not None else None
    # Whom these evict others can't evict again.
    evicting = evicts is not None and bool(evicts.victims)
    return done.alone or (done.lacks and not (done.copies or done.replaces or evicting))


def _where(trial: PodTrial) -> tuple[object, ...]:
    return (trial.planned.kind, trial.plan.pod.metadata.namespace, trial.misread, trial.scheduler)


def _of_catalogue(state: ClusterState, trial: PodTrial) -> Hashable:
    record = trial.planned.record
    if not isinstance(record, ResourceClaim | ResourceClaimTemplate) or isinstance(record, _CLASSIC):
        return None
    claim = state.inventory.claims.get(key_of(record.metadata)) if isinstance(record, ResourceClaim) else None
    status = claim.status if claim is not None else None
    return (*_where(trial), encode_part(record.spec), encode_part(status))


def _labels(state: ClusterState, plan: PodPlan) -> tuple[tuple[str, str], ...]:
    """The labels of its pods where pods that are there keep others away by these."""
    return tuple(sorted(plan.pod.metadata.labels.items())) if _keep_away(state) else ()


@derived("pods")
def _keep_away(state: ClusterState) -> bool:
    """Whether any pod keeps others away by their labels."""
    there = (pod for pod in state.inventory.pods.values() if pod.spec.affinity is not None)
    return any(terms_of(pod).required_anti_affinity for pod in there)


def _nameless(spec: PodSpec) -> PodSpec:
    """Without what only tells equal pods apart."""
    mains, inits = (tuple(map(_unnamed, found)) for found in (spec.containers, spec.init_containers))
    return replace(spec, containers=mains, init_containers=inits, resource_claims=())


def _unnamed(container: Container) -> Container:
    # What is said of requests that a claim does not have names the container.
    named = any(each.request for each in container.resources.claims)
    return replace(container, image="", name=container.name if named else "")


def _claims(state: ClusterState, trial: PodTrial) -> Iterator[tuple[object, ...]]:
    """The entries of ``spec.resourceClaims``; templates of different names may be equal."""
    for entry in trial.plan.pod.spec.resource_claims:
        yield (entry.name, entry.resource_claim_name, _template(state, trial, entry))


def _template(state: ClusterState, trial: PodTrial, entry: PodResourceClaim) -> object:
    name = entry.resource_claim_template_name
    found = state.inventory.templates.get(Key(trial.plan.pod.metadata.namespace, name)) if name else None
    return encode_part(found.spec) if found is not None and not isinstance(found, _CLASSIC) else name
