"""What must not change: order of objects, names; and what may only become less certain: missing rights."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from kubectl_dra.diagnosis.records import Agreement, Bound, PodDiagnosis, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import facts
from tests.kit.state import diagnose_pod

DECIDING = ("Pod", "Node", "ResourceClaim", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
EXPLAINING = ("ResourceClaimTemplate", "Namespace", "ResourceQuota", "Event")


def diagnose(name: str, *withheld: str) -> PodDiagnosis:
    inventory, result = facts.scenario(name)
    for kind in withheld:
        inventory = facts.without(inventory, kind)
    return diagnose_pod(inventory, facts.evidence(*withheld), features(), Key(*result["pod"].split("/")))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", DECIDING)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_kind_that_may_not_be_read(name: str, kind: str) -> None:
    """The verdict stays or becomes Unknown, the words stay or are not predicted, and the missing right is named."""
    full, partial = diagnose(name), diagnose(name, kind)
    assert partial.verdict in (full.verdict, Verdict.UNKNOWN)
    assert partial.message in (full.message, "")
    assert partial.agreement is not Agreement.DIFFERS
    assert kind in [m.kind for m in partial.missing]
    assert set(_bounds(partial)) != {Bound.EXACT}


def _bounds(diagnosis: PodDiagnosis) -> tuple[Bound, ...]:
    return diagnosis.certainty.devices, diagnosis.certainty.free_devices, diagnosis.certainty.nodes


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", EXPLAINING)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_kinds_that_only_explain_decide_nothing(name: str, kind: str) -> None:
    full, partial = diagnose(name), diagnose(name, kind)
    assert (partial.verdict, partial.message) == (full.verdict, full.message)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_claims_of_other_namespaces_that_may_not_be_read(name: str) -> None:
    inventory, result = facts.scenario(name)
    key = Key(*result["pod"].split("/"))
    own = {k: claim for k, claim in inventory.claims.items() if k.namespace == key.namespace}
    full = diagnose_pod(inventory, facts.evidence(), features(), key)
    evidence = facts.evidence_of_namespace("ResourceClaim", key.namespace)
    partial = diagnose_pod(inventory.replace(claims=own), evidence, features(), key)
    assert partial.verdict in (full.verdict, Verdict.UNKNOWN)


def test_missing_rights_say_which_rule_would_help() -> None:
    found = diagnose("12-all-allocated-to-others", "ResourceSlice")
    rules = [(m.rule.api_group, m.rule.resource, m.rule.namespace) for m in found.missing]
    assert rules == [("resource.k8s.io", "resourceslices", "")]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_order_of_objects_does_not_matter(name: str) -> None:
    inventory, result = facts.scenario(name)
    key = Key(*result["pod"].split("/"))
    expected = diagnose_pod(inventory, facts.evidence(), features(), key)
    for seed in range(3):
        found = diagnose_pod(_shuffled(inventory, seed), facts.evidence(), features(), key)
        assert (found.verdict, found.message) == (expected.verdict, expected.message)
        assert {(c.code, c.claim, c.request, frozenset(c.nodes)) for c in found.causes} == {
            (c.code, c.claim, c.request, frozenset(c.nodes)) for c in expected.causes
        }


def _shuffled(inventory: Inventory, seed: int) -> Inventory:
    order = random.Random(seed)

    def shuffle(objects: Mapping[Any, Any]) -> dict[Any, Any]:
        items = list(objects.items())
        order.shuffle(items)
        return dict(items)

    names = ("nodes", "pods", "claims", "classes", "slices", "taint_rules")
    return inventory.replace(**{name: shuffle(getattr(inventory, name)) for name in names})
