"""Kinds of which everything that a pod names is known: what else could not be read of them changes nothing for it.

A class that somebody may not list can stand in a file that is given beside the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.api.kinds import RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.cycles import group_key
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import class_names
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ResourceClaimSpec
from kubectl_dra.scheduler.claims import resolve, sources
from kubectl_dra.scheduler.extended import asked

DEVICE_CLASS: Final = "DeviceClass"


def kinds_known(world: ClusterState, pod: Pod) -> frozenset[str]:
    """DeviceClass and ResourceClaimTemplate, as far as all that the pod names of them are in the Inventory.

    Nothing where both were read as a whole. What the other pods of its group name is not asked, and of extended
    resources any class may be the one behind them.
    """
    kinds = (DEVICE_CLASS, RESOURCE_CLAIM_TEMPLATE.name)
    if group_key(pod) is not None or all(map(world.evidence.complete, kinds)):
        return frozenset()
    specs, found = list(_specs(world, pod)), set[str]()
    templates = [template for entry in pod.spec.resource_claims if (template := sources(entry)[1]) is not None]
    if templates and all(Key(pod.metadata.namespace, name) in world.inventory.templates for name in templates):
        found.add(RESOURCE_CLAIM_TEMPLATE.name)
    served = world.features.extended_resource and asked(pod)
    if specs and not served and all(spec is not None and _has_classes(world, spec) for spec in specs):
        found.add(DEVICE_CLASS)
    return frozenset(found)


def _specs(world: ClusterState, pod: Pod) -> Iterator[ResourceClaimSpec | None]:
    """Of each claim that it has or gets; None where that could not be read."""
    for entry in resolve(world.inventory, world.evidence, world.features, pod):
        template = world.inventory.templates.get(Key(pod.metadata.namespace, entry.template or ""))
        if entry.claim is not None:
            yield entry.claim.spec
        elif entry.problem is not None:
            yield template.spec.spec if template is not None else None


def _has_classes(world: ClusterState, spec: ResourceClaimSpec) -> bool:
    return all(name in world.inventory.classes for name in class_names(spec))
