"""What TLS needs: whom to trust, and the client's certificate, which are read here so that errors can name them.

Nothing of it is left on a disk: OpenSSL takes a client's key only from a file, which here is one in memory where the
system has that, and else one that is gone before anything is sent.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kubectl_dra.source.live.errors import CertificateError, capped
from kubectl_dra.source.live.exec_login import Credential
from kubectl_dra.source.live.kubeconfig import Named
from kubectl_dra.source.secrets import remember

_FIX: Final = "fix the kubeconfig"
_MAX_BYTES: Final = 1 << 20
_CHECK: Final = "check certificate-authority and client-certificate in the kubeconfig"
_NO_TLS: Final = "there is no TLS at that port: check the server's URL in the kubeconfig (http or https, the port)"
#: Reasons of OpenSSL for answers that are no TLS.
_PLAIN: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
#: Upstream: OpenSSL, include/openssl/x509_vfy.h, X509_V_ERR_*.
_WAYS: Final = {
    (
        9,
        10,
    ): "is this computer's clock right? Else whoever runs the cluster has to renew it (kubeadm: kubeadm certs renew)",
    (
        2,
        18,
        19,
        20,
        21,
    ): "the cluster may have been made anew, or a proxy stands between: get its kubeconfig again, or put"
    " the authority that signs for it into certificate-authority",
    (62, 64): "set server in the kubeconfig to a name that the certificate is for, or tls-server-name to one",
}


class _SharedContext(ssl.SSLContext):
    """A context that several threads open connections with, and that says once what protocols it speaks.

    urllib3 says it again for each connection (``util/ssl_.py``, ``ssl_wrap_socket``), which frees the list that OpenSSL
    may be copying it for a connection of another thread: that one then sends garbage, which servers refuse.
    """

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Nothing: they were set before the context was shared."""


def context_of(cluster: Named, user: Named | None, given: Credential | None, verified: bool) -> ssl.SSLContext:
    """The context of connections to ``cluster``; ``given`` is what a credential plugin gave instead of the kubeconfig.

    Raises :class:`CertificateError`, which says whose fault it is and which file or field it is about.
    """
    from urllib3.util.ssl_ import create_urllib3_context

    context: ssl.SSLContext = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if verified else ssl.CERT_NONE)
    context.set_alpn_protocols(["http/1.1"])
    context.__class__ = _SharedContext
    owner = f'cluster "{cluster.name}"'
    authority = _read(owner, cluster.value, "certificate-authority")
    if authority is None:
        context.load_default_certs()
    else:
        _trust(context, authority, owner)
    if given is not None and given.client_certificate_data:
        assert user is not None  # noqa: S101 - whose helper it is
        whose = f'the credential plugin of user "{user.name}"'
        _present(context, given.client_certificate_data.encode(), given.client_key_data.encode(), whose)
    elif user is not None:
        _present_configured(context, user)
    return context


def untrusted(server: str, error: BaseException, reason: str) -> CertificateError:
    """The error of a connection that TLS ends, with what to do about its cause; ``reason``: the library's words."""
    hint = _NO_TLS if getattr(error, "reason", None) in _PLAIN else _CHECK
    if isinstance(error, ssl.SSLCertVerificationError):
        # OpenSSL's words, without what the library puts around them.
        reason = error.verify_message.rstrip(".") or reason
        reason = f"its certificate is not accepted: {reason}"
        hint = next((way for codes, way in _WAYS.items() if error.verify_code in codes), _CHECK)
    return CertificateError(f"no trusted connection to {server}: {reason}", hint)


def read_field(owner: Named, field: str) -> bytes | None:
    """A field of a user or cluster that is a file, or its content. Raises :class:`CertificateError`."""
    return _read(f'user "{owner.name}"', owner.value, field)


def _present_configured(context: ssl.SSLContext, user: Named) -> None:
    owner = f'user "{user.name}"'
    certificate = _read(owner, user.value, "client-certificate")
    key = _read(owner, user.value, "client-key")
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        missing = "client-key" if key is None else "client-certificate"
        raise CertificateError(f"{owner}: {missing} is missing in the kubeconfig", _FIX)
    _present(context, certificate, key, owner)


def _read(owner: str, value: Mapping[str, Any], field: str) -> bytes | None:
    """The bytes of ``FIELD-data``, else of the file that ``FIELD`` names, as client-go prefers them."""
    data, path = value.get(f"{field}-data"), value.get(field)
    if data:
        remember(data if field == "client-key" else "")
        try:
            return base64.b64decode("".join(data.split()), validate=True)
        except (binascii.Error, ValueError):
            raise CertificateError(f"{owner}: {field}-data is not base64", _FIX) from None
    if not path:
        return None
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise CertificateError(f"{owner}: {field} {path} can't be read: {reason}", _FIX) from error


def _trust(context: ssl.SSLContext, authority: bytes, owner: str) -> None:
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError):
        raise CertificateError(f"{owner}: certificate-authority holds no certificate", _FIX) from None


def _present(context: ssl.SSLContext, certificate: bytes, key: bytes, owner: str) -> None:
    remember(key.decode("ascii", "replace"))
    try:
        with _unseen(certificate + b"\n" + key) as path:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(path, password="")
    except (ssl.SSLError, ValueError) as error:
        reason = capped(getattr(error, "reason", None) or "not PEM")
        what = f"{owner}: client-certificate and client-key can't be used: {reason.replace('_', ' ').lower()}"
        raise CertificateError(what, _FIX) from None


@contextmanager
def _unseen(content: bytes) -> Iterator[str]:
    """The path of a file that holds ``content``, for as long as this lasts, and that no other user can read."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").exists():
        descriptor = os.memfd_create("credentials")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{descriptor}"
        return
    descriptor, path = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        yield path
    finally:
        with contextlib.suppress(OSError):
            Path(path).unlink()
