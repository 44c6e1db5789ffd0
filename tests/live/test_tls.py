"""One TLS context for many threads: what is set while a connection is opened is nothing."""

from __future__ import annotations

import ssl

import pytest
from urllib3.util.ssl_ import ssl_wrap_socket

from kubectl_dra.source.live.kubeconfig import Named
from kubectl_dra.source.live.tls import context_of


def test_protocols_are_set_before_the_context_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []
    really = ssl.SSLContext.set_alpn_protocols

    def count(context: ssl.SSLContext, protocols: list[str]) -> None:
        told.append(protocols)
        really(context, protocols)

    monkeypatch.setattr(ssl.SSLContext, "set_alpn_protocols", count)
    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", lambda *_, **__: None)
    context = context_of(Named("c", {}, "kubeconfig"), None, None, verified=True)
    for _ in range(3):
        ssl_wrap_socket(None, ssl_context=context)  # type: ignore[arg-type]
    assert told == [["http/1.1"]]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
