"""Remedies of recorded clusters on which nothing fits: the real allocator fits after each, not after part of one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import pytest

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_CLASS, NODE, RESOURCE_CLAIM, RESOURCE_SLICE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.remedies import Proposal
from kubectl_dra.diagnosis.remedies.changes import Change, ClaimEdit, edit_request
from kubectl_dra.diagnosis.remedies.records import EditClaim
from kubectl_dra.model.core import NodeStatus, Pod, PodResourceClaim, PodSpec, PodStatus
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta, OwnerReference
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim
from tests.kit import facts
from tests.kit.clock import CLOCK
from tests.kit.ways import proposals
from tests.oracle.scheduler_oracle import Oracle
from tests.vectors.answer_alloc import decode, features
from tests.vectors.rows import rows

pytestmark = pytest.mark.go

RUN = "default-1.37"
CONFIRMED_ROWS = 500
FINALIZER = "resource.kubernetes.io/delete-protection"
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A row as a cluster with a pending pod, and a running pod for every claim that holds devices."""

    row: Row
    run: Row
    world: ClusterState
    pod: Key


@cache
def cases() -> tuple[Case, ...]:
    """The first rows of which no node could take the claims."""
    return tuple(itertools.islice(_cases(), CONFIRMED_ROWS))


def _cases() -> Iterator[Case]:
    for row in rows("alloc"):
        run = next((run for run in row["expect"] if run["name"] == RUN), None)
        if run is None or any(r["outcome"] != "unsatisfiable" or r.get("orderSensitive") for r in run["results"]):
            continue
        claims = decode(row["claims"], "ResourceClaim")
        held = decode(row.get("allocatedClaims") or [], "ResourceClaim")
        if len({claim.metadata.namespace for claim in claims}) == 1 and claims:
            yield _case(row, run, claims, held)


def _case(row: Row, run: Row, claims: list[ResourceClaim], held: list[ResourceClaim]) -> Case:
    entries = tuple(
        PodResourceClaim(name=f"e{i}", resource_claim_name=claim.metadata.name) for i, claim in enumerate(claims)
    )
    meta = ObjectMeta(name="pod-in-question", namespace=claims[0].metadata.namespace, uid="pod-in-question")
    pod = Pod(metadata=meta, spec=PodSpec(resource_claims=entries), status=PodStatus(phase="Pending"))
    holders = [_holder(claim, number) for number, claim in enumerate(held)]
    inventory = Inventory(
        nodes={node.metadata.name: _with_room(node) for node in decode(row["nodes"], "Node", "v1")},
        pods={key_of(each.metadata): each for each in (pod, *(holder for holder, _ in holders))},
        claims={key_of(claim.metadata): claim for claim in (*claims, *(claim for _, claim in holders))},
        classes={each.metadata.name: each for each in decode(row["classes"], "DeviceClass")},
        slices={each.metadata.name: each for each in decode(row["slices"], "ResourceSlice")},
    )
    return Case(row, run, ClusterState(inventory, facts.evidence(), features(run["features"]), CLOCK), key_of(meta))


def _holder(claim: ResourceClaim, number: int) -> tuple[Pod, ResourceClaim]:
    """A pod that runs with the claim; every other claim was made from a template."""
    name = f"holder-{number}"
    meta = ObjectMeta(name=name, namespace=claim.metadata.namespace, uid=name)
    owners = (OwnerReference("v1", "Pod", name, name, controller=True),) if number % 2 else ()
    consumer = ConsumerReference(resource="pods", name=name, uid=name)
    mine = msgspec.structs.replace(
        claim,
        metadata=msgspec.structs.replace(claim.metadata, finalizers=(FINALIZER,), owner_references=owners),
        status=msgspec.structs.replace(claim.status, reserved_for=(consumer,)),
    )
    return Pod(metadata=meta, spec=PodSpec(node_name="elsewhere"), status=PodStatus(phase="Running")), mine


def _with_room(node: Any) -> Any:
    return msgspec.structs.replace(node, status=NodeStatus(allocatable={"pods": Quantity.parse("110")}))


# --- asking ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle("alloc") as running:
        yield running


def fitting(oracle: Oracle, case: Case, inventory: Inventory) -> set[str]:
    """The nodes on which the real allocator finds devices; none if it fails on any node, which aborts the attempt."""
    names = [entry.resource_claim_name for entry in inventory.pods[case.pod].spec.resource_claims]
    mine = [inventory.claims[Key(case.pod.namespace, name or "")] for name in names]
    held = [claim for claim in inventory.claims.values() if claim.status.allocation is not None]
    results = [{"node": name} for name in inventory.nodes]
    row = {
        "id": case.row["id"],
        "nodes": _encoded(inventory.nodes.values(), NODE),
        "slices": _encoded(inventory.slices.values(), RESOURCE_SLICE),
        "classes": _encoded(inventory.classes.values(), DEVICE_CLASS),
        "claims": _encoded(mine, RESOURCE_CLAIM),
        "allocatedClaims": _encoded(held, RESOURCE_CLAIM),
        "expect": [{**case.run, "results": results}],
    }
    answers = oracle.ask(row)["results"]
    if any(each["outcome"] == "error" and not each.get("errorOnlyAffectsNode") for each in answers):
        return set()
    return {each["node"] for each in answers if each["outcome"] == "allocated"}


def _encoded(records: Iterable[Any], kind: Any) -> list[Row]:
    return [json.loads(encode(record, kind)) for record in records]


def after(inventory: Inventory, changes: Iterable[Change]) -> Inventory:
    """The Inventory with the changes."""
    for change in changes:
        inventory = change(inventory)
    return inventory


def less(proposal: Proposal) -> Iterator[tuple[Change, ...]]:
    """Every proper part of the changes, and counts lowered by less."""
    for size in range(1, len(proposal.changes)):
        yield from itertools.combinations(proposal.changes, size)
    for position, action in enumerate(proposal.remedy.actions):
        if isinstance(action, EditClaim) and action.field == "count":
            others = (*proposal.changes[:position], *proposal.changes[position + 1 :])
            for count in range(int(action.after) + 1, int(action.before)):
                yield (*others, ClaimEdit(action.claim.key, edit_request(action.request, _counting(count))))


def _counting(count: int) -> Any:
    return lambda request: msgspec.structs.replace(request, count=count)


def evicted_at_once(case: Case, inventory: Inventory) -> set[str]:
    """The nodes on which the pod would not stay: a device's taint evicts it, which the allocator does not ask about."""
    causes = Diagnoser(case.world.changed(inventory)).pod(case.pod).causes
    return {node for cause in causes if cause.code is Code.EVICTED_AT_ONCE for node in cause.nodes}


# --- the tests --------------------------------------------------------------------------------------------------------


def test_there_are_enough_rows() -> None:
    assert len(cases()) == CONFIRMED_ROWS


def test_every_remedy_helps_and_no_part_of_it_does(oracle: Oracle) -> None:
    kinds: dict[str, int] = {}
    for case in cases():
        inventory = case.world.inventory
        for proposal in proposals(case.world, Diagnoser(case.world).pod(case.pod)):
            remedy = proposal.remedy
            if not remedy.verified:
                continue
            assert proposal.changed is not None
            assert len(proposal.changes) == len(remedy.actions)
            told = case.row["id"], remedy.actions
            # Those with the best score among them: tests/diagnosis/test_choice.py.
            assert remedy.nodes, told
            assert set(remedy.nodes) <= fitting(oracle, case, proposal.changed), told
            for part in less(proposal):
                then = after(inventory, part)
                assert fitting(oracle, case, then) <= evicted_at_once(case, then), told
            kinds[remedy.kind] = kinds.get(remedy.kind, 0) + 1
    assert kinds["editClaim"] > 500
    assert kinds["freeDevices"] > 30
    assert kinds["addDevices"] > 50
