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
    **dict.fromkeys(("pool", "pools", "resourcepool", "resourcepools"), "describe-pool"),
    **dict.fromkeys(("claim", "claims", "resourceclaim", "resourceclaims"), "describe-claim"),
    **dict.fromkeys(("podgroup", "podgroups"), "describe-podgroup"),
    **dict.fromkeys(("node", "nodes", "no"), "describe-node"),
}
_GROUPS: Final = (".resource.k8s.io", ".scheduling.k8s.io")


def as_kubectl_says(words: Sequence[str]) -> list[str]:
    """The words of this program for those of kubectl. Raises a usage error for a type that none describes."""
    first, *rest = words
    if first == "help" and rest:
        return [rest[0], "--help"]
    return _describe(rest) if first == "describe" else [*words]


def _describe(words: Sequence[str]) -> list[str]:
    """``describe pool NAME`` and ``describe pool/NAME``, flags anywhere: the first word that names a type counts."""
    for index, word in enumerate(words):
        type_, slash, name = word.partition("/")
        command = _DESCRIBED.get(_without_group(type_.lower()))
        if command is not None:
            return [command, *words[:index], *([name] if slash else []), *words[index + 1 :]]
    types = ", ".join(dict.fromkeys(each.removeprefix("describe-") for each in _DESCRIBED.values()))
    given = next((word for word in words if not word.startswith("-")), "")
    what = f'nothing describes "{given}" here' if given else "the type to describe is missing"
    raise UsageProblem(what, f"describe TYPE NAME, types: {types}")


def _without_group(type_: str) -> str:
    return next((type_.removesuffix(each) for each in _GROUPS if type_.endswith(each)), type_)


@click.command("help", cls=KubectlStyle)
@click.pass_context
def help_command(context: click.Context) -> None:
    """The overview."""
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
