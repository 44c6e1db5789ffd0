"""The pool of connections to a server: made by the kubernetes package, or directly where nothing of that is needed.

To load the package takes longer than most answers of a small cluster. It is needed for proxies, for identity providers
and for the service account of a pod.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.request import getproxies

import msgspec

if TYPE_CHECKING:
    import urllib3
    from kubernetes.client import Configuration

_SIZE: Final = 16
# What says which servers are asked without a proxy is none.
_EXCEPTIONS: Final = "no"


class Direct(msgspec.Struct, frozen=True):
    """A server that is asked without a proxy, as somebody who needs no package to log in."""

    host: str
    verify_ssl: bool = True
    tls_server_name: str = ""


def direct(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> Direct | None:
    """What a kubeconfig's cluster and user say, where there is no proxy and no identity provider."""
    if cluster.get("proxy-url") or user.get("auth-provider") or getproxies().keys() - {_EXCEPTIONS}:
        return None
    verified = not cluster.get("insecure-skip-tls-verify")
    return Direct(cluster["server"].rstrip("/"), verified, cluster.get("tls-server-name") or "")


def pool_of(configuration: Configuration | Direct, tls: ssl.SSLContext | None) -> urllib3.PoolManager:
    """The pool; ``tls`` takes the place of what ``configuration`` says of certificates."""
    if isinstance(configuration, Direct):
        import urllib3

        checks = ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
        pool = urllib3.PoolManager(cert_reqs=checks, maxsize=_SIZE)
        if configuration.tls_server_name:
            pool.connection_pool_kw["server_hostname"] = configuration.tls_server_name
    else:
        from kubernetes.client.rest import RESTClientObject

        configuration.connection_pool_maxsize = _SIZE
        pool = RESTClientObject(configuration).pool_manager
    if tls is not None:
        pool.connection_pool_kw["ssl_context"] = tls
    return pool
