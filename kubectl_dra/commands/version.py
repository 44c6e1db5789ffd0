"""``kubectl dra version``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.kubectl_style import KubectlStyle
from kubectl_dra.commands.options import Options, shared_options
from kubectl_dra.output.console import ColorMode, Console, write_data
from kubectl_dra.output.safe import fmt
from kubectl_dra.version import __version__

_EXAMPLES: Final = """\b
Examples:
  kubectl dra version
  kubectl dra version -o json | jq .kubernetes"""


@click.command("version", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), output=("json", "yaml"))
def command(options: Options) -> None:
    """Print the version of this plugin and the Kubernetes versions whose scheduler it reproduces."""
    from kubectl_dra.model.features import NEWEST_MINOR, OLDEST_MINOR

    if options.output:
        from kubectl_dra.output.documents import WRITERS, report_bytes

        kubernetes = {"oldest": f"1.{OLDEST_MINOR}", "newest": f"1.{NEWEST_MINOR}"}
        data = report_bytes("Version", {"version": __version__, "kubernetes": kubernetes})
        write_data(WRITERS[options.output](data))
        return
    text = fmt("kubectl-dra {} (schedulers of Kubernetes 1.{} to 1.{})", __version__, OLDEST_MINOR, NEWEST_MINOR)
    Console(ColorMode(options.color)).out(text)
