"""When a login ends: what a token or a client's certificate says of itself, for a refusal to be told with its cause.

Nothing is verified, which is the server's to do; what is not understood says nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
import ssl
from datetime import UTC, datetime
from typing import Final

import msgspec

_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
# RFC 5280, 4.1.2.5: Validity is two times in a row, UTCTime (two digits of the year) or GeneralizedTime.
_TIME: Final = rb"(?:\x17\x0d(\d{12})|\x18\x0f(\d{14}))Z"
_VALIDITY: Final = re.compile(_TIME + _TIME)
# Of UTCTime: years below 50 are of this century.
_CENTURY: Final = (b"20", b"19")
_PARTS: Final = 3


class _Claims(msgspec.Struct):
    exp: float | None = None


_claims: Final = msgspec.json.Decoder(_Claims)


def of_token(token: str) -> datetime | None:
    """The end of a JSON Web Token, as OIDC and service accounts have, also as a header; None of any other."""
    parts = token.removeprefix("Bearer ").strip().split(".")
    if len(parts) != _PARTS:
        return None
    try:
        exp = _claims.decode(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))).exp
        return None if exp is None else datetime.fromtimestamp(exp, UTC)
    except (binascii.Error, msgspec.MsgspecError, ValueError, OverflowError, OSError):
        return None


def of_certificate(pem: bytes) -> datetime | None:
    """The end of the first certificate."""
    found = _CERTIFICATE.search(pem.decode("ascii", "replace"))
    try:
        times = _VALIDITY.search(ssl.PEM_cert_to_DER_cert(found[0])) if found is not None else None
        if times is None:
            return None
        short, long = times[3], times[4]
        digits = long or _CENTURY[int(short[:2]) >= 50] + short
        return datetime.strptime(digits.decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except (binascii.Error, ValueError):
        return None
