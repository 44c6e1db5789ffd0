"""What can go wrong with a live cluster, each with one line what and where, and one line what to do.

ClusterError (kubectl_dra.source.errors)
├── KubeconfigError        no usable kubeconfig, or it lacks the context, cluster or user that was asked for
├── UnreachableError       no answer: name not found, connection refused or broken, proxy
│   ├── TimedOutError      no answer in time
│   └── CertificateError   the server's certificate is not trusted, or ours is not accepted
├── BadAnswerError         an answer that no API server gives, or one that breaks off
│   └── TooLongListError   a list that is longer than --max-bytes
└── ApiError               an API server's refusal, from its Status body
    ├── LoginError         401, or no credentials could be had: expired or missing login
    ├── ImpersonationError 403: the user may not act as the one that --as or the kubeconfig names
    ├── RefusedError       403; also a ForbiddenError of kubectl_dra.source.errors
    ├── NotServedError     404: the path does not exist on this server
    ├── ExpiredError       410: a continue token or resourceVersion is too old
    ├── ThrottledError     429: the server limits requests
    └── ServerFailedError  5xx
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kubectl_dra.source.errors import ClusterError, ForbiddenError
from kubectl_dra.source.secrets import hidden

_MAX_TEXT: Final = 400
_GATEWAY_TIMEOUT: Final = 504
# The cause ResourceVersionTooLarge of apiserver/pkg/storage/errors.go, which only its text tells in old versions.
_FROM_THE_FUTURE: Final = "Too large resource version"
# pkg/endpoints/filters/impersonation of apiserver; constrained impersonation has verbs like impersonate:user-info.
_IMPERSONATES: Final = re.compile(r'\bUser "[^"]*" cannot impersonate\b')
_NO_OTHER: Final = (
    "leave out --as (in a kubeconfig: as), or ask for the verb impersonate on users, groups and service accounts"
)
# apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go; the service is called by its name.
_WEBHOOK: Final = re.compile(
    r'\bwebhook\b[^"]*"https://(?P<service>[a-z0-9-]{1,63})\.(?P<namespace>[a-z0-9-]{1,63})\.svc\b'
)
#: The first status of servers that fail.
_FAILURE: Final = 500
_SECONDS: Final = re.compile(r"[0-9]{1,4}")


class KubeconfigError(ClusterError):
    """Raised when the kubeconfig can't be read or does not define what was asked for."""


class UnreachableError(ClusterError):
    """Raised when there is no connection to the server, or it breaks before an answer came."""


class TimedOutError(UnreachableError):
    """Raised when the server does not answer in time."""


class CertificateError(UnreachableError):
    """Raised when TLS fails: an untrusted certificate, a wrong name, or a client certificate that is not accepted."""


class BadAnswerError(ClusterError):
    """Raised when an answer is not what an API server sends: no JSON, no list, or cut off."""


class TooLongListError(BadAnswerError):
    """Raised for a list that has more bytes than ``--max-bytes``, which the hint names."""


class ApiError(ClusterError):
    """Raised for an answer of 400 and above; ``code`` is the HTTP status, ``reason`` the Status reason.

    ``retry_after`` is for how many seconds the server wants to be left alone; 0 where it does not say.
    """

    def __init__(self, what: str, hint: str = "", code: int = 0, reason: str = "", retry_after: int = 0) -> None:
        super().__init__(what, hint)
        self.code = code
        self.reason = reason
        self.retry_after = retry_after


class LoginError(ApiError):
    """Raised when the server does not accept the credentials (401), or when none could be had."""


class ImpersonationError(ApiError):
    """Raised when the user may not act as another one: whoever that is, nothing was asked of their rights."""


class RefusedError(ApiError, ForbiddenError):
    """Raised when the user lacks a right (403)."""


class NotServedError(ApiError):
    """Raised when the server does not know the path (404): kind or version not served, or object not there."""


class ExpiredError(ApiError):
    """Raised when a continue token or a resourceVersion is too old (410), or newer than anything the server knows."""


class ThrottledError(ApiError):
    """Raised when the server limits our requests (429)."""


class ServerFailedError(ApiError):
    """Raised when the server fails (5xx)."""


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""


#: Where a webhook that decides about rights gives no answer (pkg/endpoints/filters/authorization.go).
_PERMISSION: Final = re.compile(r'Internal Server Error: .*\bPost \\?"https?://(?P<host>[^/"\\]+)', re.DOTALL)
_status_decoder: Final = msgspec.json.Decoder(_Status)
_BY_CODE: Final[dict[int, tuple[type[ApiError], str]]] = {
    401: (LoginError, "log in again, or choose another --context or --user"),
    403: (RefusedError, "ask for the right, or use another --user or --as"),
    404: (NotServedError, "check --context: this server does not have it"),
    410: (ExpiredError, "try again"),
    429: (ThrottledError, "try again in a moment: the server is busy"),
}


def error_from_status(code: int, body: bytes, request: str, server: str, retry_after: str = "") -> ApiError:
    """The error of an answer; ``request`` says what we wanted (``list pods``), ``server`` from whom.

    ``retry_after`` is the header of that name; dates in it are not used by API servers and count as nothing.
    """
    status = _read_status(body, plain=code >= _FAILURE)
    text = capped(status.message) or f"HTTP {code}"
    kind, hint = _BY_CODE.get(code) or (ApiError, "") if code < _FAILURE else (ServerFailedError, "try again")
    if code == _GATEWAY_TIMEOUT and _FROM_THE_FUTURE in status.message:
        # After a restore from a backup positions start again from a lower number.
        kind = ExpiredError
    if kind is RefusedError and _IMPERSONATES.search(status.message):
        kind, hint, text = ImpersonationError, _NO_OTHER, f"{server} does not answer as another user: {text}"
    if kind is ServerFailedError and (hook := _WEBHOOK.search(status.message)) is not None:
        hint = f"the pods behind its service {hook['service']} have to run: kubectl get pods -n {hook['namespace']}"
    elif kind is ServerFailedError and (asked := _PERMISSION.match(status.message)) is not None:
        hint = (
            f"try again; {asked['host']}, which decides about rights, did not answer: if that lasts, tell whoever runs "
            "the cluster"
        )
    seconds = int(retry_after) if _SECONDS.fullmatch(retry_after) else 0
    if seconds:
        hint = f"try again in {seconds} s: the server is busy"
    if kind is LoginError:
        text = f"{server} does not accept the login: {text}"
    elif kind is ServerFailedError:
        text = f"{server} failed to {request}: {text}"
    elif kind not in (RefusedError, ImpersonationError):
        text = f"can't {request} from {server}: {text}"
    return kind(text, hint, code, status.reason, seconds)


def in_words(error: ClusterError) -> str:
    """What went wrong, and what to do about it, as a note beside an answer."""
    return f"{error.what}; {error.hint}" if error.hint else error.what


def capped(text: str) -> str:
    """``text`` in one line of bearable length, without secrets, of which a part would not be known any more."""
    line = " ".join(hidden(text).split())
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}…"


def _read_status(body: bytes, *, plain: bool = False) -> _Status:
    """``plain``: the words of a body that is plain text count as the message."""
    try:
        return _status_decoder.decode(body)
    except (ValueError, RecursionError):
        # Proxies and load balancers answer with pages of their own; filters of API servers write plain text
        # (k8s.io/apiserver, pkg/endpoints/handlers/responsewriters/errors.go, InternalError).
        is_text = plain and not body.lstrip().startswith((b"<", b"{"))
        return _Status(body.decode("utf-8", "replace").strip() if is_text else "")
