"""Texts that no answer, error, log or file may hold: remembered where they are read, hidden wherever words leave.

Every :class:`~kubectl_dra.source.errors.ClusterError` hides them in its own words, so that what a library, a login
helper, a proxy or a server says may be repeated. Known for the whole process, because one session's secrets may show up
in what another one says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

# What reads URLs is imported where it is needed: help has the errors of this package, and no secrets.
HIDDEN: Final = "[hidden]"
# Shorter ones are parts of ordinary words, and what may hold them is not shown anyway.
_SHORTEST: Final = 4
_known: set[str] = set()


def remember(*texts: str) -> None:
    """From now on hide ``texts``, their lines, and how they look when quoted or encoded."""
    for text in texts:
        lines = (line.strip() for line in text.splitlines())
        for part in {text, text.strip(), *(line for line in lines if not line.startswith("-----"))}:
            if len(part) >= _SHORTEST:
                _known.update(_forms(part))


def hidden(text: str) -> str:
    """``text`` without what was remembered."""
    # Longer ones first: one may be part of another. A copy, because other threads log in meanwhile.
    for secret in sorted(_known.copy(), key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def without_login(url: str) -> str:
    """``url`` without user and password, which are remembered."""
    user, password = login_of(url)
    if not user and not password:
        return url
    from urllib.parse import urlsplit, urlunsplit

    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def login_of(url: str) -> tuple[str, str]:
    """User and password of a URL, decoded, each empty where there is none; the password is remembered."""
    from urllib.parse import unquote, urlsplit

    try:
        netloc = urlsplit(url).netloc
    except ValueError:
        return "", ""
    userinfo = netloc.rpartition("@")[0]
    user, _, password = userinfo.partition(":")
    remember(password, unquote(password), userinfo)
    return unquote(user), unquote(password)


def basic(user: str, password: str) -> str:
    """The header value of basic authentication; what it consists of is remembered."""
    import base64

    encoded = base64.b64encode(f"{user}:{password}".encode("utf-8", "surrogateescape")).decode("ascii")
    remember(password, encoded)
    return f"Basic {encoded}"


def _forms(text: str) -> Iterator[str]:
    import json
    from urllib.parse import quote

    yield text
    yield quote(text, safe="", errors="replace")
    yield json.dumps(text)[1:-1]
    yield ascii(text)[1:-1]
