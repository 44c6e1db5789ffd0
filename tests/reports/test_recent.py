"""The last changes: from the times that objects carry, newest first."""

from __future__ import annotations

from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.recent import change_text
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.recent import ChangeKind, recent_changes
from tests.reports.clusters import DEMO, changed, document, facts


def test_newest_first_and_no_more_than_asked():
    changes = recent_changes(facts(DEMO), limit=1000)
    times = [parse_time(change.time) for change in changes]
    assert times == sorted(times, reverse=True)
    assert recent_changes(facts(DEMO), limit=3) == changes[:3]
    assert {change.kind for change in changes} >= {
        ChangeKind.ALLOCATED,
        ChangeKind.CREATED,
        ChangeKind.PENDING,
        ChangeKind.TAINTED,
        ChangeKind.PUBLISHED,
    }


def test_each_allocated_claim_once_with_its_devices():
    changes = recent_changes(facts(DEMO), limit=1000)
    allocated = {(c.subject.namespace, c.subject.name): c.detail for c in changes if c.kind is ChangeKind.ALLOCATED}
    for item in document(DEMO)["items"]:
        allocation = item.get("status", {}).get("allocation") if item["kind"] == "ResourceClaim" else None
        if allocation and allocation.get("allocationTimestamp"):
            meta = item["metadata"]
            assert allocated.pop((meta["namespace"], meta["name"])) == str(len(allocation["devices"]["results"]))
    assert not allocated


def test_words():
    texts = {plain(change_text(change)) for change in recent_changes(facts(DEMO), limit=1000)}
    assert "pod ml/infer-7c9f8d6b54-kcqfk pending" in texts
    assert "rule ecc-errors: taint ecc:NoSchedule" in texts
    assert any(text.startswith("claim ml/serve-1") and "got 5 devices" in text for text in texts)
    assert "pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq published" in texts


def test_deletion_and_broken_times():
    def change(content):
        claims = [item for item in content["items"] if item["kind"] == "ResourceClaim"]
        claims[0]["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
        claims[1]["metadata"]["creationTimestamp"] = "yesterday"

    first = recent_changes(changed(change, DEMO))[0]
    assert first.kind is ChangeKind.DELETING
    assert plain(change_text(first)).endswith("being deleted")
