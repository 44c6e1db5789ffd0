"""Pods of a file of which one of each kind is decoded whole: the same records as when each is decoded for itself."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import msgspec
import pytest

from kubectl_dra.api import replicas
from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.kinds import POD
from kubectl_dra.api.lean import lean
from kubectl_dra.api.replicas import Replicas
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.podinfo import PodInfos, SharedPodInfos, pod_info
from tests.every_field import EveryField
from tests.live.test_glances import pod
from tests.vectors.rows import rows

Object = dict[str, Any]
_SAMPLE: Final = 20


def written(items: list[Object], *, spaces: bool = False) -> bytes:
    return json.dumps(items, indent=2 if spaces else None, ensure_ascii=False).encode()


def alone(item: Object) -> Record:
    record = defaulted(decode_object(json.dumps(item).encode(), "v1", POD))
    lean(record)
    return record


def replicated(one: Object, number: int, draw: random.Random) -> Object:
    """Another pod with the same template: what its controller, its kubelet and the scheduler write is its own."""
    copy: Object = json.loads(json.dumps(one))
    copy["metadata"] |= {"name": f"copy-{number}", "uid": f"u-{number}", "resourceVersion": str(number)}
    copy["metadata"]["annotations"] = draw.choice(({}, {"cni": f"10.0.0.{number}"}))
    copy["metadata"]["ownerReferences"] = draw.choice(([], [{"kind": "ReplicaSet", "name": "r", "controller": True}]))
    copy["spec"]["nodeName"] = draw.choice(("n-1", "n-2"))
    token = {"name": f"kube-api-access-{number}", "projected": {"sources": []}}
    copy["spec"]["volumes"] = [token, *copy["spec"].get("volumes", [])]
    for each in copy["spec"].get("containers", []):
        each["volumeMounts"] = [{"name": token["name"], "mountPath": "/var"}]
    status = copy.setdefault("status", {})
    status["startTime"] = f"2026-01-01T00:00:{number % 60:02}Z"
    return copy


@pytest.mark.parametrize("spaces", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_records_are_those_of_pods_decoded_one_by_one(seed: int, spaces: bool) -> None:
    draw = random.Random(f"replicas-{seed}")
    kinds = [pod(draw, number) for number in range(12)]
    reader, shared = Replicas(), 0
    for chunk in range(3):
        items = [replicated(draw.choice(kinds[:6]), 100 * chunk + number, draw) for number in range(60)] + kinds
        found = reader.of(written(items, spaces=spaces), "v1", "Pod")
        assert found == [alone(item) for item in items]
        infos = SharedPodInfos(PodInfos())
        for record in found:
            assert isinstance(record, Pod)
            assert infos.of(record) == pod_info(record)
        shared += len(found) - len({id(record.spec.containers) for record in found if isinstance(record, Pod)})
    assert shared > 50


def test_pods_of_the_recorded_rows_too() -> None:
    reader = Replicas()
    for row in rows("sched")[::_SAMPLE]:
        items = [{**each, "apiVersion": "v1", "kind": "Pod"} for each in row.get("pods", ())]
        found = reader.of(written(items), "", "")
        assert found is None or found == [alone(item) for item in items], row["id"]


def test_no_field_of_a_spec_is_taken_from_another_pod() -> None:
    """Whatever field differs, the pods differ: each field of the record is compared, or is the pod's own."""
    whole: Object = EveryField().object(Pod)
    whole["spec"] |= {"resourceClaims": [], "nodeName": "n"}
    for name in ("resourceClaims", "schedulingGroup"):
        whole["spec"].pop(name)
    whole["status"].pop("extendedResourceClaimStatus")
    bare = {**whole, "spec": {"nodeName": "n", "containers": [{"name": "c"}]}}
    names = [each.encode_name for each in msgspec.structs.fields(PodSpec) if each.encode_name in whole["spec"]]
    assert len(names) > 15
    for name in names:
        other = {**bare, "spec": {**bare["spec"], name: whole["spec"][name]}}
        items = [bare, other, bare, other]
        assert Replicas().of(written(items), "v1", "Pod") == [alone(item) for item in items], name
    for part in ("metadata", "status"):
        for name, value in whole[part].items():
            other = {**whole, part: {**whole[part], name: value}}
            without = {**whole, part: {key: each for key, each in whole[part].items() if key != name}}
            if name not in ("name", "phase"):
                items = [other, without, other]
                assert Replicas().of(written(items), "v1", "Pod") == [alone(item) for item in items], name


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "Secret"},
        {"apiVersion": "v2"},
        {"items": []},
        {"metadata": {}},
        {"spec": {"nodeName": 7}},
        {"spec": {"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": {"cpu": "many"}}}]}},
        {"status": {"phase": "Running", "conditions": {}}},
    ],
    ids=lambda each: json.dumps(each)[:40],
)
def test_a_chunk_with_anything_else_is_left_to_who_reads_one_by_one(changed: Object) -> None:
    good = {"metadata": {"name": "a"}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}}
    assert Replicas().of(written([good]), "v1", "Pod") is not None
    assert Replicas().of(written([good, {**good, **changed}]), "v1", "Pod") is None


def test_what_is_no_text_is_left_as_well() -> None:
    data = b'[{"metadata":{"name":"a","labels":{"x":"\xff"}},"spec":{"nodeName":"n"},"status":{"phase":"Running"}}]'
    assert Replicas().of(data, "v1", "Pod") is None


def test_texts_that_are_kept_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "_MOST_TEXTS", 5)
    reader = Replicas()
    items = [
        {
            "metadata": {"name": f"p-{number}", "labels": {"n": str(number)}},
            "spec": {"nodeName": "n", "priority": number // 2},
            "status": {"phase": "Running"},
        }
        for number in range(40)
    ]
    assert reader.of(written(items), "v1", "Pod") == [alone(item) for item in items]
    assert len(reader._labels) <= 5
    assert len(reader._specs) <= 4
