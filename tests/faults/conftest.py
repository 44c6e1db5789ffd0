"""A fake server that lives, behind a proxy that fails when told to; time-outs of five seconds."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kubectl_dra.source.live import session, watch
from kubectl_dra.source.spec import Connection
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.faulty_proxy import Faults, faulty
from tests.kit.live_api import LiveApi
from tests.live.conftest import no_proxies  # noqa: F401 - a fixture for all tests here

SECONDS = 5.0
IDLE_SECONDS = 0.5


@dataclass
class Site:
    """A server, what goes wrong on the way to it, and kubeconfigs for the way through and the way around."""

    api: LiveApi
    faults: Faults
    kubeconfig: Path
    direct: Path

    @property
    def connection(self) -> Connection:
        """Through the proxy."""
        return Connection(kubeconfig=str(self.kubeconfig))


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for the loopback address, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "server.crt", folder / "server.key"
    names = ["-subj", "/CN=faults", "-addext", "subjectAltName=IP:127.0.0.1"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(paths[1])]
    command = ["openssl", "req", "-x509", "-days", "7", "-out", str(paths[0]), *key, *names]
    subprocess.run(command, check=True, capture_output=True)
    return paths


@pytest.fixture
def site(tmp_path: Path, certificate: tuple[Path, Path]) -> Iterator[Site]:
    """The site, over TLS."""
    faults = Faults()
    with running(LiveApi()) as api, faulty(api.url, faults, None, *certificate) as url:
        assert isinstance(api, LiveApi)
        for name in ("direct", "faulty"):
            (tmp_path / name).mkdir()
        direct = write_kubeconfig(tmp_path / "direct", api.url)
        behind = write_kubeconfig(tmp_path / "faulty", url, cluster={"certificate-authority": str(certificate[0])})
        yield Site(api, faults, behind, direct)
        api.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long."""
    monkeypatch.setattr(watch, "IDLE_SECONDS", IDLE_SECONDS)
    monkeypatch.setattr(watch, "_BACK_OFF_SECONDS", (0.02, 0.1))
    monkeypatch.setattr(session, "READ_SECONDS", SECONDS)
