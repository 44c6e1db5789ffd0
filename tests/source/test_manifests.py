"""Files of every shape that kubectl writes or people concatenate."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.api.decode import decode_object
from kubectl_dra.source import json_parts, manifests
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import Manifests, read_manifests, read_written
from tests.scenario_files import FOLDER, NAMES, snapshot_path


def pod(name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, **fields}


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def read(data: bytes | str) -> Manifests:
    return read_manifests(data.encode() if isinstance(data, str) else data, "f")


def names(data: bytes | str) -> list[str]:
    manifests = read(data)
    assert manifests.bad_objects == []
    return [loaded.record.metadata.name for loaded in manifests.objects]  # type: ignore[attr-defined]


def error(data: bytes | str) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        read(data)
    assert "\n" not in caught.value.what
    assert caught.value.hint
    return caught.value


BARE = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]
A, B = pod("a"), pod("b")


@pytest.mark.parametrize(
    "data",
    [
        as_bytes({"apiVersion": "v1", "kind": "List", "items": [A, B]}),
        as_bytes({"apiVersion": "v1", "kind": "PodList", "items": BARE}),
        as_bytes({"kind": "List", "items": [{"kind": "List", "items": [A]}, {"kind": "List", "items": [B]}]}),
        as_bytes({"kind": "List", "items": [{"apiVersion": "v1", "kind": "PodList", "items": BARE}]}),
        as_bytes({"kind": "List", "items": [{"kind": "List", "items": None}, A, B]}),
        as_bytes([A, B]),
        as_bytes([A, [B]]),
        as_bytes(A) + b"\n" + as_bytes(B) + b"\n",
        as_bytes(A) + b"\n\n" + as_bytes(B),
        json.dumps(A, indent=2).encode() + json.dumps(B, indent=4).encode(),
        b"\xef\xbb\xbf" + as_bytes([A, B]),
        json.dumps([A, B]).encode("utf-16"),
        b" \n\t" + as_bytes([A, B]),
        b"---\n" + as_bytes(A) + b"\n---\n" + as_bytes(B),
        as_bytes(A) + b"\n---\n" + as_bytes(B),
        b"{kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}, "
        b"{apiVersion: v1, kind: Pod, metadata: {name: b}}]}",
        b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n",
        b"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n",
        b"- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n",
    ],
)
def test_every_shape_gives_both_pods(data: bytes) -> None:
    assert names(data) == ["a", "b"]


def test_items_null_is_an_empty_list() -> None:
    assert names(as_bytes({"apiVersion": "v1", "kind": "PodList", "items": None})) == []
    assert names("kind: List\napiVersion: v1\nitems:\n") == []


@pytest.mark.parametrize("labels", ['{"x": "y"}', '{"x": 5}', '{"x": null}'])
def test_of_equal_keys_in_json_the_last_counts(labels: str) -> None:
    """As the API server decodes JSON, also on the slow path of objects that need repair; in YAML they are an error."""
    metadata = f'{{"name": "first", "name": "last", "labels": {labels}}}'
    manifests = read(f'{{"apiVersion": "v1", "kind": "Secret", "metadata": {metadata}, "kind": "Pod"}}'.encode())
    good = [loaded.record.metadata.name for loaded in manifests.objects]  # type: ignore[attr-defined]
    assert [*good, *(bad.name for bad in manifests.bad_objects)] == ["last"]
    with pytest.raises(ManifestError, match='the key "name" occurs twice'):
        read(b"kind: Pod\nmetadata:\n  name: first\n  name: last\n")


def test_objects_are_defaulted() -> None:
    (loaded,) = read(as_bytes(A)).objects
    assert loaded.record.spec.scheduler_name == "default-scheduler"  # type: ignore[attr-defined]


def test_other_kinds_are_counted_and_left_alone() -> None:
    manifests = read(as_bytes([A, {"kind": "Secret", "apiVersion": "v1"}, {"kind": "Pod", "apiVersion": "x/v1"}]))
    assert len(manifests.objects) == 1
    assert manifests.other == {"Secret": 1, "Pod": 1}


def test_bad_objects_are_named_with_file_document_and_line() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priority: high}\n---\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n- 5\n"
        "- apiVersion: v1\n  kind: Pod\n  metadata: {name: c, labels: 5}\n"
    )
    manifests = read(text)
    assert [loaded.record.metadata.name for loaded in manifests.objects] == ["b"]  # type: ignore[attr-defined]
    assert [(bad.name, bad.error, bad.origin) for bad in manifests.bad_objects] == [
        ("a", "spec.priority: expected an integer, got a string", "f, document 1, line 1"),
        ("", "no Kubernetes object: expected an object, got the number 5", "f, document 2, line 5"),
        ("c", "metadata.labels: expected an object, got the number 5", "f, document 2, line 10"),
    ]


def test_the_line_of_a_bad_item_in_json() -> None:
    data = b'{"kind":"PodList","apiVersion":"v1","items":[\n{"metadata":{"name":"a"}},\n{"metadata":{"name":5}}\n]}'
    (bad,) = read(data).bad_objects
    assert bad.origin == "f, document 1, line 3"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'{"kind": "Pod", ', "f, line 1: not JSON: "),
        (b'{"a": 1}\n{"b": }', "f, line 2: not JSON: "),
        (b"[" * 100_000, "f: nested too deeply"),
        (b'{"a":' * 100_000, "f: nested too deeply"),
        (b"hello", "f, document 1, line 1: is not a Kubernetes object: expected an object, got a string"),
        (b"{}", "f, document 1, line 1: is not a Kubernetes object: it has neither apiVersion nor kind"),
        (b"a: 1\n---\nkind: Pod\nkind: Pod\n", "f, document 2, line 4: the key"),
        (b"kind: 5\nmetadata: {}", "f, document 1, line 1: is not a Kubernetes object: kind: expected a string"),
    ],
)
def test_broken_documents(data: bytes, what: str) -> None:
    if data.startswith(b"a: 1"):
        data = data.replace(b"a: 1", b"kind: X")
    assert error(data).what.startswith(what)


def test_lists_in_lists_have_an_end() -> None:
    data = b'{"kind":"List","items":[' * 50 + b"]}" * 50
    assert "lists are nested deeper" in error(data).what


def snapshot(**fields: Any) -> bytes:
    base = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "reads": [], "items": []}
    return as_bytes({**base, **fields})


def test_a_snapshot_has_a_header() -> None:
    read_ = {"kind": "Pod", "namespace": "ml", "coverage": "forbidden", "note": "no right to list"}
    data = snapshot(taken="2026-01-01T00:00:00Z", server={"version": "v1.36.2-gke.1"}, reads=[read_], items=[A])
    manifests = read(data)
    assert manifests.header is not None
    assert manifests.header.server_version() == (1, 36)
    assert [(r.kind, r.namespace, r.coverage, r.time) for r in manifests.header.evidence_reads()] == [
        ("Pod", "ml", "forbidden", "2026-01-01T00:00:00Z")
    ]
    assert len(manifests.objects) == 1


@pytest.mark.parametrize(
    "fields", [{"reads": None}, {"reads": [{"kind": "Pod"}]}, {"reads": [{"kind": "Pod", "coverage": "x"}]}]
)
def test_a_broken_header_is_an_error(fields: dict[str, Any]) -> None:
    assert "the snapshot's header is broken" in error(snapshot(**fields)).what


@pytest.mark.parametrize("name", NAMES)
def test_recorded_snapshots(name: str) -> None:
    manifests = read_manifests(snapshot_path(name).read_bytes(), name)
    assert manifests.objects
    assert manifests.bad_objects == []
    assert not manifests.other


@pytest.mark.parametrize("name", NAMES)
def test_recorded_manifests(name: str) -> None:
    """One of them writes the request name ``y`` without quotes, which Kubernetes' YAML reads as true."""
    manifests = read_manifests((FOLDER / name / "objects.yaml").read_bytes(), name)
    assert manifests.objects
    errors = [bad.error for bad in manifests.bad_objects]
    surprise = ["spec.devices.requests[0].firstAvailable[1].name: expected a string, got true"]
    assert errors == (surprise if name.startswith("29-") else [])


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_survived(data: bytes) -> None:
    try:
        read(data)
    except ManifestError as problem:
        assert "\n" not in problem.what


@given(st.data())
def test_any_damage_to_a_file_is_survived(data: st.DataObject) -> None:
    whole = snapshot_path(NAMES[0]).read_bytes()
    whole = msgspec.json.format(whole, indent=0)
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, 40)) :]
    try:
        read(damaged)
    except ManifestError as problem:
        assert "\n" not in problem.what


def test_one_of_several_documents_that_is_no_object_costs_only_itself() -> None:
    text = b"kind: [1]\n---\n3\n---\nkind: ResourceClaim\napiVersion: resource.k8s.io/v1\nmetadata: {name: kept}\n"
    found = read_manifests(text, "file.yaml")
    assert [(bad.error, bad.origin) for bad in found.bad_objects] == [
        ("no Kubernetes object: kind: expected a string, got a list", "file.yaml, document 1, line 1"),
        ("no Kubernetes object: expected an object, got the number 3", "file.yaml, document 2, line 2"),
    ]
    assert [loaded.record.metadata.name for loaded in found.objects] == ["kept"]
    assert [written.kind for written in read_written(text, "file.yaml")] == ["", "", "ResourceClaim"]
    with pytest.raises(ManifestError, match="is not a Kubernetes object: kind: expected a string, got a list"):
        read_manifests(b"kind: [1]\n", "file.yaml")


# --- chunks of objects that are alike -----------------------------------------------------------------------------


def numbered(kind: str, count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": kind, "metadata": {"name": f"x-{i}"}, **fields} for i in range(count)]


def in_chunks(items: list[Any], patch: pytest.MonkeyPatch, **head: Any) -> tuple[Manifests, list[bytes]]:
    """What a list gives, and the objects that had to be looked at singly."""
    singly: list[bytes] = []

    def counted(data: bytes, api_version: str, kind: Any) -> Any:
        singly.append(data)
        return decode_object(data, api_version, kind)

    patch.setattr(json_parts, "SMALL_BYTES", 64)
    patch.setattr(json_parts, "_CHUNK", 1024)
    patch.setattr(manifests, "decode_object", counted)
    return read_manifests(json.dumps({**head, "items": items}).encode(), "f"), singly


def test_chunks_of_one_kind_are_decoded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [*numbered("Node", 100), *numbered("Pod", 100, spec={"containers": [{"name": "c"}]})]
    found, singly = in_chunks(items, monkeypatch, apiVersion="v1", kind="List")
    assert [each.record.metadata.name for each in found.objects] == [each["metadata"]["name"] for each in items]
    assert [each.kind.name for each in found.objects] == ["Node"] * 100 + ["Pod"] * 100
    # Where one kind follows the other.
    assert 0 < len(singly) < 20
    # With their defaults.
    assert {each.record.status.phase for each in found.objects[100:]} == {"Pending"}


def test_items_of_a_typed_list_need_not_say_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"metadata": {"name": f"x-{i}"}} for i in range(100)]
    found, singly = in_chunks(items, monkeypatch, apiVersion="v1", kind="PodList")
    assert len(found.objects) == 100
    assert not singly


@pytest.mark.parametrize(
    ("broken", "bad"),
    [
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": 5}}, 1),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {}}, 1),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "y"}, "spec": 7}, 1),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "y"}}, 0),
        ({"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "y"}}]}, 0),
        (5, 1),
        (None, 1),
    ],
)
def test_one_that_is_not_alike_costs_only_itself(broken: Any, bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    items = numbered("Node", 100)
    items.insert(50, broken)
    found, singly = in_chunks(items, monkeypatch, apiVersion="v1", kind="List")
    names = [each.record.metadata.name for each in found.objects]
    assert [name for name in names if name != "y"] == [f"x-{i}" for i in range(100)]
    assert len(found.bad_objects) == bad
    assert len(singly) < 20
