"""Objects of 1.30 and 1.31 in reports: snapshots keep their generation, and every view can live with them."""

from __future__ import annotations

import json
from pathlib import Path

from kubectl_dra.api.planned import read_planned
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.claim_page import claim_page
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.claims.claim import claim_report
from kubectl_dra.reports.claims.claim_list import claim_rows
from kubectl_dra.reports.simulation import Copies, simulation_report
from kubectl_dra.source.file import load_file
from tests.diagnosis.classic import build
from tests.kit.clock import CLOCK
from tests.kit.state import diagnose_pod
from tests.reports.clusters import redacted, snapshot

STRUCTURED = build.resource_class(structured=True)
SERIAL = 'attributes.string["serial"] == "s-4711"'
OBJECTS = (
    build.pod("claim", "own"),
    build.node(),
    build.resource_class("driver"),
    STRUCTURED,
    build.claim(resourceClassName="driver"),
    build.claim("own", parametersRef=build.refers("ResourceClaimParameters", "some")),
    build.held("other", "node-1", "gpu-0"),
    build.claim_parameters(SERIAL),
    build.class_parameters("true", vendorParameters=[{"driverName": build.DRIVER, "parameters": {"secret": 1}}]),
    build.slice_("node-1", build.instance("gpu-0", serial="s-4711"), build.instance("gpu-1", serial="s-4712")),
    build.context("node-1", unsuitable={"claim": []}),
)


def test_a_snapshot_keeps_the_generation_and_the_verdict(tmp_path: Path) -> None:
    facts = ClusterState(build.cluster(*OBJECTS), build.evidence(), features(30), CLOCK)
    before = diagnose_pod(facts.inventory, facts.evidence, facts.features, build.POD)
    for number, document in enumerate((snapshot(facts), redacted(snapshot(facts)))):
        assert "secret" not in json.dumps(document)
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        inventory, evidence = load_file(str(file))
        assert evidence.server_version == (1, 30)
        pod = next(key for key, each in inventory.pods.items() if each.spec.resource_claims)
        after = diagnose_pod(inventory, evidence, features(30), pod)
        assert (after.verdict, after.message) == (before.verdict, before.message)
        assert [cause.code for cause in after.causes] == [cause.code for cause in before.causes]


def test_redaction_leaves_no_name() -> None:
    facts = ClusterState(build.cluster(*OBJECTS), build.evidence(), features(30), CLOCK)
    text = json.dumps(redacted(snapshot(facts))["items"])
    for name in ("node-1", "gpu-0", "s-4711", build.DRIVER, "some", "driver"):
        assert f'"{name}"' not in text, name


def test_the_page_of_a_claim_tells_sizes_and_never_contents() -> None:
    handle = {"driverName": build.DRIVER, "data": '{"secret": 1}'}
    status = build.on("node-1", resourceHandles=[handle], shareable=True)
    driven = build.claim(by=("pod",), status={**status, "deallocationRequested": True})
    facts = ClusterState(
        build.cluster(driven, build.held("other", "node-1", "gpu-0"), build.pod()),
        build.evidence(),
        features(30),
        CLOCK,
    )
    now = parse_time("2026-01-01T00:00:00Z")
    assert now is not None

    def page(name: str) -> str:
        return "\n".join(claim_page(claim_report(facts.inventory.claims[Key(build.NAMESPACE, name)], facts), now))

    text = page("claim")
    assert "handle for gpu.example.com: 13 bytes of its own data" in text
    assert "is asked to deallocate it" in text
    assert "can be shared" in text
    assert "secret" not in text
    assert "handle for gpu.example.com: gpu-0 on node node-1" in page("other")
    rows = {row.name: row for row in claim_rows(facts.inventory.claims.values(), facts)}
    assert (rows["claim"].classes, rows["claim"].asked) == (("gpu",), 0)


def test_states_as_kubectl_of_that_time_prints_them() -> None:
    freed = build.claim(status={**build.on("node-1"), "deallocationRequested": True})
    facts = ClusterState(build.cluster(freed), build.evidence(), features(30), CLOCK)
    assert [row.printed_state for row in claim_rows(facts.inventory.claims.values(), facts)] == [
        "allocated,deallocating"
    ]


def test_a_simulation_leaves_the_drivers_decision_open() -> None:
    world = ClusterState(build.cluster(build.node(), build.resource_class()), build.evidence(), features(30), CLOCK)
    manifests = [
        read_planned(Source(json.dumps(each).encode()), build.NAMESPACE) for each in (build.claim(), build.pod("claim"))
    ]
    report = simulation_report(world, manifests, Copies())
    now = parse_time("2026-01-01T00:00:00Z")
    assert now is not None
    text = "\n".join(simulation_page(report, now))
    assert "its driver decides whether it fits" in text
    assert report.fits is not Fits.YES
