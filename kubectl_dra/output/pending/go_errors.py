"""What an error of Go comes down to: it is wrapped from the outside, so that the cause stands last."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Parts of a long error that are kept.
_INNER: Final = 2
_LONG: Final = 80
_UID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
#: What some drivers put before the cause, and what the kubelet puts behind a name.
_UIDS: Final = re.compile(rf"claim {_UID} contain errors: | \({_UID}\)")
#: Upstream: apimachinery's errors.NewForbidden and errors.NewInvalid.
_REFUSED: Final = re.compile(r'^.*?\S+ "[^"]*" is (?:forbidden|invalid): ', re.DOTALL)
#: Upstream: apiserver's pkg/endpoints/handlers/responsewriters, forbiddenMessage.
_LACKS_RIGHT: Final = re.compile(
    r'User "(?P<user>[^"]+)" cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
)


#: Upstream: apiserver's pkg/admission/plugin/webhook/errors, ToStatusErr.
_DENIED: Final = re.compile(r'admission webhook "[^"]+" denied the request: ')
#: Upstream: kyverno, pkg/webhooks/utils, GetErrorMsg and GetBlockedMessages.
_KYVERNO: Final = re.compile(
    r"blocked due to the following policies (?P<policy>\S+): (?P<rule>\S+): (?P<text>.*)", re.DOTALL
)


class LackedRight(NamedTuple):
    """What somebody may not do; ``group`` is empty for the core API, ``resource`` may name a subresource."""

    user: str
    verb: str
    resource: str
    group: str


def without_uids(error: str) -> str:
    """The error without the identifiers of pods and claims, by which nobody knows them."""
    return _UIDS.sub("", error)


def innermost(error: str) -> str:
    """The end of a long error; of a refusal of the API server all that it says."""
    denied = _DENIED.search(error)
    if denied is not None:
        return _of_policy(" ".join(error[denied.start() :].split()))
    refused = _REFUSED.match(error)
    if refused is not None:
        return error[refused.end() :]
    words = without_uids(error)
    return ": ".join(words.split(": ")[-_INNER:]) if len(words) > _LONG else words


def _of_policy(words: str) -> str:
    """Which webhook says what; of Kyverno's report the policy, its rule and the message."""
    found = _KYVERNO.search(words)
    if found is None:
        return words
    text = found["text"].strip("'").removeprefix("validation error: ").partition(f" rule {found['rule']} failed at ")[0]
    return f"policy {found['policy']}, rule {found['rule']}: {text.rstrip('.')}"


def lacked_right(error: str) -> LackedRight | None:
    """The right that whoever was refused lacks; None where it is refused for another reason."""
    found = _LACKS_RIGHT.search(error)
    return LackedRight(**found.groupdict()) if found is not None else None
