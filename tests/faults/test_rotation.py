"""A login that changes while a command follows the cluster: a real process; the server takes the newest token only."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pytest

from tests.kit.fake_api import Answer, Request, running, status, write_kubeconfig
from tests.kit.live_api import LiveApi

pytestmark = pytest.mark.one_in(4)

WAIT = 60.0


class GuardedApi(LiveApi):
    """Takes one token; when it changes, all watches end."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "token-0"
        self.refused = 0

    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            self.refused += 1
            return status(401, "Unauthorized", "Unauthorized")
        return super().answer(request)

    def _stream(self, kind: str, position: int, fields: dict[str, str]) -> Iterator[bytes]:
        began = self.token
        for line in super()._stream(kind, position, fields):
            if self.token != began:
                return
            yield line


def claim(name: str) -> dict[str, Any]:
    requests = [{"name": "r", "exactly": {"deviceClassName": "c"}}]
    meta = {"name": name, "namespace": "ml", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {"metadata": meta, "spec": {"devices": {"requests": requests}}}


class Following:
    """A command that stays, and its lines as they come."""

    def __init__(self, kubeconfig: Path) -> None:
        words = [sys.executable, "-m", "kubectl_dra", "get", "claims", "-A", "-w", "--kubeconfig", str(kubeconfig)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        self._lines = self._read(self.process.stdout)
        self._notes = self._read(self.process.stderr)

    @staticmethod
    def _read(stream: IO[str] | None) -> queue.Queue[str]:
        assert stream is not None
        lines: queue.Queue[str] = queue.Queue()
        # An empty one is the last.
        threading.Thread(target=lambda: [lines.put(line) for line in chain(stream, [""])], daemon=True).start()
        return lines

    def until(self, word: str) -> None:
        while word not in self._lines.get(timeout=WAIT):
            pass

    def until_note(self, word: str) -> None:
        while word not in self._notes.get(timeout=WAIT):
            pass

    def end(self) -> str:
        """What else it has said."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(WAIT)
        return "".join(iter(lambda: self._notes.get(timeout=WAIT), ""))


@pytest.fixture
def api() -> Iterator[GuardedApi]:
    with running(GuardedApi()) as server:
        assert isinstance(server, GuardedApi)
        yield server
        server.close()


def _by_file(folder: Path, _api: GuardedApi) -> dict[str, Any]:
    """As kubelet does it: a link that is replaced leads to another folder."""
    _put_file(folder, "token-0")
    return {"tokenFile": str(folder / "data" / "token")}


def _put_file(folder: Path, token: str) -> None:
    place = folder / f"data-{token}"
    place.mkdir()
    (place / "token").write_text(f"{token}\n", encoding="utf-8")
    (folder / "link").symlink_to(place)
    os.replace(folder / "link", folder / "data")


def _by_helper(folder: Path, _api: GuardedApi) -> dict[str, Any]:
    """A token that lives for a moment, from a helper that always knows the newest one."""
    (folder / "newest").write_text("token-0", encoding="utf-8")
    version = "client.authentication.k8s.io/v1"
    credential = {"token": "TOKEN", "expirationTimestamp": "2020-01-01T00:00:00Z"}
    body = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": credential})
    script = folder / "login"
    script.write_text(f"#!/bin/sh\necho '{body}' | sed s/TOKEN/$(cat {folder}/newest)/\n", encoding="utf-8")
    script.chmod(0o755)
    return {"exec": {"apiVersion": version, "command": str(script)}}


def _put_helper(folder: Path, token: str) -> None:
    (folder / "newest").write_text(token, encoding="utf-8")


def _by_kubeconfig(_folder: Path, _api: GuardedApi) -> dict[str, Any]:
    return {"token": "token-0"}


WAYS = {"file": (_by_file, _put_file), "helper": (_by_helper, _put_helper), "kubeconfig": (_by_kubeconfig, None)}


@pytest.mark.parametrize("way", WAYS)
def test_following_goes_on(tmp_path: Path, api: GuardedApi, way: str) -> None:
    prepare, put = WAYS[way]
    config = write_kubeconfig(tmp_path, api.url, prepare(tmp_path, api))
    api.put("ResourceClaim", claim("first"))
    following = Following(config)
    try:
        following.until("first")
        for number in (1, 2):
            token = f"token-{number}"
            if put is None:
                write_kubeconfig(tmp_path, api.url, {"token": token})
            else:
                put(tmp_path, token)
            api.token = token
            api.put("ResourceClaim", claim(f"after-{number}"))
            following.until(f"after-{number}")
            assert following.process.poll() is None
        assert way != "kubeconfig" or api.refused > 0, "only a refusal makes the kubeconfig be read again"
    finally:
        err = following.end()
    assert "token-" not in err
    assert "Traceback" not in err


def test_a_login_that_ends_is_told_and_waited_for(tmp_path: Path, api: GuardedApi) -> None:
    config = write_kubeconfig(tmp_path, api.url, _by_file(tmp_path, api))
    api.put("ResourceClaim", claim("first"))
    following = Following(config)
    try:
        following.until("first")
        api.token = "token-1"
        api.put("ResourceClaim", claim("meanwhile"))
        following.until_note("does not accept the login")
        _put_file(tmp_path, "token-1")
        following.until("meanwhile")
    finally:
        following.end()
