"""Snapshots: what is in them, what never is, fixed point, one namespace."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.decode import decode_page
from kubectl_dra.api.kinds import BY_NAME, NAMESPACE
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.reports.devices.pool import pool_summaries
from kubectl_dra.reports.snapshot import incomplete
from tests.reports.clusters import DEMO, FULL, SMALL, changed, document, facts, items, snapshot, withheld

PATHS = {"small": SMALL, "full": FULL, "demo": DEMO}
HIDDEN = "\u202egpu\u200b\x1b[31m\U0001f600"


def text_of(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("parameters", [False, True])
def test_a_snapshot_of_a_snapshot_is_the_same(name, parameters):
    once = snapshot(facts(PATHS[name]), with_parameters=parameters)
    assert snapshot(facts(json.loads(text_of(once))), with_parameters=parameters) == once


def test_names_with_invisible_characters_survive():
    def hide(content):
        items(content, "ResourceSlice")["node-a-gpu"]["spec"]["devices"][0]["name"] = HIDDEN
        items(content, "ResourceClaim")["idle"]["metadata"]["name"] = HIDDEN

    once = snapshot(changed(hide))
    assert HIDDEN in {item["metadata"]["name"] for item in once["items"]}
    assert snapshot(facts(json.loads(text_of(once)))) == once


@pytest.mark.parametrize("name", PATHS)
def test_a_snapshot_gives_the_same_totals(name):
    cluster = facts(PATHS[name])
    again = facts(json.loads(text_of(snapshot(cluster))))
    assert pool_summaries(again) == pool_summaries(cluster)


def test_secrets_of_pods_are_never_written():
    once = text_of(snapshot(facts(), with_parameters=True))
    assert "sesame" in text_of(document())
    assert "sesame" not in once
    assert not re.search(r'"(env|command|args|managedFields)"', once)


IMAGE = "registry.example.com/secret-project/trainer"


def test_names_of_images_are_hidden_and_still_compare():
    def use(content):
        node = items(content, "Node")["node-a"]
        node.setdefault("status", {})["images"] = [
            {"names": [f"{IMAGE}@sha256:{'0' * 64}", f"{IMAGE}:latest"], "sizeBytes": 7},
            {"names": ["registry.example.com/other:v1"], "sizeBytes": 9},
        ]
        for pod in items(content, "Pod").values():
            for container in pod["spec"]["containers"]:
                container["image"] = IMAGE
            pod["spec"]["volumes"] = [{"name": "model", "image": {"reference": IMAGE}}]

    once = snapshot(changed(use))
    assert "example.com/secret" not in text_of(once)
    assert "registry.example.com" not in text_of(once)
    pod = next(item for item in once["items"] if item["kind"] == "Pod")
    node = next(item for item in once["items"] if item["metadata"]["name"] == "node-a" and item["kind"] == "Node")
    (image,) = node["status"]["images"]
    assert image["sizeBytes"] == 7
    assert pod["spec"]["containers"][0]["image"] in image["names"]
    assert pod["spec"]["volumes"][0]["image"]["reference"] in image["names"]
    assert snapshot(facts(json.loads(text_of(once)))) == once


def test_opaque_json_only_on_request():
    bare, full = text_of(snapshot(facts(FULL))), text_of(snapshot(facts(FULL), with_parameters=True))
    for marker in ("classParam", "claimParam", "allocParam", "dataKey"):
        assert marker not in bare
        assert marker in full


def test_only_dras_own_annotations_are_written():
    def annotate(content):
        for item in content["items"]:
            item["metadata"].setdefault("annotations", {})["example.com/secret"] = "hidden-note"

    once = snapshot(changed(annotate))
    assert "hidden-note" not in text_of(once)
    claim = next(item for item in once["items"] if item["metadata"]["name"] == "serve-0-gpus")
    assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "dev"}


def test_the_header_says_what_is_missing_and_keeps_it_missing():
    cluster = facts(withheld(document(), ("ResourceClaim",)))
    again = facts(json.loads(text_of(snapshot(cluster))))
    assert again.evidence.coverage("ResourceClaim") is Coverage.FORBIDDEN
    assert incomplete(again.evidence) == ("ResourceClaim",)
    assert pool_summaries(again) == pool_summaries(cluster)


def test_an_object_that_can_t_be_read_is_named():
    def break_one(content):
        items(content, "ResourceClaim")["idle"]["spec"]["devices"]["requests"] = 7

    once = snapshot(changed(break_one))
    assert any("idle is left out" in note for note in once["notes"])
    assert {read["kind"]: read["coverage"] for read in once["reads"]}["ResourceClaim"] == "partial"
    assert snapshot(facts(json.loads(text_of(once)))) == once


def test_one_namespace():
    once = snapshot(facts(), "ml")
    assert {item["metadata"].get("namespace", "") for item in once["items"]} == {"", "ml"}
    again = facts(json.loads(text_of(once)))
    assert again.evidence.complete("ResourceClaim", "ml")
    assert not again.evidence.complete("ResourceClaim")
    assert again.evidence.complete("ResourceSlice")
    assert snapshot(again, "ml") == once


def test_one_namespace_of_a_cluster_that_may_not_be_read():
    reads = (Read("Pod", "", Coverage.FORBIDDEN), Read("Pod", "ml", Coverage.COMPLETE))
    cluster = dataclasses.replace(facts(), evidence=Evidence(reads))
    again = facts(json.loads(text_of(snapshot(cluster, "ml"))))
    assert again.evidence.coverage("Pod") is Coverage.FORBIDDEN
    assert again.evidence.complete("Pod", "ml")


@pytest.mark.parametrize("kind", [NAMESPACE, BY_NAME["Job"]], ids=lambda kind: kind.name)
def test_items_of_a_servers_list_get_their_kind(kind):
    page = b'{"kind": "%sList", "items": [{"metadata": {"name": "ml"}}]}' % kind.name.encode()
    builder = InventoryBuilder()
    builder.add(kind, *decode_page(page, kind.api_version, kind).records)
    once = snapshot(dataclasses.replace(facts(), inventory=builder.inventory()))
    assert [(item["apiVersion"], item["kind"]) for item in once["items"]] == [(kind.api_version, kind.name)]
    assert snapshot(facts(json.loads(text_of(once))))["items"] == once["items"]
