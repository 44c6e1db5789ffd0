"""Requests: who we say we are, and every way in which an answer can fail, in words."""

from __future__ import annotations

import base64
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.source.errors import ClusterError, ForbiddenError
from kubectl_dra.source.live import open_session
from kubectl_dra.source.live.errors import (
    ApiError,
    BadAnswerError,
    CertificateError,
    ExpiredError,
    KubeconfigError,
    LoginError,
    NotServedError,
    RefusedError,
    ServerFailedError,
    ThrottledError,
    TimedOutError,
    UnreachableError,
)
from kubectl_dra.source.live.session import Session
from kubectl_dra.source.spec import Connection
from tests.controlplane.cluster import free_ports
from tests.kit.fake_api import Answer, FakeApi, connection_to, status, write_kubeconfig


def _session(folder: Path, api: FakeApi, user: dict[str, Any] | None = None, **options: Any) -> Session:
    return open_session(connection_to(folder, api, user, **options))


def _headers(folder: Path, api: FakeApi, user: dict[str, Any] | None = None, **options: Any) -> dict[str, str]:
    _session(folder, api, user, **options).get("/version", "read the version")
    return dict(api.asked("/version")[-1].headers)


# --- who we are -----------------------------------------------------------------------------------------------------


def test_a_token_is_sent_with_every_request(tmp_path: Path, api: FakeApi) -> None:
    headers = _headers(tmp_path, api, {"token": "secret"})
    assert headers["authorization"] == "Bearer secret"
    assert headers["User-Agent"].startswith("kubectl-dra/")


def test_a_token_file_is_read_without_its_line_break_and_wins(tmp_path: Path, api: FakeApi) -> None:
    (tmp_path / "token").write_text("from-file\n", encoding="utf-8")
    assert _headers(tmp_path, api, {"token": "old", "tokenFile": "token"})["authorization"] == "Bearer from-file"


def test_basic_authentication(tmp_path: Path, api: FakeApi) -> None:
    sent = _headers(tmp_path, api, {"username": "ann", "password": "pw"})["authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"ann:pw"


def test_impersonation_by_flags_replaces_that_of_the_kubeconfig(tmp_path: Path, api: FakeApi) -> None:
    user = {"as": "ann", "as-uid": "7", "as-groups": ["dev"], "as-user-extra": {"team": ["ml"]}}
    headers = _headers(tmp_path, api, user)
    assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("ann", "dev")
    assert (headers["Impersonate-Uid"], headers["Impersonate-Extra-team"]) == ("7", "ml")
    headers = _headers(tmp_path, api, user, as_user="bob", as_groups=("ops",))
    assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("bob", "ops")
    assert "Impersonate-Uid" not in headers
    assert "Impersonate-Extra-team" not in headers


def test_a_name_that_would_end_the_header_is_refused(tmp_path: Path, api: FakeApi) -> None:
    with pytest.raises(KubeconfigError, match="unprintable"):
        _session(tmp_path, api, as_user="ann\r\nX-Evil: 1")
    assert _headers(tmp_path, api, as_user="änn")["Impersonate-User"].encode("latin-1").decode() == "änn"


def test_nobody_is_anonymous(tmp_path: Path, api: FakeApi) -> None:
    assert "authorization" not in _headers(tmp_path, api)


# --- credential plugins -----------------------------------------------------------------------------------------------


def _helper(folder: Path, script: str) -> dict[str, Any]:
    path = folder / "login"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./login", "args": None, "env": None}}


def _credential(**fields: str) -> str:
    body = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": fields}
    return f"echo '{json.dumps(body)}'"


def test_a_login_helper_is_run_once(tmp_path: Path, api: FakeApi) -> None:
    user = _helper(tmp_path, f"echo x >> {tmp_path}/runs; {_credential(token='from-helper')}")
    session = _session(tmp_path, api, user)
    for _ in range(3):
        session.get("/version", "read the version")
    assert {request.headers["authorization"] for request in api.requests} == {"Bearer from-helper"}
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "x\n"


def test_an_expired_login_is_renewed_by_one_thread(tmp_path: Path, api: FakeApi) -> None:
    past = "2020-01-01T00:00:00Z"
    later = _credential(token="second", expirationTimestamp="2999-01-01T00:00:00Z")
    script = f"[ -e {tmp_path}/runs ] && {{ echo x >> {tmp_path}/runs; {later}; exit; }}; echo x >> {tmp_path}/runs; "
    session = _session(tmp_path, api, _helper(tmp_path, script + _credential(token="first", expirationTimestamp=past)))
    threads = [threading.Thread(target=session.get, args=("/version", "read")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {request.headers["authorization"] for request in api.requests} == {"Bearer second"}
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "x\nx\n"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("echo your session has expired >&2; exit 1", "your session has expired"),
        ("echo nonsense", "failed to decode"),
        ("echo '{}'", "malformed response"),
    ],
)
def test_a_failing_login_helper_says_why(
    tmp_path: Path, api: FakeApi, capfd: pytest.CaptureFixture[str], script: str, text: str
) -> None:
    with pytest.raises(LoginError, match=text) as caught:
        _session(tmp_path, api, _helper(tmp_path, script))
    assert 'user "someone"' in caught.value.what
    assert "log in again" in caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_a_missing_login_helper_is_named(tmp_path: Path, api: FakeApi) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-helper"}}
    with pytest.raises(LoginError, match="credential plugin no-such-helper is not installed") as caught:
        _session(tmp_path, api, user)
    assert "install no-such-helper" in caught.value.hint
    user["exec"]["installHint"] = "get it\nfrom example.com"
    with pytest.raises(LoginError, match="no-such-helper") as caught:
        _session(tmp_path, api, user)
    assert caught.value.hint == "get it from example.com"


def _jwt(expires: int) -> str:
    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    # A third part whose length has no padding trouble.
    return f"{part({'alg': 'none'})}.{part({'exp': expires, 'pad': 'x'})}.c2ln"


def test_a_valid_oidc_token_is_used(tmp_path: Path, api: FakeApi) -> None:
    token = _jwt(32503680000)
    provider = {"name": "oidc", "config": {"id-token": token}}
    assert _headers(tmp_path, api, {"auth-provider": provider})["authorization"] == f"Bearer {token}"


def test_an_identity_provider_that_does_not_answer(tmp_path: Path, api: FakeApi) -> None:
    (port,) = free_ports(1)
    config = {"id-token": _jwt(1), "refresh-token": "r", "client-id": "c", "client-secret": "s"}
    user = {"auth-provider": {"name": "oidc", "config": {**config, "idp-issuer-url": f"http://127.0.0.1:{port}"}}}
    with pytest.raises(LoginError, match="login failed"):
        _session(tmp_path, api, user)


def test_a_renewed_oidc_login_is_written_back(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # oauthlib insists on TLS otherwise
    renewed = _jwt(32503680000)
    api.routes["/.well-known/openid-configuration"] = Answer({"token_endpoint": f"{api.url}/token"})
    tokens = {"access_token": "a", "token_type": "Bearer", "id_token": renewed, "refresh_token": "next"}
    api.routes["/token"] = Answer(tokens)
    config = {"id-token": _jwt(1), "refresh-token": "r", "client-id": "c", "client-secret": "s"}
    provider = {"name": "oidc", "config": {**config, "idp-issuer-url": api.url}}
    connection = connection_to(tmp_path, api, {"auth-provider": provider})
    path = Path(connection.kubeconfig)
    path.chmod(0o600)
    open_session(connection).get("/version", "read the version")
    assert api.asked("/version")[-1].headers["authorization"] == f"Bearer {renewed}"
    kept = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert kept["users"][0]["user"]["auth-provider"]["config"]["refresh-token"] == "next"
    assert kept["contexts"][0]["context"]["namespace"] == "ml", "everything else stays"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["kubeconfig"]


# --- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (401, LoginError),
        (403, RefusedError),
        (404, NotServedError),
        (410, ExpiredError),
        (429, ThrottledError),
        (500, ServerFailedError),
        (503, ServerFailedError),
        (422, ApiError),
    ],
)
def test_each_refusal_has_a_class_and_the_servers_words(
    tmp_path: Path, api: FakeApi, code: int, kind: type[ApiError]
) -> None:
    api.routes["/version"] = status(code, "because of the weather", "Weather")
    with pytest.raises(kind, match="because of the weather") as caught:
        _session(tmp_path, api).get("/version", "read the version")
    assert (caught.value.code, caught.value.reason) == (code, "Weather")
    assert len(api.requests) == 1, "nothing is retried"


def test_a_refusal_is_a_forbidden_error_of_the_source() -> None:
    assert issubclass(RefusedError, ForbiddenError)
    assert issubclass(RefusedError, ClusterError)


def test_an_error_page_of_a_proxy_is_not_shown(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = Answer(b"<html>" + b"x" * 10000, 502)
    with pytest.raises(ServerFailedError, match="HTTP 502") as caught:
        _session(tmp_path, api).get("/version", "read the version")
    assert "html" not in caught.value.what


def test_plain_text_of_a_server_that_fails_is_what_it_says(tmp_path: Path, api: FakeApi) -> None:
    """As where a webhook that decides about rights gives no answer."""
    text = 'Internal Server Error: "/api/v1/pods": Post "https://authz.corp:8443/authorize": context deadline exceeded'
    api.routes["/version"] = Answer(f"{text}\n".encode(), 500)
    with pytest.raises(ServerFailedError) as caught:
        _session(tmp_path, api).get("/version", "list pods")
    assert caught.value.what.endswith(f" failed to list pods: {text}")
    assert caught.value.hint == (
        "try again; authz.corp:8443, which decides about rights, did not answer: if that lasts, tell whoever runs the "
        "cluster"
    )
    api.routes["/version"] = Answer(b"upstream is down", 503)
    with pytest.raises(ServerFailedError, match="failed to list pods: upstream is down") as caught:
        _session(tmp_path, api).get("/version", "list pods")
    assert caught.value.hint == "try again"


def test_a_long_text_is_capped_and_in_one_line(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = status(500, "a\nb" * 5000)
    with pytest.raises(ServerFailedError) as caught:
        _session(tmp_path, api).get("/version", "read the version")
    assert len(caught.value.what) < 600
    assert "\n" not in caught.value.what


def test_a_redirect_is_not_followed(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = Answer(b"", 302, {"Location": "https://login.example.com/"})
    with pytest.raises(BadAnswerError, match=r"login\.example\.com"):
        _session(tmp_path, api, {"token": "secret"}).get("/version", "read the version")


def test_a_slow_server_times_out_when_asked_to(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = Answer({}, seconds=20)
    with pytest.raises(TimedOutError, match="does not answer in time"):
        _session(tmp_path, api, request_timeout=0.2).get("/version", "read the version")


def test_a_closed_connection(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = Answer(closed=True)
    with pytest.raises(ClusterError, match="broke off"):
        _session(tmp_path, api).get("/version", "read the version")
    assert len(api.requests) == 1


def test_an_answer_that_is_cut_off(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/version"] = Answer({"major": "1", "minor": "37"}, cut=5)
    with pytest.raises(BadAnswerError, match="broke off"):
        _session(tmp_path, api).get("/version", "read the version")


def test_nobody_listens(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    path = write_kubeconfig(tmp_path, f"http://127.0.0.1:{port}")
    with pytest.raises(UnreachableError, match="Connection refused") as caught:
        open_session(Connection(kubeconfig=str(path))).get("/version", "read the version")
    assert "object at 0x" not in caught.value.what


def test_a_name_that_does_not_resolve(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "http://no-such-host.invalid")
    with pytest.raises(UnreachableError, match=r"no-such-host\.invalid") as caught:
        open_session(Connection(kubeconfig=str(path))).get("/version", "read the version")
    assert "object at 0x" not in caught.value.what


def test_a_proxy_that_does_not_answer(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    path = write_kubeconfig(tmp_path, "https://api.example.com", cluster={"proxy-url": f"http://127.0.0.1:{port}"})
    with pytest.raises(UnreachableError, match="proxy"):
        open_session(Connection(kubeconfig=str(path))).get("/version", "read the version")


def test_a_server_that_speaks_no_tls(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:
        threading.Thread(target=_answer_plainly, args=(plain,), daemon=True).start()
        path = write_kubeconfig(tmp_path, f"https://127.0.0.1:{plain.getsockname()[1]}")
        with pytest.raises(CertificateError, match="no trusted connection"):
            open_session(Connection(kubeconfig=str(path))).get("/version", "read the version")


def _answer_plainly(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")


# --- credentials that are not there ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "cluster"),
    [({"client-certificate": "nosuch.crt", "client-key": "nosuch.key"}, {}), ({}, {"certificate-authority": "nosuch"})],
)
def test_missing_certificates_are_named(tmp_path: Path, user: dict[str, str], cluster: dict[str, str]) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1", user, cluster)
    with pytest.raises(ClusterError, match="nosuch"):
        open_session(Connection(kubeconfig=str(path)))


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1", {"tokenFile": "nosuch"})
    with pytest.raises(LoginError, match="nosuch"):
        open_session(Connection(kubeconfig=str(path)))


def test_a_cluster_without_a_server(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "")
    with pytest.raises(KubeconfigError, match="has no server"):
        open_session(Connection(kubeconfig=str(path)))


def test_closing_while_a_stream_ends_is_no_error(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/watch"] = Answer(stream=iter([{"type": "ADDED"}]))
    session = _session(tmp_path, api, {"token": "t"})
    lines = session.lines("/watch", "watch", {}, 10)
    assert [next(lines), next(lines)] == [b"", b'{"type": "ADDED"}']
    (answer,) = session._streams
    answer.release_conn()
    answer.close()
    session.close()
