"""Logins that hang, end, rotate or lie; whose fault a certificate is; proxies that are none of ours."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.live import credentials, open_session
from kubectl_dra.source.live.errors import CertificateError, KubeconfigError, LoginError
from kubectl_dra.source.spec import Connection
from tests.kit.fake_api import Answer, FakeApi, connection_to, write_kubeconfig
from tests.kit.http import Server

EXEC = "client.authentication.k8s.io/v1"


def helper(folder: Path, script: str, **more: Any) -> dict[str, Any]:
    path = folder / "login-of-ann"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return {"exec": {"apiVersion": EXEC, "command": str(path), **more}}


def gives(**status: str) -> str:
    return f"printf %s '{json.dumps({'apiVersion': EXEC, 'kind': 'ExecCredential', 'status': status})}'"


@pytest.mark.parametrize(
    "script",
    ["sleep 600", "echo half; exec sleep 600", "sleep 600 & echo done", "trap '' TERM; while :; do sleep 1; done"],
)
def test_a_helper_that_hangs_ends_with_what_it_started(tmp_path: Path, api: FakeApi, script: str) -> None:
    user = helper(tmp_path, f"echo $$ > {tmp_path}/pid; {script}")
    with pytest.raises(LoginError, match=r"credential plugin .*login-of-ann does not end within 0\.5 s") as caught:
        open_session(connection_to(tmp_path, api, user, request_timeout=0.5))
    assert "--request-timeout=1s" in caught.value.hint
    group = int((tmp_path / "pid").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 60
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.02)


def test_sixty_seconds_unless_told_otherwise(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubectl_dra.source.live import exec_login

    assert exec_login.SECONDS == 60.0
    monkeypatch.setattr(exec_login, "SECONDS", 0.2)
    with pytest.raises(LoginError, match=r"within 0\.2 s"):
        open_session(connection_to(tmp_path, api, helper(tmp_path, "sleep 600")))


def test_a_helper_that_prints_without_end(tmp_path: Path, api: FakeApi) -> None:
    with pytest.raises(LoginError, match="login-of-ann prints without end"):
        open_session(connection_to(tmp_path, api, helper(tmp_path, "exec yes")))


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (gives(), "neither a token nor a certificate"),
        (gives(clientCertificateData="x"), "neither a token nor a certificate"),
        (gives(token="t", expirationTimestamp="soon"), "failed to decode"),
        (gives(token="t").replace("/v1", "/v2"), "answers in client.authentication.k8s.io/v2"),
        ("python3 -c 'print(\"[\" * 100000)'", "malformed response"),
        ("printf '\\377'", "failed to decode"),
    ],
)
def test_a_helper_that_lies(tmp_path: Path, api: FakeApi, script: str, text: str) -> None:
    with pytest.raises(LoginError, match=text):
        open_session(connection_to(tmp_path, api, helper(tmp_path, script)))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, "names no command"),
        ({"command": "x"}, "names no apiVersion"),
        ({"command": "x", "apiVersion": EXEC, "args": "--all"}, "are not lists"),
        ({"command": "x", "apiVersion": EXEC, "env": [7]}, "are not lists"),
    ],
)
def test_a_helper_that_is_not_described(tmp_path: Path, api: FakeApi, spec: dict[str, Any], text: str) -> None:
    with pytest.raises(LoginError, match=text):
        open_session(connection_to(tmp_path, api, {"exec": {"other": 1, **spec}}))


def test_a_helper_is_told_what_client_go_tells_it(tmp_path: Path, api: FakeApi) -> None:
    script = f'echo "$KUBERNETES_EXEC_INFO" > {tmp_path}/info; echo "$1 $A" > {tmp_path}/given; {gives(token="t")}'
    user = helper(tmp_path, script, args=["one"], env=[{"name": "A", "value": "two"}], provideClusterInfo=True)
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"tls-server-name": "api", "extensions": [extension]}
    open_session(Connection(kubeconfig=str(write_kubeconfig(tmp_path, api.url, user, cluster))))
    assert (tmp_path / "given").read_text(encoding="utf-8") == "one two\n"
    info = json.loads((tmp_path / "info").read_text(encoding="utf-8"))
    assert (info["apiVersion"], info["kind"]) == (EXEC, "ExecCredential")
    expected = {"server": api.url, "tls-server-name": "api", "config": {"audience": "x"}}
    assert info["spec"] == {"interactive": False, "cluster": expected}


def test_an_identity_provider_that_hangs(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/.well-known/openid-configuration"] = Answer({}, seconds=20)
    part = base64.urlsafe_b64encode(json.dumps({"exp": 1, "p": "x"}).encode()).decode().rstrip("=")
    config = {"id-token": f"e30.{part}.c2ln", "refresh-token": "r", "client-id": "c", "idp-issuer-url": api.url}
    with pytest.raises(LoginError, match=r"identity provider does not answer within 0\.5 s"):
        user = {"auth-provider": {"name": "oidc", "config": config}}
        open_session(connection_to(tmp_path, api, user, request_timeout=0.5))


# --- rotation -------------------------------------------------------------------------------------------------------


def test_a_token_file_is_read_anew_for_every_request(tmp_path: Path, api: FakeApi) -> None:
    path = tmp_path / "token"
    path.write_text("one\n", encoding="utf-8")
    session = open_session(connection_to(tmp_path, api, {"tokenFile": "token"}))
    for token in ("two", "three"):
        path.write_text(token, encoding="utf-8")
        session.get("/version", "read the version")
        assert api.requests[-1].headers["authorization"] == f"Bearer {token}"
    path.unlink()
    session.get("/version", "read the version")
    assert api.requests[-1].headers["authorization"] == "Bearer three", "the last one, while it is being replaced"
    path.write_text("fo\nur", encoding="utf-8")
    with pytest.raises(LoginError, match="line breaks"):
        session.get("/version", "read the version")


def test_a_helper_is_asked_anew_when_its_token_has_expired(tmp_path: Path, api: FakeApi) -> None:
    class Clock:
        moment = datetime(2026, 1, 1, tzinfo=UTC)

        def now(self) -> datetime:
            return self.moment

    script = f"echo x >> {tmp_path}/runs; {gives(token='t', expirationTimestamp='2026-01-01T01:00:00Z')}"
    clock = Clock()
    session = open_session(connection_to(tmp_path, api, helper(tmp_path, script), clock=clock))
    for hours, runs in ((0, 1), (0.9, 1), (1.1, 2)):
        clock.moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
        session.get("/version", "read the version")
        assert (tmp_path / "runs").read_text(encoding="utf-8") == "x\n" * runs


# --- whose fault a certificate is -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "cluster", "text"),
    [
        (
            {},
            {"certificate-authority": "nosuch"},
            'cluster "fake": certificate-authority .*nosuch can\'t be read: No such',
        ),
        ({}, {"certificate-authority-data": "!"}, 'cluster "fake": certificate-authority-data is not base64'),
        ({}, {"certificate-authority-data": "eHh4"}, 'cluster "fake": certificate-authority holds no certificate'),
        (
            {"client-certificate": "nosuch", "client-key-data": "eA=="},
            {},
            'user "someone": client-certificate .*nosuch can\'t be read: No such',
        ),
        ({"client-certificate-data": "eA=="}, {}, 'user "someone": client-key is missing'),
        ({"client-key-data": "eA=="}, {}, 'user "someone": client-certificate is missing'),
        ({"client-key-data": "eA==", "client-certificate-data": "eA=="}, {}, 'user "someone": .* can\'t be used'),
    ],
)
def test_who_is_to_mend_what(tmp_path: Path, user: dict[str, str], cluster: dict[str, str], text: str) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1", user, cluster)
    with pytest.raises(CertificateError, match=text) as caught:
        open_session(Connection(kubeconfig=str(path)))
    assert caught.value.hint == "fix the kubeconfig"


Keys = Callable[[str], tuple[Path, Path]]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """Certificates that sign themselves, by name, and their keys."""
    folder = tmp_path_factory.mktemp("tls")

    def make(name: str) -> tuple[Path, Path]:
        paths = folder / f"{name}.crt", folder / f"{name}.key"
        if not paths[0].exists():
            words = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(paths[1])]
            new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            command = ["openssl", "req", "-x509", "-days", "7", "-out", str(paths[0]), *new, *words]
            subprocess.run(command, check=True, capture_output=True)
        return paths

    return make


@pytest.fixture
def asking(keys: Keys) -> Iterator[tuple[str, list[str]]]:
    """A server that wants a certificate of ann's, and whom it has seen."""
    seen: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*keys("server"))
    context.load_verify_locations(keys("ann")[0])
    context.verify_mode = ssl.CERT_REQUIRED

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            certificate = self.connection.getpeercert()  # type: ignore[attr-defined]
            seen.append(certificate["subject"][0][0][1])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            """Silence."""

    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}", seen
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("way", ["files", "data", "helper", "no memory"])
def test_a_client_certificate_is_presented(
    tmp_path: Path, asking: tuple[str, list[str]], keys: Keys, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, seen = asking
    certificate, key = keys("ann")
    encoded = {"client-certificate-data": certificate, "client-key-data": key}
    user: dict[str, Any] = {name: base64.b64encode(path.read_bytes()).decode() for name, path in encoded.items()}
    if way == "files":
        user = {"client-certificate": str(certificate), "client-key": str(key)}
    elif way == "helper":
        status = {
            "clientCertificateData": certificate.read_text(encoding="utf-8"),
            "clientKeyData": key.read_text(encoding="utf-8"),
        }
        user = helper(tmp_path, gives(**status))
    elif way == "no memory":
        monkeypatch.delattr("os.memfd_create", raising=False)
    trusted = {"certificate-authority": str(keys("server")[0])}
    path = write_kubeconfig(tmp_path, url, user, trusted)
    assert open_session(Connection(kubeconfig=str(path))).get("/version", "read the version") == b"{}"
    assert seen == ["ann"]


def test_a_server_that_is_not_trusted(tmp_path: Path, asking: tuple[str, list[str]], keys: Keys) -> None:
    certificate, key = keys("ann")
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    for cluster in ({}, {"certificate-authority": str(certificate)}):
        path = write_kubeconfig(tmp_path, asking[0], user, cluster)
        with pytest.raises(CertificateError, match="no trusted connection"):
            open_session(Connection(kubeconfig=str(path))).get("/version", "read the version")
    path = write_kubeconfig(tmp_path, asking[0], user, {"insecure-skip-tls-verify": True})
    assert open_session(Connection(kubeconfig=str(path))).get("/version", "read the version") == b"{}"


# --- proxies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks4"])
def test_a_socks_proxy_is_an_error_that_says_what_works(tmp_path: Path, scheme: str) -> None:
    path = write_kubeconfig(tmp_path, "https://api.example.com", cluster={"proxy-url": f"{scheme}://127.0.0.1:1080"})
    with pytest.raises(KubeconfigError, match=f'cluster "fake": proxy-url is a SOCKS proxy \\({scheme}\\)') as caught:
        open_session(Connection(kubeconfig=str(path)))
    assert "ssh -L" in caught.value.hint


def test_a_socks_proxy_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1080")
    path = write_kubeconfig(tmp_path, "https://api.example.com")
    with pytest.raises(KubeconfigError, match="the proxy of the environment is a SOCKS proxy"):
        open_session(Connection(kubeconfig=str(path)))
    monkeypatch.setenv("NO_PROXY", "example.com")
    open_session(Connection(kubeconfig=str(path)))


def test_unknown_proxies_are_named(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://api.example.com", cluster={"proxy-url": "gopher://127.0.0.1"})
    with pytest.raises(KubeconfigError, match="unknown scheme gopher"):
        open_session(Connection(kubeconfig=str(path)))


def test_what_a_token_is() -> None:
    for token in ("a\nb", "a b", "ä", "a\0b", "a…"):
        with pytest.raises(LoginError, match="no token has"):
            credentials.bearer(token, "someone")
    assert credentials.bearer(" abc-._~+/=\r\n", "someone") == "Bearer abc-._~+/="
    assert credentials.bearer(" \n", "someone") == ""
