"""Formats of names and versions of resource.k8s.io beyond those of any API object (``kubectl_dra.model.names``).

Upstream: apimachinery's pkg/util/validation and pkg/api/validate/content.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.api.admission.errors import Field, FieldError
from kubectl_dra.model import names
from kubectl_dra.model.gotext import pattern_message

IDENTIFIER_LENGTH: Final = 32
_IDENTIFIER_FORMAT: Final = "[A-Za-z_][A-Za-z0-9_]*"

# Go folds case by Unicode, where two letters outside of ASCII fold into it.
_SUBDOMAIN_ANY_CASE: Final = re.compile(names.SUBDOMAIN_FORMAT.replace("a-z", "a-zA-Zſ\u212a"))
_IDENTIFIER: Final = re.compile(_IDENTIFIER_FORMAT)
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PRE: Final = r"(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD: Final = r"[0-9a-zA-Z-]+"
_VERSION: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE}(\.{_PRE})*)?(\+{_BUILD}(\.{_BUILD})*)?")


def dns_subdomain_any_case(text: str) -> list[str]:
    """Problems with a DNS subdomain in which upper case is allowed."""
    problems = names.length(text, names.SUBDOMAIN_LENGTH, names.BYTES)
    if _SUBDOMAIN_ANY_CASE.fullmatch(text):
        return problems
    rule = f"an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', {names.ENDS}"
    return [*problems, pattern_message(rule, names.SUBDOMAIN_FORMAT, "Example.com")]


def driver_name(text: str, field: Field) -> None:
    """A driver's name: a DNS subdomain of at most 63 bytes in any case."""
    if not text:
        field.required()
        return
    if names.size(text) > names.LABEL_LENGTH:
        field.too_long(names.LABEL_LENGTH)
    field.invalid_for_each(text, names.dns_subdomain(text.lower()))


def declared_driver_name(text: str, field: Field) -> None:
    """The same where declarative validation checks it."""
    if not text:
        field.required()
        return
    if len(text) > names.LABEL_LENGTH:
        field.too_long(names.LABEL_LENGTH, names.CHARACTERS)
    field.invalid_for_each(text, dns_subdomain_any_case(text))


def pool_name(text: str, field: Field) -> None:
    """A pool's name: DNS subdomains joined by slashes."""
    if not text:
        field.required()
        return
    if names.size(text) > names.SUBDOMAIN_LENGTH:
        field.too_long(names.SUBDOMAIN_LENGTH)
    for part in text.split("/"):
        field.invalid_for_each(part, names.dns_subdomain(part))


def qualified_name(text: str, field: Field) -> None:
    """The key of an attribute or capacity: ``id`` or ``domain/id``. More than one slash goes unchecked, as upstream."""
    parts = text.split("/")
    if len(parts) == 2:
        if parts[0]:
            driver_name(parts[0], field)
        else:
            field.invalid("", "the domain must not be empty")
        if not parts[1]:
            field.invalid("", "the name must not be empty")
    if len(parts) == 1 or (len(parts) == 2 and parts[1]):
        _identifier(parts[-1], field)


def fully_qualified_name(text: str, field: Field) -> None:
    """An attribute in a constraint or derived: ``domain/id``."""
    parts = text.split("/")
    if len(parts) == 2:
        if not parts[0]:
            field.invalid("", "prefix must not be empty")
        else:
            if names.size(parts[0]) > names.LABEL_LENGTH:
                field.too_long(names.LABEL_LENGTH)
            field.invalid_for_each(parts[0], names.dns_subdomain(parts[0], names.BYTES), "prefix: ")
        if not parts[1]:
            field.invalid("", "name must not be empty")
    if len(parts) == 1 or (len(parts) == 2 and parts[1]):
        _identifier(parts[-1], field)
    if len(parts) == 1:
        field.invalid(text, "a fully qualified name must be a domain and a name separated by a slash")


def is_fully_qualified(text: str) -> bool:
    """Whether handwritten validation takes a text for ``domain/id``."""
    found: list[FieldError] = []
    qualified_name(text, Field("", found))
    return "/" in text and not found


def is_version(text: str) -> bool:
    """Whether a text is a semantic version 2.0.0 by the published expression."""
    return _VERSION.fullmatch(text) is not None


def _identifier(text: str, field: Field) -> None:
    if names.size(text) > IDENTIFIER_LENGTH:
        field.too_long(IDENTIFIER_LENGTH)
    if not _IDENTIFIER.fullmatch(text):
        rule = (
            "a valid C identifier must start with alphabetic character or '_', "
            "followed by a string of alphanumeric characters or '_'"
        )
        field.invalid(text, pattern_message(rule, _IDENTIFIER_FORMAT, "my_name", "MY_NAME", "MyName"))
