"""``kubectl dra describe-pool``: the options. What it does with them stands in ``pool_answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra describe-pool                          # all pools with totals
  kubectl dra describe-pool mig.example.com/cpu-2    # one pool, every device
  kubectl dra describe-pool cpu-2                    # of every driver
  kubectl dra describe-pool cpu-2 -o wide            # every attribute"""


@click.command("describe-pool", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), exit_code=True, output=("wide", "json", "yaml"), text=True)
@click.argument("names", nargs=-1, metavar="[[DRIVER/]POOL]...")
def command(options: Options, names: tuple[str, ...]) -> int:
    """Show pools of devices: whether the scheduler can use them, what is free, tainted or taken, and by whom.

    Without a name: every pool with its totals. A name that several drivers use shows the pools of all of them.
    """
    from kubectl_dra.commands.describe.pool_answers import describe_pools

    return describe_pools(options, names)
