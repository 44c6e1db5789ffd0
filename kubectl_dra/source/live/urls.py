"""URLs of servers and proxies, as client-go and Go read them; no error repeats one: it may hold a login.

Sources: ``DefaultServerURL`` of client-go's rest/url_utils.go, ``parseProxyURL`` of its tools/clientcmd,
``parseProxy`` of golang.org/x/net/http/httpproxy.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from kubectl_dra.source.live.errors import KubeconfigError

SERVER_HINT: Final = "set server to https://HOST:PORT in the kubeconfig"
_SCHEMES: Final = ("http", "https")
_INSTEAD_OF_SOCKS: Final = (
    "name an HTTP proxy; or tunnel with ssh -L 6443:API-SERVER:6443, set server to https://127.0.0.1:6443 and "
    "tls-server-name to API-SERVER"
)


def server_url(text: str, where: str, encrypted: bool) -> str:
    """The URL of a server, which may be written as HOST:PORT: https where the cluster or user has TLS settings.

    A query and a fragment mean nothing and are dropped. Raises :class:`KubeconfigError`, with ``where`` in its words.
    """
    parts = _parts(text)
    if parts is not None and not parts.netloc and "//" not in text:
        parts = _parts(f"{'https' if encrypted else 'http'}://{text}")
    if parts is None or parts.scheme not in _SCHEMES or not parts.netloc:
        raise KubeconfigError(f"{where}: server is not a valid URL", SERVER_HINT)
    return urlunsplit(parts._replace(query="", fragment=""))


def proxy_url(text: str, where: str, configured: bool) -> str:
    """The URL of a proxy; that of the environment may lack its ``http://``. Raises :class:`KubeconfigError`."""
    parts = _parts(text)
    if parts is not None and not parts.netloc and not configured:
        parts = _parts(f"http://{text}")
    hint = "set it to http://HOST:PORT or https://HOST:PORT"
    if parts is None or not parts.netloc:
        raise KubeconfigError(f"{where} is not a valid URL", hint)
    if parts.scheme.startswith("socks"):
        what = f"{where} is a SOCKS proxy ({parts.scheme}), which is not supported here"
        raise KubeconfigError(what, _INSTEAD_OF_SOCKS)
    if parts.scheme not in _SCHEMES:
        raise KubeconfigError(f"{where} has the unknown scheme {parts.scheme}", hint)
    return urlunsplit(parts)


def _parts(text: str) -> SplitResult | None:
    """``text`` in its parts; None for what is no URL, or has an ``@`` behind the host: it would show half a login."""
    if not text.isprintable() or " " in text:
        return None
    try:
        parts = urlsplit(text)
        valid = not parts.netloc or (bool(parts.hostname) and parts.port != 0)
    except ValueError:
        return None
    return parts if valid and (not parts.netloc or "@" not in parts.path) else None


def without_query(text: str) -> str:
    """Where a URL leads, without what may be a secret in it: login, query and fragment; empty for what is no URL."""
    parts = _parts(text)
    if parts is None:
        return ""
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
