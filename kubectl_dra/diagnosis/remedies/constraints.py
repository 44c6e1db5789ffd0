"""Remedies that change a constraint of a claim: what it compares, or that it compares anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import UnpublishedInConstraint
from kubectl_dra.diagnosis.remedies import changes
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, ClaimEditor
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import DeviceConstraint, ResourceClaim
from kubectl_dra.selectors.catalog import domain_and_name

_COST: Final = 41
#: Attributes that devices of all drivers may have are made to be compared; others only happen to be common.
_STANDARD: Final = "resource.kubernetes.io/"
_NAMES: Final = 4


def candidates(case: Case) -> Iterator[Candidate]:
    for claim in case.searched:
        editor = ClaimEditor(case, claim)
        for index, constraint in enumerate(claim.spec.devices.constraints):
            attribute = constraint.match_attribute or constraint.distinct_attribute or ""
            field = f"constraints[{index}]"
            for name in (*_published_instead(case, attribute), *_published_by_all(case, claim, constraint)):
                yield editor.of_spec(field, attribute, name, changes.compare_in_constraint(index, name), _COST - 1)
            yield editor.of_spec(field, attribute, "", changes.drop_constraint(index), _COST)


def _published_instead(case: Case, attribute: str) -> tuple[str, ...]:
    """Attributes of the same name in other domains, or of one like it, where nothing publishes what is compared."""
    details = (cause.detail for cause in case.causes(Code.CONSTRAINT))
    found = (each for each in details if isinstance(each, UnpublishedInConstraint) and each.attribute == attribute)
    return next((each.elsewhere or each.similar for each in found), ())


def _published_by_all(case: Case, claim: ResourceClaim, constraint: DeviceConstraint) -> list[str]:
    """What devices of all requests publish, where those of one publish what is compared and those of another don't."""
    attribute = constraint.match_attribute
    if attribute is None:
        return []
    names: dict[str, set[str]] = {}
    for its, request, _, funnels in case.funnels():
        asked = not constraint.requests or {request, request.partition("/")[0]} & set(constraint.requests)
        if key_of(its.metadata) == key_of(claim.metadata) and asked:
            names[request] = _names(case, (device for funnel in funnels for device in funnel.left))
    publishing = [attribute in each for each in names.values()]
    if not any(publishing) or all(publishing):
        return []
    shared = set.intersection(*names.values())
    return sorted(shared, key=lambda name: (not name.startswith(_STANDARD), name))[:_NAMES]


def _names(case: Case, devices: Iterable[str]) -> set[str]:
    """The full names of the attributes of published devices."""
    found: set[str] = set()
    for each in devices:
        driver = DeviceId.of(each).driver
        published = case.state.device(each)
        for name in published[1].attributes if published is not None else ():
            domain, own = domain_and_name(name, driver)
            found.add(f"{domain}/{own}")
    return found
