"""What fingers that know kubectl type: ``help CMD``, ``options``, ``describe TYPE NAME``, ``--version``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle, write_shared_options
from kubectl_dra.output.console import write_help

#: The types of ``describe TYPE``, and the command that describes each.
_DESCRIBED: Final = {
    "pools": "describe-pool",
    "claims": "describe-claim",
    "podgroups": "describe-podgroup",
    "nodes": "describe-node",
}


def as_kubectl_says(words: Sequence[str]) -> list[str]:
    """The words of this program for those of kubectl. Raises a usage error for a type that none describes."""
    first, *rest = words
    if first == "help" and rest:
        return [rest[0], "--help"]
    return _describe(rest) if first == "describe" else [*words]


#: Words that are no command, and the command that answers what they ask.
_TYPES: Final = frozenset(
    (
        *("pool", "device", "node", "claim", "template", "class", "slice", "taint", "podgroup"),
        *("pools", "devices", "nodes", "claims", "templates", "classes", "slices", "taints", "podgroups"),
        *("resourceclaim", "resourceclaims", "resourceslice", "resourceslices", "deviceclass", "deviceclasses"),
    )
)
_OTHERS: Final = {
    **dict.fromkeys(("po", "pod", "pods", "pending"), ("why-pending", "-A")),
    **dict.fromkeys(("usage", "used"), ("top",)),
    "free": ("get", "devices", "--free"),
}


def meant_by(word: str) -> str:
    """The command line that a word which is no command may stand for; empty where it is none of those."""
    from kubectl_dra.reports.invocations import try_dra  # only for who errs

    words = ("get", word) if word in _TYPES else _OTHERS.get(word)
    return try_dra(*words) if words is not None else ""


def _describe(words: Sequence[str]) -> list[str]:
    """``describe pool NAME`` and ``describe pool/NAME``, flags anywhere: the first word that names a type counts."""
    from kubectl_dra.commands.get.query import type_of  # the kinds are for who says describe

    for index, word in enumerate(words):
        type_, slash, name = word.partition("/")
        command = _DESCRIBED.get(type_of(type_) or "")
        if command is not None:
            return [command, *words[:index], *([name] if slash else []), *words[index + 1 :]]
    types = ", ".join(each.removeprefix("describe-") for each in _DESCRIBED.values())
    given = next((word for word in words if not word.startswith("-")), "")
    what = f'nothing describes "{given}" here' if given else "the type to describe is missing"
    raise UsageProblem(what, f"describe TYPE NAME, types: {types}")


@click.command("help", cls=KubectlStyle)
@click.pass_context
def help_command(context: click.Context) -> None:
    write_help(context.find_root().get_help())


@click.command("options", cls=KubectlStyle)
@click.pass_context
def options_command(context: click.Context) -> None:
    """Print the options that every command takes."""
    root = context.find_root()
    formatter = root.make_formatter()
    write_shared_options(root, formatter)
    write_help(formatter.getvalue())


#: Commands that the overview does not list.
UNLISTED: Final = {"help": help_command, "options": options_command}
