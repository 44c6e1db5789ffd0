"""The flags of each program, and the throw-away credentials that they share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol

# ServiceAccount would want a token for every pod; TaintNodesByCondition taints every new Node until a kubelet reports.
_WITHOUT_ADMISSION: Final = "ServiceAccount,TaintNodesByCondition"


class TokenUser(Protocol):
    """What a line of the token file is made from."""

    @property
    def name(self) -> str:
        """The user's name."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that it is in."""

    @property
    def token(self) -> str:
        """The bearer token."""


def write_credentials(folder: Path, users: Iterable[TokenUser]) -> None:
    """``server.key`` and ``server.crt`` (also sign service account tokens) and ``tokens.csv``."""
    subject = ["-subj", "/CN=kubectl-dra-test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    uses = ["-addext", "keyUsage=critical,digitalSignature,keyCertSign"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(folder / "server.key")]
    command = ["openssl", "req", "-x509", "-days", "7", "-out", str(folder / "server.crt"), *key, *subject, *uses]
    subprocess.run(command, check=True, capture_output=True)
    rows = (f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users)
    tokens = folder / "tokens.csv"
    tokens.touch(mode=0o600)
    tokens.write_text("".join(rows), encoding="utf-8")


def etcd(folder: Path, port: int, peer_port: int) -> list[str]:
    """A single member on loopback; it need not survive a crash."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    flags = {
        "data-dir": str(folder / "etcd"),
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "initial-cluster": f"default={peer}",
        "log-level": "warn",
    }
    return [*(f"--{name}={value}" for name, value in flags.items()), "--unsafe-no-fsync"]


def apiserver(folder: Path, etcd_port: int, port: int, versions: str, gates: Mapping[str, bool]) -> list[str]:
    """The API server with RBAC and token users; ``versions`` says what it serves beside its defaults."""
    flags = {
        "etcd-servers": f"http://127.0.0.1:{etcd_port}",
        "bind-address": "127.0.0.1",
        "secure-port": str(port),
        "advertise-address": "192.0.2.1",
        "endpoint-reconciler-type": "none",
        "tls-cert-file": str(folder / "server.crt"),
        "tls-private-key-file": str(folder / "server.key"),
        "token-auth-file": str(folder / "tokens.csv"),
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": str(folder / "server.crt"),
        "service-account-signing-key-file": str(folder / "server.key"),
        "service-cluster-ip-range": "10.0.0.0/24",
        "disable-admission-plugins": _WITHOUT_ADMISSION,
        "runtime-config": versions,
    }
    return [*(f"--{name}={value}" for name, value in flags.items()), *_gates(gates)]


def scheduler(kubeconfig: Path, gates: Mapping[str, bool], config: Path | None = None) -> list[str]:
    """The scheduler, with its default configuration or another one."""
    how = [f"--config={config}"] if config is not None else [f"--kubeconfig={kubeconfig}", "--leader-elect=false"]
    return [*how, "--secure-port=0", *_gates(gates)]


def controller_manager(kubeconfig: Path, folder: Path, gates: Mapping[str, bool]) -> list[str]:
    """The controllers; node monitoring is slow enough that hand-made nodes stay Ready during a test run."""
    flags = {
        "kubeconfig": str(kubeconfig),
        "leader-elect": "false",
        "secure-port": "0",
        "use-service-account-credentials": "false",
        "service-account-private-key-file": str(folder / "server.key"),
        "controllers": "*,-node-lifecycle-controller",
    }
    return [*(f"--{name}={value}" for name, value in flags.items()), *_gates(gates)]


def _gates(gates: Mapping[str, bool]) -> list[str]:
    text = ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())
    return [f"--feature-gates={text}"] if text else []
