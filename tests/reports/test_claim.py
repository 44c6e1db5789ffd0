"""Claim reports: lifecycle, devices, drivers' words, configuration, template, consumers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.claim_page import claim_page, claim_summary
from kubectl_dra.output.documents import report_bytes
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.claims.claim_list import asked_devices, claim_rows, unused_claims
from kubectl_dra.reports.devices.holders import ConsumerState
from tests.kit import build
from tests.kit.clock import CLOCK
from tests.kit.facts import evidence
from tests.kit.state import inventory_of, state_of
from tests.reports.clusters import FULL, SMALL, changed, document, facts, items, withheld


def report(namespace, name, cluster=None):
    cluster = cluster or facts()
    return claim_report(cluster.inventory.claims[Key(namespace, name)], cluster)


@pytest.mark.parametrize(
    ("namespace", "name", "state", "printed"),
    [
        ("ml", "waits", ClaimVerdict.PENDING, "pending"),
        ("ml", "serve-0-gpus", ClaimVerdict.RESERVED, "allocated,reserved"),
        ("dev", "full-a", ClaimVerdict.UNRESERVED, "allocated"),
        ("dev", "zombie", ClaimVerdict.DELETING, "deleted,allocated,reserved"),
    ],
)
def test_lifecycle(namespace, name, state, printed):
    found = report(namespace, name)
    assert (found.state, found.printed_state) == (state, printed)


def test_a_claim_from_a_template():
    found = report("ml", "serve-0-gpus")
    assert found.owner == "Pod/serve-0"
    assert found.template is not None
    assert (found.template.entry, found.template.name, found.template.exists) == ("dev", "gpus", True)
    assert (found.template.labels, found.template.annotations) == ({"app": "serve"}, {"team": "ml"})


def test_a_template_that_is_gone_or_can_t_be_read():
    def remove(content):
        content["items"] = [item for item in content["items"] if item["kind"] != "ResourceClaimTemplate"]

    template = report("ml", "serve-0-gpus", changed(remove)).template
    assert template is not None and template.exists is False
    blind = facts(withheld(document(SMALL), ("ResourceClaimTemplate",)))
    unread = report("ml", "serve-0-gpus", blind).template
    assert unread is not None and unread.exists is None


def test_a_right_that_is_missing_is_a_whole_rule_in_json():
    blind = facts(withheld(document(SMALL), ("Pod",)))
    missing = json.loads(report_bytes("ClaimReport", report("ml", "small", blind)))["missing"]
    assert missing[0]["rule"] == {
        "apiGroup": "",
        "resource": "pods",
        "verbs": ["get", "list", "watch"],
        "namespace": "ml",
    }


def test_without_its_pod_the_template_has_no_name():
    template = report("ml", "serve-0-gpus", facts(withheld(document(SMALL), ("Pod",)))).template
    assert template is not None and not template.name


def test_what_drivers_report_is_found_by_device_and_share():
    net = report("ml", "serve-1-net").results[0]
    assert net.status is not None and net.status.network_data is not None
    assert net.status.network_data.ips == ("10.0.0.1/24", "fd00::1/64")
    assert report("dev", "nb").results[0].status is None


def test_a_device_that_is_no_longer_published():
    assert report("dev", "zombie").results[0].published is False
    assert report("ml", "half").results[0].published is True
    assert report("ml", "half", facts(withheld(document(SMALL), ("ResourceSlice",)))).results[0].published is None


def test_binding_conditions_that_are_waited_for_or_failed():
    def conditions(*states):
        def change(content):
            claim = items(content, "ResourceClaim")["claim-1"]
            claim["status"]["allocation"]["devices"]["results"][0] |= {
                "bindingConditions": ["a", "b"],
                "bindingFailureConditions": ["f"],
            }
            claim["status"]["devices"][0]["conditions"] = [{"type": t, "status": s} for t, s in states]

        return report("ns-1", "claim-1", changed(change, FULL)).results[0]

    waiting = conditions(("a", "True"), ("b", "False"))
    assert (waiting.waiting_for, waiting.failed) == (("b",), ())
    failed = conditions(("f", "True"))
    assert (failed.waiting_for, failed.failed) == (("a", "b"), ("f",))


def test_configuration_of_an_allocated_claim_has_its_source():
    configs = report("ml", "serve-0-gpus").configs
    assert [(c.source, c.requests, bytes(c.parameters)) for c in configs] == [
        ("FromClass", (), b'{"sharing": "none"}'),
        ("FromClaim", ("r0",), b'{"mps": {"threads": 50}}'),
    ]


def test_configuration_that_a_pending_claim_would_get():
    configs = report("ns-1", "claim-2", facts(FULL)).configs
    assert [(c.source, c.device_class, c.requests, c.driver) for c in configs] == [
        ("FromClass", "class-1", ("req-1", "req-2/sub-1", "req-2/sub-2"), "classdriver.example.com"),
        ("FromClaim", "", ("req-1",), "claimdriver.example.com"),
    ]


def test_consumers_and_who_waits():
    states = {consumer.name: consumer.state for consumer in report("ml", "serve-0-gpus").reserved_for}
    assert states == {"serve-0": ConsumerState.RUNNING}
    assert report("ml", "small").reserved_for[0].state is ConsumerState.GONE
    waits = report("ml", "waits")
    assert [(pod.name, pod.state) for pod in waits.waiting] == [("trainer-0", ConsumerState.PENDING)]


def test_a_pod_of_the_same_name_is_not_the_consumer():
    def replace(content):
        items(content, "Pod")["half"]["metadata"]["uid"] = "another"

    assert report("ml", "half", changed(replace)).reserved_for[0].state is ConsumerState.GONE


def test_unread_pods_are_unknown_and_not_gone():
    blind = facts(withheld(document(SMALL), ("Pod",)))
    found = report("ml", "small", blind)
    assert found.reserved_for[0].state is ConsumerState.UNKNOWN
    assert "Pod" in [missing.kind for missing in found.missing]


# --- lists ----------------------------------------------------------------------------------------------------------


def unused(cluster):
    claims, unknown = unused_claims(cluster.inventory.claims.values(), cluster)
    return sorted(claim.metadata.name for claim in claims), unknown


def test_unused_claims():
    assert unused(facts()) == (["full-a", "idle", "small", "zombie"], 0)


def test_without_pods_nothing_is_called_unused():
    names, unknown = unused(facts(withheld(document(SMALL), ("Pod",))))
    assert names == []
    assert unknown == 11


def test_rows():
    cluster = facts()
    rows = {row.name: row for row in claim_rows(cluster.inventory.claims.values(), cluster)}
    assert list(rows) == sorted(rows, key=lambda name: (rows[name].namespace, name))
    assert rows["serve-0-gpus"].devices == ("gpu.example.com/node-a/gpu-0", "gpu.example.com/node-a/gpu-1")
    assert (rows["waits"].asked, rows["waits"].classes) == (4, ("gpu.example.com",))


@pytest.mark.parametrize(("mode", "asked"), [("All", None), ("ExactCount", 3 + 1)])
def test_how_many_devices_are_asked_for(mode, asked):
    def change(content: dict[str, Any]) -> None:
        requests = items(content, "ResourceClaim")["claim-1"]["spec"]["devices"]["requests"]
        requests[1]["firstAvailable"][0] |= {"allocationMode": mode}

    cluster = changed(change, FULL)
    assert asked_devices(cluster.inventory.claims[Key("ns-1", "claim-1")]) == asked


def test_the_first_line_says_what_comes_next():
    idle = report("dev", "full-a")
    assert claim_summary(idle).endswith("No pod uses it: if nobody needs it any more, delete it, which frees them.")
    assert "kubectl delete resourceclaim/full-a -n dev" in "\n".join(claim_page(idle, CLOCK.now()))
    unread = report("dev", "full-a", facts(withheld(document(), ("Pod",))))
    assert "delete" not in claim_summary(unread)
    assert "kubectl delete" not in "\n".join(claim_page(unread, CLOCK.now()))
    assert ", which names it, waits for a node: see why." in claim_summary(report("ml", "waits"))
    assert "delete" not in claim_summary(report("ml", "serve-0-gpus"))


def _report_of_gpu(objects, read=None):
    state = state_of(inventory_of(objects), read)
    return claim_report(state.inventory.claims[Key(build.NAMESPACE, "gpu")], state)


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (("Attached", "False", "port 12 busy"), "is not bound yet: gpu-0 waits for Attached (Pending: port 12 busy)"),
        (("AttachFailed", "True", "link lost"), "cannot be bound: gpu-0 has AttachFailed (Pending: link lost)"),
        (("Attached", "True", ""), "is in use"),
    ],
)
def test_a_claim_that_is_not_bound_yet_says_what_its_binding_waits_for(condition, told):
    kind, status, message = condition
    claim = build.claim("gpu", held=[("node-1", "gpu-0")], by=["pod"], on="node-1")
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    result |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["AttachFailed"]}
    said = {"type": kind, "status": status, "reason": "Pending", "message": message}
    claim["status"]["devices"] = [{**result, "conditions": [{**said, "lastTransitionTime": "2026-11-20T10:00:00Z"}]}]
    pod = build.pod(claims=["gpu"])
    objects = [pod, claim, build.node(), build.slice_("node-1", build.device("gpu-0"))]
    found = _report_of_gpu(objects)
    assert claim_summary(found).startswith(
        f"ResourceClaim {build.NAMESPACE}/gpu {told}: 1 device, usable on node node-1."
    )
    page = " ".join(claim_page(found, CLOCK.now()))
    assert (f"why-pending pod/pod -n {build.NAMESPACE}" in page) == (told != "is in use")
    # A pod that has its node has what it waited for.
    pod["spec"]["nodeName"] = "node-1"
    found = _report_of_gpu(objects)
    assert "is in use" in claim_summary(found)


def test_the_first_line_tells_of_devices_that_are_not_published_any_more() -> None:
    held = [("node-1", "gpu-0"), ("node-1", "gpu-1")]
    claim = build.claim("gpu", held=held, by=["pod"], on="node-1")
    objects = [build.pod(claims=["gpu"]), claim, build.node()]
    one = _report_of_gpu([*objects, build.slice_("node-1", build.device("gpu-0"))], evidence())
    assert "is in use: 2 devices (1 of them not published any more), usable on node node-1." in claim_summary(one)
    none = _report_of_gpu([*objects, build.slice_("node-1", build.device("gpu-2"))], evidence())
    assert "is in use: 2 devices (not published any more), usable on node node-1." in claim_summary(none)
