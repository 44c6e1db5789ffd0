"""What the connection library raises, as our own errors in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kubectl_dra.source.live.errors import (
    BadAnswerError,
    CertificateError,
    TimedOutError,
    UnreachableError,
    capped,
)


@contextmanager
def translated_errors(server: str, what: str) -> Iterator[None]:
    """Turns failures of a request to ``server`` that was to ``what`` (``list pods``) into ``ClusterError``."""
    from urllib3 import exceptions

    try:
        yield
    except exceptions.ProxyError as error:
        text = f"the proxy to {server} does not answer: {_reason(error)}"
        raise UnreachableError(text, "check HTTPS_PROXY, and proxy-url in the kubeconfig") from error
    except exceptions.SSLError as error:
        text = f"no trusted connection to {server}: {_reason(error)}"
        raise CertificateError(text, "check certificate-authority and client-certificate in the kubeconfig") from error
    except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError) as error:
        # Time-outs of the library as well, but nobody was there, which is not the same as being slow.
        raise _unreachable(server, error) from error
    except exceptions.TimeoutError as error:
        text = f"{server} does not answer in time ({what})"
        raise TimedOutError(text, "check --context, the network, or --request-timeout") from error
    except (exceptions.DecodeError, exceptions.ProtocolError) as error:
        text = f"{server} broke off its answer ({what}): {_reason(error)}"
        raise BadAnswerError(text, "try again") from error
    except (exceptions.HTTPError, OSError) as error:
        raise _unreachable(server, error) from error


def _unreachable(server: str, error: Exception) -> UnreachableError:
    text = f"can't reach {server}: {_reason(error)}"
    return UnreachableError(text, "is the cluster running? check --context and the network")


def _reason(error: BaseException) -> str:
    """The innermost cause in words, without the library's object representations."""
    causes = [getattr(error, "reason", None), *error.args, error.__cause__]
    inner = next((each for each in causes if isinstance(each, BaseException) and each is not error), None)
    if inner is not None:
        return _reason(inner)
    return capped(getattr(error, "strerror", None) or str(error)) or type(error).__name__
