"""The live source against the real API server: TLS, chunks, RBAC, impersonation, every served version."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_dra.api.decode import decode_page
from kubectl_dra.api.kinds import KINDS, NODE, POD, RESOURCE_CLAIM
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source.live import Needs, open_session, read
from kubectl_dra.source.live.discovery import discover
from kubectl_dra.source.live.errors import CertificateError, LoginError
from kubectl_dra.source.live.feed import FedState, Feed
from kubectl_dra.source.live.listing import CHUNK, take_list
from kubectl_dra.source.live.pods import PodReducer
from kubectl_dra.source.spec import Connection
from tests.controlplane import ControlPlane, User, binaries
from tests.e2e.situations import create, node_object, pod_object

pytestmark = pytest.mark.controlplane


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(binaries(), [User("tenant")]) as running:
        yield running


def _connection(plane: ControlPlane, user: str = "admin", **flags: object) -> Connection:
    return Connection(kubeconfig=str(plane.kubeconfig(user)), **flags)  # type: ignore[arg-type]


def test_more_nodes_than_fit_into_a_chunk(plane: ControlPlane) -> None:
    client = plane.client()
    names = {f"node-{number:04}" for number in range(CHUNK + 25)}
    for name in sorted(names):
        create(client, {**node_object(name), "status": {}}, "")
    session = open_session(_connection(plane))
    listed = take_list(session, NODE, "v1")
    assert [record.metadata.name for record in listed.sink.kept] == sorted(names)  # type: ignore[attr-defined]
    assert listed.read.coverage is Coverage.COMPLETE
    assert int(listed.read.resource_version) > 0


def test_discovery(plane: ControlPlane) -> None:
    served = discover(open_session(_connection(plane)), KINDS)
    assert served.server_version == (1, 37)
    assert served.git_version == "v1.37.1"
    assert served.api_versions["ResourceClaim"] == "resource.k8s.io/v1"
    assert served.api_versions["DeviceTaintRule"] == "resource.k8s.io/v1"
    assert "ResourceClass" not in served.api_versions


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_every_version_decodes_to_the_same_claim(plane: ControlPlane, version: str) -> None:
    client = plane.client()
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": 2}}
    body = {"kind": "ResourceClaim", "metadata": {"name": f"c-{version}"}, "spec": {"devices": {"requests": [request]}}}
    create(client, body, "default")
    listed = take_list(open_session(_connection(plane)), RESOURCE_CLAIM, f"resource.k8s.io/{version}")
    exactly = listed.sink.kept[0].spec.devices.requests[0].exactly  # type: ignore[attr-defined]
    assert (exactly.device_class_name, exactly.count) == ("gpu.example.com", 2)
    assert listed.bad_objects == ()


def test_rights_in_one_namespace(plane: ControlPlane) -> None:
    client = plane.client()
    rules = [{"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims"], "verbs": ["list"]}]
    create(client, {"kind": "Role", "metadata": {"name": "reader"}, "rules": rules}, "default")
    group = "rbac.authorization.k8s.io"
    reference = {"kind": "Role", "name": "reader", "apiGroup": group}
    subjects = [{"kind": "User", "name": "tenant", "apiGroup": group}]
    binding = {"kind": "RoleBinding", "metadata": {"name": "reader"}, "roleRef": reference, "subjects": subjects}
    create(client, binding, "default")
    needs = Needs(frozenset({"ResourceClaim", "Node"}), namespaces=("default",))
    for connection in (_connection(plane, "tenant"), _connection(plane, as_user="tenant")):
        _, evidence = read(connection, needs)
        assert evidence.coverage("ResourceClaim", "default") is Coverage.COMPLETE
        assert evidence.coverage("ResourceClaim") is Coverage.FORBIDDEN
        assert evidence.coverage("Node") is Coverage.FORBIDDEN


def test_a_stranger_is_refused_with_the_servers_words(plane: ControlPlane) -> None:
    _, evidence = read(_connection(plane, as_user="nobody"), Needs(frozenset({"Node"})))
    assert evidence.coverage("Node") is Coverage.FORBIDDEN
    assert evidence.refused_user == "nobody"
    (told,) = [each.note for each in evidence.reads if each.kind == "Node"]
    assert 'User "nobody" cannot list resource "nodes"' in told


def test_a_wrong_token(plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        plane.kubeconfig().read_text(encoding="utf-8").replace(plane.users["admin"].token, "wrong"), encoding="utf-8"
    )
    with pytest.raises(LoginError, match="Unauthorized"):
        read(Connection(kubeconfig=str(path)), Needs(frozenset({"Node"})))


def test_a_certificate_that_nobody_vouches_for(plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        plane.kubeconfig().read_text(encoding="utf-8").replace('"certificate-authority"', '"x-ignored"'),
        encoding="utf-8",
    )
    with pytest.raises(CertificateError, match=r"its certificate is not accepted: self.signed certificate"):
        read(Connection(kubeconfig=str(path)), Needs(frozenset({"Node"})))


def test_verification_can_be_switched_off_without_noise(
    plane: ControlPlane, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config"
    text = plane.kubeconfig().read_text(encoding="utf-8")
    path.write_text(
        text.replace('"certificate-authority"', '"insecure-skip-tls-verify": true, "x-ignored"'), encoding="utf-8"
    )
    inventory, _ = read(Connection(kubeconfig=str(path)), Needs(frozenset({"DeviceClass"})))
    assert not inventory.classes
    assert capfd.readouterr() == ("", "")


def test_following_the_cluster(plane: ControlPlane) -> None:
    seen: queue.Queue[FedState] = queue.Queue()
    errors: list[BaseException] = []
    feed = Feed(_connection(plane), Needs(frozenset({"DeviceClass", "ResourceSlice", "Pod"})), seen.put, errors.append)
    feed.start()
    try:
        assert not seen.get(timeout=10).inventory.classes
        client = plane.client()
        create(client, {"kind": "DeviceClass", "metadata": {"name": "new"}, "spec": {}}, "")
        published = seen.get(timeout=10)
        assert list(published.inventory.classes) == ["new"]
        assert published.troubles == ()
        client.delete("resource.k8s.io/v1", "DeviceClass", "new")
        assert not seen.get(timeout=10).inventory.classes
    finally:
        feed.close()


def test_pods_of_a_real_server_are_told_at_a_glance(plane: ControlPlane) -> None:
    """What a real server writes of pods is what is expected of them, so that none has to be decoded twice."""
    client = plane.client()
    create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "glances"}}, "")
    for number in range(3):
        body = pod_object(f"runs-{number}", requests={"cpu": "1"})
        body["spec"]["nodeName"] = f"node-{number:04}"
        create(client, body, "glances")
    create(client, pod_object("waits", requests={"cpu": "1"}), "glances")
    data = open_session(_connection(plane)).get("/api/v1/pods", "list pods")
    glanced, whole = PodReducer(), PodReducer()
    assert glanced.take(data, "v1") is not None
    whole.add(decode_page(data, "v1", POD).records)
    assert glanced.usage == whole.usage
    assert glanced.kept == whole.kept
    assert {f"node-{number:04}" for number in range(3)} <= set(glanced.usage)
