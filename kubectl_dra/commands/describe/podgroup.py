"""``kubectl dra describe-podgroup``: the options. What it does with them stands in ``object_answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, scope_options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra describe-podgroup train -n ml
  kubectl dra describe-podgroup train -n ml -o yaml
  kubectl dra why-pending podgroup/train -n ml   # why it waits"""


@click.command("describe-podgroup", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=scope_options(everywhere=False), exit_code=True, output=("json", "yaml"), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(options: Options, names: tuple[str, ...]) -> int:
    """Show PodGroups: how many pods they need, which run where, the claims they share, what the scheduler said."""
    from kubectl_dra.commands.describe.object_answers import describe_groups

    return describe_groups(options, names)
