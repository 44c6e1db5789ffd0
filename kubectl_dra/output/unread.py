"""What could not be read: which kinds and where, for whom it is forbidden, and the commands that would permit it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.api.kinds import Kind
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import Address, Words
from kubectl_dra.model.names import is_label, is_subdomain
from kubectl_dra.output.layout import paragraphs, wrapped
from kubectl_dra.output.safe import Safe, command, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.invocations import changing, of_administrator

_LEFT_OUT: Final = (
    "The cluster's file has no {} at all{}. If they were only left out: kubectl get {}{} -o yaml > more.yaml, and "
    "--from more.yaml beside it."
)
_NONE: Final = Safe("")
_UNREAD: Final = Safe("Could not be read, and may change the answer:")
_PERMIT: Final = Safe("A cluster administrator can permit it (as YAML: add --dry-run=client -o yaml):")
_WHY: Final[Mapping[str, Safe]] = {
    Coverage.PARTIAL: Safe("only partly read"),
    Coverage.FAILED: Safe("not read, because the server failed to list them"),
    Coverage.NOT_READ: Safe("not read"),
}
_FOR_ALL: Final = Safe("  A role for all commands is in: kubectl dra explain DRA-800")
_MOST_REASONS: Final = 3
_ACCOUNT: Final = re.compile(r"system:serviceaccount:([^:]+):([^:]+)")
_ROLE: Final = "kubectl-dra-reader"
_LONGEST_NAME: Final = 63


def around(page: Iterable[Safe], missing: Sequence[Missing], address: Address | None) -> list[Safe]:
    """A page below the sentence that says what it lacks, and above who can give that."""
    return paragraphs((list(incomplete_lines(missing)), list(page), list(rights_lines(missing, address))))


def incomplete_lines(missing: Sequence[Missing]) -> Iterator[Safe]:
    """Before an answer: what could not be read and decides."""
    if decisive := [item for item in missing if item.decides]:
        yield from wrapped(fmt("This answer is incomplete: {}, see below.", unread_sentence(decisive)))


def rights_lines(missing: Sequence[Missing], address: Address | None, again: Words | None = None) -> Iterator[Safe]:
    """Below an answer: why that could not be read, and who can change it, or ask the same in the place of the reader.

    ``address``: the cluster that commands are for, None for no commands. ``again`` asks the same, where that is not
    the command that runs.
    """
    if decisive := [item for item in missing if item.decides]:
        yield _UNREAD
        yield from lacking_lines(decisive, address, again)


def lacking_lines(missing: Sequence[Missing], address: Address | None, again: Words | None = None) -> Iterator[Safe]:
    """The same without a heading, as an error has it."""
    yield from missing_kinds(missing, address)
    if address is not None:
        yield from _who_may_lines(missing, address.again or again, address)


def missing_kinds(missing: Sequence[Missing], address: Address | None) -> Iterator[Safe]:
    """A line for all kinds that are lacking alike, then who can change that and how."""
    alike: dict[tuple[Safe, Safe], list[str]] = {}
    for item in sorted(missing, key=lambda item: item.coverage != Coverage.FORBIDDEN):
        alike.setdefault((_scope(item), _why(item)), []).append(item.kind)
    for (scope, why), kinds in alike.items():
        yield from wrapped(fmt("{}{}: {}", listed(list(dict.fromkeys(kinds))), scope, why), indent=4, first=2)
    yield from _reasons(missing)
    lines = _grants(missing, address) if address is not None else []
    if lines:
        yield fmt("  {}", _PERMIT)
        yield from (fmt("    {}", line) for line in lines)
        yield _FOR_ALL
    elif refused := [item for item in missing if item.coverage == Coverage.FORBIDDEN]:
        text = fmt("needs {} on {}", listed(refused[0].rule.verbs), listed(_resources(refused)))
        yield from wrapped(text, indent=4, first=4)


def _reasons(missing: Sequence[Missing]) -> Iterator[Safe]:
    """What the authorizer adds: the permission that a cloud calls so, or a role that a binding names in vain."""
    kinds: dict[str, list[str]] = {}
    for item in missing:
        if item.reason:
            kinds.setdefault(item.reason, []).append(item.kind)
    for reason, of in list(kinds.items())[:_MOST_REASONS]:
        yield from wrapped(fmt("The server says of {}: {}", listed(list(dict.fromkeys(of))), reason), indent=6, first=4)


def _who_may_lines(missing: Sequence[Missing], words: Words | None, address: Address) -> Iterator[Safe]:
    """The same question, ``words``, for whoever may read everything."""
    if not words or not any(item.coverage == Coverage.FORBIDDEN for item in missing):
        return
    line = command(changing(words, Address(context=address.context)))
    if line is not None and (address.live or address.context):
        yield Safe("  Or an administrator reads it for you:")
        yield fmt("    {}", line)


def unread_sentence(missing: Sequence[Missing]) -> Safe:
    """The same in a sentence: ``Node could not be read, and Pod only in namespace ml``."""
    parts = _kinds(item for item in missing if item.coverage == Coverage.PARTIAL)
    whole = _kinds(item for item in missing if item.kind not in parts and not item.read_in)
    here: dict[tuple[str, ...], list[Missing]] = {}
    for item in missing:
        if item.kind not in (*parts, *whole):
            here.setdefault(item.read_in, []).append(item)
    texts = [fmt("{} could not be read", listed(whole))] if whole else []
    for alike in here.values():
        text = "{} only in {}" if texts else "{} could be read only in {}"
        texts.append(fmt(text, listed(_kinds(alike)), _namespaces(alike[0])))
    texts += [fmt("not every {} could be read", listed(parts, "or"))] if parts else []
    return (Safe(", and ") if here else Safe(" and ")).join(texts)


def _kinds(missing: Iterator[Missing] | Sequence[Missing]) -> list[str]:
    return list(dict.fromkeys(item.kind for item in missing))


def _why(item: Missing) -> Safe:
    if item.coverage == Coverage.FORBIDDEN:
        return fmt("forbidden for user {}", item.user) if item.user else Safe("forbidden")
    return _WHY.get(item.coverage, _WHY[Coverage.NOT_READ])


def _scope(item: Missing) -> Safe:
    if item.namespace:
        return fmt(" in namespace {}", item.namespace)
    if item.read_in:
        return fmt(" outside {}", _namespaces(item))
    return Safe(" in the whole cluster")


def _namespaces(item: Missing) -> Safe:
    one = len(item.read_in) == 1
    return fmt("{} {}", Safe("namespace" if one else "namespaces"), listed(item.read_in))


# --- who can permit it ----------------------------------------------------------------------------------------------


def _grants(missing: Sequence[Missing], address: Address) -> list[Safe]:
    """The commands that give the rights: one role for the cluster, and one for each namespace.

    What was not read at all is in them where anything was refused: without it the answer stays incomplete.
    """
    refused = [item for item in missing if item.coverage == Coverage.FORBIDDEN]
    permitted = (Coverage.PARTIAL, Coverage.FAILED)
    wanted = [item for item in missing if item.coverage not in permitted] if refused else []
    user = next((item.user for item in refused if item.user), "USER")
    admin = of_administrator(address)
    lines: list[Safe] = []
    for namespace in dict.fromkeys(item.rule.namespace for item in wanted):
        here = [item for item in wanted if item.rule.namespace == namespace]
        for words in _role(here, user, namespace):
            line = command(changing(words, admin))
            lines += [line] if line is not None else []
    return lines


def _role(missing: Sequence[Missing], user: str, namespace: str) -> list[Words]:
    """A role that reads these kinds, bound to ``user``; nothing for what no namespace is called."""
    if namespace and not is_label(namespace):
        return []
    role, scope = ("role", ("-n", namespace)) if namespace else ("clusterrole", ())
    resources = ",".join(_resources(missing))
    verbs = ",".join(missing[0].rule.verbs)
    name = role_name(user, verbs, resources)
    account = _ACCOUNT.fullmatch(user)
    subject = f"--serviceaccount={account[1]}:{account[2]}" if account is not None else f"--user={user}"
    create = ("kubectl", "create", role, name, f"--verb={verbs}", f"--resource={resources}", *scope)
    return [create, ("kubectl", "create", f"{role}binding", name, f"--{role}={name}", subject, *scope)]


def _resources(missing: Sequence[Missing]) -> list[str]:
    """As kubectl names them: ``nodes``, ``resourceslices.resource.k8s.io``."""
    rules = (item.rule for item in missing)
    return list(dict.fromkeys(f"{rule.resource}.{rule.api_group}".rstrip(".") for rule in rules))


def role_name(user: str, verbs: str, resources: str) -> str:
    """A name of its own for each user and answer.

    A role that exists already can't be created with other rules, and its binding can't be created for another user.
    """
    name = f"{_ROLE}-{re.sub(r'[^a-z0-9]+', '-', user.lower()).strip('-')}"[:_LONGEST_NAME].rstrip("-")
    return f"{name if is_subdomain(name) else _ROLE}-{zlib.crc32(f'{user} {verbs} {resources}'.encode()):08x}"


def left_out_text(kind: Kind, although: Safe = _NONE) -> Safe:
    """How to bring in the objects of a kind that somebody left out of a plain list."""
    return fmt(_LEFT_OUT, kind.name, although, safe(kind.plural), Safe(" -A" if kind.namespaced else ""))
