"""What the connection library raises, as our own errors in words.

The pool of connections to a server: made by the kubernetes package, or directly where nothing of that is needed. To
load the package takes longer than most answers of a small cluster. It is needed for proxies, for identity providers and
for the service account of a pod.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.request import getproxies

import msgspec

from kubectl_dra.source.live import errors
from kubectl_dra.source.live.tls import untrusted

if TYPE_CHECKING:
    import urllib3
    from kubernetes.client import Configuration

# A connection that ends without a farewell says nothing about certificates.
_CUT: Final = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
_SIZE: Final = 16
# What says which servers are asked without a proxy is none.
_EXCEPTIONS: Final = "no"


@contextmanager
def translated_errors(server: str, what: str) -> Iterator[None]:
    """Turns failures of a request to ``server`` that was to ``what`` (``list pods``) into ``ClusterError``."""
    from urllib3 import exceptions

    try:
        yield
    except exceptions.ProxyError as error:
        text = f"the proxy to {server} does not answer: {_reason(error)}"
        raise errors.UnreachableError(text, "check HTTPS_PROXY, and proxy-url in the kubeconfig") from error
    except exceptions.SSLError as error:
        if isinstance(_innermost(error), _CUT):
            raise _broken_off(server, what, error) from error
        raise untrusted(server, _innermost(error), _reason(error)) from error
    except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError) as error:
        # Time-outs of the library as well, but nobody was there, which is not the same as being slow.
        raise _unreachable(server, error) from error
    except exceptions.TimeoutError as error:
        raise too_slow(server, what) from error
    except (exceptions.DecodeError, exceptions.ProtocolError) as error:
        raise _broken_off(server, what, error) from error
    except (exceptions.HTTPError, OSError) as error:
        raise _unreachable(server, error) from error
    except ValueError as error:
        # What can't be sent at all. The words of the library show the header, and so what must stay secret.
        text = f"the request to {server} can't be sent ({what}): a header or the URL has characters that HTTP has not"
        raise errors.KubeconfigError(text, "fix the kubeconfig") from error


def too_slow(server: str, what: str) -> errors.TimedOutError:
    """The error of an answer that does not come, or comes byte by byte."""
    text = f"{server} does not answer in time ({what})"
    return errors.TimedOutError(text, "check --context, the network, or --request-timeout")


def _broken_off(server: str, what: str, error: Exception) -> errors.BadAnswerError:
    return errors.BadAnswerError(f"{server} broke off its answer ({what}): {_reason(error)}", "try again")


def _unreachable(server: str, error: Exception) -> errors.UnreachableError:
    text = f"can't reach {server}: {_reason(error)}"
    return errors.UnreachableError(text, "is the cluster running? check --context and the network")


def _reason(error: BaseException) -> str:
    """The innermost cause in words, without the library's object representations."""
    inner = _innermost(error)
    return errors.capped(getattr(inner, "strerror", None) or str(inner)) or type(inner).__name__


def _innermost(error: BaseException) -> BaseException:
    causes = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((each for each in causes if isinstance(each, BaseException) and each is not error), None)
    return error if inner is None else _innermost(inner)


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
