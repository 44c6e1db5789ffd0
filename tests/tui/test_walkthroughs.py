"""What people come for, from start to end in a real terminal: keys in, the final screen, the clipboard, the file."""

from __future__ import annotations

import csv
import json
import re
import shutil

import pytest

from kubectl_dra.tui.actions import MOVES, key_name
from tests.kit.fake_api import Answer, write_kubeconfig
from tests.kit.recording_proxy import recording
from tests.live.conftest import api, no_proxies  # noqa: F401 - fixtures
from tests.reports.clusters import DEMO, document
from tests.tui.test_live import cluster  # noqa: F401 - fixture
from tests.tui.test_tmux import RUN, check_left, start, terminal

pytestmark = [pytest.mark.tmux, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]
PLAIN = {"NO_COLOR": "1"}
# Each walk in the smallest terminal without colours, and in a larger one with them.
BOTH = pytest.mark.parametrize(
    ("size", "settings"), [((80, 24), PLAIN), ((120, 36), {})], ids=["80x24 NO_COLOR", "120x36"]
)


def clipboard(at, *texts):
    """Until the newest thing that was copied holds all texts; returns it."""
    at.until(lambda: at.tmux("list-buffers"), "nothing came to the clipboard")
    at.until(lambda: all(text in at.tmux("show-buffer") for text in texts), f"{texts} are not in the clipboard")
    return at.tmux("show-buffer")


@pytest.mark.parametrize(("size", "settings"), [((80, 24), PLAIN), ((120, 36), {}), ((200, 50), {})])
def test_why_a_pod_waits_and_the_command_of_the_first_way_out(size, settings):
    keys = ["4", *"/raine", "Enter", "Enter", "x", "c"]
    assert len(keys) <= 12
    with terminal(size) as at:
        start(at, **settings)
        at.keys("4")
        at.wait("21 pods, 15 reasons")
        at.keys(*keys[1:7])
        at.wait("1 of 21 pods")
        at.keys(keys[7])
        at.wait("? help")
        at.keys(keys[8])
        at.wait("Pod ml/trainer-0 is pending")
        at.wait("x ways out")
        at.keys(keys[9])
        # They are looked for while one reads.
        at.wait("request 3 devices")
        at.keys(keys[10])
        text = clipboard(at, "kubectl replace --force")
        assert text.count("kubectl replace") == 1
        assert "count: 3" in text
        at.keys("q")
        check_left(at)


@BOTH
def test_free_devices_of_a_model_as_csv(tmp_path, size, settings):
    file = tmp_path / "all-devices.csv"
    keys = [*":dev", "Enter", *"/h100 fr 80", "Enter", "C-s", "Enter"]
    assert len(keys) <= 20
    with terminal(size) as at:
        at.run(f"cd {tmp_path}")
        start(at, **settings)
        at.keys(*keys[:5])
        at.wait("all devices")
        at.keys(*keys[5:16])
        at.wait("7 of 47")
        at.keys(*keys[16:18])
        at.wait("Save as")
        at.keys(*keys[18:])
        at.until(file.exists, "no file was written")
        at.wait("saved 7 rows")
        at.keys("q")
        check_left(at)
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert {(row["STATE"], row["MODEL"], row["MEMORY"]) for row in rows} == {("free", "H100", "80Gi")}
    assert len(rows) == 7


@BOTH
def test_a_selector_and_the_devices_that_fall_out(size, settings):
    with terminal(size) as at:
        start(at, **settings)
        at.keys("5")
        at.wait("Write a condition")
        at.type("mod")
        at.wait("32 devices")
        at.keys("Tab")
        at.wait("Fails on all 32 devices")
        at.type(' == "H100"')
        at.wait("16 match")
        at.keys("F7")
        at.wait("16 matches")
        at.type("/!matches")
        at.wait('model == "H100"')
        at.wait("16 of 32")
        at.keys("Enter")
        at.wait("? help")
        at.keys("Escape")
        at.wait("16 matches   16 no")
        at.keys("Escape")
        at.wait("alone, on all devices")
        at.keys("F4")
        assert "deviceClassName" in clipboard(at, "expression: device.attributes")
        at.keys("C-c")
        check_left(at)


@BOTH
def test_all_devices_of_a_node_are_planned_and_not_tainted(size, settings):
    with terminal(size) as at:
        start(at, **settings)
        at.run(":nodes")
        at.wait("NODE")
        at.keys("a")
        at.wait(": taint node/")
        at.type("maintenance:NoExecute")
        at.keys("Enter")
        at.wait("on every device of driver")
        at.keys("G")
        at.wait("nothing can be written")
        at.keys("g")
        at.wait("Will create")
        at.type("/evicted")
        at.wait("evicted now")
        at.keys("Enter", "Escape", "Escape")
        at.wait("IDLE")
        at.keys("q")
        check_left(at)


@BOTH
def test_the_counters_of_a_partitioned_pool(size, settings):
    with terminal(size) as at:
        start(at, **settings)
        at.keys("2")
        at.wait("rack-7")
        at.type("/mig")
        at.wait("1 of 7")
        at.keys("Enter")
        at.wait("? help")
        at.keys("Enter")
        at.wait("7 devices: 3 free")
        at.keys("d")
        at.wait("Pool mig.example.com/cpu-2")
        at.type("/counter")
        at.wait("with “counter”")
        at.keys("Enter")
        at.wait("card-0")
        at.keys("q")
        check_left(at)


@BOTH
def test_from_a_pod_to_its_claims_devices_pool_and_node_and_back(size, settings):
    with terminal(size) as at:
        start(at, **settings)
        at.run(":pod dev/nb")
        at.wait("Pod dev/nb is not pending")
        at.keys("u")
        at.wait("its claims")
        at.wait("nb-net")
        at.keys("Enter")
        at.wait("ResourceClaim dev/nb-gpu is in use")
        at.keys("Enter")
        at.wait("its devices")
        at.keys("P")
        at.wait("8 devices: 4 free")
        at.keys("o")
        at.wait("node gke-prod-h100-5f3a2b1c-k4tq")
        at.wait("held by")
        at.keys("Escape")
        at.wait("8 devices: 4 free")
        at.keys("Escape")
        at.wait("its devices")
        at.keys("Escape", "Escape", "Escape")
        at.wait("Pod dev/nb is not pending")
        at.keys("q")
        check_left(at)


@BOTH
def test_a_claim_of_a_pod_that_is_gone_and_the_command_that_ends_it(tmp_path, size, settings):
    whole = document(DEMO)
    whole["items"] = [each for each in whole["items"] if each["metadata"]["name"] != "nb" or each["kind"] != "Pod"]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(whole), encoding="utf-8")
    keys = ["3", *"/nb-gpu", "Enter", "w", "c"]
    assert len(keys) <= 12
    with terminal(size) as at:
        start(at, str(file), **settings)
        at.keys(keys[0])
        at.wait("3 CLAIMS")
        at.wait("pod nb (gone)")
        at.keys(*keys[1:8])
        at.wait("1 of 35")
        at.keys(keys[8])
        at.wait("? help")
        at.keys(keys[9])
        at.wait("gone or finished")
        at.wait("kubectl patch resourceclaim/nb-gpu -n dev --subresource=status")
        at.keys(keys[10])
        text = clipboard(at, "kubectl patch resourceclaim/nb-gpu -n dev --subresource=status")
        # The reservation and the devices go, if the reservation is still that one.
        assert '"path": "/status/reservedFor/0/uid"' in text
        assert '"path": "/status/allocation"' in text
        assert text.splitlines() == [line for line in text.splitlines() if line.startswith("kubectl ")]
        at.keys("q")
        check_left(at)


@BOTH
def test_live(tmp_path, size, settings, cluster):  # noqa: F811 - the fixture
    """A pod appears, its diagnosis changes, the connection breaks and returns, rights are withdrawn."""
    classes = cluster.kinds["DeviceClass"]
    pods = cluster.kinds["Pod"]
    trainer, gpus = (
        json.loads(json.dumps(kind.items[name])) for kind, name in ((pods, "trainer-0"), (classes, "gpu.example.com"))
    )
    pods.put(trainer, "DELETED")
    with recording(cluster.api.url) as proxy, terminal(size) as at:
        config = write_kubeconfig(tmp_path, proxy.url)
        words = " ".join(f"{name}={value}" for name, value in {**settings, "KUBECONFIG": str(config)}.items())
        at.run(f"{words} {RUN} tui")
        at.wait("● live")
        at.keys("4")
        # The overview says "20 pods pending".
        at.wait("20 pods,")
        assert "trainer-0" not in at.screen()
        pods.put(trainer, "ADDED")
        at.wait("21 pods")
        at.type("/raine")
        at.wait("1 of 21 pods")
        at.keys("Enter")
        at.wait("? help")
        at.keys("Enter")
        at.wait("Pod ml/trainer-0 is pending: no node has 4 free")
        classes.put(gpus, "DELETED")
        at.wait("does not exist")
        classes.put(gpus, "ADDED")
        at.wait("Pod ml/trainer-0 is pending: no node has 4 free")
        proxy.lose()
        at.wait("reconnecting")
        # What was known stays on the screen.
        assert "Pod ml/trainer-0 is pending" in at.screen()
        proxy.restore()
        at.wait("● live")
        known = cluster.api.routes["/api/v1/nodes"]
        cluster.api.routes["/api/v1/nodes"] = Answer({"kind": "Status", "message": "nodes is forbidden"}, 403)
        proxy.end_watches()
        at.wait("incomplete")
        at.keys("1")
        at.wait("OVERVIEW")
        at.wait("unknown: Node")
        assert "● live" not in at.screen()
        cluster.api.routes["/api/v1/nodes"] = known
        at.keys("r")
        at.wait("● live")
        at.keys("q")
        check_left(at)


TMUX_NAMES = {"esc": "Escape", "enter": "Enter", "tab": "Tab", "space": "Space", "delete": "DC"}
# What leaves the screen has walks of its own; at the top of a list, or on the tab in front, nothing moves.
NOT_PRESSED = {"q", "ctrl+q", "ctrl+c", "^z", "3", *(key_name(key) for move in MOVES for key in move.keys)} - {"space"}
_ENTRY = re.compile(r"│(\S+(?: \S+)*) {2,}")


def rested(at):
    """The screen with its colours, once it is the same twice."""
    seen = [""]

    def same():
        seen.append(at.drawn())
        return seen[-1] == seen[-2]

    at.until(same, "the screen never rests")
    return seen[-1]


def listed(at, box, expected):
    """The keys that ``?`` lists in the left (0) or right (1) box, of which it shows a part at a time."""
    at.keys("?")
    at.wait("type to filter")
    at.keys(*["Tab"] * box)
    found, nothing_new = [], 0

    def at_the_end():
        nonlocal nothing_new
        rested(at)
        known = set(found)
        for line in at.screen().splitlines():
            entry = _ENTRY.match("│" + line.split("││")[box].removeprefix(" │") + "  ") if "││" in line else None
            found.extend(entry[1].split() if entry is not None else ())
        at.keys("PageDown")
        # What blinks or is marked does not count, and the first page down may only mark the last line that is shown.
        nothing_new = nothing_new + 1 if known == set(found) else 0
        return expected <= known and nothing_new >= 2

    at.until(at_the_end, f"not all of {sorted(expected)} are listed")
    at.keys("Escape")
    at.wait_gone("type to filter")
    return [key for key in dict.fromkeys(found) if key == ":" or not key.startswith(":")]


def pressed(at, key):
    """As a terminal sends it."""
    name = TMUX_NAMES.get(key) or key.replace("ctrl+", "C-")
    at.keys(name.upper() if re.fullmatch(r"f\d+", key) else name)


@BOTH
@pytest.mark.parametrize(
    ("command", "there", "box", "keys"),
    [
        ("pools", "2 POOLS", 0, {"enter", "y", "d", "a", "o", "p", "/", "f", "space", "s", "S", "ctrl+s", "Y"}),
        ("pod ml/trainer-0", "x ways out", 0, {"enter", "v", "x", "E", "u", "X", "c", "C", "t", "/"}),
        ("claims", "3 CLAIMS", 1, {"1", "6", "[", "]", ":", "ctrl+p", "?", "f1", "r", "f5", "ctrl+a", "z", "T"}),
    ],
    ids=["pools", "diagnosis", "everywhere"],
)
def test_every_key_that_is_listed_reaches_what_it_does(size, settings, command, there, box, keys):
    """That it does what it says is seen in test_every_key; here a real terminal sends it, and something is seen."""
    silent = []

    def nothing_is_open():
        # What is just being opened does not hear it.
        at.keys("Escape")
        rested(at)
        shown = at.screen()
        return "^p palette" in shown and not any(text in shown for text in ("type to filter", "pool, node or device"))

    def opened():
        # A question or list that is open first, then the editor of the lab, which would take the command as text.
        at.until(nothing_is_open, "something stays open")
        at.keys("Escape", "Escape")
        at.run(f":{command}")
        at.wait(there)
        return rested(at), at.tmux("list-buffers")

    def changed():
        return at.drawn() != before[0] or at.tmux("list-buffers") != before[1]

    with terminal(size) as at:
        start(at, **settings)
        opened()
        for key in [key for key in listed(at, box, keys) if key not in NOT_PRESSED]:
            before = opened()
            pressed(at, key)
            at.until(changed, f"{key} does nothing that is seen")
            if f"{key} (" in at.screen() and "does nothing here" in at.screen():
                silent.append(key)
        assert silent == []
        opened()
        at.keys("q")
        check_left(at)


def test_the_program_waits_in_the_background():
    with terminal() as at:
        start(at, **PLAIN)
        at.keys("2")
        at.wait("rack-7")
        at.keys("C-z")
        at.until(lambda: at.says("alternate_on") == "0", "the other screen stayed")
        at.run("echo in-$((40+2))")
        at.wait("in-42")
        at.run("fg")
        at.wait("rack-7")
        at.keys("q")
        check_left(at)


def test_a_selector_in_an_editor(tmp_path):
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf \'device.driver == "nic.example.com"\' > "$1"\n', encoding="utf-8")
    with terminal() as at:
        start(at, EDITOR=f"'sh {editor}'")
        at.keys("5")
        at.wait("Write a condition")
        at.keys("F6")
        at.wait("8 match")
        at.wait("nic.example.com")
        at.keys("C-c")
        at.wait("The selector that you were writing")
        check_left(at)


@BOTH
def test_the_commands_of_a_way_out_in_an_editor(tmp_path, size, settings):
    """What is left in the editor comes to the clipboard; it is only text there."""
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "# reviewed" >> "$1"\n', encoding="utf-8")
    with terminal(size) as at:
        start(at, EDITOR=f"'sh {editor}'", **settings)
        at.keys(":")
        at.wait("aliases")
        at.type("pod ml/trainer-0")
        at.keys("Enter")
        at.wait("Pod ml/trainer-0 is pending")
        at.wait("x ways out")
        at.keys("x")
        # The key is offered as soon as the cursor is there and a way out has been checked.
        at.wait("e $EDITOR")
        at.keys("e")
        text = clipboard(at, "kubectl replace --force", "# reviewed")
        assert text.count("kubectl replace") == 1
        at.wait("Ways out")
        at.keys("q")
        check_left(at)


def test_a_wrong_file_of_settings_is_not_fatal(tmp_path):
    folder = tmp_path / "kubectl-dra"
    folder.mkdir()
    (folder / "tui.toml").write_text('theme = "blue"\nview = "claims"\n', encoding="utf-8")
    with terminal() as at:
        at.run(f"XDG_CONFIG_HOME={tmp_path} XDG_STATE_HOME={tmp_path / 'state'} {RUN} tui --from demo")
        # Where its lines end depends on the length of the folder's name.
        at.until(lambda: {"theme", "must", "be"} <= set(at.screen().split()), "what is wrong is never said")
        at.wait("3 CLAIMS")
        at.keys("T", "q")
        check_left(at)
    assert '"theme": "light"' in (tmp_path / "state" / "kubectl-dra" / "tui.json").read_text(encoding="utf-8")
