"""PersistentVolumeClaims that controllers make for pods, as they are once admission has seen them.

Upstream: pkg/controller/volume/ephemeral, pkg/controller/statefulset (getPersistentVolumeClaims) and the admission
plugin DefaultStorageClass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from kubectl_dra.model.base import with_spec
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, StorageObjects, key_of
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta, OwnerReference
from kubectl_dra.model.storage import (
    ClaimReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologyTerm,
    VolumeNodeAffinity,
)
from kubectl_dra.model.volumes import EphemeralVolume, PersistentVolumeClaimVolume, Volume, VolumeClaimTemplate
from kubectl_dra.scheduler.binder import BindableVolumes
from kubectl_dra.scheduler.plugins.volume_binding import BIND_COMPLETED

_DEFAULT: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)

#: Begins the uid of what no controller has made yet.
_MADE: Final = "simulated-"


def default_class(classes: Iterable[StorageClass]) -> str | None:
    """The class of claims that name none: of several default ones the newest, then the first by name."""
    found = [each for each in classes if any(each.metadata.annotations.get(key) == "true" for key in _DEFAULT)]
    found.sort(key=lambda each: each.metadata.name)
    found.sort(key=lambda each: each.metadata.creation_timestamp or "", reverse=True)
    return found[0].metadata.name if found else None


def created(claim: PersistentVolumeClaim, inventory: Inventory) -> PersistentVolumeClaim:
    """A claim as it is when it has just been created."""
    spec = claim.spec
    if spec.storage_class_name is None and not claim.class_name:
        spec = msgspec.structs.replace(spec, storage_class_name=default_class(inventory.storage.classes.values()))
    return msgspec.structs.replace(claim, spec=spec, status=PersistentVolumeClaimStatus("Pending"))


def with_claims_of(inventory: Inventory, pod: Pod) -> Inventory:
    """With the claims for a pod's ephemeral volumes; claims of these names that exist stay."""
    made: dict[Key, PersistentVolumeClaim] = {}
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is not None:
            owner = OwnerReference("v1", "Pod", pod.metadata.name, pod.metadata.uid, controller=True)
            name = f"{pod.metadata.name}-{volume.name}"
            meta = ObjectMeta(
                name=name, namespace=pod.metadata.namespace, uid=f"{_MADE}{name}", owner_references=(owner,)
            )
            made[key_of(meta)] = created(PersistentVolumeClaim(meta, template.spec), inventory)
    return _with(inventory, made)


def with_set_claims(
    inventory: Inventory, pod: Pod, templates: Iterable[PersistentVolumeClaim]
) -> tuple[Inventory, Pod]:
    """With the claims that a StatefulSet makes for one of its pods, and the pod with their volumes."""
    made: dict[Key, PersistentVolumeClaim] = {}
    volumes: dict[str, Volume] = {volume.name: volume for volume in pod.spec.volumes}
    for template in templates:
        entry = template.metadata.name
        name = f"{entry}-{pod.metadata.name}"
        meta = msgspec.structs.replace(
            template.metadata, name=name, namespace=pod.metadata.namespace, uid=f"{_MADE}{name}"
        )
        made[key_of(meta)] = created(msgspec.structs.replace(template, metadata=meta), inventory)
        volumes[entry] = Volume(name=entry, persistent_volume_claim=PersistentVolumeClaimVolume(name))
    return _with(inventory, made), with_spec(pod, volumes=tuple(volumes.values()))


def with_own_volumes(pod: Pod, templates: Iterable[PersistentVolumeClaim]) -> Pod:
    """A pod whose every copy gets the volumes that a StatefulSet makes for each of its pods, whatever it is called."""
    volumes: dict[str, Volume] = {volume.name: volume for volume in pod.spec.volumes}
    for template in templates:
        made = EphemeralVolume(VolumeClaimTemplate(template.spec))
        volumes[template.metadata.name] = Volume(name=template.metadata.name, ephemeral=made)
    return with_spec(pod, volumes=tuple(volumes.values()))


def made_from(inventory: Inventory, claim: Key, templates: Sequence[PersistentVolumeClaim], pods: str) -> int | None:
    """The position of the template from which :func:`with_set_claims` has made a claim; None for any other claim.

    ``pods``: what the names of the pods begin with.
    """
    found = inventory.storage.claims.get(claim)
    if found is None or found.metadata.uid != f"{_MADE}{claim.name}":
        return None
    # The templates may be called ``data`` and ``data-logs``.
    makers = (n for n, each in enumerate(templates) if claim.name.startswith(f"{each.metadata.name}-{pods}-"))
    return max(makers, key=lambda n: len(templates[n].metadata.name), default=None)


#: What pods on several nodes can use at once.
_SHARED: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_SUPPOSED: Final = "supposed-"


def with_shared_volumes(storage: StorageObjects, found: BindableVolumes) -> StorageObjects:
    """With the volumes that are made next for claims which pods on several nodes can use at once.

    Until then only the node of the first pod will do (upstream: plugins/volumebinding, selected-node); from then on
    the volume decides, which is taken as reachable wherever its class may make one.
    """
    claims, volumes = dict(storage.claims), dict(storage.volumes)
    for wanted in (each.wanted for each in found.provisions if _SHARED & set(each.wanted.claim.spec.access_modes)):
        claim, name = claims[wanted.key], f"{_SUPPOSED}{wanted.key.namespace}-{wanted.key.name}"
        storage_class = storage.classes.get(claim.class_name)
        reference = ClaimReference(wanted.key.namespace, wanted.key.name, claim.metadata.uid)
        volumes[name] = PersistentVolume(
            ObjectMeta(name=name),
            PersistentVolumeSpec(
                access_modes=claim.spec.access_modes,
                claim_ref=reference,
                storage_class_name=claim.class_name,
                node_affinity=_reach(storage_class.allowed_topologies if storage_class is not None else ()),
            ),
            PersistentVolumeStatus("Bound"),
        )
        annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
        claims[wanted.key] = PersistentVolumeClaim(
            msgspec.structs.replace(claim.metadata, annotations=annotations),
            msgspec.structs.replace(claim.spec, volume_name=name),
            PersistentVolumeClaimStatus("Bound"),
        )
    return replace(storage, claims=claims, volumes=volumes)


def taken_as_shared(inventory: Inventory, pod: Pod) -> Iterator[str]:
    """The claims of a pod whose volumes are supposed to be reachable from several nodes."""
    return (name for name, claim in _named(inventory, pod) if claim.spec.volume_name.startswith(_SUPPOSED))


def of_one_node(inventory: Inventory, pod: Pod) -> Iterator[str]:
    """The claims of a pod whose volumes are attached to one node at a time.

    The scheduler does not look at that. Upstream: pkg/volume/util, IsMultiAttachAllowed.
    """
    return (name for name, claim in _named(inventory, pod) if set(claim.spec.access_modes) == {"ReadWriteOnce"})


def _named(inventory: Inventory, pod: Pod) -> Iterator[tuple[str, PersistentVolumeClaim]]:
    for entry in pod.spec.volumes:
        name = entry.persistent_volume_claim.claim_name if entry.persistent_volume_claim is not None else ""
        claim = inventory.storage.claims.get(Key(pod.metadata.namespace, name))
        if claim is not None:
            yield name, claim


def _reach(topologies: Sequence[TopologyTerm]) -> VolumeNodeAffinity | None:
    terms = tuple(
        NodeSelectorTerm(
            match_expressions=tuple(
                NodeSelectorRequirement(each.key, "In", each.values) for each in term.match_label_expressions
            )
        )
        for term in topologies
    )
    return VolumeNodeAffinity(NodeSelector(node_selector_terms=terms)) if terms else None


def _with(inventory: Inventory, made: Mapping[Key, PersistentVolumeClaim]) -> Inventory:
    if not made:
        return inventory
    storage = inventory.storage
    return inventory.replace(storage=replace(storage, claims={**made, **storage.claims}))
