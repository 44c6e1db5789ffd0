"""Files, stdin and gzip, and what they prove."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source import current_namespace, load
from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.file import load_file, load_files
from kubectl_dra.source.spec import SourceSpec
from tests.kit import build
from tests.scenario_files import NAMES, snapshot_path

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"}}
BAD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}, "spec": 5}


def written(folder: Path, *objects: Any, name: str = "f.json") -> str:
    path = folder / name
    path.write_text(json.dumps({"kind": "List", "items": list(objects)}), encoding="utf-8")
    return str(path)


def error(path: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        load_file(path)
    assert "\n" not in caught.value.what
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", NAMES)
def test_recorded_snapshots(name: str) -> None:
    inventory, evidence = load(SourceSpec(str(snapshot_path(name))))
    assert inventory.nodes
    assert evidence.bad_objects == ()
    assert evidence.complete("Node")
    assert evidence.server_version is None


def test_several_files_have_what_one_file_has(tmp_path: Path) -> None:
    one = written(tmp_path, NODE, POD)
    others = [written(tmp_path, POD | {"metadata": {"name": name}}, name=f"{name}.json") for name in "ab"]
    (note, *_) = load_files([one])[1].notes
    assert note.startswith(f"{one} has no ")
    (note, *_) = load_files([one, *others])[1].notes
    assert note.startswith(f"{one} and 2 more files have no ")


def test_a_plain_list_assumes_what_does_not_occur(tmp_path: Path) -> None:
    path = written(tmp_path, NODE, POD)
    _, evidence = load_file(path)
    assert evidence.coverage("Pod") is Coverage.COMPLETE
    assert evidence.coverage("ResourceClaim") is Coverage.ASSUMED
    assert evidence.complete("ResourceClaim", "any")
    assert evidence.notes == (
        f"{path} has no ResourceClaim, ResourceClaimTemplate, ResourceSlice, DeviceClass, DeviceTaintRule: "
        "taken as if the cluster had none",
    )


def test_without_nodes_nothing_is_said_about_them(tmp_path: Path) -> None:
    _, evidence = load_file(written(tmp_path, POD))
    assert evidence.coverage("Node") is Coverage.NOT_READ
    assert any("no Node" in note for note in evidence.notes)


def test_a_bad_object_makes_its_kind_partial(tmp_path: Path) -> None:
    _, evidence = load_file(written(tmp_path, NODE, POD, BAD))
    assert evidence.coverage("Pod") is Coverage.PARTIAL
    assert evidence.coverage("Node") is Coverage.COMPLETE
    assert [bad.name for bad in evidence.bad_objects] == ["q"]


def test_an_object_that_could_be_anything_makes_all_kinds_partial(tmp_path: Path) -> None:
    _, evidence = load_file(written(tmp_path, NODE, POD, 5))
    assert {read.coverage for read in evidence.reads} == {Coverage.PARTIAL}


def test_a_broken_object_of_another_project_is_no_pod_that_was_lost(tmp_path: Path) -> None:
    """Operators' objects are told apart by what they say, which kinds of Kubernetes' own they leave alone."""
    jobs = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"}, "spec": [1]}
    _, evidence = load_file(written(tmp_path, NODE, POD, jobs))
    assert [bad.kind for bad in evidence.bad_objects] == ["JobSet"]
    assert evidence.complete("Pod")
    assert evidence.complete("Node")


def test_an_object_that_comes_twice_is_noted(tmp_path: Path) -> None:
    inventory, evidence = load_file(written(tmp_path, NODE, POD, {**POD, "status": {"phase": "Running"}}))
    assert [pod.status.phase for pod in inventory.pods.values()] == ["Running"]
    assert any("pod ml/p more than once" in note for note in evidence.notes)


def test_a_snapshot_says_itself_what_it_proves(tmp_path: Path) -> None:
    reads = [{"kind": "Node", "coverage": "complete"}, {"kind": "Pod", "namespace": "ml", "coverage": "forbidden"}]
    path = tmp_path / "s.json"
    head = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "server": {"version": "v1.35.1"}}
    path.write_text(json.dumps({**head, "reads": reads, "items": [NODE]}), encoding="utf-8")
    _, evidence = load_file(str(path))
    assert evidence.server_version == (1, 35)
    assert evidence.complete("Node")
    assert evidence.coverage("Pod", "ml") is Coverage.FORBIDDEN
    assert evidence.coverage("ResourceClaim") is Coverage.NOT_READ
    assert evidence.notes == ()


def test_a_snapshot_without_items_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(
        '{"apiVersion":"kubectl-dra/v1alpha1","kind":"Snapshot","reads":[{"kind":"Pod","coverage":"complete"}]}',
        encoding="utf-8",
    )
    inventory, evidence = load_file(str(path))
    assert not inventory.pods
    assert evidence.complete("Pod")


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(NODE).encode()), encoding="utf-8"))
    inventory, evidence = load_file("-")
    assert set(inventory.nodes) == {"n"}
    assert evidence.origin == "stdin"


def test_gzip_in_one_or_more_members(tmp_path: Path) -> None:
    path = tmp_path / "f.json.gz"
    path.write_bytes(gzip.compress(json.dumps(NODE).encode()) + gzip.compress(b"\n" + json.dumps(POD).encode()))
    inventory, _ = load_file(str(path))
    assert (len(inventory.nodes), len(inventory.pods)) == (1, 1)


@pytest.mark.parametrize("damage", [slice(0, -9), slice(0, 12)])
def test_cut_off_gzip(tmp_path: Path, damage: slice) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(json.dumps([NODE] * 50).encode())[damage])
    assert "cut off" in error(str(path)).what


def test_broken_gzip(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(b"\x1f\x8b" + b"x" * 50)
    assert "broken gzip" in error(str(path)).what


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    assert error(str(tmp_path / "missing.json")).what.endswith("No such file or directory")
    assert error(str(tmp_path)).what.endswith("Is a directory")
    assert error("nul\x00byte").what


def test_nothing_in_it_that_could_be_an_object(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_text("[1, 2, 3]", encoding="utf-8")
    assert error(str(path)).what == f"{path}: no Kubernetes object: expected an object, got the number 1"


@pytest.mark.parametrize("content", ["", "\n\n", "---\n---\n", "[]", "null", '{"kind":"List","items":[]}'])
def test_nothing_in_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty"
    path.write_text(content, encoding="utf-8")
    assert error(str(path)).what == f"{path}: holds no objects"


def test_only_other_kinds(tmp_path: Path) -> None:
    path = written(tmp_path, {"kind": "Secret", "apiVersion": "v1"}, {"kind": "ConfigMap", "apiVersion": "v1"})
    assert error(path).what.endswith("holds no nodes, pods, claims or slices, only ConfigMap, Secret")


def test_the_namespace_of_a_file_is_default() -> None:
    assert current_namespace(SourceSpec("demo")) == "default"
    assert current_namespace(SourceSpec("demo", namespace="ml")) == "ml"


def test_every_source_error_is_one_kind() -> None:
    assert issubclass(FileError, SourceError)


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xc3"])
@pytest.mark.parametrize("lines", [0, 300_000], ids=["early", "late"])
def test_yaml_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path, bad: bytes, lines: int) -> None:
    """As by kubectl; if it were replaced, convert would lose something without a word."""
    path = tmp_path / "f.yaml"
    head = b"apiVersion: v1\nkind: Node\n" + b"# some\n" * lines
    path.write_bytes(head + b"metadata: {name: n, annotations: {a: x" + bad + b"}}\n")
    caught = error(str(path))
    assert caught.what == f"{path}, document 1, line {lines + 3}: holds bytes that are not UTF-8"
    assert caught.hint == "save it as UTF-8"


# --- several files --------------------------------------------------------------------------------------------------


def snapshot(folder: Path, name: str, reads: list[dict[str, str]], *objects: Any, version: str = "v1.37.1") -> str:
    path = folder / name
    head = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "server": {"version": version}}
    path.write_text(json.dumps({**head, "reads": reads, "items": list(objects)}), encoding="utf-8")
    return str(path)


def versioned(body: dict[str, Any], version: str, phase: str) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "resourceVersion": version}, "status": {"phase": phase}}


def test_several_files_are_one_cluster_in_any_order(tmp_path: Path) -> None:
    nodes, pods = written(tmp_path, NODE, name="nodes.json"), written(tmp_path, POD, name="pods.json")
    for words in ((nodes, pods), (pods, nodes), (str(tmp_path),)):
        inventory, evidence = load_files(words)
        assert (len(inventory.nodes), len(inventory.pods)) == (1, 1)
        assert evidence.complete("Node")
        assert evidence.coverage("Pod") is Coverage.COMPLETE
        assert evidence.coverage("ResourceClaim") is Coverage.ASSUMED


def test_of_an_object_in_several_files_the_newest_version_counts(tmp_path: Path) -> None:
    old = written(tmp_path, NODE, versioned(POD, "9", "Pending"), name="old.json")
    new = written(tmp_path, versioned(POD, "10", "Running"), name="new.json")
    for words in ((old, new), (new, old)):
        inventory, evidence = load_files(words)
        assert [pod.status.phase for pod in inventory.pods.values()] == ["Running"]
        told = [note for note in evidence.notes if "more than once" in note]
        assert len(told) == 1
        assert told[0].endswith("pod ml/p more than once: the newest resourceVersion counts")


def test_very_many_objects_that_come_twice_are_counted(tmp_path: Path) -> None:
    pods = [versioned({**POD, "metadata": {"name": f"p{n}", "namespace": "ml"}}, "1", "Pending") for n in range(9)]
    evidence = load_files([written(tmp_path, NODE, *pods), written(tmp_path, *pods, name="g.json")])[1]
    assert [note for note in evidence.notes if "more than once" in note] == [
        f"{tmp_path}/f.json and {tmp_path}/g.json have 9 objects more than once, pod ml/p0 among them: "
        "the last one of each counts"
    ]


def test_what_one_snapshot_could_not_read_another_may_have_read(tmp_path: Path) -> None:
    one = snapshot(tmp_path, "a", [{"kind": "Node", "coverage": "complete"}, {"kind": "Pod", "coverage": "forbidden"}])
    other = snapshot(tmp_path, "b", [{"kind": "Pod", "coverage": "complete"}, {"kind": "Node", "coverage": "notRead"}])
    for words in ((one, other), (other, one)):
        evidence = load_files(words)[1]
        assert evidence.complete("Node")
        assert evidence.complete("Pod")
        assert evidence.coverage("ResourceClaim") is Coverage.NOT_READ


def test_a_plain_file_beside_a_snapshot_adds_what_it_holds_and_no_more(tmp_path: Path) -> None:
    taken = snapshot(
        tmp_path, "a", [{"kind": "Node", "coverage": "complete"}, {"kind": "Pod", "coverage": "forbidden"}]
    )
    evidence = load_files((taken, written(tmp_path, POD)))[1]
    assert evidence.complete("Pod")
    assert evidence.coverage("ResourceClaim") is Coverage.NOT_READ


def test_snapshots_of_different_servers_are_noted(tmp_path: Path) -> None:
    words = [
        snapshot(tmp_path, f"{n}", [{"kind": "Node", "coverage": "complete"}], version=f"v1.3{n}.0") for n in (7, 5)
    ]
    evidence = load_files(words)[1]
    assert evidence.server_version == (1, 37)
    assert any("v1.35.0, v1.37.0" in note for note in evidence.notes)


def test_a_broken_file_among_several_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{", encoding="utf-8")
    with pytest.raises(SourceError):
        load_files((written(tmp_path, NODE), str(tmp_path / "x.json")))


def test_a_list_of_namespaces_says_nothing_of_what_is_outside_of_them(tmp_path: Path) -> None:
    """Every cluster has nodes: without any, and without classes and slices, a list is a part."""
    claim = build.claim("free") | {"apiVersion": "resource.k8s.io/v1"}
    _, evidence = load_file(written(tmp_path, POD, claim))
    assert {evidence.coverage(kind) for kind in ("Node", "DeviceClass", "ResourceSlice")} == {Coverage.NOT_READ}
    assert any("objects of namespaces only: DeviceClass and ResourceSlice are taken" in each for each in evidence.notes)
    assert not any("DeviceClass" in note and "taken as if" in note for note in evidence.notes)
    classes = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}
    for other in (NODE, classes):
        _, evidence = load_file(written(tmp_path, POD, claim, other))
        assert evidence.coverage("ResourceSlice") is Coverage.ASSUMED


def test_without_any_pod_a_list_does_not_say_who_uses_claims(tmp_path: Path) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "ml"}}
    alone, beside = load_file(written(tmp_path, NODE, claim))[1], load_file(written(tmp_path, NODE, claim, POD))[1]
    assert alone.complete("Pod")
    assert not alone.users_known("ml")
    assert beside.users_known("ml")


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([build.claim("held", held=[("n", "gpu-0")], by=["p"])], "DeviceClass"),
        ([build.pod("p", templates=["t"], node_name="n")], "ResourceClaim"),
    ],
)
def test_what_other_objects_show_to_exist_was_left_out(
    objects: list[dict[str, Any]], kind: str, tmp_path: Path
) -> None:
    for each in objects:
        each["apiVersion"] = "v1" if each["kind"] == "Pod" else "resource.k8s.io/v1"
        if each["kind"] == "Pod":
            each["status"]["resourceClaimStatuses"] = [{"name": "t", "resourceClaimName": "p-t"}]
    _, evidence = load_file(written(tmp_path, NODE, *objects))
    assert evidence.coverage(kind) is Coverage.NOT_READ
    assert any(f"no {kind}, which other objects in it show to exist" in note for note in evidence.notes)
    assert not any(
        "taken as if" in note and kind in note.replace("ResourceClaimTemplate", "") for note in evidence.notes
    )
    # Of a claim without devices, and of a pod without a node, that is not known.
    others = {"ResourceClaim": POD, "DeviceClass": build.claim("free") | {"apiVersion": "resource.k8s.io/v1"}}
    _, evidence = load_file(written(tmp_path, NODE, others[kind]))
    assert evidence.coverage(kind) is Coverage.ASSUMED
