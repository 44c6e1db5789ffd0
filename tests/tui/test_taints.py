"""Taints: the list and whom each hits; plans, the lock, agreeing, exactly the writes that were shown."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.taints import CommandTaintWriter
from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings
from tests.commands.test_taint_device import newcomer, taint_of, written
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.fake_rules import FakeCluster
from tests.kit.recording_proxy import Fault, Proxy, recording
from tests.reports.clusters import DEMO, document
from tests.tui.support import LARGE, demo_app, play, with_features

pytestmark = pytest.mark.one_in(12)

NIC = "nic.example.com/rack-1/nic-3"
EVICTING = f"taint {NIC} link=flapping:NoExecute"


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with running(FakeCluster()) as server:
        assert isinstance(server, FakeCluster)
        yield server


@pytest.fixture
def proxy(cluster: FakeCluster) -> Iterator[Proxy]:
    with recording(cluster.url) as recorder:
        yield recorder


@pytest.fixture
def app(cluster, proxy, tmp_path, monkeypatch):
    """The app on a cluster that can be written to; what it shows is read anew after each write."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    options = Options(kubeconfig=str(write_kubeconfig(tmp_path, proxy.url)))

    def load():
        whole = document(DEMO)
        whole["items"] = [each for each in whole["items"] if each["kind"] != "DeviceTaintRule"]
        whole["items"] += cluster.rules.values()
        return with_features(assemble(read_manifests(json.dumps(whole).encode(), "cluster")))

    settings = Settings(
        connect=lambda context: RereadFeed(f"ctx {context or 'test'}", True, load),
        contexts=lambda: ["test", "other"],
        writer=lambda context: CommandTaintWriter(options),
    )
    return DraApp(settings)


async def answer(ui, proxy, word):
    """Agree, and note in the log that what follows was agreed to."""
    await ui.press("A")
    proxy.confirmed()
    await ui.type(word)
    await ui.press("enter")
    await ui.settle()


def test_two_steps_and_removal(app, cluster, proxy):
    async def script(ui):
        await ui.command(EVICTING)
        assert "Context" in ui.screen
        assert "Will create DeviceTaintRule" in ui.screen
        assert "evicted now" in ui.screen
        assert "Writing is locked" in ui.screen
        await ui.press("A")
        assert "writing is locked" in ui.crumbs
        assert not proxy.writes
        await ui.press("U", "escape")
        assert "read-only" in ui.lines[0]
        await ui.press("U", "y", "enter")
        assert "CAN WRITE" in ui.lines[0]
        assert "The server accepts this" in ui.screen
        await ui.press("A")
        assert "[t]wo steps" in ui.lines[-1]
        await ui.press("escape")
        assert "Nothing was written" in ui.crumbs
        assert not cluster.rules.keys() - {"ecc-errors"}
        await answer(ui, proxy, "t")
        (name,) = cluster.rules.keys() - {"ecc-errors"}
        assert taint_of(cluster, name) == ("link", "flapping", "NoSchedule")
        assert f"DeviceTaintRule {name} created" in ui.screen
        assert "Will change DeviceTaintRule" in ui.screen
        await answer(ui, proxy, "y")
        assert taint_of(cluster, name) == ("link", "flapping", "NoExecute")
        assert f"DeviceTaintRule {name} patched" in ui.screen
        await ui.press("escape", "6", "slash")
        await ui.type("flapping")
        await ui.press("enter")
        assert "link=flapping:NoExecute" in ui.lines[4]
        assert "evicted now" in ui.screen
        await ui.press("ctrl+d")
        assert "Will delete DeviceTaintRule" in ui.screen
        await ui.press("y")
        assert "effect: NoExecute" in ui.screen
        await ui.press("escape")
        await answer(ui, proxy, "y")
        assert name not in cluster.rules
        assert written(proxy) == ["POST devicetaintrules", f"PATCH {name}", f"DELETE {name}"]
        await ui.press("escape", "escape", "home", "ctrl+d")
        assert "another owner's DeviceTaintRule ecc-errors" in " ".join(ui.screen.split())
        await ui.command("ctx other")
        assert "ctx other" in ui.lines[0]
        assert "read-only" in ui.lines[0]
        assert not app.unlocked

    play(app, script)
    assert [line.rpartition(" ")[2] for line in app.written] == ["created", "patched", "deleted"]


def test_what_changes_meanwhile_is_agreed_to_anew(app, cluster, proxy):
    async def script(ui):
        await ui.press("U", "y", "enter")
        await ui.command(f"taint {NIC} gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0 link:NoSchedule")
        assert "Will create 2 DeviceTaintRules" in ui.screen
        await ui.press("A")
        assert "Type the number of rules" in ui.lines[-1]
        await ui.type("y")
        await ui.press("enter")
        assert "Nothing was written" in ui.crumbs
        newcomer(cluster)
        await answer(ui, proxy, "2")
        assert "Meanwhile this has changed, so nothing was written" in ui.screen
        assert "new: pod ml/late" in ui.screen
        assert not proxy.writes
        await answer(ui, proxy, "2")
        assert len(proxy.writes) == 2
        await ui.press("escape")
        await ui.command(f"taint {NIC} link:NoSchedule")
        assert "is already there" in ui.screen
        assert not ui.app.offers("apply")

    play(app, script)


def test_of_a_whole_pool_the_devices_are_to_be_counted(app, cluster, proxy):
    """It is one rule, and one typed digit must not stand for all that it hits."""

    async def script(ui):
        await ui.press("U", "y", "enter")
        await ui.command(f"taint {NIC.rpartition('/')[0]}/* link:NoSchedule")
        assert "Will create DeviceTaintRule" in ui.screen
        await ui.press("A")
        assert "Type the number of devices" in ui.lines[-1]
        await ui.type("1")
        await ui.press("enter")
        assert "Nothing was written" in ui.crumbs
        assert not proxy.writes

    play(app, script)


def test_what_is_wrong_with_a_plan_is_said(app, cluster, proxy):
    async def script(ui):
        for words, problem in (
            ("nic.example.com/rack-1/nic-33 link:NoSchedule", 'publishes no device "nic-33"'),
            (f"{NIC} other-", 'has no taint "other"'),
        ):
            await ui.command(f"taint {words}")
            assert problem in " ".join(ui.screen.split())
            assert not ui.app.offers("apply")
            await ui.press("escape")
        await ui.press("U", "y", "enter", "6", "end", "ctrl+d")
        assert "only the driver can remove it" in ui.crumbs
        await ui.command(EVICTING)
        proxy.fault = Fault.FAILS
        await answer(ui, proxy, "a")
        assert "error: " in ui.screen
        assert "does not exist" in " ".join(ui.screen.split())
        assert cluster.rules.keys() == {"ecc-errors"}

    play(app, script)


def test_words_that_cannot_be_planned_stay_in_the_line():
    async def script(ui):
        await ui.command("devices")
        for words, problem in (
            (f"{NIC} link:NoGood", '"NoGood" is not a valid effect of a device taint'),
            (NIC, "alone is not enough"),
        ):
            await ui.command(f"taint {words}")
            assert problem in ui.crumbs
            assert ui.lines[-1].strip().startswith(f": taint {words}")
            await ui.press("escape")
            assert "all devices" in ui.crumbs or problem in ui.crumbs
        assert ui.app.depth == 2
        # What is corrected is planned, without the first attempt on the way back.
        await ui.command(f"taint {NIC} link:NoExec")
        await ui.type("ute")
        await ui.press("enter")
        assert "Will create DeviceTaintRule" in ui.screen
        await ui.press("escape")
        assert ui.app.depth == 2

    play(demo_app(writer=lambda _context: CommandTaintWriter(Options(from_="demo"))), script, LARGE)


def test_a_plan_is_copied_as_its_command(app):
    async def script(ui):
        await ui.command(EVICTING)
        await ui.press("c")
        assert ui.app.clipboard.startswith(f"kubectl dra taint-device {NIC} link=flapping:NoExecute")
        await ui.press("escape", "6", "home", "ctrl+d", "c")
        assert ui.app.clipboard.startswith("kubectl delete devicetaintrule/ecc-errors")

    play(app, script)


def test_what_was_written_can_be_undone_with_what_stands_there(app, cluster, proxy):
    async def script(ui):
        await ui.command(f"taint {NIC} link:NoSchedule")
        await ui.press("U", "y", "enter")
        await answer(ui, proxy, "y")
        assert "To undo it" in ui.screen
        await ui.press("c")
        assert ui.app.clipboard == f"kubectl dra taint-device {NIC} link-"
        # The same words in the terminal UI end it; there is nothing to undo then.
        await ui.command(f"taint {NIC} link-")
        assert "Will delete DeviceTaintRule" in ui.screen
        await answer(ui, proxy, "y")
        assert cluster.rules.keys() == {"ecc-errors"}
        assert "To undo it" not in ui.screen
        assert not ui.app.offers("copy")

    play(app, script)


def test_a_file_only_shows_plans():
    async def script(ui):
        await ui.command("devices")
        await ui.press("a")
        assert ui.lines[-1].strip().startswith(": taint gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0")
        await ui.type("ec")
        assert "ecc:NoExecute" in ui.lines[-1] or "ecc:NoSchedule" in ui.lines[-1]
        await ui.press("right", "enter")
        assert "Will create DeviceTaintRule" in ui.screen
        assert "comes from a file: nothing can be written" in " ".join(ui.screen.split())
        # A command is one line, so that it survives being pasted: what goes on beyond the edge is marked, and reached.
        (start,) = (line.strip() for line in ui.lines if "taint-device" in line)
        assert start.endswith("›")
        await ui.press("right")
        (end,) = (line.strip() for line in ui.lines if "taint-device" in line)
        whole = "kubectl dra taint-device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0 ecc:NoSchedule"
        assert whole.startswith(start[:-1])
        assert whole.endswith(end)
        assert len(start[:-1]) + len(end) > len(whole)
        await ui.press("left")
        # What only a cluster can do is not offered.
        assert not ui.app.offers("unlock")
        assert not ui.app.offers("apply")
        await ui.press("U", "A")
        assert "read once" in ui.lines[0]
        assert "CAN WRITE" not in ui.lines[0]
        await ui.press("y")
        assert "kind: DeviceTaintRule" in ui.screen

    play(demo_app(writer=lambda _context: CommandTaintWriter(Options(from_="demo"))), script)


def test_the_plan_and_the_page_of_a_taint_use_the_width():
    async def script(ui):
        await ui.command("taint nic.example.com/rack-1/nic-3 link=flapping:NoExecute")
        assert any("share of claim nb-net, tolerates link for 300 s" in line for line in ui.lines)
        await ui.press("6")
        assert any("Eviction only happens for the NoExecute effect." in line for line in ui.lines)

    play(demo_app(writer=lambda _context: CommandTaintWriter(Options(from_="demo"))), script, (120, 36))
