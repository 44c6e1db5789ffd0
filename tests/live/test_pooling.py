"""Connections without the kubernetes package, where nothing of it is needed: the same as it would make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import urllib3
from kubernetes.client import Configuration

from kubectl_dra.source.live.transport import Direct, direct, pool_of
from tests.kit.fake_api import FakeApi, write_kubeconfig
from tests.kit.sample import sampled

SERVER = {"server": "https://api.example:6443"}
_LOADED = """
import sys
from kubectl_dra.commands.app import run
try:
    run(sys.argv[1:])
except SystemExit:
    pass
print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


USERS = [{}, {"token": "secret"}, {"username": "me", "password": "secret"}]


@pytest.mark.parametrize("user", sampled(USERS, len(USERS)))
def test_a_command_on_a_plain_cluster_does_not_load_the_package(
    tmp_path: Path, api: FakeApi, user: dict[str, Any]
) -> None:
    words = ["get", "pools", "-o", "json", "--kubeconfig", str(write_kubeconfig(tmp_path, api.url, user))]
    done = subprocess.run([sys.executable, "-c", _LOADED, *words], capture_output=True, encoding="utf-8", check=True)
    answer, _, loaded = done.stdout.rstrip().rpartition("\n")
    assert json.loads(answer)
    assert "'urllib3'" in loaded
    assert not any(name in loaded for name in ("'kubernetes'", "'oauthlib'", "'pydantic'", "'requests'"))


@pytest.mark.parametrize(
    ("cluster", "settings"),
    [
        (SERVER, {}),
        ({"server": "https://api.example:6443/"}, {}),
        ({**SERVER, "insecure-skip-tls-verify": True}, {"verify_ssl": False}),
        ({**SERVER, "insecure-skip-tls-verify": False}, {}),
        ({**SERVER, "tls-server-name": "other.example"}, {"tls_server_name": "other.example"}),
    ],
)
def test_the_pool_is_the_one_that_the_package_makes(cluster: dict[str, Any], settings: dict[str, Any]) -> None:
    ours = direct(cluster, {})
    assert ours is not None
    theirs = Configuration(host=SERVER["server"], **settings)
    assert (ours.host, ours.verify_ssl) == (theirs.host, theirs.verify_ssl)
    mine, its = pool_of(ours, None), pool_of(theirs, None)
    assert type(mine) is type(its) is urllib3.PoolManager
    assert _said(mine) == _said(its)


def _said(pool: urllib3.PoolManager) -> dict[str, Any]:
    return {name: value for name, value in pool.connection_pool_kw.items() if value is not None}


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ({**SERVER, "proxy-url": "http://proxy.example"}, {}),
        (SERVER, {"auth-provider": {"name": "oidc"}}),
    ],
)
def test_proxies_and_identity_providers_are_left_to_the_package(cluster: dict[str, Any], user: dict[str, Any]) -> None:
    assert direct(cluster, user) is None


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "http_proxy"])
def test_so_are_the_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://proxy.example")
    assert direct(SERVER, {}) is None


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the system has proxies of its own")
def test_no_proxy_alone_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "example.com")
    assert direct(SERVER, {}) == Direct("https://api.example:6443")
