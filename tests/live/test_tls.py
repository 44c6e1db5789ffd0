"""One TLS context for many threads: what is set while a connection is opened is nothing."""

from __future__ import annotations

import ssl

import pytest
from urllib3.util.ssl_ import ssl_wrap_socket

from kubectl_dra.source.live.kubeconfig import Named
from kubectl_dra.source.live.tls import context_of, untrusted


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


@pytest.mark.parametrize(
    ("code", "words", "hint"),
    [
        (10, "certificate has expired", "is this computer's clock right?"),
        (9, "certificate is not yet valid", "is this computer's clock right?"),
        (19, "self-signed certificate in certificate chain", "made anew, or a proxy stands between"),
        (20, "unable to get local issuer certificate", "made anew, or a proxy stands between"),
        (62, "Hostname mismatch, certificate is not valid for 'api'.", "tls-server-name"),
        (64, "IP address mismatch, certificate is not valid for '10.0.0.1'.", "tls-server-name"),
        (23, "certificate revoked", "check certificate-authority"),
    ],
)
def test_a_certificate_that_is_not_accepted_is_told_with_what_to_do(code: int, words: str, hint: str) -> None:
    error = ssl.SSLCertVerificationError(1, f"[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: {words}")
    error.verify_code, error.verify_message = code, words
    found = untrusted("https://api", error, "whatever")
    assert found.what == f"no trusted connection to https://api: its certificate is not accepted: {words.rstrip('.')}"
    assert hint in found.hint


@pytest.mark.parametrize(("reason", "hint"), [("WRONG_VERSION_NUMBER", "there is no TLS"), ("BAD_CIPHER", "check")])
def test_an_answer_that_is_no_tls(reason: str, hint: str) -> None:
    error = ssl.SSLError(1, reason)
    error.reason = reason
    found = untrusted("https://api", error, "its words")
    assert found.what == "no trusted connection to https://api: its words"
    assert found.hint.startswith(hint)
