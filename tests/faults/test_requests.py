"""Commands that answer once, on a bad way to the server: in bounded time, whole or not at all, with what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.source.live import listing
from tests.e2e.situations import node_object
from tests.faults.conftest import Site
from tests.kit.faulty_proxy import BODY, INSTEAD, Call, Fault

pytestmark = [pytest.mark.usefixtures("impatient"), pytest.mark.one_in(3)]
Run = Callable[..., tuple[int, str, str]]
COMMANDS = (
    ("get", "pools"),
    ("get", "devices", "-o", "json"),
    ("describe-pool",),
    ("why-pending", "-A"),
    ("test-selector", "true"),
    ("taint-device", "--list"),
    ("snapshot",),
)
FATAL = sorted((INSTEAD | BODY) - {Fault.SLOW, Fault.GONE})
NEXT = {
    Fault.THROTTLED: "try again in 1 s: the server is busy",
    Fault.LOGGED_OUT: 'log in again as user "someone" of context "fake", or choose another --context or --user',
    Fault.SILENT: "check --context, the network, or --request-timeout",
    Fault.STALLED: "check --context, the network, or --request-timeout",
}


def slice_(name: str) -> dict[str, Any]:
    """A slice with one device."""
    spec = {"driver": "d", "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}
    return {"metadata": {"name": name}, "spec": {**spec, "devices": [{"name": "gpu"}]}}


@pytest.fixture
def ask(site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    for number in range(5):
        site.api.put("ResourceSlice", slice_(f"n{number}"))
        site.api.put("Node", node_object(f"n{number}"))
    monkeypatch.setenv("KUBECONFIG", str(site.kubeconfig))
    capfd.readouterr()

    def run_it(*words: str) -> tuple[int, str, str]:
        code = run(words)
        return (code, *capfd.readouterr())

    return run_it


def of_slices(call: Call) -> bool:
    """The list that every command reads."""
    return call.path.endswith("/resourceslices")


@pytest.mark.parametrize("fault", FATAL)
def test_a_fault_is_told_with_the_next_step(site: Site, ask: Run, fault: Fault) -> None:
    command = COMMANDS[FATAL.index(fault) % len(COMMANDS)]
    site.faults.order(fault, of_slices)
    code, out, err = ask(*command)
    lines = err.splitlines()
    if fault is Fault.LOGGED_OUT:  # nothing else would be answered either
        assert (code, out, len(lines)) == (1, "", 2)
        assert lines[0].startswith("error: ")
        assert lines[1] == f"try:   {NEXT[fault]}"
    else:
        check_without_slices(command, code, out)
        assert lines[0].startswith("note: ")
        assert lines[0].endswith(NEXT.get(fault, "try again"))
    assert sum(map(of_slices, site.faults.calls)) == 1, "no silent retries"


def check_without_slices(command: tuple[str, ...], code: int, out: str) -> None:
    """Nothing of a list that is not whole passes for an answer: what is about it fails, the rest says what it lacks."""
    about_it = command[0] in ("get", "describe-pool")
    assert code == (1 if about_it else 0)
    assert "d/n" not in out
    assert not about_it or not out or json.loads(out)["items"] == []
    if command[0] in ("test-selector", "taint-device"):
        assert "ResourceSlice in the whole cluster: not read, because the server failed to list them" in " ".join(
            out.split()
        )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_the_same_of_a_body_that_breaks_off(site: Site, ask: Run, command: tuple[str, ...]) -> None:
    site.faults.order(Fault.CUT, of_slices)
    code, out, err = ask(*command)
    check_without_slices(command, code, out)
    assert "broke off its answer (list resourceslices)" in err


def test_a_slow_body_is_read_to_its_end(site: Site, ask: Run) -> None:
    site.faults.order(Fault.SLOW, of_slices)
    code, out, _ = ask("get", "pools", "-o", "name")
    assert (code, out) == (0, "".join(f"d/n{number}\n" for number in range(5)))


def test_a_body_that_trickles_is_given_up(site: Site, ask: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time; with the last one, twenty seconds later, it would be an answer."""
    monkeypatch.setattr("tests.kit.faulty_proxy.TRICKLE_SECONDS", 1.0)
    site.faults.order(Fault.SLOW, of_slices)
    code, out, err = ask("get", "pools")
    assert (code, out) == (1, "")
    assert "does not answer in time (list resourceslices)" in err


def test_a_list_that_expires_halfway_is_taken_in_one_piece(
    site: Site, ask: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "CHUNK", 2)
    site.faults.order(Fault.GONE, lambda call: of_slices(call) and "continue" in call.query)
    code, out, _ = ask("get", "pools", "-o", "name")
    assert (code, out.count("\n")) == (0, 5)
    queries = [call.query for call in site.faults.calls if of_slices(call)]
    assert [sorted(query) for query in queries] == [["limit"], ["continue", "limit"], []]


def test_a_chunk_that_fails_fails_the_whole(site: Site, ask: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "CHUNK", 2)
    site.faults.order(Fault.UNAVAILABLE, lambda call: of_slices(call) and "continue" in call.query)
    code, out, err = ask("get", "devices")
    assert (code, out) == (1, "")
    assert "fault 503" in err


def test_a_snapshot_says_what_the_server_failed_to_list(site: Site, ask: Run, tmp_path: Path) -> None:
    site.faults.order(Fault.BROKEN, of_slices)
    code, _, err = ask("snapshot", "-o", str(tmp_path / "cluster.json"))
    assert code == 0
    assert "not all of ResourceSlice could be read; the snapshot says so" in err
    taken = json.loads((tmp_path / "cluster.json").read_text(encoding="utf-8"))
    reads = {each["kind"]: each["coverage"] for each in taken["reads"]}
    assert (reads["ResourceSlice"], reads["Pod"]) == ("failed", "complete")
    assert not any(each["kind"] == "ResourceSlice" for each in taken["items"])


def test_no_file_is_left_of_a_snapshot_that_fails(site: Site, ask: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    site.faults.order(Fault.LOGGED_OUT)
    assert ask("snapshot", "-o", str(folder / "cluster.json"))[0] == 1
    assert list(folder.iterdir()) == []


def test_a_login_that_is_refused_while_discovering(site: Site, ask: Run) -> None:
    site.faults.order(Fault.LOGGED_OUT)
    code, out, err = ask("get", "pools")
    assert (code, out) == (1, "")
    assert "does not accept the login" in err


def test_clocks_that_disagree(site: Site, ask: Run) -> None:
    site.faults.kinds = frozenset({Fault.SKEWED})
    site.api.put("DeviceClass", {"metadata": {"name": "gpu", "creationTimestamp": "2999-01-01T00:00:00Z"}, "spec": {}})
    code, out, err = ask("get", "classes")
    assert code == 0
    assert "in the future" in out and "<invalid>" not in out
    assert "this computer's clock is behind the cluster's" in err
    code, out, _ = ask("snapshot")
    assert code == 0
    assert len(json.loads(out)["items"]) >= 11
