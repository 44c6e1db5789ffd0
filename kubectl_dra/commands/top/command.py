"""``kubectl dra top``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra top                # who holds most, what is idle, by namespace
  kubectl dra top nodes
  kubectl dra top classes
  kubectl dra top pods -A"""


@click.command("top", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(exit_code=True, output=("json", "yaml"), text=True)
@click.argument(
    "by",
    required=False,
    default="namespaces",
    metavar="[nodes|classes|namespaces|pods]",
    type=click.Choice(["nodes", "classes", "namespaces", "pods"]),
)
def command(options: Options, by: str) -> int:
    """Show who holds most devices, and claims that hold devices for nobody.

    Nodes and classes are those of the whole cluster. -n limits namespaces, pods, and the claims held for nobody.
    """
    from kubectl_dra.commands.top.answers import answer

    return answer(options, by)
