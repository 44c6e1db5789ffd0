"""``kubectl dra describe-claim``: the options. What it does with them stands in ``object_answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, scope_options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra describe-claim serve-0-net -n ml
  kubectl dra describe-claim serve-0-net -n ml -o yaml
  kubectl dra get claims -A --unused          # which ones nobody uses"""


@click.command("describe-claim", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=scope_options(everywhere=False), exit_code=True, output=("wide", "json", "yaml"), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(options: Options, names: tuple[str, ...]) -> int:
    """Show ResourceClaims: what they request and hold, who uses them, what drivers report and were configured with."""
    from kubectl_dra.commands.describe.object_answers import describe_claims

    return describe_claims(options, names)
