"""What the options say of the cluster, for commands that are printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubectl_dra.model.invocation import Address, Words, flag
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.secrets import without_login

if TYPE_CHECKING:
    from kubectl_dra.commands.shared.options import Options


def address_of(options: Options) -> Address:
    """What the options say of the cluster; its context and server are known when it was read."""
    return Address(options.sources, tuple(_flags(options)), tuple(_own(options)))


def completed(hint: str, options: Options) -> str:
    """A hint for whoever gave ``options``: a command gets their flags."""
    from kubectl_dra.reports.invocations import hint as complete  # reports are loaded by commands that make some

    return complete(hint, address_of(options))


def _flags(options: Options) -> Iterator[str]:
    given: tuple[tuple[str, str], ...] = (
        ("--context", options.context),
        ("--cluster", options.cluster),
        ("--user", options.user),
        ("--kubeconfig", options.kubeconfig),
        ("--server", without_login(options.server)),
        ("--as", options.as_user),
        *(("--as-group", group) for group in options.as_groups),
    )
    for name, value in given:
        if value:
            yield from flag(name, value)
    # A token is shown nowhere.
    if options.insecure:
        yield "--insecure-skip-tls-verify"


def _own(options: Options) -> Words:
    gates = tuple(word for gates in options.feature_gates for word in flag("--feature-gates", gates))
    return (*gates, "--max-bytes", str(options.max_bytes)) if options.max_bytes != MAX_BYTES else gates
