"""Following a cluster: every change arrives, whatever happens to the connection in between."""

from __future__ import annotations

import gc
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.tui.live import WatchedFeed
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live import Needs, watch
from kubectl_dra.source.live.feed import FedState, Feed
from kubectl_dra.source.live.store import Store
from kubectl_dra.tui.feed import FeedStatus, Loaded
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, connection_to, status

pytestmark = pytest.mark.one_in(3)


class Script:
    """A kind that is listed once as ``items`` and then follows what the test says."""

    def __init__(self, api: FakeApi, kind: str, items: list[Any], namespace: str = "") -> None:
        self.items = items
        self.kind = kind
        self.watches: list[Request] = []
        self._watched = threading.Event()
        self._lines: queue.Queue[Any] = queue.Queue()
        self.path = api.serve(kind, [], namespace=namespace)
        api.routes[self.path] = self._answer

    def _answer(self, request: Request) -> Answer:
        if "watch" not in request.query:
            return chunk_of(request, self.kind, self.items, "v1")
        self.watches.append(request)
        self._watched.set()
        return Answer(stream=iter(self._lines.get, None))

    def until_watched(self) -> None:
        """Come back when all of the kind were read, and what changes is awaited."""
        assert self._watched.wait(60)

    def send(self, kind: str, name: str, version: int, namespace: str = "", **more: Any) -> None:
        """One event."""
        self._lines.put({"type": kind, "object": node(name, version, namespace, **more)})

    def raw(self, line: Any) -> None:
        """A line of its own making; None ends the watch."""
        self._lines.put(line)


def node(name: str, version: int = 1, namespace: str = "", **more: Any) -> dict[str, Any]:
    """An object."""
    scope = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, "resourceVersion": str(version), **scope}, **more}


class Seen:
    """What was published."""

    def __init__(self) -> None:
        self.all: list[FedState] = []
        self._news = threading.Condition()

    def __call__(self, published: FedState) -> None:
        with self._news:
            self.all.append(published)
            self._news.notify_all()

    def crashed(self, error: BaseException) -> None:
        """Never."""
        raise error

    def until(self, test: Callable[[FedState], bool], seconds: float = 120) -> FedState:
        """The first publication that passes."""
        deadline = time.monotonic() + seconds
        with self._news:
            while True:
                if self.all and test(self.all[-1]):
                    return self.all[-1]
                assert self._news.wait(deadline - time.monotonic()), f"not published: {self.all[-1:]}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_BACK_OFF_SECONDS", (0.02, 0.1))
    monkeypatch.setattr(watch, "_POLL_SECONDS", 0.05)


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def follow(tmp_path: Path, api: FakeApi, seen: Seen) -> Iterator[Callable[..., Feed]]:
    feeds: list[Feed] = []

    def start(*kinds: str, **needs: Any) -> Feed:
        feed = Feed(connection_to(tmp_path, api), Needs(frozenset(kinds), **needs), seen, seen.crashed)
        feeds.append(feed)
        feed.start()
        return feed

    yield start
    for feed in feeds:
        feed.close()


def _nodes(published: FedState) -> list[str]:
    return sorted(published.inventory.nodes)


def test_added_changed_and_deleted(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Node", [node("a"), node("b")])
    follow("Node")
    first = seen.until(lambda published: _nodes(published) == ["a", "b"])
    assert first.evidence.complete("Node")
    assert first.evidence.server_version == (1, 37)
    script.send("ADDED", "c", 8)
    script.send("MODIFIED", "a", 9, spec={"unschedulable": True})
    script.send("DELETED", "b", 10)
    last = seen.until(lambda published: _nodes(published) == ["a", "c"])
    assert last.inventory.nodes["a"].spec.unschedulable
    assert last.evidence.reads[0].resource_version == "10"
    assert _nodes(first) == ["a", "b"], "what was published does not change"
    assert not first.inventory.nodes["a"].spec.unschedulable
    assert script.watches[0].query["resourceVersion"] == "7"
    assert script.watches[0].query["allowWatchBookmarks"] == "true"


def test_a_watch_resumes_where_it_was_even_after_a_bookmark(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed]
) -> None:
    script = Script(api, "Node", [])
    follow("Node")
    script.send("ADDED", "a", 8)
    script.raw({"type": "BOOKMARK", "object": {"kind": "Node", "metadata": {"resourceVersion": "20"}}})
    script.raw(None)
    script.send("ADDED", "b", 21)
    seen.until(lambda published: _nodes(published) == ["a", "b"])
    assert [request.query["resourceVersion"] for request in script.watches][:2] == ["7", "20"]
    assert len([request for request in api.asked(script.path) if "watch" not in request.query]) == 1


@pytest.mark.parametrize("in_stream", [True, False])
def test_an_expired_position_leads_to_a_new_list(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed], in_stream: bool
) -> None:
    script = Script(api, "Node", [node("a", 1), node("gone", 2)])
    follow("Node")
    first = seen.until(lambda published: _nodes(published) == ["a", "gone"])
    script.items = [node("a", 1), node("new", 30)]
    if in_stream:
        script.raw({"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}})
    else:
        answers = iter([status(410, "too old", "Expired")])
        listing = api.routes[script.path]

        def once(request: Request) -> Answer:
            return next(answers, None) or listing(request) if "watch" in request.query else listing(request)  # type: ignore[operator]

        api.routes[script.path] = once
        script.raw(None)
    last = seen.until(lambda published: _nodes(published) == ["a", "new"])
    assert last.inventory.nodes["a"] is first.inventory.nodes["a"], "what did not change stays the same object"


def test_what_a_feed_has_heard_stays_the_same_in_the_next_one(
    api: FakeApi, tmp_path: Path, seen: Seen, follow: Callable[..., Feed]
) -> None:
    nodes = Script(api, "Node", [node("a", 1), node("b", 2)])
    spec = {"nodeName": "a", "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    Script(api, "Pod", [node(name, 3, "team", spec=spec, status={"phase": "Running"}) for name in ("one", "two")])
    Script(api, "DeviceClass", [node("gpu")])
    first = follow("Node", "Pod", "DeviceClass")
    before = seen.until(lambda published: published.whole).inventory
    heard = first.heard
    assert heard is not None
    first.close()
    nodes.items = [node("a", 1), node("b", 9)]
    again = Seen()
    kinds = frozenset(("Node", "Pod", "DeviceClass"))
    second = Feed(connection_to(tmp_path, api), Needs(kinds), again, again.crashed, heard)
    second.start()
    try:
        after = again.until(lambda published: published.whole).inventory
    finally:
        second.close()
    assert after.nodes["a"] is before.nodes["a"]
    assert after.nodes["b"] is not before.nodes["b"]
    # What follows from all classes stays true.
    assert after.classes is before.classes
    # Nor is anything kept twice of pods that only take their part of a node.
    assert after.usage is before.usage
    assert second.heard is not None
    for name in ("one", "two"):
        (_, known), (_, now) = heard.placed(Key("team", name)), second.heard.placed(Key("team", name))
        assert now is known


def test_who_reads_everything_again_lets_go_of_what_was_there(api: FakeApi, tmp_path: Path) -> None:
    Script(api, "Node", [node("a")])
    loaded: queue.Queue[Inventory] = queue.Queue()

    class Listening:
        def on_loaded(self, loaded_: Loaded) -> None:
            loaded.put(loaded_[0])

        def on_status(self, status: FeedStatus) -> None:
            """Not looked at."""

        def on_crash(self, error: BaseException) -> None:
            raise error

    feed = WatchedFeed("test", connection_to(tmp_path, api), Needs(frozenset(("Node",))), {})
    feed.start(Listening())
    try:
        first = loaded.get(timeout=120)
        feed.refresh()
        assert loaded.get(timeout=120).nodes["a"] is first.nodes["a"]
        deadline = time.monotonic() + 60
        while len(_stores_of("a")) > 1:
            assert time.monotonic() < deadline, "the former one is still there"
            time.sleep(0.02)
    finally:
        feed.stop()


def _stores_of(name: str) -> list[Store]:
    gc.collect()
    found = [each for each in gc.get_objects() if isinstance(each, Store)]
    return [each for each in found if Key("", name) in each.objects.get("Node", {})]


def test_a_broken_connection_is_told_and_mended(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Node", [node("a")])
    follow("Node")
    seen.until(lambda published: _nodes(published) == ["a"])
    working = api.routes[script.path]
    api.routes[script.path] = status(503, "etcd is on fire")
    script.raw(None)
    ill = seen.until(lambda published: bool(published.troubles))
    assert "etcd is on fire" in ill.troubles[0].what
    assert _nodes(ill) == ["a"], "the last known state stays"
    api.routes[script.path] = working
    seen.until(lambda published: not published.troubles)
    script.send("ADDED", "b", 9)
    seen.until(lambda published: _nodes(published) == ["a", "b"])


def test_a_broken_event_does_not_pass(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Node", [node("a")])
    follow("Node")
    seen.until(lambda published: _nodes(published) == ["a"])
    script.raw(b'{"type":"ADDED","object":{"metadata":\n')
    script.raw(None)
    script.send("ADDED", "b", 9)
    seen.until(lambda published: _nodes(published) == ["a", "b"] and not published.troubles)
    assert [request.query["resourceVersion"] for request in script.watches] == ["7", "7"]


def test_half_a_line_at_the_end_is_no_event(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Node", [node("a")])
    follow("Node")
    script.raw(b'{"type":"ADDED","obj')
    script.raw(None)
    script.send("ADDED", "b", 9)
    seen.until(lambda published: _nodes(published) == ["a", "b"])


def test_an_object_that_cannot_be_read_costs_itself(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Node", [node("a"), node("b")])
    follow("Node")
    script.send("MODIFIED", "b", 9, spec={"taints": 7})
    ill = seen.until(lambda published: bool(published.evidence.bad_objects))
    assert _nodes(ill) == ["a"]
    assert ill.evidence.coverage("Node") is Coverage.PARTIAL
    script.send("MODIFIED", "b", 10)
    well = seen.until(lambda published: not published.evidence.bad_objects)
    assert _nodes(well) == ["a", "b"]
    assert well.evidence.complete("Node")


def test_a_refusal_falls_back_to_namespaces(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    api.forbid("/api/v1/pods")
    script = Script(api, "Pod", [_pod("p", 1, claims=True)], namespace="ml")
    follow("Pod", namespaces=("ml",))
    published = seen.until(lambda published: Key("ml", "p") in published.inventory.pods)
    assert published.evidence.coverage("Pod") is Coverage.FORBIDDEN
    assert published.evidence.coverage("Pod", "ml") is Coverage.COMPLETE
    script.raw({"type": "DELETED", "object": _pod("p", 9, claims=True)})
    seen.until(lambda published: not published.inventory.pods)


def test_a_list_that_fails_is_read_of_namespaces_until_it_comes(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed]
) -> None:
    """What never came is not known; it is no kind of which there is nothing."""
    Script(api, "Pod", [node("web", namespace="ml", spec={"nodeName": ""})], "ml")
    whole = api.routes["/api/v1/pods"]
    api.routes["/api/v1/pods"] = status(504, "not in the time allotted")
    follow("Pod", namespaces=("ml",))
    published = seen.until(lambda published: Key("ml", "web") in published.inventory.pods)
    assert published.evidence.coverage("Pod") is Coverage.FAILED
    assert published.evidence.complete("Pod", "ml")
    assert not published.whole
    assert "not in the time allotted" in published.troubles[0].what
    api.routes["/api/v1/pods"] = whole
    published = seen.until(lambda published: published.evidence.complete("Pod"))
    assert published.whole
    assert not published.troubles


def test_a_kind_that_may_be_listed_but_not_watched_is_listed_again(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed]
) -> None:
    items = [node("a")]

    def answer(request: Request) -> Answer:
        return status(403, "no watch") if "watch" in request.query else chunk_of(request, "Node", items, "v1")

    api.routes["/api/v1/nodes"] = answer
    follow("Node")
    seen.until(lambda published: _nodes(published) == ["a"])
    items.append(node("b", 9))
    assert seen.until(lambda published: _nodes(published) == ["a", "b"]).evidence.complete("Node")


def test_rights_that_are_withdrawn_are_told_at_once(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not with the next of the lists that come without the right to watch."""
    monkeypatch.setattr(watch, "_POLL_SECONDS", 3600.0)
    script = Script(api, "Node", [node("a")])
    follow("Node")
    seen.until(lambda published: _nodes(published) == ["a"])
    script.send("ADDED", "b", 9)
    seen.until(lambda published: _nodes(published) == ["a", "b"])
    api.forbid("/api/v1/nodes")
    script.raw(None)
    published = seen.until(lambda published: not _nodes(published))
    assert published.evidence.coverage("Node") is Coverage.FORBIDDEN


def test_what_failed_is_tried_again_as_soon_as_somebody_knows_that_the_server_answers(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_BACK_OFF_SECONDS", (3600.0, 3600.0))
    Script(api, "Node", [node("a")])
    answer = api.routes["/api/v1/nodes"]
    api.routes["/api/v1/nodes"] = status(503, "not now")
    feed = follow("Node")
    seen.until(lambda published: bool(published.troubles))
    api.routes["/api/v1/nodes"] = answer
    feed.wake()
    assert _nodes(seen.until(lambda published: not published.troubles)) == ["a"]


def test_a_kind_that_is_not_served(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    del api.routes["/apis/resource.k8s.io"]
    Script(api, "Node", [])
    follow("Node", "ResourceSlice")
    published = seen.until(lambda published: True)
    assert published.evidence.coverage("ResourceSlice") is Coverage.NOT_SERVED


def _pod(name: str, version: int, node: str = "n1", cpu: str = "1", claims: bool = False) -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    if node:
        spec["nodeName"] = node
    if claims:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "c"}]
    return {"metadata": {"name": name, "namespace": "ml", "resourceVersion": str(version)}, "spec": spec}


def test_sums_per_node_follow_every_pod(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    script = Script(api, "Pod", [_pod("a", 1), _pod("b", 2), _pod("late", 3, node="")])

    def cpu(node: str) -> Callable[[FedState], int]:
        return lambda published: (
            published.inventory.usage[node].requests["cpu"] if node in published.inventory.usage else 0
        )

    follow("Pod")
    seen.until(lambda published: cpu("n1")(published) == 2000 and len(published.inventory.pods) == 1)
    script.raw({"type": "MODIFIED", "object": _pod("a", 9, cpu="500m")})
    seen.until(lambda published: cpu("n1")(published) == 1500)
    script.raw({"type": "MODIFIED", "object": _pod("late", 10, node="n2")})
    seen.until(lambda published: cpu("n2")(published) == 1000 and not published.inventory.pods)
    script.raw({"type": "DELETED", "object": _pod("a", 11)})
    script.raw({"type": "DELETED", "object": _pod("b", 12)})
    last = seen.until(lambda published: "n1" not in published.inventory.usage)
    assert last.inventory.usage["n2"].pods == 1


def test_many_changes_are_published_together_and_none_is_lost(
    api: FakeApi, seen: Seen, follow: Callable[..., Feed]
) -> None:
    script = Script(api, "Node", [])
    follow("Node")
    began = time.monotonic()
    for number in range(3000):
        script.send("ADDED", f"node-{number}", 10 + number)
    seen.until(lambda published: len(published.inventory.nodes) == 3000)
    assert len(seen.all) <= (time.monotonic() - began) / 0.25 + 2


def test_nothing_is_published_before_everything_was_read(api: FakeApi, seen: Seen, follow: Callable[..., Feed]) -> None:
    released = threading.Event()
    nodes = Script(api, "Node", [node("a")])

    def slow(request: Request) -> Answer:
        released.wait(10)
        return chunk_of(request, "Namespace", [], "v1")

    api.routes["/api/v1/namespaces"] = slow
    follow("Node", "Namespace")
    nodes.until_watched()
    assert not seen.all
    released.set()
    seen.until(lambda published: _nodes(published) == ["a"])
    assert all(each.evidence.complete("Namespace") for each in seen.all)


def test_a_cluster_that_does_not_answer_is_an_error_at_the_start(api: FakeApi, follow: Callable[..., Feed]) -> None:
    api.routes["/version"] = status(401, "Unauthorized")
    with pytest.raises(ClusterError):
        follow("Node")
