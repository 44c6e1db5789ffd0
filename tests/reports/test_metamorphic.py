"""What must not change an answer, and what may only make it less sure."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import msgspec
import pytest

from kubectl_dra.api.encode import encode_part
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.claims.claim_list import claim_rows
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.device_list import DeviceFilter, device_list
from kubectl_dra.reports.devices.pool import pool_report, pool_summaries
from kubectl_dra.reports.taints.taint_list import taint_rows
from tests.reports.clusters import DEMO, FULL, SMALL, document, facts, snapshot, withheld

PATHS = {"small": SMALL, "full": FULL, "demo": DEMO}
# What was read, and in which order; not part of the answer.
META = ("read", "missing", "assumed", "asOf")


def plain(record: Any) -> Any:
    report = json.loads(encode_part(record))
    return {name: value for name, value in report.items() if name not in META} if isinstance(report, dict) else report


def answers(cluster: ClusterState) -> dict[str, Any]:
    """Every report about a cluster, as JSON."""
    inventory = cluster.inventory
    return {
        "pools": {str(pool): plain(pool_report(pool, cluster)) for pool in cluster.pools},
        "summaries": [plain(summary) for summary in pool_summaries(cluster)],
        "devices": [plain(each) for each in device_list(cluster, DeviceFilter()).items],
        "claims": {str(key): plain(claim_report(claim, cluster)) for key, claim in sorted(inventory.claims.items())},
        "rows": [plain(row) for row in claim_rows(inventory.claims.values(), cluster)],
        "classes": [plain(row) for row in class_rows(inventory.classes.values(), cluster)],
        "taints": [plain(row) for row in taint_rows(cluster)],
    }


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_items_does_not_matter(name, seed):
    content = document(PATHS[name])
    before = answers(facts(content))
    random.Random(seed).shuffle(content["items"])
    assert answers(facts(content)) == before


def renamed(text: str) -> str:
    """An order-preserving rename of drivers, nodes, pools, claims and namespaces: all get the same prefix."""
    names = r"(?:gpu|mig|nic|fpga|l40)\.example\.com|any-device|node-[a-d]|cpu-[12]|rack-[17]|serve-[01]|ecc-errors|hot"
    return re.sub(rf"(?<![\w.-])({names})", r"q\1", text)


@pytest.mark.parametrize("name", ["small", "demo"])
def test_renaming_everything_alike_renames_the_answer(name):
    text = json.dumps(document(PATHS[name]))
    expected = json.loads(renamed(json.dumps(answers(facts(json.loads(text))))))
    assert answers(facts(json.loads(renamed(text)))) == expected


KINDS = ("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Pod", "Node", "ResourceClaimTemplate")


def counts(value: Any, path: str = "") -> dict[str, tuple[int | str, str]]:
    """Every count of a report by its path."""
    if isinstance(value, dict):
        if value.keys() == {"value", "bound"}:
            return {path: (value["value"], value["bound"])}
        return {k: v for name, part in value.items() for k, v in counts(part, f"{path}/{name}").items()}
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in counts(part, f"{path}/{_id(part, i)}").items()}
    return {}


def _id(part: Any, index: int) -> Any:
    if not isinstance(part, dict):
        return index
    # Nodes are grouped by what they offer, so that a group is known by its nodes.
    return part.get("driver", ""), part.get("pool", ""), part.get("name", ""), tuple(part.get("nodes", (index,)))


def true_of(known: int | str, bound: str, truth: int | str) -> bool:
    order = Quantity.parse(str(known)).cmp(Quantity.parse(str(truth)))
    return {
        Bound.EXACT: order == 0,
        Bound.AT_LEAST: order <= 0,
        Bound.AT_MOST: order >= 0,
        Bound.UNKNOWN: True,
    }[Bound(bound)]


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("kinds", [(kind,) for kind in KINDS] + [("ResourceClaim", "DeviceTaintRule")])
def test_withheld_kinds_never_make_a_number_wrong(name, kinds):
    content = document(PATHS[name])
    whole, partial = facts(content), facts(withheld(content, kinds))
    truth = counts(plain(msgspec.to_builtins([plain(s) for s in pool_summaries(whole)])))
    truth |= counts([plain(row) for row in class_rows(whole.inventory.classes.values(), whole)], "classes")
    told = counts([plain(s) for s in pool_summaries(partial)])
    told |= counts([plain(row) for row in class_rows(partial.inventory.classes.values(), partial)], "classes")
    assert "ResourceSlice" in kinds or len(told) > 20
    wrong = {p: (told[p], truth[p]) for p in told.keys() & truth.keys() if not true_of(*told[p], truth[p][0])}
    assert wrong == {}


@pytest.mark.parametrize("kinds", [("ResourceClaim",), ("DeviceTaintRule",)])
def test_withheld_kinds_make_some_number_less_sure(kinds):
    partial = facts(withheld(document(SMALL), kinds))
    assert {bound for summary in pool_summaries(partial) for _, bound in counts(plain(summary)).values()} > {"exact"}


@pytest.mark.parametrize("kinds", [("Pod",), ("ResourceSlice",), ("Node",)])
def test_the_state_of_a_claim_does_not_depend_on_other_kinds(kinds):
    whole, partial = facts(), facts(withheld(document(SMALL), kinds))
    before = {row.name: (row.state, row.printed_state) for row in claim_rows(whole.inventory.claims.values(), whole)}
    after = {row.name: (row.state, row.printed_state) for row in claim_rows(partial.inventory.claims.values(), partial)}
    assert before == after


@pytest.mark.parametrize(("name", "namespace"), [("small", "ml"), ("small", "dev"), ("demo", "ml"), ("demo", "net")])
def test_one_namespace_never_makes_a_number_wrong(name, namespace):
    whole = facts(PATHS[name])
    partial = facts(json.loads(json.dumps(snapshot(whole, namespace))))
    truth = counts([plain(summary) for summary in pool_summaries(whole)])
    told = counts([plain(summary) for summary in pool_summaries(partial)])
    assert told.keys() == truth.keys()
    assert {path: told[path] for path in told if not true_of(*told[path], truth[path][0])} == {}
    assert any(told[path][0] != truth[path][0] for path in told)
    before = {row.name: row for row in claim_rows(whole.inventory.claims.values(), whole)}
    for row in claim_rows(partial.inventory.claims.values(), partial):
        assert (row.state, row.unused) == (before[row.name].state, before[row.name].unused)
