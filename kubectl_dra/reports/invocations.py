"""Commands that are printed to be run, as words: the one place that puts names from a cluster into them.

Objects are named ``TYPE/NAME``, which no shell and no command takes for an option, and only by names that the API can
hold: for anything else there is no command. Quoting is ``output.safe.command``'s work, or :func:`shell_line`'s
where a hint is a plain text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, overload

from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.invocation import Address, CommandLine, Words, flag
from kubectl_dra.model.names import is_label, is_subdomain

#: Stands for a context that nobody wrote down: no kubeconfig has one of that name, so what is pasted fails.
UNKNOWN_CONTEXT: Final = "CONTEXT"
# They need no cluster.
_OFFLINE: Final = frozenset({"convert", "completion", "explain", "lint", "version"})


def kubectl(*parts: str | Words | None) -> Words | None:
    """``kubectl`` and ``parts``: texts of the program, and what the functions below make; None if one of them is."""
    words = ["kubectl"]
    for part in parts:
        if part is None:
            return None
        words += [part] if isinstance(part, str) else part
    return tuple(words)


def dra(*parts: str | Words | None) -> Words | None:
    return kubectl("dra", *parts)


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


def shell_line(words: Words | None, or_else: Words = ()) -> CommandLine:
    """The words as a line for a shell; ``or_else``, or an empty line, where there is no command."""
    return CommandLine(or_else if words is None else words)


def try_kubectl(*parts: str | Words | None) -> CommandLine:
    """A hint: one command of kubectl; empty where there is none."""
    return shell_line(kubectl(*parts))


def try_dra(*parts: str | Words | None) -> CommandLine:
    """A hint: one command of this program; empty where there is none."""
    return shell_line(dra(*parts))


# --- the cluster that is meant ---------------------------------------------------------------------------------------


@overload
def reading(words: Words, address: Address) -> Words: ...
@overload
def reading(words: Words | None, address: Address) -> Words | None: ...
def reading(words: Words | None, address: Address) -> Words | None:
    """A command that changes nothing, with the flags that were given, at the end.

    kubectl knows no files: what it is to do goes to the cluster that the file was taken from.
    """
    if words is None or (not address.live and not _is_own(words)):
        return changing(words, address)
    if not _is_own(words):
        return (*words, *address.flags)
    if words[2] in _OFFLINE:
        return words
    sources = (word for source in address.sources for word in flag("--from", source))
    return (*words, *address.flags, *sources, *address.own)


@overload
def changing(words: Words, address: Address) -> Words: ...
@overload
def changing(words: Words | None, address: Address) -> Words | None: ...
def changing(words: Words | None, address: Address) -> Words | None:
    """A command that changes the cluster: it always says which one: the current context may be another by then."""
    if words is None:
        return None
    named = any(word.partition("=")[0] == "--context" for word in address.flags)
    context = address.context or ("" if address.live else UNKNOWN_CONTEXT)
    return (*words, *(flag("--context", context) if context and not named else ()), *address.flags)


def of_administrator(address: Address) -> Address:
    """The same cluster for whoever has more rights: their own login, not that of whoever was refused."""
    return Address(sources=address.sources, context=address.context)


#: What shows the names of a kind in facts of a file, which kubectl does not read.
_FROM_FILES: Final[Mapping[Words, Words]] = {
    ("nodes",): ("kubectl", "dra", "top", "nodes"),
    ("namespaces",): ("kubectl", "dra", "get", "claims", "-A"),
}


def hint(text: str, address: Address) -> str:
    """What to do: a command with the flags that were given; for facts of a file what leads to more facts."""
    if not isinstance(text, CommandLine) or not text.words:
        return text
    if address.live or _is_own(text.words):
        return CommandLine(reading(text.words, address), text.tail)
    if text.words[1:3] == ("auth", "can-i"):
        return "take a new snapshot with the right to list them"
    instead = _FROM_FILES.get(text.words[2:3])
    if text.words[1] == "get" and instead is not None:
        return CommandLine(reading(instead, address))
    return f"see the objects in {' and '.join(address.sources)}"


def _is_own(words: Words) -> bool:
    return words[1:2] == ("dra",)
