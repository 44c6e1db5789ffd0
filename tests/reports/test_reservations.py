"""Reservations of pods that are gone have a command that ends them, and no others."""

from __future__ import annotations

import json

from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.pending.claim_page import claim_pending_page
from kubectl_dra.reports.pending.pending import claim_pending_report
from tests.kit import build, facts
from tests.kit.state import diagnose_claim, state_of

CLAIM = Key(build.NAMESPACE, "claim")


def report_of(*objects, withheld=()):
    inventory, evidence = facts.inventory(objects), facts.evidence(*withheld)
    found = diagnose_claim(inventory, evidence, features(), CLAIM)
    return claim_pending_report(found, state_of(inventory, evidence, features()))


def held(by):
    return build.claim(held=[("node-1", "gpu-0")], by=by)


THERE = build.pod("there", claims=["claim"], node_name="node-1", phase="Running")


def test_only_pods_that_are_gone_lose_their_reservation() -> None:
    again = build.pod("again", claims=["claim"], node_name="node-1", phase="Running")
    again["metadata"]["uid"] = "another-one"
    report = report_of(held(["gone", "there", "again"]), THERE, again)
    (words,) = report.ending
    assert words[:5] == ("kubectl", "patch", "resourceclaim/claim", "-n", "ml")
    assert "--subresource=status" in words
    patch = json.loads(words[words.index("-p") + 1])
    assert [(each["op"], each["path"]) for each in patch] == [
        ("test", "/status/reservedFor/2/uid"),
        ("remove", "/status/reservedFor/2"),
        ("test", "/status/reservedFor/0/uid"),
        ("remove", "/status/reservedFor/0"),
    ]
    assert {each.get("value") for each in patch if each["op"] == "test"} == {"pod-gone", "pod-again"}
    page = list(map(str, claim_pending_page(report, state_of(facts.inventory([])).now)))
    assert any(line.startswith("kubectl patch resourceclaim/claim -n ml --subresource=status") for line in page)


def test_there_is_nothing_to_end_where_pods_are_there_or_not_known() -> None:
    assert report_of(held(["there"]), THERE).ending == ()
    assert report_of(held(["gone"]), withheld=("Pod",)).ending == ()
