"""``-w`` as a person starts it: a process of its own against a server that lists, and then tells of changes."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared import following
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.evidence import Coverage
from tests.kit import build
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, status, write_kubeconfig

pytestmark = pytest.mark.one_in(5)

API = "resource.k8s.io/v1"


class Kind:
    """A kind that is listed as it is now, and whose changes reach every watch."""

    def __init__(self, api: FakeApi, kind: str, version: str = "v1", namespace: str = "") -> None:
        self.items: dict[str, dict[str, Any]] = {}
        self._kind, self._version, self._count = kind, version, 10
        self._watches: list[queue.Queue[Any]] = []
        self._events: list[tuple[int, Any]] = []
        self._lock = threading.Lock()
        api.routes[api.serve(kind, [], version, namespace)] = self._answer

    def _answer(self, request: Request) -> Answer:
        with self._lock:
            if "watch" not in request.query:
                answer = chunk_of(request, self._kind, list(self.items.values()), self._version)
                answer.body["metadata"]["resourceVersion"] = str(self._count)
                return answer
            lines: queue.Queue[Any] = queue.Queue()
            for version, event in self._events:
                if version > int(request.query["resourceVersion"]):
                    lines.put(event)
            self._watches.append(lines)
            return Answer(stream=iter(lines.get, None))

    def put(self, item: dict[str, Any], event: str = "MODIFIED") -> None:
        """Create or change an object; with ``DELETED`` it goes."""
        with self._lock:
            self._count += 1
            item["metadata"]["resourceVersion"] = str(self._count)
            self.items[item["metadata"]["name"]] = item
            if event == "DELETED":
                del self.items[item["metadata"]["name"]]
            self._events.append((self._count, {"type": event, "object": item}))
            for lines in self._watches:
                lines.put(self._events[-1][1])


class Watching:
    """A running ``kubectl dra …``."""

    def __init__(self, kubeconfig: Path, *arguments: str, read: bool = True) -> None:
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "NO_COLOR": "1", "PYTHONUTF8": "1"}
        command = [sys.executable, "-m", "kubectl_dra", *arguments]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        self.out = ""
        self._news = threading.Condition()
        self.err = ""
        self._reader = threading.Thread(target=self._read, args=("out",), daemon=True)
        self._listener = threading.Thread(target=self._read, args=("err",), daemon=True)
        if read:
            self._reader.start()
            self._listener.start()

    def _read(self, name: str) -> None:
        stream = self.process.stdout if name == "out" else self.process.stderr
        assert stream is not None
        while text := stream.readline():
            with self._news:
                setattr(self, name, getattr(self, name) + text)
                self._news.notify_all()

    def until(self, text: str, seconds: float = 120, *, times: int = 1) -> str:
        """Everything printed, as soon as ``text`` is in it as many ``times``."""
        return self._until("out", text, seconds, times)

    def until_note(self, text: str, seconds: float = 120) -> str:
        """Everything on stderr, as soon as ``text`` is in it."""
        return self._until("err", text, seconds, 1)

    def _until(self, name: str, text: str, seconds: float, times: int) -> str:
        deadline = time.monotonic() + seconds
        with self._news:
            while (found := str(getattr(self, name))).count(text) < times:
                self._news.wait(1)
                assert time.monotonic() < deadline, f"no {text!r} in {found!r}"
            return found

    def end(self, number: int | None = None) -> tuple[int, str, str]:
        """Exit code, stdout and stderr; with a signal it is sent first."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(20)
        self._reader.join(5)
        self._listener.join(5)
        return code, self.out, self.err


Start = Callable[..., Watching]


@pytest.fixture
def start(tmp_path: Path, api: FakeApi) -> Iterator[Start]:
    running: list[Watching] = []

    def begin(*arguments: str, read: bool = True) -> Watching:
        running.append(Watching(write_kubeconfig(tmp_path, api.url), *arguments, read=read))
        return running[-1]

    yield begin
    for each in running:
        each.process.kill()
        each.process.wait()


def claim(name: str, reserved: bool = False) -> dict[str, Any]:
    """A claim that holds one device, perhaps for a pod."""
    return build.claim(name, held=[("n1", name)], by=["p"] if reserved else ())


def test_get_prints_everything_once_and_then_what_changes(api: FakeApi, start: Start) -> None:
    claims = Kind(api, "ResourceClaim", API, "ml")
    api.serve("Pod", [], namespace="ml")
    claims.put(claim("a"))
    claims.put(claim("b"))
    watching = start("get", "claims", "-w", "-n", "ml")
    first = watching.until("b ")
    assert first.splitlines()[0].split()[0] == "NAME"
    claims.put(claim("b", reserved=True))
    watching.until("reserved")
    claims.put(claim("c"))
    out = watching.until("c ")
    assert [line.split()[0] for line in out.splitlines()] == ["NAME", "a", "b", "b", "c"]
    claims.put(claim("a"), "DELETED")
    claims.put(claim("d"))
    out = watching.until("\nd ")
    assert [line.split()[0] for line in out.splitlines()][5:] == ["a", "d"], (
        "what is gone comes once more, as in kubectl"
    )
    code, _, err = watching.end(signal.SIGINT)
    # The line break after the ^C that a terminal shows.
    assert (code, err) == (130, "\n")


def test_a_list_that_goes_on_failing_leaves_the_first_answer_to_the_others(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody waits without an end: what never came is said not to be known."""
    monkeypatch.setattr(following, "_PATIENCE", 0.0)
    api.serve("ResourceClaim", [], API)
    api.routes["/apis/resource.k8s.io/v1/resourceclaims"] = status(504, "not in the time allotted")
    options = Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))
    states = following.follow(options, {"Node", "ResourceClaim"})
    found = next(states).state
    assert found.evidence.coverage("ResourceClaim") is Coverage.FAILED
    assert found.evidence.complete("Node")
    states.close()  # type: ignore[attr-defined]


def test_get_json_is_a_stream_of_objects(api: FakeApi, start: Start) -> None:
    claims = Kind(api, "ResourceClaim", API, "ml")
    api.serve("Pod", [], namespace="ml")
    claims.put(claim("a"))
    watching = start("get", "claims", "-w", "-n", "ml", "-o", "json")
    watching.until("\n}\n")
    claims.put(claim("b"))
    watching.until('"name": "b"')
    assert watching.out.count('"kind": "ResourceClaim"') == 2


def test_the_only_one_that_was_named_goes_and_comes_back(api: FakeApi, start: Start) -> None:
    claims = Kind(api, "ResourceClaim", API, "ml")
    api.serve("Pod", [], namespace="ml")
    claims.put(claim("a"))
    watching = start("get", "claim", "a", "-w", "-n", "ml", "-o", "name")
    watching.until("a\n")
    claims.put(claim("a"), "DELETED")
    watching.until("a\n", times=2)
    claims.put(claim("a", reserved=True), "ADDED")
    watching.until("a\n", times=3)
    code, out, err = watching.end(signal.SIGINT)
    assert (code, out, err) == (130, "resourceclaim.resource.k8s.io/a\n" * 3, "\n")


def test_a_class_that_is_not_there_any_more_is_waited_for(api: FakeApi, start: Start) -> None:
    classes = Kind(api, "DeviceClass", API)
    gpu = {"metadata": {"name": "gpu"}, "spec": {}}
    classes.put(gpu)
    watching = start("get", "devices", "--class", "gpu", "-w")
    watching.until_note("No devices found")
    classes.put(gpu, "DELETED")
    watching.until_note('"gpu" not found')
    code, out, _ = watching.end(signal.SIGINT)
    assert (code, out) == (130, "")


def test_a_reader_that_goes_away_is_no_error(api: FakeApi, start: Start) -> None:
    claims = Kind(api, "ResourceClaim", API, "ml")
    api.serve("Pod", [], namespace="ml")
    claims.put(claim("a"))
    watching = start("get", "claims", "-w", "-n", "ml", read=False)
    process = watching.process
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("NAME")
    process.stdout.close()
    for number in range(50):
        if process.poll() is not None:
            break
        claims.put(claim(f"more-{number}"))
        time.sleep(0.2)
    assert process.wait(5) == 0
    assert process.stderr.read() == ""


def pod(phase: str = "Pending", node: str = "") -> dict[str, Any]:
    """A pod with one claim that does not exist."""
    return build.pod("p", claims=["shared"], node_name=node, phase=phase)


def node(name: str, heartbeat: str = "") -> dict[str, Any]:
    """A node; its heartbeat is nothing to talk about."""
    made = build.node(name)
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat or None}]
    return made


def test_why_pending_speaks_when_the_answer_changes_and_ends_when_the_pod_runs(api: FakeApi, start: Start) -> None:
    pods, nodes = Kind(api, "Pod"), Kind(api, "Node")
    claims = Kind(api, "ResourceClaim", API)
    pods.put(pod())
    nodes.put(node("n1"))
    watching = start("why-pending", "p", "-n", "ml", "-w")
    first = watching.until("shared")
    assert first.startswith("Pod ml/p ")
    for second in range(3):
        nodes.put(node("n1", f"2026-11-21T10:00:0{second}Z"))
        time.sleep(0.4)
    assert "---" not in watching.out
    claims.put({"metadata": {"name": "shared", "namespace": "ml", "uid": "s"}, "spec": {"devices": {}}, "status": {}})
    watching.until("---")
    pods.put(pod("Running", "n1"))
    code, out, err = watching.end()
    assert (code, err) == (0, "")
    assert out.count("--- ") == 2


def test_a_pod_that_finishes_meanwhile_has_run(api: FakeApi, start: Start) -> None:
    pods = Kind(api, "Pod")
    pods.put(pod())
    watching = start("why-pending", "p", "-n", "ml", "-w")
    watching.until("shared")
    api.routes["/api/v1/namespaces/ml/pods/p"] = Answer(pod("Succeeded", "n1"))
    pods.put(pod("Succeeded", "n1"), "DELETED")
    code, _, err = watching.end()
    assert (code, err) == (0, "")


def test_a_pod_that_is_made_again_is_waited_for(api: FakeApi, start: Start) -> None:
    pods = Kind(api, "Pod")
    pods.put(pod())
    watching = start("why-pending", "p", "-n", "ml", "-w")
    watching.until("shared")
    pods.put(pod(), "DELETED")
    watching.until_note("waiting for it")
    assert watching.process.poll() is None
    pods.put(pod("Running", "n1"), "ADDED")
    code, _, err = watching.end()
    assert code == 0
    assert 'note: pods "p" not found in namespace "ml"; waiting for it' in err


def test_a_name_that_was_never_there_is_an_error(api: FakeApi, start: Start) -> None:
    Kind(api, "Pod")
    code, out, err = start("why-pending", "p", "-n", "ml", "-w").end()
    assert (code, out) == (1, "")
    assert 'error: pods "p" not found' in err


def test_the_overview_comes_again(api: FakeApi, start: Start) -> None:
    pods = Kind(api, "Pod")
    pods.put(pod())
    watching = start("why-pending", "-n", "ml", "-w")
    watching.until("1 pod")
    pods.put(pod(), "DELETED")
    watching.until("---")
    watching.until("No pod")
    code, _, err = watching.end(signal.SIGINT)
    # The line break after the ^C that a terminal shows.
    assert (code, err) == (130, "\n")


@pytest.mark.parametrize("words", [("get", "claims"), ("why-pending", "trainer-0", "-n", "ml")])
def test_a_file_cannot_be_followed(words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "-w", "--from", "demo"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: -w follows a live cluster")
