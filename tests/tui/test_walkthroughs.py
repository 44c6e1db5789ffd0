"""What people come for, from start to end in a real terminal: keys in, the final screen, the clipboard, the file."""

from __future__ import annotations

import csv
import shutil

import pytest

from tests.tui.test_tmux import RUN, check_left, start, terminal

pytestmark = [pytest.mark.tmux, pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")]
PLAIN = {"NO_COLOR": "1"}


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
        # Ways out are looked for while one reads: the key is offered when there are some.
        at.wait("x ways out")
        at.keys(*keys[9:])
        text = clipboard(at, "kubectl replace --force")
        assert text.count("kubectl replace") == 1
        assert "count: 3" in text
        at.keys("q")
        check_left(at)


def test_free_devices_of_a_model_as_csv(tmp_path):
    file = tmp_path / "all-devices.csv"
    keys = [*":dev", "Enter", *"/h100 fr 80", "Enter", "C-s", "Enter"]
    assert len(keys) <= 20
    with terminal() as at:
        at.run(f"cd {tmp_path}")
        start(at, **PLAIN)
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


def test_a_selector_and_the_devices_that_fall_out():
    with terminal() as at:
        start(at, **PLAIN)
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


def test_all_devices_of_a_node_are_planned_and_not_tainted():
    with terminal((120, 36)) as at:
        start(at)
        at.run(":nodes")
        at.wait("NODE")
        at.keys("a")
        at.wait(": taint node/")
        at.type("maintenance:NoExecute")
        at.keys("Enter")
        at.wait("8 DeviceTaintRules")
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


def test_the_counters_of_a_partitioned_pool():
    with terminal() as at:
        start(at, **PLAIN)
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


def test_from_a_pod_to_its_claims_devices_pool_and_node_and_back():
    with terminal((120, 36)) as at:
        start(at)
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


def test_a_wrong_file_of_settings_is_not_fatal(tmp_path):
    folder = tmp_path / "kubectl-dra"
    folder.mkdir()
    (folder / "tui.toml").write_text('theme = "blue"\nview = "claims"\n', encoding="utf-8")
    with terminal() as at:
        at.run(f"XDG_CONFIG_HOME={tmp_path} XDG_STATE_HOME={tmp_path / 'state'} {RUN} tui --from demo")
        at.wait("theme must be")
        at.wait("3 CLAIMS")
        at.keys("T", "q")
        check_left(at)
    assert '"theme": "light"' in (tmp_path / "state" / "kubectl-dra" / "tui.json").read_text(encoding="utf-8")
