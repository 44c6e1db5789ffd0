"""What the API accepts as names of objects, of namespaces and of devices, and as labels: yes or no, or what is wrong.

Upstream: apimachinery's pkg/util/validation (IsDNS1123Label, IsDNS1123Subdomain, IsQualifiedName, IsValidLabelValue),
whose words these are. Handwritten and declarative validation word lengths differently, in characters and in bytes (both
count bytes).
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.model.gotext import pattern_message

BYTES: Final = "bytes"
CHARACTERS: Final = "characters"
LABEL_LENGTH: Final = 63
SUBDOMAIN_LENGTH: Final = 253
LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN_FORMAT: Final = rf"{LABEL_FORMAT}(\.{LABEL_FORMAT})*"
LABEL_RULE: Final = 'lower case letters, digits and "-", with a letter or digit at both ends, at most 63 of them'

#: Who schedules a pod that names nobody.
DEFAULT_SCHEDULER: Final = "default-scheduler"
#: Where an object is that names no namespace.
DEFAULT_NAMESPACE: Final = "default"
#: The label that each node has of its own.
#: Upstream: pkg/apis/core/annotation_key_constants.go, PodDeletionCost.
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
HOSTNAME: Final = "kubernetes.io/hostname"

_KEY_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORMAT: Final = f"({_KEY_FORMAT})?"
_LABEL: Final = re.compile(LABEL_FORMAT)
_SUBDOMAIN: Final = re.compile(SUBDOMAIN_FORMAT)
_KEY: Final = re.compile(_KEY_FORMAT)
_LONE_BYTE: Final = re.compile("[\udc80-\udcff]")
ENDS: Final = "and must start and end with an alphanumeric character"
_KEY_TEXT: Final = f"must consist of alphanumeric characters, '-', '_' or '.', {ENDS}"


def is_label(text: str) -> bool:
    """Whether a namespace or a device can have this name."""
    return len(text) <= LABEL_LENGTH and _LABEL.fullmatch(text) is not None


def is_subdomain(text: str) -> bool:
    """Whether an object of any kind that we know can have this name."""
    return len(text) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(text) is not None


# --- what is wrong ----------------------------------------------------------------------------------------------------


def size(text: str) -> int:
    """Length in bytes, as every limit of the API counts; a byte that is no UTF-8 is one, however Python holds it."""
    return len(text.encode("utf-8", "surrogatepass")) - 2 * len(_LONE_BYTE.findall(text))


def length(text: str, limit: int, unit: str) -> list[str]:
    return [f"must be no more than {limit} {unit}"] if size(text) > limit else []


def dns_label(text: str, unit: str = CHARACTERS) -> list[str]:
    problems = length(text, LABEL_LENGTH, unit)
    if _LABEL.fullmatch(text):
        return problems
    if _SUBDOMAIN.fullmatch(text):
        return [*problems, "must not contain dots"]
    rule = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {ENDS}"
    return [*problems, pattern_message(rule, LABEL_FORMAT, "my-name", "123-abc")]


def dns_subdomain(text: str, unit: str = CHARACTERS) -> list[str]:
    problems = length(text, SUBDOMAIN_LENGTH, unit)
    if _SUBDOMAIN.fullmatch(text):
        return problems
    rule = f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {ENDS}"
    return [*problems, pattern_message(rule, SUBDOMAIN_FORMAT, "example.com")]


def label_key(text: str) -> list[str]:
    """Problems with a label key, ``name`` or ``prefix/name``."""
    prefix, slash, name = text.partition("/")
    rule = pattern_message(_KEY_TEXT, _KEY_FORMAT, "MyName", "my.name", "123-abc")
    if "/" in name:
        return [f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if not slash:
        prefix, name = "", text
    problems = []
    if slash:
        found = dns_subdomain(prefix, BYTES) if prefix else ["must be non-empty"]
        problems += [f"prefix part {problem}" for problem in found]
    if not name:
        problems.append("name part must be non-empty")
    problems += [f"name part {problem}" for problem in length(name, LABEL_LENGTH, BYTES)]
    return problems if _KEY.fullmatch(name) else [*problems, f"name part {rule}"]


def label_value(text: str) -> list[str]:
    problems = length(text, LABEL_LENGTH, BYTES)
    if not text or _KEY.fullmatch(text):
        return problems
    rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " + ENDS
    return [*problems, pattern_message(rule, _VALUE_FORMAT, "MyValue", "my_value", "12345")]
