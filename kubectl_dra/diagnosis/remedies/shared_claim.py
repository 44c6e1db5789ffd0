"""One claim for pods that are to share devices, where a template makes a claim for each of them.

Drivers share a device among those who name the same claim (NVIDIA: ``sharing`` with the strategy TimeSlicing or MPS in
GpuConfig and MigDeviceConfig); each claim gets devices of its own, whatever its configuration says.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Final, NamedTuple

import msgspec

from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, merged, pod_edit
from kubectl_dra.diagnosis.remedies.own_claim import free_name
from kubectl_dra.diagnosis.remedies.pod_edits import INIT_ENTRY, naming
from kubectl_dra.diagnosis.remedies.records import CreateObject, EditPod, RemedyKind, RestartPods
from kubectl_dra.diagnosis.remedies.scalable import SCALED, loses_volumes
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.edited import edited
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.requests import is_sidecar
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.claims import resolve

_COST: Final = 27
_EARLY_COST: Final = 24
#: Workloads whose pods are all replaced at once, and those of which none is left when they are scaled down.
_REPLACED: Final = ("Job", "JobSet", "MPIJob")


class Holder(NamedTuple):
    """A pod whose claim of the same template has devices, and what it calls the claim."""

    pod: Pod
    entry: str
    claim: ResourceClaim


def candidates(case: Case) -> Iterator[Candidate]:
    """One for each claim that is configured to be shared and finds the devices in use by one of the same template."""
    if not any(True for _ in case.causes(Code.DEVICES_IN_USE)):
        return
    for key, template in case.templates.items():
        claim = case.state.inventory.claims.get(key)
        entry = next(iter(case.entries(key)), None)
        if claim is None or entry is None or claim.status.allocation is not None or not is_shared(claim):
            continue
        holder = next(holders(case, template), None)
        if holder is not None:
            yield from _shared(case, claim, entry, template, holder)


def one_after_the_other(case: Case) -> Iterator[Candidate]:
    """The devices of the others for init containers that end before those start, if both have a claim of one template.

    All claims of a pod are held as long as it lives, whichever of its containers use them.
    """
    spec = case.pod.spec
    if not case.searched or not any(cause.code.family is Family.DEVICES for cause in case.diagnosis.causes):
        return
    lasting = (*filter(is_sidecar, spec.init_containers), *spec.containers)
    used = {claim.name for each in lasting for claim in each.resources.claims}
    early = {claim.name for each in spec.init_containers for claim in each.resources.claims} - used
    edits = list[Candidate]()
    for entry in spec.resource_claims:
        template = entry.resource_claim_template_name
        alike = [each.name for each in spec.resource_claims if each.resource_claim_template_name == template]
        instead = next((name for name in alike if name in used and _starts_later(spec, name, entry.name)), "")
        if template is not None and entry.name in early and instead:
            edits.append(pod_edit(case, f"{INIT_ENTRY}[{entry.name}]", template, instead, _EARLY_COST))
    if edits:
        yield reduce(merged, edits)


def _starts_later(spec: PodSpec, name: str, early: str) -> bool:
    """Whether no sidecar that uses one claim starts before the last init container that uses the other has ended."""
    uses = [{claim.name for claim in each.resources.claims} for each in spec.init_containers]
    last = max((at for at, names in enumerate(uses) if early in names), default=0)
    return not any(name in names for names in uses[:last])


def is_shared(claim: ResourceClaim) -> bool:
    """Whether the configuration of a claim says how its devices are shared."""
    opaque = (each.opaque for each in claim.spec.devices.config)
    return any(_has_strategy(each.parameters) for each in opaque if each is not None)


def _has_strategy(parameters: msgspec.Raw | msgspec.UnsetType) -> bool:
    if isinstance(parameters, msgspec.UnsetType):
        return False
    try:
        found = msgspec.json.decode(parameters)
    except (ValueError, RecursionError):
        return False
    sharing = found.get("sharing") if isinstance(found, dict) else None
    return isinstance(sharing, dict) and bool(sharing.get("strategy"))


def holders(case: Case, template: ObjectRef) -> Iterator[Holder]:
    """Pods that have devices by the same template, first those of the same workload."""
    state, own = case.state, case.diagnosis.pod.key
    pods = [
        pod
        for key, pod in sorted(state.inventory.pods.items())
        if key.namespace == own.namespace and key != own and not is_terminal(pod)
        if any(each.resource_claim_template_name == template.name for each in pod.spec.resource_claims)
    ]
    for pod in sorted(pods, key=lambda each: not case.is_sibling(each)):
        for entry in resolve(state.inventory, state.evidence, state.features, pod):
            has = entry.claim is not None and entry.claim.status.allocation is not None
            if has and entry.claim is not None and entry.template == template.name:
                yield Holder(pod, entry.entry.name, entry.claim)


def _shared(case: Case, claim: ResourceClaim, entry: str, template: ObjectRef, holder: Holder) -> Iterator[Candidate]:
    """The claim, which has what the other pod's had, named by both."""
    inventory, pod = case.state.inventory, case.diagnosis.pod
    ref = ObjectRef("ResourceClaim", pod.namespace, free_name(inventory.claims, template))
    create = CreateObject(ref, like=ObjectRef.of_claim(claim))
    field = "resourceClaims.claim[{}]"
    mine = EditPod(pod, field.format(entry), template.name, ref.name, case.workload)
    other = ObjectRef.of("Pod", key_of(holder.pod.metadata))
    created, named = (
        _created(claim, ref.key),
        changes.PodEdit(pod.key, naming(mine, entry)),
    )
    owner = case.owners.top(holder.pod)
    theirs = EditPod(other, field.format(holder.entry), template.name, ref.name, owner.ref if owner else None)
    moved = _moved(ref.key, holder, theirs)
    if owner is None or owner.ref != case.workload:
        steps = (created, named, moved)
        # An old pod of a workload that rolls stays until its new one is ready, which waits for the devices.
        if owner is None or owner.ref.kind in _REPLACED:
            yield Candidate(RemedyKind.EDIT_POD, (create, mine, theirs), _COST, steps)
    elif owner.ref.kind in SCALED and owner.object is not None and not loses_volumes(owner.object):
        replicas = 1 if owner.object.spec.replicas is None else owner.object.spec.replicas
        if replicas > 0:
            restart = RestartPods(owner.ref, other, replicas)
            yield Candidate(RemedyKind.EDIT_POD, (create, mine, restart), _COST, (created, named, moved))
    elif owner.ref.kind in _REPLACED:
        both = changes.both(created, moved)
        yield Candidate(RemedyKind.EDIT_POD, (create, mine), _COST, (both, named))


def _created(claim: ResourceClaim, key: Key) -> changes.Change:
    new = ResourceClaim(metadata=ObjectMeta(name=key.name, namespace=key.namespace), spec=claim.spec)
    return lambda inventory: inventory.replace(claims=changes.put(inventory.claims, key, new))


def _moved(key: Key, holder: Holder, named: EditPod) -> changes.Change:
    """The other pod's claim goes, and the shared one, where it was created, has its devices."""
    old, pod = key_of(holder.claim.metadata), key_of(holder.pod.metadata)
    edit = changes.PodEdit(pod, naming(named, holder.entry))

    def change(inventory: Inventory) -> Inventory:
        shared = inventory.claims.get(key)
        if shared is None:
            return inventory
        allocated = msgspec.structs.replace(shared, status=holder.claim.status)
        claims = edited(inventory.claims, {key: allocated}, without=[old])
        return edit(inventory.replace(claims=claims))

    return change
