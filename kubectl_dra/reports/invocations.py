"""Commands that are printed to be run, as words: the one place that puts names from a cluster into them.

Objects are named ``TYPE/NAME``, which no shell and no command takes for an option, and only by names that the API can
hold: for anything else there is no command. Quoting is ``output.safe.command``'s work, or :func:`shell_line`'s
where a hint is a plain text.
"""

from __future__ import annotations

import shlex

from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.names import is_label, is_subdomain

Words = tuple[str, ...]


def kubectl(*parts: str | Words | None) -> Words | None:
    """``kubectl`` and ``parts``: texts of the program, and what the functions below make; None if one of them is."""
    words = ["kubectl"]
    for part in parts:
        if part is None:
            return None
        words += [part] if isinstance(part, str) else part
    return tuple(words)


def of(kind: str, name: str, namespace: str = "") -> Words | None:
    """``KIND/NAME``, with ``-n NAMESPACE`` where one is given; None for names that the API can't hold."""
    if not is_subdomain(name) or (namespace and not is_label(namespace)):
        return None
    return (f"{kind}/{name}", "-n", namespace) if namespace else (f"{kind}/{name}",)


def within(namespace: str) -> Words | None:
    """``-n NAMESPACE``; None for what no namespace is called."""
    return ("-n", namespace) if is_label(namespace) else None


def of_pool(pool: PoolId) -> Words | None:
    """``DRIVER/POOL``; None for names that no slice can have."""
    # The name of a pool is one or more subdomains with slashes between them (ValidatePoolName).
    named = is_subdomain(pool.driver.lower()) and all(map(is_subdomain, pool.pool.split("/")))
    return (str(pool),) if named else None


def of_device(device: DeviceId) -> Words | None:
    """``DRIVER/POOL/DEVICE``; None for names that no slice can have."""
    return (str(device),) if of_pool(device.pool_id) is not None and is_label(device.device) else None


def plain_word(text: str) -> Words | None:
    """A word that is no name, such as a taint; None if it would pass for an option, or can't be shown."""
    return (text,) if text and not text.startswith("-") and text.isascii() and text.isprintable() else None


def shell_line(words: Words | None) -> str:
    """The words as a line for a shell; empty where there is no command."""
    return shlex.join(words) if words is not None else ""
