"""Where facts come from: reading, failing, reading again, changing; and what the screen says about it."""

from __future__ import annotations

import asyncio
import time

import msgspec
import pytest
from msgspec import structs

from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.output.safe import plain
from kubectl_dra.reports.base import Bound, Count
from kubectl_dra.reports.devices.totals import DeviceTotals
from kubectl_dra.source.demo import load_demo
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.bars import level
from kubectl_dra.tui.feed import FeedStatus, Link, RereadFeed, with_hint
from kubectl_dra.tui.frame import state_texts, trouble_text
from kubectl_dra.tui.settings import Settings
from tests.tui.support import LARGE, SMALL, Driver, with_features

NOTE = 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the cluster scope'
pytestmark = pytest.mark.one_in(6)


class ScriptedFeed:
    """A feed that says what the test wants, when it wants it."""

    def __init__(self, title="ctx test"):
        self.title = title
        self.live = True
        self.stopped = False
        self.refreshed = 0

    def start(self, listener):
        self.listener = listener

    def refresh(self):
        self.refreshed += 1

    def stop(self):
        self.stopped = True


def scripted(feed, **settings):
    return DraApp(Settings(connect=lambda _context: feed, **settings))


async def give(ui, feed, inventory, evidence):
    feed.listener.on_loaded(with_features((inventory, evidence)))
    feed.listener.on_status(FeedStatus(Link.LIVE, 0.0))
    for _ in range(5):
        await ui.pilot.pause(0.02)
    await ui.settle()


def started(app, script, size=SMALL):
    """As ``play``, without waiting for facts."""

    async def run():
        async with app.run_test(size=size) as pilot:
            await script(Driver(app, pilot))

    asyncio.run(run())


def test_before_anything_arrived():
    feed = ScriptedFeed()

    async def script(ui):
        await ui.pilot.pause()
        assert "reading …" in ui.screen
        for key in ("2", "3", "4", "6", "enter", "y", "d", "u", "escape", "5", "escape"):
            await ui.pilot.press(key)
        assert "reading …" in ui.lines[0]
        await ui.pilot.press("2", "r")
        await ui.holds(lambda: feed.refreshed)
        assert feed.refreshed == 1

    started(scripted(feed), script)
    assert feed.stopped


def test_a_pod_becomes_pending_and_disappears_without_a_key():
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    rest = {key: pod for key, pod in inventory.pods.items() if key.name != "train-x"}

    async def script(ui):
        await give(ui, feed, inventory.replace(pods=rest), evidence)
        await ui.press("4")
        assert "20 pods" in ui.crumbs
        assert "train-x" not in ui.screen
        await give(ui, feed, inventory, evidence)
        assert "21 pods" in ui.crumbs
        assert "ml/train-x" in ui.screen
        await ui.command("pod ml/train-x")
        assert 'waits for ResourceClaim "gpu-pool"' in " ".join(ui.screen.split())
        await give(ui, feed, inventory.replace(pods=rest), evidence)
        assert "does not exist any more" in ui.screen
        await ui.press("escape")
        assert "20 pods" in ui.crumbs

    started(scripted(feed), script)


def of_a_set(pod, name, created):
    """The pod as one of a Deployment, of which no more is known than its name."""
    owner = OwnerReference("apps/v1", "ReplicaSet", "trainer-5c9", uid="of-it", controller=True)
    meta = structs.replace(
        pod.metadata,
        name=name,
        uid=name,
        labels={"pod-template-hash": "5c9"},
        owner_references=(owner,),
        creation_timestamp=created,
    )
    return structs.replace(pod, metadata=meta)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_of_a_pod_that_is_gone_those_in_its_place(number):
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    model = inventory.pods[Key("ml", "train-x")]
    times = ["2026-11-21T11:00:00Z", "2026-11-21T11:59:00Z", "2026-11-21T12:00:00Z"]
    made = [of_a_set(model, f"trainer-5c9-{n}", time) for n, time in enumerate(times)]
    older = of_a_set(model, "trainer-5c9-older", "2026-11-20T11:59:00Z")

    def with_pods(*pods):
        return inventory.replace(pods={**inventory.pods, **{key_of(pod.metadata): pod for pod in pods}})

    async def script(ui):
        await give(ui, feed, with_pods(older, made[0]), evidence)
        await ui.command("pod ml/trainer-5c9-0")
        await give(ui, feed, with_pods(older, *made[1 : 1 + number]), evidence)
        said = " ".join(ui.screen.split())
        assert "The pod does not exist any more." in said
        names = [f"ml/trainer-5c9-{n}" for n in range(number, 0, -1)]
        assert ("of the same controller: " + ", ".join(names) in said) is bool(number)
        assert "older" not in said
        assert ui.app.offers("open") is bool(number)
        await ui.press("enter")
        assert ("› ml/trainer-5c9-1" in ui.crumbs) is (number == 1)
        assert ("its pods" in ui.crumbs) is (number == 2)

    started(scripted(feed), script, (100, 30))


def test_the_cursor_stays_on_its_row():
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    fewer = {key: claim for key, claim in inventory.claims.items() if key.namespace != "dev"}

    async def script(ui):
        await give(ui, feed, inventory, evidence)
        await ui.press("3", "down", "down", "down", "down", "down")
        before = ui.app.view.grid.selected
        await give(ui, feed, inventory.replace(claims=fewer), evidence)
        after = ui.app.view.grid.selected
        assert (before.namespace, before.name) == (after.namespace, after.name)

    started(scripted(feed), script)


def test_ages_grow_while_nothing_changes_as_long_as_the_cluster_is_followed():
    feed = ScriptedFeed()

    async def script(ui):
        await give(ui, feed, *load_demo())
        await ui.command("claim ml/trainer-0-gpus-x9grb")
        assert "created 4m ago" in ui.screen
        ui.app.came -= 3600
        await ui.holds(lambda: "created 64m ago" in ui.screen)
        await ui.press("escape", "3")
        feed.listener.on_status(FeedStatus(Link.RECONNECTING, 0.0))
        await ui.holds(lambda: "reconnecting" in ui.lines[0])
        ui.app.came -= 365 * 86400
        reached = ui.app.now
        await ui.pilot.pause(1.5)
        assert ui.app.now == reached
        assert "365d" not in ui.screen
        feed.listener.on_status(FeedStatus(Link.LIVE, 0.0))
        await ui.holds(lambda: "365d" in ui.screen)
        await give(ui, feed, *load_demo())
        await ui.holds(lambda: "365d" not in ui.screen)

    started(scripted(feed), script)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (FeedStatus(Link.LIVE, 98.0), "● live 2s"),
        (FeedStatus(Link.READ, 70.0), "● read 30s ago"),
        (FeedStatus(Link.RECONNECTING, 88.0), "◌ reconnecting 12s"),
        (FeedStatus(Link.FAILED, 99.0), "✗ can't read 1s"),
        (FeedStatus(Link.READING, 99.0), "◌ reading …"),
        (FeedStatus(Link.RECORDED, 99.0), "■ recorded, read once"),
    ],
)
def test_the_state_is_always_said(status, text):
    assert plain(state_texts(status, None, 100.0)[0]) == text


def test_failing_and_recovering():
    calls = []

    def load():
        calls.append(1)
        if len(calls) % 2:
            raise ClusterError("no route to \x1b[31mhost", "check the network")
        return with_features(load_demo())

    feed = RereadFeed("ctx test", True, load)

    async def script(ui):
        await ui.holds(lambda: "can't read" in ui.lines[0] and "check the network" in ui.crumbs)
        assert "no route to \\u{1b}[31mhost" in ui.crumbs
        await ui.press("r")
        # Reading begins in a thread of its own, whenever that gets the processor.
        await ui.holds(lambda: "● read" in ui.lines[0] and "gpu.example.com" in ui.screen)
        await ui.pilot.press("r")
        await ui.holds(lambda: "can't read" in ui.lines[0])
        assert "gpu.example.com" in ui.screen

    started(DraApp(Settings(connect=lambda _context: feed)), script)


LOGIN = "https://api.example.com does not accept the login: Unauthorized - try: log in again"


def test_why_the_cluster_is_not_followed_stays_on_the_screen_until_it_is():
    feed = ScriptedFeed()

    async def script(ui):
        await give(ui, feed, *load_demo())
        rows = ui.screen.count("\n")
        feed.listener.on_status(FeedStatus(Link.RECONNECTING, time.monotonic() - 60, LOGIN))
        await ui.holds(lambda: "does not accept the login" in ui.screen)
        await ui.press("3")
        # No note that disappears: neither another view nor time takes it away.
        ui.app._notice_until = 0.0
        ui.app.refresh_frame()
        await ui.settle()
        said = " ".join(ui.screen.split())
        assert f"{LOGIN} (r tries again)" in said
        assert "claims" in ui.crumbs
        assert "nb-gpu" in ui.screen
        assert ui.screen.count("\n") == rows
        feed.listener.on_status(FeedStatus(Link.LIVE, time.monotonic()))
        await ui.holds(lambda: "Unauthorized" not in ui.screen and "live" in ui.lines[0])

    started(scripted(feed), script)


@pytest.mark.parametrize(
    ("link", "seconds", "said"),
    [
        (Link.RECONNECTING, 2.0, False),
        (Link.RECONNECTING, 7.0, True),
        (Link.FAILED, 0.0, True),
    ],
)
def test_a_connection_that_is_back_at_once_moves_no_rows(link, seconds, said):
    assert bool(trouble_text(FeedStatus(link, 100.0, LOGIN), 100.0 + seconds)) is said


def test_no_trouble_is_said_where_none_is_known():
    assert not trouble_text(FeedStatus(Link.LIVE, 0.0), 100.0)


def test_trouble_is_escaped():
    text = trouble_text(FeedStatus(Link.FAILED, 0.0, "no \x1b[31mroute"), 1.0)
    assert "no \\u{1b}[31mroute" in plain(text)


def test_forbidden_kinds_are_unknown():
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    reads = tuple(
        Read(r.kind, r.namespace, Coverage.FORBIDDEN if r.kind == "ResourceClaim" else r.coverage, "", r.time)
        for r in evidence.reads
    )
    blind = inventory.replace(claims={}), Evidence(reads=reads, server_version=evidence.server_version)

    async def script(ui):
        await give(ui, feed, *blind)
        assert "≤" in ui.screen
        assert "????????   8  ≤8 free  ? used" in ui.screen
        assert "ResourceClaim" in ui.screen
        await ui.press("3")
        assert ui.crumbs.split()[-1] == "?"
        await ui.press("2")
        assert "≤" in ui.screen

    started(scripted(feed), script)


@pytest.mark.parametrize(("free", "used", "sign"), [("=", 0, "▁"), ("≤", 0, "?"), ("≤", 8, "█")])
def test_a_node_of_which_use_is_not_known_does_not_look_free(free, used, sign):
    empty = DeviceTotals(**dict.fromkeys(DeviceTotals.__struct_fields__, Count(0)))
    left = Count(8 - used, Bound.AT_MOST if free == "≤" else Bound.EXACT)
    totals = msgspec.structs.replace(empty, devices=Count(8), free=left, in_use=Count(used))
    assert plain(level(totals, broken=False)) == sign


@pytest.mark.parametrize(("known", "said"), [(True, "≥90G of 800G used"), (False, "? of 800G used")])
def test_of_claims_that_were_not_all_read_more_capacity_may_be_used(known, said):
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    own = {key: claim for key, claim in inventory.claims.items() if known and key.namespace == "ml"}
    reads = [each for each in evidence.reads if each.kind != "ResourceClaim"]
    reads.append(Read("ResourceClaim", coverage=Coverage.FORBIDDEN))
    reads += [Read("ResourceClaim", "ml")] if known else []

    async def script(ui):
        await give(ui, feed, inventory.replace(claims=own), Evidence(reads=tuple(reads), server_version=(1, 37)))
        (line,) = (each for each in ui.lines if "bandwidth" in each)
        assert said in line
        assert "?" in line.partition(said)[0]
        assert "░" not in line

    started(scripted(feed), script, LARGE)


@pytest.mark.parametrize(("kind", "field"), [("Pod", "pods"), ("ResourceSlice", "slices"), ("DeviceClass", "classes")])
def test_what_may_not_be_listed_looks_neither_empty_nor_healthy(kind, field):
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    reads = tuple(
        Read(r.kind, r.namespace, Coverage.FORBIDDEN if r.kind == kind else r.coverage, "", r.time)
        for r in evidence.reads
    )

    async def script(ui):
        await give(ui, feed, inventory.replace(**{field: {}}), Evidence(reads=reads, server_version=(1, 37)))
        assert "● live" not in ui.lines[0]
        assert "incomplete" in ui.lines[0]
        assert f"unknown: {kind}" in ui.crumbs
        assert f"not known: {kind}" in ui.screen
        for claim in ("No pod with device", "No driver has", "There are no DeviceClasses"):
            assert claim not in ui.screen
        if kind == "ResourceSlice":
            assert " none " not in ui.screen
        await ui.command("capacity")
        assert ui.crumbs.startswith("pools › capacity for 1")

    started(scripted(feed), script, LARGE)


def test_what_was_not_read_has_a_page_with_the_commands_that_permit_it():
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    reads = tuple(
        Read(r.kind, r.namespace, Coverage.FORBIDDEN if r.kind == "Pod" else r.coverage, "", r.time, NOTE)
        for r in evidence.reads
    )
    live = Address(context="prod")

    async def script(ui):
        await give(ui, feed, inventory, evidence)
        assert not ui.app.offers("unread")
        found = Evidence(reads=reads, server_version=(1, 37), address=live)
        await give(ui, feed, inventory.replace(pods={}), found)
        assert ui.crumbs.endswith("? pods pending")
        await ui.press("4")
        assert ui.crumbs.endswith("? pods")
        assert "! says who can permit it" in " ".join(ui.screen.split())
        assert "! not read" in ui.lines[-1]
        await ui.press("exclamation_mark")
        text = " ".join(ui.screen.split())
        assert "Pod" in text
        assert "forbidden for user ann" in text
        assert "A cluster administrator can permit it (as YAML" in text
        assert "kubectl create clusterrole" in text
        await ui.press("c")
        assert "kubectl create clusterrolebinding" in ui.app.clipboard
        # The page is there already.
        await ui.press("exclamation_mark", "escape")
        assert ui.crumbs.startswith("pending")

    started(scripted(feed), script, LARGE)


@pytest.mark.parametrize(
    ("kind", "field", "page"),
    [
        ("DeviceTaintRule", "taint_rules", "pod ml/trainer-0"),
        ("Pod", "pods", "claim ml/trainer-0-gpus-x9grb"),
        ("ResourceClaim", "claims", "pool gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq"),
    ],
)
def test_pages_say_who_could_permit_what_was_not_read(kind, field, page):
    """As the commands do: for the context that the screen shows, and the user who was refused."""
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    note = f'User "dev" cannot list resource "{field}"'
    refused = Read(kind, "", Coverage.FORBIDDEN, "", "", note)
    reads = tuple(refused if each.kind == kind else each for each in evidence.reads)
    told = Evidence(reads=reads, server_version=(1, 37), address=Address(context="prod", server="https://prod"))

    async def script(ui):
        await give(ui, feed, inventory.replace(**{field: {}}), told)
        await ui.command(page)
        if page.startswith("pool"):
            await ui.press("d")
        await ui.holds(lambda: "A cluster administrator can permit it" in ui.screen)
        # Beside the ways out there is no room for a whole line, which scrolls.
        assert "kubectl create " in ui.screen
        if page.startswith("pool"):
            assert "--user=dev --context prod" in ui.screen

    started(scripted(feed), script, (200, 60))


def test_another_context():
    feeds = {"": ScriptedFeed("ctx one"), "two": ScriptedFeed("ctx two")}
    inventory, evidence = load_demo()

    async def script(ui):
        await give(ui, feeds[""], inventory, evidence)
        await ui.press("5")
        await ui.type("device")
        await ui.press("escape")
        await ui.press("colon")
        await ui.type("ctx two")
        await ui.pilot.press("enter")
        await ui.holds(lambda: "ctx two" in ui.lines[0])
        await ui.holds(lambda: feeds[""].stopped and "reading" in ui.lines[0])
        # What the former cluster still says is not taken for the present one's.
        feeds[""].listener.on_loaded(with_features((inventory, evidence)))
        await ui.pilot.pause(0.05)
        assert ui.app.cluster is None
        await give(ui, feeds["two"], inventory, evidence)
        assert "gpu.example.com" in ui.screen
        await ui.press("5")
        assert ui.app.view.editor.text == "device"

    settings = Settings(connect=lambda context: feeds[context], contexts=lambda: ["one", "two"])
    started(DraApp(settings), script)


def test_errors_of_the_program_end_it():
    feed = ScriptedFeed()

    async def script(ui):
        feed.listener.on_crash(ZeroDivisionError("a defect"))
        await ui.pilot.pause(0.05)

    with pytest.raises(ZeroDivisionError):
        started(scripted(feed), script)


def test_a_crash_in_reading_is_told():
    told = []

    class Listener:
        def on_loaded(self, loaded):
            told.append(loaded)

        def on_status(self, status):
            told.append(status)

        def on_crash(self, error):
            told.append(error)

    def load():
        raise RuntimeError("a defect")

    feed = RereadFeed("x", False, load)
    feed._run(Listener())
    assert [type(each) for each in told] == [RuntimeError]


def test_a_row_that_is_new_stands_out_and_a_row_that_the_filter_hid_does_not(monkeypatch):
    # However long the machine takes.
    monkeypatch.setattr("kubectl_dra.tui.grid._NEWS_SECONDS", 3600.0)
    feed = ScriptedFeed()
    inventory, evidence = load_demo()
    first, *rest = sorted(inventory.claims)

    async def script(ui):
        await give(ui, feed, inventory.replace(claims={key: inventory.claims[key] for key in rest}), evidence)
        await ui.press("3")
        await ui.type("/embed")
        await ui.press("enter", "escape")
        grid = ui.app.view.grid
        assert len(grid.rows) == len(rest)
        assert grid._news == {}
        await give(ui, feed, inventory, evidence)
        await ui.holds(lambda: len(grid.rows) == len(rest) + 1)
        assert set(grid._news) == {first}

    started(scripted(feed), script)


@pytest.mark.parametrize(
    ("hint", "said"),
    [("check the network", "it failed - try: check the network"), ("try again", "it failed"), ("", "it failed")],
)
def test_to_try_again_is_said_once(hint, said):
    """``r tries again`` stands beside it."""
    status = FeedStatus(Link.FAILED, time.monotonic(), with_hint("it failed", hint))
    assert plain(trouble_text(status)) == f"✗ {said}   (r tries again)"
