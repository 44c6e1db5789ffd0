"""Starting and ending a control plane: ports, credentials, processes, readiness."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.controlplane import programs
from tests.controlplane.client import Client, StatusError
from tests.controlplane.process import Process
from tests.controlplane.releases import NEWEST, Release

_ATTEMPTS: Final = 3
_READY_SECONDS: Final = 90.0


@dataclass(frozen=True)
class User:
    """A user of the API server, known by a token. Without groups it may do what its role bindings say."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)


ADMIN: Final = "admin"


class StartError(Exception):
    """Raised when a program of the control plane ends or stays silent; carries the end of its log."""


class ControlPlane:
    """A running control plane; a context manager. Several can run at once, each in its own temporary folder.

    Without ``controllers`` nothing but the scheduler changes what was created.
    """

    def __init__(
        self,
        binaries: Path,
        users: Iterable[User] = (),
        feature_gates: Mapping[str, bool] | None = None,
        release: Release = NEWEST,
        backoff_seconds: int | None = None,
        *,
        controllers: bool = True,
    ):
        system = [
            User(ADMIN, ("system:masters",)),
            User("system:kube-scheduler"),
            User("system:kube-controller-manager", ("system:masters",)),
        ]
        self.binaries = binaries
        self.users = {user.name: user for user in (*system, *users)}
        self.release = release
        self.feature_gates = {**release.gates, **(feature_gates or {})}
        self.folder = Path(tempfile.mkdtemp(prefix="kubectl-dra-controlplane-"))
        self.port = 0
        self._backoff_seconds = backoff_seconds
        self._controllers = controllers
        self._processes: list[Process] = []

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def certificate(self) -> Path:
        """The server's certificate, which clients trust."""
        return self.folder / "server.crt"

    @property
    def kubectl(self) -> Path:
        """The real kubectl of the same release."""
        return self.binaries / "kubectl"

    def __enter__(self) -> ControlPlane:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def client(self, user: str = ADMIN) -> Client:
        """A minimal client for a user."""
        return Client(self.server, self.certificate, self.users[user].token)

    def kubeconfig(self, user: str = ADMIN, namespace: str = "default") -> Path:
        """A kubeconfig file for a user; the context is called ``test``."""
        path = self.folder / f"kubeconfig-{user.replace(':', '-')}-{namespace}.json"
        cluster = {"server": self.server, "certificate-authority": str(self.certificate)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.users[user].token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user, "namespace": namespace}}],
        }
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
        path.chmod(0o600)
        return path

    def start(self) -> None:
        """Start all programs and wait until the API answers; another set of ports is tried when one was taken."""
        programs.write_credentials(self.folder, self.users.values())
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._start_once()
                return
            except StartError as error:
                if attempt == _ATTEMPTS or "address already in use" not in str(error):
                    raise
                self._end_processes()

    def stop(self) -> None:
        """End every process that this instance started, youngest first, and remove the folder."""
        self._end_processes()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, program: str) -> str:
        """The last lines of a program's log."""
        return next((process.log_tail() for process in self._processes if process.name == program), "")

    def _start_once(self) -> None:
        etcd_port, peer_port, self.port = free_ports(3)
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)
        self._run("etcd", programs.etcd(self.folder, etcd_port, peer_port))
        versions = self.release.runtime_config()
        self._run("kube-apiserver", programs.apiserver(self.folder, etcd_port, self.port, versions, self.feature_gates))
        self._wait_until_ready()
        scheduler, manager = (self.kubeconfig(f"system:kube-{name}") for name in ("scheduler", "controller-manager"))
        self._run(
            "kube-scheduler", programs.scheduler(scheduler, self.feature_gates, self._scheduler_config(scheduler))
        )
        if not self._controllers:
            return
        self._run("kube-controller-manager", programs.controller_manager(manager, self.folder, self.feature_gates))

    def _scheduler_config(self, kubeconfig: Path) -> Path | None:
        """A configuration that differs from the default one in how long a pod waits for its next attempt."""
        if self._backoff_seconds is None:
            return None
        path = self.folder / "scheduler.json"
        content = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig)},
            "leaderElection": {"leaderElect": False},
            "podInitialBackoffSeconds": self._backoff_seconds,
            "podMaxBackoffSeconds": self._backoff_seconds,
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def run(self, program: Path, flags: Sequence[str], name: str = "") -> Process:
        """Start another program, which ends with the control plane; its log is called ``name``."""
        name = name or program.name
        process = Process(name, [str(program), *flags], self.folder / f"{name}.log")
        self._processes.append(process)
        return process

    def _run(self, program: str, flags: Sequence[str]) -> None:
        self.run(self.binaries / program, flags)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        client = self.client()
        while True:
            self._check_alive()
            with contextlib.suppress(OSError, StatusError):
                client.request("GET", "/readyz")
                client.request("GET", "/api/v1/namespaces/default")
                return
            if time.monotonic() > deadline:
                raise StartError(
                    f"the API server is not ready after {_READY_SECONDS:.0f} s\n{self.log('kube-apiserver')}"
                )
            time.sleep(0.1)

    def _check_alive(self) -> None:
        for process in self._processes:
            if not process.running():
                raise StartError(f"{process.name} ended\n{process.log_tail()}")

    def _end_processes(self) -> None:
        for process in reversed(self._processes):
            process.stop()
        self._processes.clear()


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that nobody listens on at the moment."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def run_kubectl(plane: ControlPlane, *arguments: str, user: str = ADMIN, text: str = "") -> str:
    """What the real kubectl prints; CalledProcessError when it fails."""
    command = [str(plane.kubectl), "--kubeconfig", str(plane.kubeconfig(user)), *arguments]
    return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout
