"""When a login ends, and that a refused one says so."""

from __future__ import annotations

import base64
import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.live import Connection, open_session
from kubectl_dra.source.live.errors import LoginError
from kubectl_dra.source.live.expiry import of_certificate, of_token
from tests.kit.clock import PassingClock
from tests.kit.fake_api import FakeApi, status, write_kubeconfig

END = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
UTC_TIMES = b"\x17\x0d250101000000Z\x17\x0d260102030405Z"
LONG_TIMES = b"\x18\x0f20250101000000Z\x18\x0f20260102030405Z"


def token(claims: Any) -> str:
    parts = [json.dumps({"alg": "RS256"}).encode(), json.dumps(claims).encode(), b"signature"]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def pem(der: bytes) -> bytes:
    body = base64.encodebytes(b"\x30\x82issuer" + der + b"subject").decode()
    return f"some text\n-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n".encode()


@pytest.mark.parametrize("prefix", ["", "Bearer "])
def test_the_end_of_a_web_token(prefix: str) -> None:
    assert of_token(prefix + token({"exp": END.timestamp(), "sub": "anna"})) == END


@pytest.mark.parametrize(
    "text", ["", "t", "a.b.c", "....", "é.é.é", token([]), token({}), token({"exp": "soon"}), token({"exp": 1e300})]
)
def test_other_tokens_say_nothing(text: str) -> None:
    assert of_token(text) is None


@pytest.mark.parametrize("times", [UTC_TIMES, LONG_TIMES, UTC_TIMES[:15] + LONG_TIMES[17:]])
def test_the_end_of_a_certificate(times: bytes) -> None:
    assert of_certificate(pem(times)) == END


def test_two_digits_of_a_year_from_50_on_are_of_the_last_century() -> None:
    found = of_certificate(pem(b"\x17\x0d490101000000Z\x17\x0d500102030405Z"))
    assert found is not None
    assert found.year == 1950


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", pem(b""), pem(b"\x17\x0d259901000000Z\x17\x0d269902030405Z"), b"-----BEGIN CERTIFICATE-----"],
)
def test_what_is_no_certificate_says_nothing(content: bytes) -> None:
    assert of_certificate(content) is None


@pytest.mark.parametrize(("late", "told"), [(-60, False), (60, True)])
def test_a_login_that_is_refused_says_that_it_has_run_out(tmp_path: Path, api: FakeApi, late: int, told: bool) -> None:
    clock = PassingClock()
    end = clock.now().timestamp() - late
    user = {"token": token({"exp": end})}
    for path in api.routes:
        api.routes[path] = status(401, "Unauthorized", "Unauthorized")
    connection = Connection(kubeconfig=str(write_kubeconfig(tmp_path, api.url, user)))
    session = open_session(dataclasses.replace(connection, clock=clock))
    with pytest.raises(LoginError) as caught:
        session.get("/version", "read the version")
    when = f"the token expired on {datetime.fromtimestamp(end, UTC):%Y-%m-%d at %H:%M} UTC"
    assert caught.value.what == f"{api.url} does not accept the login: {when if told else 'Unauthorized'}"
    assert 'log in again as user "someone" of context "fake"' in caught.value.hint
