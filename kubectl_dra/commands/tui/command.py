"""``kubectl dra tui``: the options. The terminal UI itself is the package ``tui``, imported only when it starts."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra tui                        # the current context, all namespaces
  kubectl dra tui -n ml                  # one namespace first (0: all)
  kubectl dra tui --from demo            # the built-in demo cluster
  kubectl dra tui --from cluster.json.gz # what kubectl dra snapshot wrote"""


@click.command("tui", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options()
@click.option("--light", is_flag=True, help="Begin with the light theme.")
def command(options: Options, light: bool) -> int:
    """Browse devices, claims and pending pods in the terminal; try selectors, plan taints.

    Only reads until writing is unlocked.
    """
    from kubectl_dra.commands.tui.answers import start

    return start(options, light=light)
