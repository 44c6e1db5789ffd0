"""What an object of an old generation means only together with others: filled in once all objects are read.

Inventories of today's generations pass through unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count

from msgspec.structs import replace

from kubectl_dra.model.classic import NamedResourcesSlice
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.proto import PrototypeClaim, PrototypeClass, PrototypeSlice
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceSlice


def resolved_claims(
    claims: Mapping[Key, ResourceClaim], classes: Mapping[str, DeviceClass], slices: Mapping[str, ResourceSlice]
) -> Mapping[Key, ResourceClaim]:
    """The claims, those of the prototype with the classes and drivers that their types and pools stand for."""
    if not any(isinstance(claim, PrototypeClaim) for claim in claims.values()):
        return claims
    from kubectl_dra.api.devmgmtproto import Surroundings, claim_to_record  # only the prototype's objects need it

    surroundings = Surroundings(
        tuple(c.prototype for c in classes.values() if isinstance(c, PrototypeClass)),
        tuple(s.prototype for s in slices.values() if isinstance(s, PrototypeSlice)),
    )
    return {
        key: claim_to_record(claim.prototype, surroundings) if isinstance(claim, PrototypeClaim) else claim
        for key, claim in claims.items()
    }


def complete_pools(slices: Mapping[str, ResourceSlice]) -> Mapping[str, ResourceSlice]:
    """The slices with the number of v1alpha2 slices per node and driver as the pool's size: they have no other.

    A pool of the prototype with resources of its own becomes two slices: v1 has devices and counters apart.
    """
    if any(isinstance(slice_, PrototypeSlice) for slice_ in slices.values()):
        slices = {part.metadata.name: part for slice_ in slices.values() for part in _parts(slice_, slices)}
    sizes = Counter(s.spec.pool_id for s in slices.values() if isinstance(s, NamedResourcesSlice))
    return {name: _sized(s, sizes[s.spec.pool_id]) for name, s in slices.items()} if sizes else slices


def _parts(slice_: ResourceSlice, slices: Mapping[str, ResourceSlice]) -> Iterator[ResourceSlice]:
    spec = slice_.spec
    if not isinstance(slice_, PrototypeSlice) or not spec.shared_counters:
        yield slice_
        return
    pool = replace(spec.pool, resource_slice_count=2)
    numbered = (f"{slice_.metadata.name}-{number}" for number in count(1))
    other = next(name for name in numbered if name not in slices)
    yield replace(slice_, spec=replace(spec, pool=pool, shared_counters=()))
    yield ResourceSlice(ObjectMeta(other), replace(spec, pool=pool, devices=()))


def _sized(slice_: ResourceSlice, size: int) -> ResourceSlice:
    if not isinstance(slice_, NamedResourcesSlice) or size == slice_.spec.pool.resource_slice_count:
        return slice_
    pool = replace(slice_.spec.pool, resource_slice_count=size)
    return replace(slice_, spec=replace(slice_.spec, pool=pool))
