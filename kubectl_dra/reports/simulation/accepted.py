"""Objects of the files that the server refuses as they are written: as if it took them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from kubectl_dra.api.kinds import RESOURCE_GROUP
from kubectl_dra.api.planned import Planned
from kubectl_dra.api.served import version_to_write
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate
from kubectl_dra.reports.simulation.records import ManifestReport, PodSimulation
from kubectl_dra.reports.simulation.trials import claims_named

_CONVERTED = (DeviceClass, ResourceClaim, ResourceClaimTemplate)
#: Versions whose requests mean nothing in others.
_CLASSIC = ("/v1alpha1", "/v1alpha2")
#: Of what is wrong here it is not known which claim or template is meant.
_ENTRIES = ".resourceClaims["


def refused_pods(objects: Sequence[Planned], said: Sequence[ManifestReport]) -> list[ObjectRef]:
    """Those with nothing against them but what their pods say, and of which the claims are known."""
    refused = {each.object: each.refused for each in said if each.refused}
    found = ((each, _ref(each)) for each in objects if each.pods)
    return [ref for each, ref in found if ref in refused and _is_clear(each, refused[ref])]


def _is_clear(planned: Planned, refused: Sequence[str]) -> bool:
    return set(refused) <= set(planned.invalid) and not any(_ENTRIES in text for text in refused)


def of_other_versions(objects: Sequence[Planned], said: Sequence[ManifestReport], minor: int) -> list[ObjectRef]:
    """Those with nothing against them but that the server has their kind in another version, to which they convert."""
    text = f'no matches for kind "{{}}" in version "{RESOURCE_GROUP}/'
    refused = {each.object: each.refused for each in said if version_to_write(minor)}
    alike = (
        each for each in objects if isinstance(each.record, _CONVERTED) and not each.api_version.endswith(_CLASSIC)
    )
    found = ((_ref(each), refused.get(_ref(each), ())) for each in alike)
    return [ref for ref, why in found if len(why) == 1 and why[0].startswith(text.format(ref.kind))]


def as_accepted(
    objects: Sequence[Planned], found: Collection[ObjectRef], others: Collection[ObjectRef], minor: int
) -> Iterator[Planned]:
    """The objects with nothing against those that were ``found``; ``others`` in the version that the server has."""
    for each in objects:
        ref = _ref(each)
        if ref in others:
            each = replace(each, api_version=f"{RESOURCE_GROUP}/{version_to_write(minor)}")
        yield replace(each, invalid=()) if ref in found else each


def without_their_claims(
    pods: Iterable[PodSimulation], objects: Sequence[Planned], found: Collection[ObjectRef]
) -> Iterator[PodSimulation]:
    """The answers but those about a bare pod for a claim or template that one of ``found`` uses."""
    theirs = (plan.pod for each in objects if _ref(each) in found for plan in each.pods)
    used = {ObjectRef(*key) for pod in theirs for key in claims_named(pod)}
    return (pod for pod in pods if pod.subject not in used)


def _ref(planned: Planned) -> ObjectRef:
    return ObjectRef(planned.kind, planned.key.namespace, planned.name)
