"""Manifests behind an https address: bounded in size and time, never with anybody's credentials.

Nothing that could log in is sent: no netrc, no cookies, no user of the address. Redirects stay on https.
"""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final
from urllib.parse import urlsplit

from kubectl_dra.source.content import Content, stored_content
from kubectl_dra.source.errors import FileError
from kubectl_dra.source.limits import too_large
from kubectl_dra.version import __version__

#: No manifest that somebody wrote is larger.
WEB_BYTES: Final = 16 << 20
_IDLE_SECONDS: Final = 15.0
_WHOLE_SECONDS: Final = 60.0
_PIECE: Final = 1 << 16
_DOWNLOAD: Final = "download it and name the file"


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Redirects, as long as they stay on https."""

    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request. Raises :class:`FileError` for one that leaves https."""
        if urlsplit(newurl).scheme != "https":
            raise FileError(f"{shown(req.full_url)}: redirects to an address that is not https", _DOWNLOAD)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetched(address: str, max_bytes: int) -> Content:
    """What an https address answers. Raises :class:`FileError`, or ``TooLargeError``."""
    name, parts = shown(address), urlsplit(address)
    if parts.scheme != "https":
        raise FileError(f"{name}: only https addresses are fetched", f"write https://…, or {_DOWNLOAD}")
    if parts.username is not None or parts.password is not None:
        raise FileError(f"{name}: addresses with a user or a password are not fetched", _DOWNLOAD)
    limit = min(max_bytes, WEB_BYTES)
    headers = {"User-Agent": f"kubectl-dra/{__version__}", "Accept": "application/yaml, application/json, */*;q=0.5"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - https was checked
    try:
        with _opener().open(request, timeout=_IDLE_SECONDS) as answer:
            if "text/html" in (answer.headers.get("Content-Type") or ""):
                raise FileError(f"{name}: answers with a web page, not with a manifest", _raw_hint(parts.netloc))
            if int(answer.headers.get("Content-Length") or 0) > limit:
                raise too_large(name, limit, _DOWNLOAD)
            return stored_content(_pieces(answer, name), name, limit)
    except urllib.error.HTTPError as error:
        raise FileError(f"{name}: the server answers {error.code} {error.reason}", _DOWNLOAD) from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileError(f"{name}: can't be fetched: {reason}", _DOWNLOAD) from error


def shown(address: str) -> str:
    """An address without what may be secret in it: user, password and query."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    handlers = (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        _HttpsOnly(),
    )
    for handler in handlers:
        opener.add_handler(handler)
    return opener


def _pieces(answer: Any, name: str) -> Iterator[bytes]:  # noqa: ANN401 - urllib's answer has no type of its own
    end = time.monotonic() + _WHOLE_SECONDS
    while piece := answer.read(_PIECE):
        yield piece
        if time.monotonic() > end:
            raise FileError(f"{name}: takes longer than {_WHOLE_SECONDS:.0f} s", _DOWNLOAD)


def _raw_hint(host: str) -> str:
    if host == "github.com":
        return "use the address behind its button Raw (https://raw.githubusercontent.com/…)"
    return "use the address of the file itself"
