"""``tui`` and ``test-selector -i``: what is refused before anything starts, and what is not imported before."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.model.ids import Key
from kubectl_dra.output.progress import PROGRESS
from kubectl_dra.source.demo import CLUSTER
from kubectl_dra.tui.feed import Loaded
from tests.kit.fake_api import PLURALS, FakeApi, running, serve_cluster, write_kubeconfig


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["tui", "--from", "demo"], 1, "needs a terminal"),
        (["test-selector", "-i", "true", "--from", "demo"], 1, "needs a terminal"),
        (["test-selector", "-i", "true", "false", "--from", "demo"], 2, "takes one"),
        (["test-selector", "-i", "-f", "x.yaml", "--from", "demo"], 2, "cannot be combined"),
        (["tui", "nonsense"], 2, "unexpected"),
    ],
)
def test_refusals(capfd, arguments, code, text):
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert not out
    assert text in err


@pytest.fixture
def terminal(monkeypatch):
    """The three streams are a terminal; the screen is never reached."""
    stream = SimpleNamespace(isatty=lambda: True)
    streams = SimpleNamespace(stdin=stream, stdout=stream, stderr=stream, platform=sys.platform)
    monkeypatch.setattr("kubectl_dra.commands.tui.answers.sys", streams)
    monkeypatch.setenv("TERM", "xterm-256color")
    started = []
    screen = SimpleNamespace(run=lambda settings: started.append(settings) or 0)
    monkeypatch.setitem(sys.modules, "kubectl_dra.tui.start", screen)
    return started


def test_a_namespace_that_does_not_exist_ends_before_the_screen(capfd, terminal):
    assert run(["tui", "--from", "demo", "-n", "mll"]) == 1
    err = capfd.readouterr().err
    assert 'namespaces "mll" not found' in err
    assert 'did you mean "ml"?' in err
    assert terminal == []
    assert run(["tui", "--from", "demo", "-n", "ml"]) == 0
    assert [settings.namespace for settings in terminal] == ["ml"]


def test_a_namespace_that_a_live_cluster_does_not_have(capfd, terminal, tmp_path, monkeypatch):
    with running(FakeApi()) as api:
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"])
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
        assert run(["tui", "-n", "mll"]) == 1
        assert 'did you mean "ml"?' in capfd.readouterr().err
        assert terminal == []
        assert run(["tui", "-n", "ml"]) == 0
    # The screen tells of a server that does not answer, and tries it again with r.
    assert run(["tui", "-n", "mll"]) == 0
    assert [settings.namespace for settings in terminal] == ["ml", "mll"]


def test_who_may_read_one_namespace_sees_that_one_among_all(terminal, tmp_path, monkeypatch):
    """Nothing of the cluster as a whole may be read; what the own namespace has is not hidden by that."""
    loaded: queue.Queue[Loaded] = queue.Queue()
    with running(FakeApi()) as api:
        serve_cluster(api, json.loads(CLUSTER.read_bytes())["items"], tuple(PLURALS), own="ml")
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url, namespace="ml")))
        assert run(["tui"]) == 0
        feed = terminal[0].connect("")
        listener = SimpleNamespace(on_loaded=loaded.put, on_status=lambda _status: None, on_crash=pytest.fail)
        feed.start(listener)
        try:
            inventory, evidence, _ = loaded.get(timeout=60)
            while not {"Pod", "ResourceClaim"} <= {read.kind for read in evidence.reads if read.namespace == "ml"}:
                inventory, evidence, _ = loaded.get(timeout=60)
        finally:
            feed.stop()
    assert Key("ml", "trainer-0") in inventory.pods
    assert {key.namespace for key in (*inventory.pods, *inventory.claims)} == {"ml"}
    assert (evidence.complete("Pod", "ml"), evidence.complete("Pod")) == (True, False)


def test_nothing_else_is_shown_once_the_screen_is_there(terminal, monkeypatch):
    """The line that says what takes so long is a thread's."""
    monkeypatch.setattr(PROGRESS, "_closed", threading.Event())
    assert run(["tui", "--from", "demo"]) == 0
    assert len(terminal) == 1
    assert PROGRESS._closed is None


def test_a_file_that_can_t_be_read_ends_before_the_screen(capfd, terminal, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text("", encoding="utf-8")
    for path in (empty, tmp_path / "missing.json"):
        assert run(["tui", "--from", str(path)]) == 1
        assert path.name in capfd.readouterr().err
    assert terminal == []


def test_settings():
    settings = settings_of(Options(namespace="ml", from_="demo"), light=True, tab="lab", expression="true")
    assert (settings.namespace, settings.theme, settings.tab, settings.expression) == ("ml", "dra-light", "lab", "true")
    assert list(settings.contexts()) == []
    feed = settings.connect("")
    assert (feed.title, feed.live) == ("demo", False)
    assert settings_of(Options(namespace="ml", all_namespaces=True, from_="demo")).namespace == ""


def test_textual_is_loaded_only_when_it_starts():
    code = (
        "import sys\n"
        "from kubectl_dra.commands.app import run\n"
        "run(['tui', '--help'])\n"
        "run(['tui', '--from', 'demo'])\n"
        "assert 'textual' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
