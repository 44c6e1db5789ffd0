"""An extender that the scheduler cannot ask: at which address, what it answered, and where that runs.

Upstream: pkg/scheduler/extender.go, send; an error of an extender that is not ignorable ends the attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from kubectl_dra.diagnosis.records import Refusal
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.reports.invocations import kubectl, reading, within

_SENT: Final = re.compile(r'Post "(?P<url>https?://[^"\s]+)": (?P<error>.+)', re.DOTALL)
_ANSWERED: Final = re.compile(r"failed \S+ with extender at URL (?P<url>https?://\S+), code (?P<code>\d{3})")
#: ``NAME.NAMESPACE.svc``, and what a cluster's domain adds.
_SERVICE: Final = re.compile(r"(?P<name>[a-z0-9-]+)\.(?P<namespace>[a-z0-9-]+)\.svc(?:\..*)?")
_HERE: Final = ("127.0.0.1", "localhost", "::1")


class Extender(NamedTuple):
    """``error``: why it was not reached, empty where it answered with the HTTP status ``code``."""

    url: str
    error: str
    code: str

    @property
    def service(self) -> tuple[str, str]:
        """Its Service's name and namespace; empty where the address names none."""
        found = _SERVICE.fullmatch(self._host)
        return (found["name"], found["namespace"]) if found is not None else ("", "")

    @property
    def beside_scheduler(self) -> bool:
        """Whether it has to run on the scheduler's own machine."""
        return self._host in _HERE

    @property
    def _host(self) -> str:
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""


def extender_of(detail: object) -> Extender | None:
    """The extender that a refusal is about, by its words; None where they are about something else."""
    if not isinstance(detail, Refusal) or detail.plugin:
        return None
    if (sent := _SENT.match(detail.text)) is not None:
        return Extender(sent["url"], sent["error"], "")
    answered = _ANSWERED.match(detail.text)
    return Extender(answered["url"], "", answered["code"]) if answered is not None else None


def extender_sentence(found: Extender, *, earlier: bool) -> Safe:
    """What keeps the scheduler from placing the pod."""
    when = Safe(" at an earlier attempt" if earlier else "")
    if found.code:
        return fmt("its scheduler's extender {} answered with HTTP {}{}", found.url, found.code, when)
    return fmt("its scheduler did not reach its extender {}{}: {}", found.url, when, found.error)


def extender_advice(found: Extender) -> Safe:
    """What the extender is, and what ends the dependence on it."""
    name, namespace = found.service
    where = Safe("the server at this address")
    if name:
        where = fmt("what Service {} of namespace {} leads to", name, namespace)
    elif found.beside_scheduler:
        where = Safe("the program at this address, which runs on the machine of the scheduler itself")
    todo = "Read the log of {}." if found.code else "Start {}, or make it reachable."
    text = (
        "{} Until then no pod that the extender is asked about is placed. Whoever keeps the scheduler's "
        "configuration can set ignorable: true for this extender, or remove it."
    )
    return fmt(text, fmt(todo, where))


def extender_commands(found: Extender, address: Address) -> Iterator[Safe]:
    """What shows whether anything serves the address."""
    name, namespace = found.service
    if not name:
        return
    words = kubectl("get", "endpointslices", "-l", f"kubernetes.io/service-name={name}", within(namespace))
    line = command(reading(words, address))
    if line is not None:
        yield fmt("What serves it: {}", line)
