"""A marked secret in every place of a kubeconfig and of the environment, and every failure: it is seen nowhere."""

from __future__ import annotations

import base64
import json
import logging
import subprocess
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.source import secrets
from tests.controlplane.cluster import free_ports
from tests.kit.fake_api import Answer, FakeApi, Request, write_kubeconfig
from tests.kit.sample import sampled

MARK = "s3cr3tM4rk"
# Everything that somebody could find who has the mark's bytes only in another form.
MARKS = (MARK, base64.b64encode(MARK.encode()).decode().rstrip("=")[:12], "czNjcjN0TTRya")
EXEC = "client.authentication.k8s.io/v1"
Place = Callable[[Path, dict[str, Any], dict[str, Any]], None]


def _script(folder: Path, body: str) -> dict[str, Any]:
    path = folder / "login"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return {"apiVersion": EXEC, "command": str(path)}


def _gives(**status: str) -> str:
    return f"echo '{json.dumps({'apiVersion': EXEC, 'kind': 'ExecCredential', 'status': status})}'"


def _jwt(expires: int) -> str:
    parts = ({"alg": "none"}, {"exp": expires, "pad": "x"})
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, MARK])


def _provider(port: int, **more: str) -> dict[str, Any]:
    config = {"id-token": _jwt(1), "refresh-token": MARK, "client-id": "c", "client-secret": MARK}
    return {"name": "oidc", "config": {**config, "idp-issuer-url": f"http://127.0.0.1:{port}", **more}}


def _in_url(cluster: dict[str, Any]) -> None:
    scheme, _, rest = cluster["server"].partition("://")
    cluster["server"] = f"{scheme}://ann:{MARK}@{rest}"


def _token_file(folder: Path, user: dict[str, Any], content: bytes) -> None:
    (folder / "token").write_bytes(content)
    user["tokenFile"] = str(folder / "token")


PLACES: dict[str, Place] = {
    "token": lambda folder, user, cluster: user.update(token=MARK),
    "token-with-line-break": lambda folder, user, cluster: user.update(token=f"{MARK}\nX-Evil: {MARK}"),
    "token-with-line-break-at-the-end": lambda folder, user, cluster: user.update(token=f"{MARK}\n"),
    "token-outside-latin-1": lambda folder, user, cluster: user.update(token=f"{MARK}…"),
    "token-in-latin-1": lambda folder, user, cluster: user.update(token=f"{MARK}ä"),
    "token-with-nul": lambda folder, user, cluster: user.update(token=f"{MARK}\0"),
    "token-of-two-words": lambda folder, user, cluster: user.update(token=f"{MARK} {MARK}"),
    "token-file": lambda folder, user, cluster: _token_file(folder, user, MARK.encode() + b"\n"),
    "token-file-that-is-no-text": lambda folder, user, cluster: _token_file(folder, user, MARK.encode() + b"\xff"),
    "token-file-of-lines": lambda folder, user, cluster: _token_file(folder, user, f"{MARK}\n{MARK}".encode()),
    "password": lambda folder, user, cluster: user.update(username="ann", password=MARK),
    "password-outside-latin-1": lambda folder, user, cluster: user.update(username="ann", password=f"{MARK}…\n"),
    "helper": lambda folder, user, cluster: user.update(exec=_script(folder, _gives(token=MARK))),
    "helper-with-line-break": lambda folder, user, cluster: user.update(
        exec=_script(folder, _gives(token=f"{MARK}\\n{MARK}…"))
    ),
    "helper-that-gives-no-json": lambda folder, user, cluster: user.update(exec=_script(folder, f"echo {MARK}")),
    "helper-that-gives-half": lambda folder, user, cluster: user.update(
        exec=_script(folder, f'echo \'{{"kind": "ExecCredential", "status": {{"token": "{MARK}"}}}}\'')
    ),
    "helper-that-gives-another-type": lambda folder, user, cluster: user.update(
        exec=_script(folder, _gives(token=MARK).replace(f'"{MARK}"', f'{{"{MARK}": 1}}'))
    ),
    "helper-that-tells-its-settings": lambda folder, user, cluster: user.update(
        exec={
            **_script(folder, 'echo "$CLIENT_SECRET $*" >&2; exit 1'),
            "env": [{"name": "CLIENT_SECRET", "value": MARK}],
            "args": ["--client-secret", MARK, f"--password={MARK}"],
        }
    ),
    "helper-key": lambda folder, user, cluster: user.update(
        exec=_script(folder, _gives(clientCertificateData="none", clientKeyData=MARK))
    ),
    "client-key-data": lambda folder, user, cluster: user.update(
        {"client-certificate-data": "eA==", "client-key-data": base64.b64encode(MARK.encode()).decode()}
    ),
    "client-key-data-no-base64": lambda folder, user, cluster: user.update(
        {"client-certificate-data": "eA==", "client-key-data": f"{MARK}!"}
    ),
    "oidc": lambda folder, user, cluster: user.update({"auth-provider": _provider(*free_ports(1))}),
    "oidc-valid": lambda folder, user, cluster: user.update(
        {"auth-provider": _provider(1, **{"id-token": _jwt(32503680000)})}
    ),
    "oidc-no-token": lambda folder, user, cluster: user.update({"auth-provider": _provider(1, **{"id-token": MARK})}),
    "server": lambda folder, user, cluster: _in_url(cluster),
    "proxy": lambda folder, user, cluster: cluster.update({"proxy-url": f"http://ann:{MARK}@127.0.0.1:1"}),
    "socks": lambda folder, user, cluster: cluster.update({"proxy-url": f"socks5://ann:{MARK}@127.0.0.1:1"}),
    "odd-proxy": lambda folder, user, cluster: cluster.update({"proxy-url": f"gopher://ann:{MARK}@127.0.0.1:1"}),
    "no-proxy": lambda folder, user, cluster: cluster.update({"proxy-url": f"http://[ann:{MARK}@127.0.0.1:1"}),
    "odd-server": lambda folder, user, cluster: cluster.update(server=f"https://ann:{MARK}@[127.0.0.1"),
    "server-with-a-slash-in-its-password": lambda folder, user, cluster: cluster.update(
        server=f"https://ann:{MARK}/x@127.0.0.1:1/?token={MARK}#{MARK}"
    ),
    "server-with-a-slash-before-its-password": lambda folder, user, cluster: cluster.update(
        server=f"https://ann:/{MARK}@127.0.0.1:1"
    ),
    "server-without-a-scheme": lambda folder, user, cluster: cluster.update(server=f"ann:{MARK}@127.0.0.1:1"),
    "server-without-a-scheme-but-slashes": lambda folder, user, cluster: cluster.update(
        server=f"//ann:{MARK}@127.0.0.1:1"
    ),
    "server-outside-latin-1": lambda folder, user, cluster: cluster.update(server=f"https://ann:{MARK}@\u20ac\u2100.x"),
    "server-of-lines": lambda folder, user, cluster: cluster.update(server=f"https://ann:{MARK}\n@127.0.0.1:1"),
    "server-with-a-query": lambda folder, user, cluster: cluster.update(server=f"{cluster['server']}?token={MARK}"),
    "proxy-without-a-scheme": lambda folder, user, cluster: cluster.update({"proxy-url": f"ann:{MARK}@127.0.0.1:1"}),
    "proxy-with-a-slash-in-its-password": lambda folder, user, cluster: cluster.update(
        {"proxy-url": f"http://ann:{MARK}/x@127.0.0.1:1"}
    ),
    "no-server": lambda folder, user, cluster: cluster.update(server=f"gopher://ann:{MARK}@127.0.0.1"),
}


def _echo(code: int) -> Callable[[Request], Answer]:
    """A server, or a proxy before it, that repeats what it was asked."""

    def answer(request: Request) -> Answer:
        said = " ".join(value for value in request.headers.values())
        body = {"kind": "Status", "message": f"no: {said}", "reason": said, "code": code}
        return Answer(body, code, {"Location": f"https://login.example.com/?{MARK}={said}", "Retry-After": said})

    return answer


def _garbage(request: Request) -> Answer:
    return Answer(request.headers.get("authorization", MARK).encode())


FAILURES: dict[str, Callable[[Request], Answer] | None] = {
    "none": None,
    **{str(code): _echo(code) for code in (302, 400, 401, 403, 404, 410, 429, 500, 503, 504)},
    "garbage": _garbage,
    "closed": lambda request: Answer(closed=True),
    "cut": lambda request: Answer({"kind": "List"}, cut=3),
    "not-gzip": lambda request: Answer(b"plain", headers={"Content-Encoding": "gzip"}),
    "slow": lambda request: Answer({}, seconds=5),
}
COMMANDS = (["why-pending", "-A", "-o", "json"], ["snapshot", "-o", "FILE"])


@pytest.fixture
def everywhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Looks for the mark in what was printed, logged and written since."""
    # What other tests have told the process would be hidden here as well.
    monkeypatch.setattr(secrets, "_known", set())
    monkeypatch.setattr(logging.getLogger("kubectl_dra"), "handlers", [])
    planted = tmp_path / "planted"
    planted.mkdir()
    for name in ("tmp", "home", "out"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))

    def look() -> None:
        out, err = capfd.readouterr()
        files = [path for path in tmp_path.rglob("*") if path.is_file() and planted not in path.parents]
        texts = {"stdout": out, "stderr": err, **{str(path): path.read_text("latin-1") for path in files}}
        for where, text in texts.items():
            assert not [mark for mark in MARKS if mark in text], (where, text[:2000])
        assert "Traceback" not in err
        assert err.strip() or out.strip() or files

    return look


def _run(tmp_path: Path, api: FakeApi, place: str, failure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user: dict[str, Any] = {}
    cluster: dict[str, Any] = {"server": api.url}
    PLACES[place](tmp_path / "planted", user, cluster)
    config = write_kubeconfig(tmp_path / "planted", cluster.pop("server"), user, cluster)
    monkeypatch.setenv("KUBECONFIG", str(config))
    answer = FAILURES[failure]
    if answer is not None:
        for path in list(api.routes):
            api.routes[path] = answer
    for words in COMMANDS:
        arguments = [str(tmp_path / "out" / "cluster.json") if word == "FILE" else word for word in words]
        assert run([*arguments, "-v=10", "--request-timeout=500ms"]) in (0, 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("place", "failure"), sampled(product(PLACES, FAILURES), 4, lambda case: case[0]))
def test_a_marked_secret_is_seen_nowhere(
    tmp_path: Path,
    api: FakeApi,
    monkeypatch: pytest.MonkeyPatch,
    everywhere: Callable[[], None],
    place: str,
    failure: str,
) -> None:
    if failure == "slow" and place not in ("token", "server"):
        pytest.skip("waiting is the same wherever the secret is")
    _run(tmp_path, api, place, failure, monkeypatch)
    everywhere()


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "http_proxy"])
@pytest.mark.parametrize("scheme", ["http", "socks5", "gopher"])
def test_nor_is_one_of_the_environment(
    tmp_path: Path,
    api: FakeApi,
    monkeypatch: pytest.MonkeyPatch,
    everywhere: Callable[[], None],
    name: str,
    scheme: str,
) -> None:
    monkeypatch.setenv(name, f"{scheme}://ann:{MARK}@127.0.0.1:1")
    _run(tmp_path, api, "token", "none", monkeypatch)
    everywhere()


def test_the_marks_are_sent_where_they_belong(
    tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch, everywhere: Callable[[], None]
) -> None:
    """Else the tests above would show nothing."""
    encoded = base64.b64encode(f"ann:{MARK}".encode()).decode()
    sent = {"token": f"Bearer {MARK}", "token-with-line-break-at-the-end": f"Bearer {MARK}", "helper": f"Bearer {MARK}"}
    sent |= {"token-file": f"Bearer {MARK}", "password": f"Basic {encoded}", "server": f"Basic {encoded}"}
    for place, header in sent.items():
        api.requests.clear()
        _run(tmp_path, api, place, "none", monkeypatch)
        assert {request.headers.get("authorization") for request in api.requests} == {header}, place
        everywhere()


def test_a_proxy_gets_its_password_and_nobody_sees_it(
    tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch, everywhere: Callable[[], None]
) -> None:
    PLACES["through"] = lambda folder, user, cluster: cluster.update(
        {"server": "http://api.example.com", "proxy-url": api.url.replace("://", f"://ann:{MARK}@")}
    )
    try:
        _run(tmp_path, api, "through", "none", monkeypatch)
    finally:
        del PLACES["through"]
    encoded = base64.b64encode(f"ann:{MARK}".encode()).decode()
    assert {request.headers.get("proxy-authorization") for request in api.requests} == {f"Basic {encoded}"}
    everywhere()


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A certificate and its key."""
    folder = tmp_path_factory.mktemp("tls")
    words = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(folder / "key")]
    command = ["openssl", "req", "-x509", "-days", "7", "-subj", "/CN=ann", "-out", str(folder / "crt"), *words]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "crt").read_bytes(), (folder / "key").read_bytes()


@pytest.mark.parametrize("memory", [True, False], ids=["memory", "file"])
def test_a_clients_key_is_left_in_no_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    everywhere: Callable[[], None],
    capfd: pytest.CaptureFixture[str],
    key: tuple[bytes, bytes],
    memory: bool,
) -> None:
    if not memory:
        monkeypatch.delattr("os.memfd_create", raising=False)
    data = [base64.b64encode(each).decode() for each in key]
    user = {"client-certificate-data": data[0], "client-key-data": data[1]}
    config = write_kubeconfig(tmp_path / "planted", "https://127.0.0.1:1", user)
    monkeypatch.setenv("KUBECONFIG", str(config))
    assert run(["get", "pools", "-v=10"]) == 1
    out, err = capfd.readouterr()
    assert "Connection refused" in err
    assert not any(line in out + err for line in key[1].decode().splitlines())
    assert not list((tmp_path / "tmp").rglob("*"))


def test_a_request_that_repeats_the_secret_is_logged_without_it() -> None:
    from kubectl_dra.source.errors import ClusterError
    from kubectl_dra.source.secrets import HIDDEN, hidden, remember, without_login

    remember(f"{MARK}-2 with words")
    assert hidden(f"a {MARK}-2 with words b") == f"a {HIDDEN} b"
    assert hidden(f"?q={MARK}-2%20with%20words") == f"?q={HIDDEN}"
    error = ClusterError(f"x {MARK}-2 with words", f"y {MARK}-2 with words")
    assert (error.what, error.hint, str(error)) == (f"x {HIDDEN}", f"y {HIDDEN}", f"x {HIDDEN}")
    assert without_login(f"https://ann:{MARK}@host:1/p") == "https://host:1/p"
    assert without_login("https://host/p@q") == "https://host/p@q"
