"""The terminal UI on a real API server, on a good way and on a bad one: what changes outside changes on the screen."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.source.live import pulse, read
from kubectl_dra.source.live import watch as watching
from kubectl_dra.source.spec import Connection
from kubectl_dra.tui.app import DraApp
from tests.controlplane import Client, ControlPlane
from tests.controlplane.client import object_path
from tests.e2e import situations
from tests.e2e.situations import node_object, pod_object
from tests.faults.churn import NAMESPACE, Churn, RealTarget, clear
from tests.faults.running import NEEDS, differences
from tests.kit.faulty_proxy import EVENTS, Fault, Faults, faulty

pytestmark = pytest.mark.controlplane
RESOURCE = "resource.k8s.io/v1"
DRIVER = "tui.example.com"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "IDLE_SECONDS", 10.0)
    monkeypatch.setattr(watching, "_BACK_OFF_SECONDS", (0.05, 1.0))


@pytest.fixture(autouse=True)
def nothing_before(client: Client) -> None:
    """What other tests have left behind would be on the screen as well."""
    situations.clear(client)


@pytest.fixture
def faults() -> Faults:
    return Faults(seed=7, kinds=EVENTS | {Fault.CUT, Fault.BROKEN, Fault.GONE, Fault.UNAVAILABLE})


@pytest.fixture
def options(plane: ControlPlane, faults: Faults, tmp_path: Path) -> Iterator[Options]:
    """The way through the proxy."""
    certificate = plane.certificate
    with faulty(plane.server, faults, certificate, certificate, plane.folder / "server.key") as url:
        path = tmp_path / "kubeconfig"
        path.write_text(plane.kubeconfig().read_text(encoding="utf-8").replace(plane.server, url), encoding="utf-8")
        yield Options(kubeconfig=str(path))


class Eye:
    """Looks at the screen, and presses nothing."""

    def __init__(self, app: DraApp, pilot: Any) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> str:
        """What is on it."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def until(self, text: str, seconds: float = 40, *, gone: bool = False) -> float:
        """Wait until ``text`` is there, or is gone; how long it took."""
        return await self.holds(lambda: (text in self.screen) is not gone, f"{text!r}, gone: {gone}", seconds)

    async def holds(self, test: Callable[[], bool], what: str, seconds: float = 40) -> float:
        """Wait until ``test`` holds."""
        began = time.monotonic()
        while not test():
            assert time.monotonic() - began < seconds, f"{what}\n{self.screen}"
            await self.pilot.pause(0.05)
        return time.monotonic() - began


def look(options: Options, tab: str, script: Callable[[Eye], Awaitable[None]]) -> None:
    """Run ``script`` in front of an app that is open at ``tab``."""

    async def run() -> None:
        app = DraApp(settings_of(options, tab=tab))
        async with app.run_test(size=(140, 60)) as pilot:
            await script(Eye(app, pilot))

    asyncio.run(run())


def objects() -> list[dict[str, Any]]:
    """A node without devices, a class, and a pod that wants one."""
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    request = {"name": "gpu", "exactly": {"deviceClassName": DRIVER}}
    claim = {"name": "tui-claim", "namespace": NAMESPACE}
    pod = pod_object("tui-pod", claims=("tui-claim",))
    pod["metadata"]["namespace"] = NAMESPACE
    return [
        node_object("tui-node"),
        {
            "apiVersion": RESOURCE,
            "kind": "DeviceClass",
            "metadata": {"name": DRIVER},
            "spec": {"selectors": [selector]},
        },
        {
            "apiVersion": RESOURCE,
            "kind": "ResourceClaim",
            "metadata": claim,
            "spec": {"devices": {"requests": [request]}},
        },
        pod,
    ]


def fix() -> dict[str, Any]:
    """The device that is missing."""
    pool = {"name": "tui-node", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": "tui-node", "pool": pool, "devices": [{"name": "gpu-0"}]}
    return {"apiVersion": RESOURCE, "kind": "ResourceSlice", "metadata": {"name": "tui-node"}, "spec": spec}


@pytest.fixture
def stage(client: Client) -> Iterator[Client]:
    """A client; what the tests make is taken away again."""
    yield client
    with contextlib.ExitStack() as stack:
        for each in [*objects(), fix()]:
            meta = each["metadata"]
            gone = (each["apiVersion"], each["kind"], meta["name"], meta.get("namespace", ""))
            stack.callback(client.delete, *gone)


def test_a_diagnosis_comes_and_goes_without_a_key(options: Options, faults: Faults, stage: Client) -> None:
    why = "Pod default/tui-pod is pending: no driver publishes devices"

    async def script(eye: Eye) -> None:
        await eye.until("● live")
        faults.rate = 0.1
        assert "tui-pod" not in eye.screen
        for each in objects():
            await asyncio.to_thread(stage.create, each)
        await eye.until(why)
        await asyncio.to_thread(stage.create, fix())
        await eye.until(why, gone=True)
        # There is no kubelet: somebody has to say that it runs.
        path = object_path("v1", "Pod", NAMESPACE, "tui-pod")
        await asyncio.to_thread(stage.request, "PATCH", f"{path}/status", {"status": {"phase": "Running"}})
        await eye.until("tui-pod", gone=True)

    look(options, "pending", script)


def test_a_stalled_server_is_told_within_five_seconds(options: Options, faults: Faults) -> None:
    async def script(eye: Eye) -> None:
        await eye.until("● live")
        faults.stalled.set()
        # A quiet watch says nothing: one question is not answered, within these seconds on a machine that is awake.
        assert pulse.INTERVAL_SECONDS + pulse.PATIENCE_SECONDS < 5
        await eye.until("reconnecting")
        faults.stalled.clear()
        await eye.until("● live")

    look(options, "overview", script)


def test_in_the_end_the_screen_is_what_a_fresh_list_says(
    options: Options, faults: Faults, plane: ControlPlane, client: Client
) -> None:
    direct = Connection(kubeconfig=str(plane.kubeconfig()))
    churn = Churn(RealTarget(client), seed=7)

    def is_equal(eye: Eye) -> bool:
        truth, _ = read(direct, NEEDS)
        if eye.app.cluster is None or differences(eye.app.cluster.inventory, truth):
            return False
        # The pane beside the list may hold commands that name the namespace as well.
        shown = [line for line in eye.screen.splitlines() if line.lstrip().startswith(f"{NAMESPACE} ")]
        return len(shown) == len(truth.claims) and all(
            any(f" {key.name} " in line for line in shown) for key in truth.claims
        )

    async def script(eye: Eye) -> None:
        await eye.until("● live")
        faults.rate = 0.05
        churn.start()
        for _ in range(80):
            await eye.pilot.pause(0.1)
        await asyncio.to_thread(churn.stop)
        await eye.holds(lambda: is_equal(eye), "the screen is what a fresh list says", 60)

    try:
        look(options, "claims", script)
        assert not churn.errors
        assert faults.counts
    finally:
        churn.stop()
        clear(client)
