"""Every fault in the middle of a watch, one after another: no object is lost, none is invented, and it is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source.live import Needs, read
from kubectl_dra.source.live import watch as watching
from kubectl_dra.source.live.feed import FedState
from kubectl_dra.source.spec import Connection
from tests.e2e.situations import node_object
from tests.faults.conftest import Site
from tests.faults.running import NEEDS, Follower, differences
from tests.kit.faulty_proxy import BODY, EVENTS, INSTEAD, Call, Fault

pytestmark = [pytest.mark.usefixtures("impatient"), pytest.mark.one_in(4)]


def node(name: str, **labels: str) -> dict[str, Any]:
    """A node."""
    return node_object(name, labels=labels)


def _is_watch_of_nodes(call: Call) -> bool:
    return call.watch and call.path.endswith("/nodes")


def until(test: Callable[[], Any], what: str, seconds: float = 120) -> Any:
    """Wait."""
    deadline = time.monotonic() + seconds
    while not (found := test()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return found


def equal(follower: Follower, site: Site) -> bool:
    """Whether what was published is what a fresh list says."""
    truth, _ = read(Connection(kubeconfig=str(site.direct)), NEEDS)
    return follower.last is not None and follower.last.whole and not differences(follower.last.inventory, truth)


@pytest.fixture
def follower(site: Site) -> Iterator[Follower]:
    following = Follower(site.connection)
    yield following
    following.close()


def test_each_fault_in_turn(site: Site, follower: Follower) -> None:
    for number in range(6):
        site.api.put("Node", node(f"node-{number}"))
    follower.start()
    until(lambda: equal(follower, site), "the first list")
    for turn, fault in enumerate(sorted(EVENTS | BODY | INSTEAD)):
        site.faults.order(fault, _is_watch_of_nodes)
        # What happens instead of an answer needs a new watch to happen to.
        if fault in INSTEAD:
            site.faults.order(Fault.ENDED, _is_watch_of_nodes)
        site.api.put("Node", node("changes", turn=str(turn)))
        site.api.put("Node", node(f"new-{turn}"))
        site.api.delete("Node", f"new-{turn - 1}")
        site.api.put("Node", node("node-1", turn=str(turn)))
        until(lambda fault=fault: site.faults.counts[fault], f"{fault} never happened")
        until(lambda: equal(follower, site), f"after {fault}: not what a fresh list says")
    until(lambda: follower.last is not None and not follower.last.troubles, "the trouble is over")
    assert not follower.errors


def test_positions_that_expire_lead_to_a_new_list(site: Site, follower: Follower) -> None:
    site.faults.bookmarks = False
    site.api.put("Node", node("stays"))
    site.api.put("Node", node("goes"))
    follower.start()
    until(lambda: equal(follower, site), "the first list")
    site.faults.stalled.set()
    site.api.put("Node", node("comes"))
    site.api.delete("Node", "goes")
    site.api.forget()
    site.faults.order(Fault.ENDED, _is_watch_of_nodes)
    site.faults.stalled.clear()
    until(lambda: equal(follower, site), "after the position expired")


def test_a_server_that_answers_410_for_ever_is_not_asked_without_pause(site: Site, follower: Follower) -> None:
    site.faults.order(Fault.GONE, _is_watch_of_nodes, times=100_000)
    waited = follower.pauses("nodes/all")
    follower.start()
    until(lambda: follower.last, "the list alone is enough to begin")
    until(lambda: len(waited) > 12, "it goes on asking")
    pauses = list(waited)
    asked = sum(call.path.endswith("/nodes") for call in site.faults.calls)
    # A list and a watch per pause; one pair may have come in between.
    assert asked <= 2 * (len(pauses) + 3)
    assert all(seconds >= 0.07 for seconds in pauses[8:]), "only the first few are shorter than the longest"


def test_what_a_server_asks_for_is_respected(site: Site, follower: Follower) -> None:
    waited = follower.pauses("nodes/all")
    follower.start()
    until(lambda: equal(follower, site), "the first list")
    site.faults.order(Fault.THROTTLED, _is_watch_of_nodes)
    site.faults.order(Fault.ENDED, _is_watch_of_nodes)
    before = sum(map(_is_watch_of_nodes, site.faults.calls))
    site.api.put("Node", node("a"))
    until(lambda: site.faults.counts[Fault.THROTTLED], "throttled")
    until(lambda: sum(map(_is_watch_of_nodes, site.faults.calls)) > before + 1, "asked again")
    assert max(waited) == 1, "the server said one second"


def test_nothing_passes_for_read_that_was_not(site: Site, follower: Follower) -> None:
    site.api.put("Node", node("a"))
    site.faults.order(Fault.FAILED, lambda call: call.path.endswith("/nodes"), times=100_000)
    follower.start()

    def told() -> FedState | None:
        last = follower.last
        troubles = last.troubles if last is not None else ()
        return last if any("failed to list nodes" in trouble.what for trouble in troubles) else None

    published = until(told, "published with trouble")
    assert not published.whole
    assert published.evidence.coverage("Node") is Coverage.FAILED
    site.faults.stop()
    until(lambda: equal(follower, site), "all is well")


def test_a_login_that_expires_is_renewed(site: Site, follower: Follower) -> None:
    follower.start()
    until(lambda: equal(follower, site), "the first list")
    site.faults.order(Fault.LOGGED_OUT, lambda call: call.watch, times=6)
    site.faults.order(Fault.ENDED, lambda call: call.watch, times=6)
    for kind in ("Node", "Namespace"):
        site.api.put(kind, {"metadata": {"name": "a"}})
    until(lambda: equal(follower, site), "logged in again")


def test_an_error_of_the_program_is_told(site: Site, monkeypatch: pytest.MonkeyPatch, follower: Follower) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(watching, "decode_object", broken)
    follower.start()
    until(lambda: follower.last, "the first list")
    site.api.put("Node", node("a"))
    until(lambda: follower.errors, "the error arrives")
    assert isinstance(follower.errors[0], ZeroDivisionError)


def test_only_the_slices_that_are_named_are_followed(site: Site, tmp_path: Path) -> None:
    def slice_(pool: str, turn: int) -> dict[str, Any]:
        spec = {"driver": "d", "nodeName": "n", "pool": {"name": pool, "generation": turn, "resourceSliceCount": 1}}
        return {"metadata": {"name": pool}, "spec": {**spec, "devices": []}}

    for pool in ("one", "two", "three"):
        site.api.put("ResourceSlice", slice_(pool, 1))
    chosen = frozenset({frozenset({("spec.driver", "d"), ("spec.pool.name", name)}) for name in ("one", "two")})
    follower = Follower(site.connection, Needs(frozenset({"ResourceSlice"}), slices=chosen))
    follower.start()
    try:
        until(lambda: follower.last, "published")
        assert follower.last is not None
        assert sorted(follower.last.inventory.slices) == ["one", "two"]
        assert follower.last.evidence.coverage("ResourceSlice") is Coverage.FILTERED
        site.api.put("ResourceSlice", slice_("three", 2))
        site.api.put("ResourceSlice", slice_("one", 2))
        until(lambda: follower.last.inventory.slices["one"].spec.pool.generation == 2, "the change")  # type: ignore[union-attr]
        assert sorted(follower.last.inventory.slices) == ["one", "two"]
        site.api.delete("ResourceSlice", "two")
        until(lambda: list(follower.last.inventory.slices) == ["one"], "gone")  # type: ignore[union-attr]
    finally:
        follower.close()


def test_a_server_that_cannot_select_gives_everything(site: Site) -> None:
    site.api.unselectable = frozenset({"spec.pool.name"})
    spec = {"driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}
    site.api.put("ResourceSlice", {"metadata": {"name": "p"}, "spec": {**spec, "devices": []}})
    site.api.put("ResourceSlice", {"metadata": {"name": "q"}, "spec": {**spec, "driver": "e", "devices": []}})
    chosen = frozenset(
        {frozenset({("spec.pool.name", "p")}), frozenset({("spec.driver", "e"), ("spec.pool.name", "p")})}
    )
    follower = Follower(site.connection, Needs(frozenset({"ResourceSlice"}), slices=chosen))
    follower.start()
    try:
        until(lambda: follower.last is not None and follower.last.whole, "published")
        assert follower.last is not None
        assert sorted(follower.last.inventory.slices) == ["p", "q"]
    finally:
        follower.close()
