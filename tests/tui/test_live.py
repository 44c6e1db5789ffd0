"""Live through the watches: a fake API server that lists, tells of changes, stalls and comes back."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.source.live import pulse, watch
from kubectl_dra.tui.app import DraApp
from tests.kit.fake_api import Answer, write_kubeconfig
from tests.live.conftest import api, no_proxies  # noqa: F401 - fixtures
from tests.live.test_watch_commands import Kind
from tests.reports.clusters import DEMO, document
from tests.tui.support import Driver

pytestmark = pytest.mark.one_in(4)

API = "resource.k8s.io/v1"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(watch, "_BACK_OFF_SECONDS", (0.02, 0.1))
    monkeypatch.setattr(pulse, "INTERVAL_SECONDS", 0.2)
    monkeypatch.setattr(pulse, "PATIENCE_SECONDS", 0.5)


class Cluster:
    """The demo cluster behind a fake API server."""

    def __init__(self, api, folder):  # noqa: F811
        self.api = api
        kinds = [("Pod", "v1"), ("Node", "v1")]
        kinds += [(kind, API) for kind in ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")]
        self.kinds = {kind: Kind(api, kind, version) for kind, version in kinds}
        for item in document(DEMO)["items"]:
            if item["kind"] in self.kinds:
                self.kinds[item["kind"]].put(item, "ADDED")
        self.kubeconfig = write_kubeconfig(folder, api.url)
        self.options = Options(kubeconfig=str(self.kubeconfig))


@pytest.fixture
def cluster(api, tmp_path):  # noqa: F811
    return Cluster(api, tmp_path)


def play(options, script):
    async def run():
        app = DraApp(settings_of(options))
        async with app.run_test(size=(100, 30)) as pilot:
            await script(Live(app, pilot))

    asyncio.run(run())


class Live(Driver):
    async def until(self, text, *, gone=False):
        """Wait for ``text`` on the screen."""
        end = time.monotonic() + 180
        while (text in self.screen) is gone:
            assert time.monotonic() < end, self.screen
            await self.pilot.pause(0.02)


def test_a_change_arrives_without_a_key(cluster):
    pods = cluster.kinds["Pod"]
    trainer = json.loads(json.dumps(pods.items["train-x"]))

    async def script(ui):
        await ui.until("live")
        await ui.pilot.press("4")
        await ui.until("train-x")
        pods.put(trainer, "DELETED")
        await ui.until("train-x", gone=True)
        pods.put(trainer, "ADDED")
        await ui.until("train-x")
        # A busy machine may answer too late once.
        await ui.until("● live")

    play(cluster.options, script)


def test_the_page_of_a_deployment_follows_its_pods(cluster):
    """Its ReplicaSet and the Deployment are read for it, as no watch follows them."""
    items = document(DEMO)["items"]
    for kind in ("ReplicaSet", "Deployment"):
        for item in items:
            if item["kind"] == kind and item["metadata"]["name"].startswith("infer"):
                path = f"/apis/apps/v1/namespaces/ml/{kind.lower()}s/{item['metadata']['name']}"
                cluster.api.routes[path] = Answer({**item, "spec": {**item.get("spec", {}), "replicas": 3}})
    pods = cluster.kinds["Pod"]
    own = [name for name in pods.items if name.startswith("infer-")]

    async def script(ui):
        await ui.until("live")
        await ui.command("why-pending deploy/infer -n ml")
        await ui.until("Deployment ml/infer: 0 of 3 pods ready, 3 pending.")
        await ui.until("enter lists its pods")
        pods.put(json.loads(json.dumps(pods.items[own[0]])), "DELETED")
        await ui.until("2 pending, 1 not created.")
        assert "ml/" + own[0] not in ui.screen
        await ui.pilot.press("enter")
        await ui.until("its pods")
        await ui.command("why-pending deploy/nosuch -n ml")
        await ui.until("The workload does not exist, or has no pods and could not be read.")

    play(cluster.options, script)


def test_a_stalled_server_is_told(cluster):
    async def script(ui):
        await ui.until("live")
        version = cluster.api.routes["/version"]
        cluster.api.routes["/version"] = type(version)({}, seconds=30)
        await ui.until("reconnecting")
        assert "gpu.example.com" in ui.screen
        cluster.api.routes["/version"] = version
        await ui.until("● live")

    play(cluster.options, script)


def test_a_login_that_has_expired_is_told(cluster):
    async def script(ui):
        await ui.until("live")
        version = cluster.api.routes["/version"]
        cluster.api.routes["/version"] = type(version)({"kind": "Status", "message": "Unauthorized"}, 401)
        await ui.until("does not accept the login")
        assert "gpu.example.com" in ui.screen
        assert "log in again" in ui.screen
        cluster.api.routes["/version"] = version
        await ui.until("does not accept the login", gone=True)

    play(cluster.options, script)


def test_a_server_that_is_not_there(cluster):
    cluster.api.routes["/version"], version = (
        type(cluster.api.routes["/version"])({}, 500),
        cluster.api.routes["/version"],
    )
    group = cluster.api.routes.pop("/apis/resource.k8s.io")
    broken = type(version)({"kind": "Status", "message": "not now"}, 503)
    cluster.api.routes["/apis/resource.k8s.io"] = broken

    async def script(ui):
        await ui.until("can't read")
        cluster.api.routes["/version"] = version
        cluster.api.routes["/apis/resource.k8s.io"] = group
        await ui.until("● live")
        await ui.until("gpu.example.com")
        # What is said disappears with time; a busy machine may not draw it before.
        ui.app.run_action_id("refresh")
        assert "reading again" in ui.app.notice

    play(cluster.options, script)
