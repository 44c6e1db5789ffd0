"""Pods of which only their part of a node is kept: the same sums and the same pods as when each is decoded whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from kubectl_dra.api.decode import decode_page
from kubectl_dra.api.glance import WrittenPods
from kubectl_dra.api.kinds import POD
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.source.live import pods
from kubectl_dra.source.live.pods import PodReducer

Object = dict[str, Any]
#: What plugins may read of a pod that runs, each part as it may be written; all of it decides about the shape.
PARTS: tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...] = (
    (("metadata", "labels"), ({"a": "1"}, {"a": "2", "b": "é"})),
    (("metadata", "deletionTimestamp"), ("2026-01-01T00:00:00Z",)),
    (("spec", "priority"), (0, 7)),
    (("spec", "overhead"), ({"cpu": "100m"},)),
    (("spec", "resources"), ({"requests": {"cpu": "3"}},)),
    (("spec", "hostNetwork"), (True,)),
    (("spec", "resourceClaims"), ([{"name": "g", "resourceClaimName": "c"}], [])),
    (("spec", "schedulingGroup"), ({"podGroupName": "g"},)),
    (
        ("spec", "affinity"),
        (
            {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "1"}}}
                    ]
                }
            },
        ),
    ),
    (
        ("spec", "volumes"),
        (
            [{"name": "kube-api-access-x", "projected": {"sources": []}}],
            [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            [{"name": "disk", "gcePersistentDisk": {"pdName": "x"}}, {"name": "e", "emptyDir": {}}],
        ),
    ),
    (
        ("spec", "initContainers"),
        ([{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"memory": "1Gi"}}}],),
    ),
    (("status", "phase"), ("Running", "Pending", "Succeeded")),
    (("status", "startTime"), ("2026-01-01T00:00:00Z",)),
    (("status", "resources"), ({"requests": {"cpu": "4"}},)),
    (("status", "allocatedResources"), ({"cpu": "4"},)),
    (
        ("status", "conditions"),
        (
            [{"type": "Ready", "status": "True"}],
            [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
            [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}],
        ),
    ),
    (
        ("status", "containerStatuses"),
        (
            [{"name": "c", "ready": True}],
            [{"name": "c", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}],
        ),
    ),
    (("status", "extendedResourceClaimStatus"), ({"resourceClaimName": "x", "requestMappings": []},)),
)
CONTAINERS = (
    [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
    [{"name": "c", "resources": {"requests": {"cpu": 1}, "limits": {"cpu": "2"}}, "ports": [{"hostPort": 80}]}],
    [{"name": "c"}, {"name": "d", "resources": {"requests": {"cpu": "250m"}}}],
)


def pod(draw: random.Random, number: int) -> Object:
    made: Object = {
        "metadata": {"name": f"pod-{number}", "namespace": draw.choice("ab"), "uid": f"u-{number}"},
        "spec": {"containers": draw.choice(CONTAINERS)},
        "status": {"phase": "Running"},
    }
    if draw.random() < 0.9:
        made["spec"]["nodeName"] = draw.choice(("n-1", "n-2", "n-3"))
    for (part, name), values in PARTS:
        if draw.random() < 0.12:
            made[part][name] = draw.choice(values)
    return made


def page(items: list[Object], separators: tuple[str, str] = (", ", ": ")) -> bytes:
    header = {"kind": "PodList", "metadata": {"resourceVersion": "5"}}
    return json.dumps({**header, "items": items}, separators=separators).encode()


def whole(data: bytes, **options: Any) -> PodReducer:
    reducer = PodReducer(**options)
    reducer.add(decode_page(data, "v1", POD).records)
    return reducer


@pytest.mark.parametrize("seed", range(12))
def test_sums_and_kept_pods_are_those_of_pods_decoded_whole(seed: int) -> None:
    draw = random.Random(f"glance-{seed}")
    options: dict[str, Any] = {}
    if seed % 3 == 1:
        options = {"named": frozenset({Key("a", "pod-3"), Key("b", "pod-4")})}
    if seed % 3 == 2:
        options = {"whole_nodes": frozenset({"n-2"})}
    glanced, expected = PodReducer(**options), PodReducer(**options)
    for chunk in range(3):
        items = [pod(draw, 100 * chunk + number) for number in range(60)]
        data = page(items, (",", ":")) if seed % 2 else page(items)
        taken = glanced.take(data, "v1")
        if taken is None:
            glanced.add(decode_page(data, "v1", POD).records)
        else:
            assert taken.metadata.resource_version == "5"
            assert taken.first is not None
            assert taken.first.name == f"pod-{100 * chunk}"
        expected.add(decode_page(data, "v1", POD).records)
    assert glanced.kept == expected.kept
    assert glanced.usage == expected.usage
    assert glanced.usage


@pytest.mark.parametrize(("path", "values"), PARTS, ids=lambda each: ".".join(each) if isinstance(each[0], str) else "")
def test_every_part_that_decides_tells_pods_apart(path: tuple[str, ...], values: tuple[Any, ...]) -> None:
    """A pod after one like it but for one part: whoever forgets the part gives it the first one's shape."""
    for value in values:
        items = [
            {
                "metadata": {"name": f"p-{number}", "namespace": "a", "uid": f"u-{number}"},
                "spec": {"nodeName": "n-1", "containers": CONTAINERS[0]},
                "status": {"phase": "Running"},
            }
            for number in (0, 1)
        ]
        items[1][path[0]][path[1]] = value
        reducer = PodReducer()
        assert reducer.take(page(items), "v1") is not None
        assert reducer.usage == whole(page(items)).usage, (path, value)


def test_pods_alike_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []
    original = pods.decode_object

    def counting(data: bytes, *more: Any) -> Any:
        decoded.append(data)
        return original(data, *more)

    monkeypatch.setattr(pods, "decode_object", counting)
    token = {"projected": {"sources": []}}
    items = [
        {
            "metadata": {"name": f"p-{number}", "namespace": "a"},
            "spec": {
                "nodeName": f"n-{number}",
                "containers": CONTAINERS[0],
                "volumes": [{"name": f"kube-api-access-{number}", **token}],
            },
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": ("True", "False")[number % 2]}],
            },
        }
        for number in range(50)
    ]
    reducer = PodReducer()
    assert reducer.take(page(items), "v1") is not None
    assert len(decoded) == 1
    assert len(reducer.usage) == 50


def test_pods_of_a_daemon_set_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each names its own node in a term of node affinity, which nobody reads of a pod that is there."""
    decoded: list[bytes] = []
    original = pods.decode_object
    monkeypatch.setattr(pods, "decode_object", lambda data, *more: decoded.append(data) or original(data, *more))

    def terms(name: str) -> Object:
        place = {"key": "metadata.name", "operator": "In", "values": [name]}
        return {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [place]}]}
            }
        }

    items = [
        {
            "metadata": {"name": f"p-{number}", "namespace": "a"},
            "spec": {"nodeName": f"n-{number}", "containers": CONTAINERS[0], "affinity": terms(f"n-{number}")},
            "status": {"phase": "Running"},
        }
        for number in range(9)
    ]
    reducer = PodReducer()
    assert reducer.take(page(items, (",", ":")), "v1") is not None
    assert len(decoded) == 1
    assert reducer.usage == whole(page(items)).usage


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=("close", "wide"))
def test_a_chunk_that_is_written_otherwise_is_searched_once(
    separators: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search for each pod that is not found would read the chunk as often as it has pods."""
    searched: list[int] = []
    original = WrittenPods.piece

    def measured(self: WrittenPods, name: str, number: int) -> bytes | None:
        before = self._at
        found = original(self, name, number)
        searched.append(self._at - before)
        return found

    monkeypatch.setattr(WrittenPods, "piece", measured)
    items = [{"metadata": {"name": f"p-{number}"}, "spec": {"containers": CONTAINERS[0]}} for number in range(40)]
    data = page(items, separators)
    assert PodReducer().take(data, "v1") is not None
    assert len(searched) == 40
    assert sum(searched) <= len(data)


def test_pods_with_claims_are_of_the_shapes_of_others() -> None:
    """Claims differ from pod to pod; what plugins read of the pods does not."""
    spec = {"nodeName": "n-1", "containers": CONTAINERS[0]}
    items = [
        {"metadata": {"name": f"p-{number}"}, "spec": {**spec, "resourceClaims": [{"name": f"claim-{number}"}]}}
        for number in range(3)
    ]
    reducer = PodReducer()
    assert reducer.take(page([{"metadata": {"name": "first"}, "spec": spec}, *items]), "v1") is not None
    assert len({id(info.shape) for info in reducer.usage["n-1"].placed}) == 1
    assert len(reducer._recent) == 1
    assert len(reducer.kept) == 3


LIKE_A_POD = {"metadata": {"name": "like-a-pod"}}


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"spec": {"containers": CONTAINERS[0], "lookalikes": [LIKE_A_POD, LIKE_A_POD]}},
        {"spec": {"containers": CONTAINERS[0], "lookalike": LIKE_A_POD}},
        {"metadata": {"name": "o", "annotations": {"x": ',{"metadata":{"name":"'}}},
        {"metadata": {"labels": {"a": "b"}, "name": "o"}},
        # One pod that begins otherwise, and one that holds what looks like the beginning of another.
        {"spec": {"lookalikes": [LIKE_A_POD, LIKE_A_POD]}, "metadata": {"name": "o", "uid": "o"}},
    ],
    ids=range(6),
)
@pytest.mark.parametrize("separators", [(",", ":"), (",\n", ":"), (", ", ": ")], ids=("close", "lines", "wide"))
@pytest.mark.parametrize("place", [0, 1, 3])
def test_pods_are_found_however_they_are_written(odd: Object, separators: tuple[str, str], place: int) -> None:
    items: list[Object] = [
        {"metadata": {"name": f"p-{number}", "uid": f"u-{number}"}, "spec": {"containers": CONTAINERS[0]}}
        for number in range(3)
    ]
    items.insert(place, {"metadata": {"name": "o", "uid": "o"}, **odd})
    data = page(items, separators)
    reducer = PodReducer()
    assert reducer.take(data, "v1") is not None
    assert reducer.kept == whole(data).kept
    assert len(reducer.kept) == 4


def test_a_chunk_as_servers_write_it_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WrittenPods, "item", lambda self, number: pytest.fail("looked through again"))
    items = [{"metadata": {"name": f"p-{number}"}, "spec": {"containers": CONTAINERS[0]}} for number in range(3)]
    for chunk in (items, items[:1]):
        reducer = PodReducer()
        assert reducer.take(page(chunk, (",", ":")), "v1") is not None
        assert len(reducer.kept) == len(chunk)


@pytest.mark.parametrize("long", [0, 5, 9])
def test_pods_are_found_behind_others_of_any_length(long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is passed over is as long as most pods are; where one is much longer or shorter, nothing is passed over."""
    monkeypatch.setattr(WrittenPods, "item", lambda self, number: pytest.fail("looked through again"))
    items: list[Object] = [
        {"metadata": {"name": f"p-{number}"}, "spec": {"containers": CONTAINERS[0]}} for number in range(10)
    ]
    items[long]["metadata"]["annotations"] = {"text": "x" * 20_000}
    data = page(items, (",", ":"))
    reducer = PodReducer()
    assert reducer.take(data, "v1") is not None
    assert reducer.kept == whole(data).kept


def test_a_reason_counts_however_it_is_written() -> None:
    """A pod about to be evicted is told from others; of conditions without a reason nothing is read."""
    spec = {"nodeName": "n-1", "containers": CONTAINERS[0]}
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    conditions = ([{"type": "Ready", "status": "True", "message": 'no "reason"'}], [], [target])
    items = [
        {
            "metadata": {"name": f"p-{number}", "deletionTimestamp": "2026-01-01T00:00:00Z"},
            "spec": spec,
            "status": {"phase": "Running", "conditions": each},
        }
        for number, each in enumerate(conditions)
    ]
    for written in (b'"reason"', b'"re\\u0061son"', b'"reason" '):
        data = page(items, (",", ":")).replace(b'"reason"', written)
        reducer = PodReducer()
        assert reducer.take(data, "v1") is not None
        assert reducer.usage == whole(data).usage
        assert len({id(info.shape) for info in reducer.usage["n-1"].placed}) == 2


@pytest.mark.parametrize(
    "broken",
    [
        {"metadata": {"name": "x"}, "spec": {"containers": "no"}},
        {
            "metadata": {"name": "x"},
            "spec": {"nodeName": "n", "containers": [{"resources": {"requests": {"cpu": "?"}}}]},
        },
        {"metadata": {}, "spec": {}},
        {"metadata": {"name": "x"}, "spec": {"containers": None}},
        "no pod",
    ],
    ids=range(5),
)
def test_a_chunk_with_something_unexpected_is_left_to_who_decodes_it_whole(broken: Any) -> None:
    good = {"metadata": {"name": "g", "namespace": "a"}, "spec": {"nodeName": "n", "containers": CONTAINERS[0]}}
    reducer = PodReducer()
    assert reducer.take(page([good, broken]), "v1") is None
    assert not reducer.usage
    assert not reducer.kept


def test_nothing_is_glanced_at_where_all_pods_are_kept() -> None:
    assert PodReducer(keep_all=True).take(page([]), "v1") is None
    taken = PodReducer().take(page([]), "v1")
    assert taken is not None
    assert taken.first is None


def test_pods_that_matter_are_kept_whole() -> None:
    item = pod(random.Random(1), 1)
    item["spec"] |= {"nodeName": "n", "resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}
    reducer = PodReducer()
    reducer.take(page([item]), "v1")
    (kept,) = reducer.kept
    assert key_of(kept.metadata) == Key(item["metadata"]["namespace"], "pod-1")  # type: ignore[attr-defined]
    assert kept == decode_page(page([item]), "v1", POD).records[0]


def test_pods_that_started_together_share_the_time() -> None:
    """A time of its own for each of 100,000 pods is 7 MB."""
    status = {"phase": "Running", "startTime": "2026-01-01T00:00:07Z"}
    spec = {"nodeName": "n-1", "containers": CONTAINERS[0]}
    items = [{"metadata": {"name": f"p-{number}"}, "spec": spec, "status": status} for number in range(9)]
    reducer = PodReducer()
    assert reducer.take(page(items), "v1") is not None
    times = [info.start_time for info in reducer.usage["n-1"].placed]
    assert times == ["2026-01-01T00:00:07Z"] * 9
    assert len(set(map(id, times))) == 1
