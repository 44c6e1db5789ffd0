"""A running fake API server per test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.fake_api import FakeApi, running


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests decide themselves about kubeconfigs and proxies."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "POD_NAMESPACE", "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A server with empty lists of everything."""
    with running(FakeApi()) as server:
        yield server
