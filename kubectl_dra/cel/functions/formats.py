"""The named formats ``format.X()`` and their validation messages.

Upstream: apimachinery's name validation and kube-openapi's string formats.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from kubectl_dra.cel.functions.time import is_calendar_date
from kubectl_dra.cel.functions.urls import UrlError, check_request_uri
from kubectl_dra.cel.run.values import NONE, NamedFormat, NativeList, Optional, Value
from kubectl_dra.model.gotext import pattern_message
from kubectl_dra.model.names import CHARACTERS, LABEL_LENGTH, dns_label, dns_subdomain, label_key, label_value, length

_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_UUID: Final = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))", re.ASCII)


def _label_1035(text: str) -> list[str]:
    messages = length(text, LABEL_LENGTH, CHARACTERS)
    if not re.fullmatch(_LABEL_1035, text):
        messages.append(pattern_message(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return messages


def _prefix(check: Callable[[str], list[str]], text: str) -> list[str]:
    """A name that something will be appended to: a trailing dash is accepted."""
    data = text.encode()
    if len(data) > 1 and text.endswith("-"):
        text = data[:-2].decode(errors="surrogateescape") + "a"
    return check(text)


def _uri(text: str) -> list[str]:
    try:
        check_request_uri(text)
    except UrlError as error:
        return [str(error)]
    return []


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(parts) < 2 or not is_calendar_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _test(message: str, is_valid: Callable[[str], object]) -> Callable[[str], list[str]]:
    return lambda text: [] if is_valid(text) else [message]


_CHECKS: Final[dict[str, tuple[str, Callable[[str], list[str]], int]]] = {
    "dns1123Label": ("DNS1123Label", dns_label, 30),
    "dns1123Subdomain": ("DNS1123Subdomain", dns_subdomain, 60),
    "dns1035Label": ("DNS1035Label", _label_1035, 30),
    "qualifiedName": ("QualifiedName", label_key, 60),
    "dns1123LabelPrefix": ("DNS1123LabelPrefix", partial(_prefix, dns_label), 30),
    "dns1123SubdomainPrefix": ("DNS1123SubdomainPrefix", partial(_prefix, dns_subdomain), 60),
    "dns1035LabelPrefix": ("DNS1035LabelPrefix", partial(_prefix, _label_1035), 30),
    "labelValue": ("LabelValue", label_value, 40),
    "uri": ("URI", _uri, 1103),
    "uuid": ("uuid", _test("does not match the UUID format", _UUID.fullmatch), 70),
    "byte": ("byte", _test("invalid base64", _BASE64.fullmatch), 84),
    "date": ("date", _test("invalid date", is_calendar_date), 71),
    "datetime": ("datetime", _test("invalid datetime", _is_datetime), 71),
}
_FORMATS: Final = {key: NamedFormat(name, check, size) for key, (name, check, size) in _CHECKS.items()}


def _named(name: str) -> Optional:
    return Optional(_FORMATS[name]) if name in _FORMATS else NONE


def _validate(checked: NamedFormat, text: str) -> Optional:
    messages = checked.check(text)
    return Optional(NativeList(messages)) if messages else NONE


def _constant(value: Value) -> Callable[[], Value]:
    return lambda: value


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    **{f"format.{key}": _constant(value) for key, value in _FORMATS.items()},
    "format-named": _named,
    "format-validate": _validate,
}
