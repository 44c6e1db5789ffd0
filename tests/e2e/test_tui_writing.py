"""Taints written from the terminal UI, with the keys of a person, on a real API server behind a recording proxy.

Unlock, plan, apply, undo: for a device, a pool and a node, while somebody else writes, while the connection is lost.
What the proxy saw is what the screen had shown.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.output.safe import plain
from kubectl_dra.source.live import watch as watching
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.views.plan import PlanView
from tests.controlplane import Client, ControlPlane
from tests.controlplane.client import Object, object_path, wait_for
from tests.e2e.conftest import OPERATOR
from tests.e2e.situations import create
from tests.e2e.test_taint_device import (  # noqa: F401 - fixtures
    DEVICE,
    DRIVER,
    EVICTED,
    RULES,
    SPACE,
    _roles,
    bring_about,
    claim,
    going,
    pod_object,
    proxy,
    rules,
    staged,
)
from tests.kit.fake_api import write_kubeconfig
from tests.kit.recording_proxy import Exchange, Fault, Proxy
from tests.tui.support import key_event

pytestmark = pytest.mark.controlplane
_SECONDS = 180.0
_NEIGHBOUR = "neighbour.example.com"
# What is tainted: what each rule for it selects (a whole pool is one rule without a device), answer and question.
_TYPED = "Type the number of devices"
TARGETS = {
    DEVICE: ({("node-1", "shared-0")}, "y", "[y/N, then enter]"),
    f"{DRIVER}/node-1/*": ({("node-1", None)}, "2", _TYPED),
    "node/node-1": ({("node-1", None), ("neighbours", None)}, "3", _TYPED),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has lost the server tries again soon."""
    monkeypatch.setattr(watching, "_BACK_OFF_SECONDS", (0.05, 1.0))
    monkeypatch.setattr("kubectl_dra.commands.tui.live._BACK_OFF_SECONDS", (0.05, 1.0))


@pytest.fixture
def options(plane: ControlPlane, proxy: Proxy, tmp_path: Path) -> Options:  # noqa: F811
    """The operator's connection: everything goes through the proxy, what is followed and what is written."""
    path = write_kubeconfig(tmp_path, proxy.url, {"token": plane.users[OPERATOR.name].token})
    return Options(kubeconfig=str(path))


class Person:
    """Looks at the screen, and presses a key only when what it acts on is there."""

    def __init__(self, app: DraApp, pilot: Any, proxy: Proxy) -> None:  # noqa: F811
        self.app, self.pilot, self.proxy = app, pilot, proxy

    @property
    def screen(self) -> str:
        """Its words, however they are folded."""
        strips = self.app.screen._compositor.render_strips()
        return " ".join(" ".join("".join(segment.text for segment in strip) for strip in strips).split())

    async def until(self, *texts: str, gone: str = "") -> None:
        """Wait until all texts are there, and ``gone`` is not."""
        await self.holds(lambda: all(t in self.screen for t in texts) and not (gone and gone in self.screen), texts)

    async def holds(self, test: Callable[[], bool], what: object) -> None:
        """Wait until ``test`` holds."""
        end = time.monotonic() + _SECONDS
        while not test():
            assert time.monotonic() < end, f"{what}\n{self.screen}"
            await self.pilot.pause(0.02)

    def send(self, *keys: str) -> None:
        """Keys as the terminal sends them."""
        for key in keys:
            assert self.app._driver is not None
            self.app._driver.send_message(key_event(key))

    async def unlock(self) -> None:
        """Allow writing."""
        self.send("U")
        await self.until("Allow writing to", "[y/N, then enter]")
        assert not self.proxy.writes
        self.send("y", "enter")
        await self.until("CAN WRITE")

    async def plan(self, words: str, what: str) -> None:
        """Ask for a plan that the server accepts."""
        self.send("colon")
        await self.holds(lambda: self.app.is_typing, "a prompt")
        self.send(*f"taint {words}", "enter")
        await self.until(what, *(["The server accepts this"] if self.app.unlocked else ["Writing is locked"]))

    async def agree(self, answer: str, question: str, *outcome: str) -> None:
        """Carry out the plan on the screen."""
        self.send("A")
        await self.until(question)
        self.proxy.confirmed()
        self.send(*answer, "enter")
        await self.until(*outcome, gone="Reading once more")

    async def shown(self) -> list[Object]:
        """The objects that ``y`` shows."""
        plan = self.app.view
        assert isinstance(plan, PlanView)
        self.send("y")
        await self.holds(lambda: self.app.view is not plan and "kind:" in self.screen, "YAML")
        text = "\n".join(map(plain, self.app.view.lines()))  # type: ignore[union-attr]
        self.send("escape")
        await self.holds(lambda: self.app.view is plan, "the plan again")
        (found,) = yaml.safe_load_all(text)
        return list(found["items"]) if found["kind"].endswith("List") else [found]


def sit_down(options: Options, proxy: Proxy, script: Callable[[Person], Awaitable[None]]) -> DraApp:  # noqa: F811
    """Run ``script`` in front of an app; what it has left behind."""
    app = DraApp(settings_of(options))

    async def run() -> None:
        async with app.run_test(size=(120, 80)) as pilot:
            person = Person(app, pilot, proxy)
            await person.until("● live")
            await script(person)

    asyncio.run(run())
    return app


def neighbour(client: Client) -> None:
    """Another driver's device on the same node."""
    pool = {"name": "neighbours", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": _NEIGHBOUR, "pool": pool, "nodeName": "node-1", "devices": [{"name": "near-0"}]}
    create(client, {"kind": "ResourceSlice", "metadata": {"name": "neighbours"}, "spec": spec}, "")


def selected(rule: Object) -> tuple[str, str | None]:
    """Pool and device of a rule."""
    selector = rule["spec"]["deviceSelector"]
    return selector["pool"], selector.get("device")


def named(exchanges: list[Exchange]) -> list[str]:
    """The last part of each path: names of objects that are changed or deleted."""
    return [each.path.rpartition("/")[2] for each in exchanges]


@pytest.mark.parametrize("target", TARGETS)
def test_planned_applied_and_undone(staged: Client, options: Options, proxy: Proxy, target: str) -> None:  # noqa: F811
    neighbour(staged)
    selections, answer, question = TARGETS[target]

    async def script(person: Person) -> None:
        await person.holds(lambda: f"{_NEIGHBOUR}" in person.screen, "the neighbour")
        await person.plan(f"{target} link=flapping:NoSchedule", "Will create")
        person.send("A")
        await person.until("writing is locked")
        assert [each for each in proxy.exchanges if each.method != "GET"] == [], "a plan only reads"
        await person.unlock()
        await person.until("The server accepts this")
        shown = await person.shown()
        assert {selected(rule) for rule in shown} == selections
        person.send("A")
        await person.until(question)
        person.send("escape")
        await person.until("Nothing was written")
        assert not proxy.writes
        await person.agree(answer, question, *(f"{rule['metadata']['name']} created" for rule in shown))
        posted = list(proxy.writes)
        assert [each.method for each in posted] == ["POST"] * len(shown)
        assert [each.body for each in posted] == shown
        assert {selected(rule) for rule in rules(staged).values()} == selections
        person.send("escape")
        await person.until(gone="Will create")

        await person.plan(f"{target} link-", "Will delete")
        shown = await person.shown()
        assert {rule["metadata"]["name"] for rule in shown} == rules(staged).keys()
        assert proxy.writes == posted
        await person.agree(answer, question, *(f"{rule['metadata']['name']} deleted" for rule in shown))
        deleted = proxy.writes[len(posted) :]
        assert [each.method for each in deleted] == ["DELETE"] * len(shown)
        assert named(deleted) == [rule["metadata"]["name"] for rule in shown]
        assert rules(staged) == {}

    app = sit_down(options, proxy, script)
    assert len(app.written) == 2 * len(selections)


def test_two_steps_and_somebody_else_in_between(staged: Client, options: Options, proxy: Proxy) -> None:  # noqa: F811
    """The server itself refuses a write upon a version that is not the newest; then all is planned and agreed anew."""

    def change() -> None:
        (name,) = rules(staged)
        path = object_path(RULES, "DeviceTaintRule", "", name)
        staged.request("PATCH", path, {"spec": {"taint": {"value": "others"}}})

    async def script(person: Person) -> None:
        await person.unlock()
        await person.plan(f"{DEVICE} link=flapping:NoExecute", "Will create")
        await person.until("evicted now")
        await person.agree("t", "[t]wo steps", "created", "Will change DeviceTaintRule", "The server accepts this")
        (rule,) = rules(staged).values()
        name = rule["metadata"]["name"]
        assert rule["spec"]["taint"]["effect"] == "NoSchedule"
        proxy.meanwhile = change
        await person.agree("y", "Change it?", "changed by someone else first", "The server accepts this")
        assert [(each.method, each.code) for each in proxy.writes] == [("POST", 201), ("PATCH", 409)]
        assert rules(staged)[name]["spec"]["taint"]["value"] == "others"
        assert going(staged) == set(), "nobody is evicted by a write that was refused"
        (shown,) = await person.shown()
        await person.agree("y", "Change it?", f"{name} patched")
        last = proxy.writes[-1]
        assert (last.method, last.code, named([last])) == ("PATCH", 200, [name])
        # What is null is removed: the server then dates the taint anew.
        given = {name: value for name, value in last.body["spec"]["taint"].items() if value is not None}
        assert given.items() <= shown["spec"]["taint"].items()
        await asyncio.to_thread(wait_for, lambda: going(staged) == EVICTED, "the named pods are evicted")

    sit_down(options, proxy, script)


def test_who_comes_between_plan_and_answer_is_shown_first(staged: Client, options: Options, proxy: Proxy) -> None:  # noqa: F811
    async def script(person: Person) -> None:
        await person.unlock()
        await person.plan(f"{DEVICE} link:NoExecute", "Will create")
        await person.until("evicted now")
        create(staged, claim("late", "shared"), SPACE)
        create(staged, pod_object("late", claims=("late",)), SPACE)
        holder = object_path(RULES, "ResourceClaim", SPACE, "late")
        await asyncio.to_thread(
            wait_for, lambda: staged.request("GET", holder).get("status", {}).get("reservedFor"), "late has the device"
        )
        await person.agree("a", "[t]wo steps", "nothing was written", f"new: pod {SPACE}/late")
        assert proxy.writes == []
        await person.agree("a", "[t]wo steps", "created")
        assert [each.method for each in proxy.writes] == ["POST"]
        await asyncio.to_thread(wait_for, lambda: going(staged) == {*EVICTED, "late"}, "late is evicted as well")

    sit_down(options, proxy, script)


def test_the_connection_is_lost(staged: Client, options: Options, proxy: Proxy) -> None:  # noqa: F811
    """Before a write nothing is written and all is said; after it, what was done is found out, and not done twice."""

    async def script(person: Person) -> None:
        await person.unlock()
        await person.plan(f"{DEVICE} link:NoSchedule", "Will create")
        proxy.lose()
        await person.until("reconnecting")
        await person.agree("y", "Create it?", "error: ")
        assert rules(staged) == {}
        proxy.restore()
        await person.until("● live")
        # The plan is made anew from what is there now.
        person.send("r")
        await person.until("The server accepts this", gone="error: ")
        proxy.fault = Fault.FAILS_AFTER
        await person.agree("y", "Create it?", "created", "but it was done")
        (name,) = rules(staged)
        assert [each.method for each in proxy.writes if each.code != 500 or each.path.endswith("rules")][-1] == "POST"
        person.send("escape")
        await person.until(gone="Will create")
        await person.plan(f"{DEVICE} link-", "Will delete")
        await person.agree("y", "Delete it?", f"{name} deleted")
        assert rules(staged) == {}

    sit_down(dataclasses.replace(options), proxy, script)
