"""``kubectl dra describe-node``: the options. What it does with them stands in ``node_answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import TEMPLATES, Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra describe-node cpu-2
  kubectl dra describe-node cpu-2 -o wide
  kubectl dra get nodes                      # all nodes, one line each"""


@click.command("describe-node", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), exit_code=True, output=("wide", "json", "yaml", *TEMPLATES), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(options: Options, names: tuple[str, ...]) -> int:
    """Show nodes: the devices of all drivers that each can use, their state, and which pods hold them."""
    from kubectl_dra.commands.describe.node_answers import describe_nodes

    return describe_nodes(options, names)
