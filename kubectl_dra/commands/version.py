"""``kubectl dra version``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options
from kubectl_dra.output.console import ColorMode, Console, write_data
from kubectl_dra.output.safe import fmt

_EXAMPLES: Final = """\b
Examples:
  kubectl dra version
  kubectl dra version -o json | jq .kubernetes"""


@click.command("version", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), output=("json", "yaml"))
def command(options: Options) -> None:
    """Print the version of this plugin and the Kubernetes versions whose scheduler it reproduces."""
    if options.output:
        from kubectl_dra.output.documents import WRITERS, report_bytes
        from kubectl_dra.reports.version import Version

        write_data(WRITERS[options.output](report_bytes("Version", Version())))
        return
    print_version(Console(ColorMode(options.color)))


def print_version(console: Console) -> None:
    """One line: the version, and the schedulers that it reproduces."""
    from kubectl_dra.reports.version import Version

    found = Version()
    oldest, newest = found.kubernetes.oldest, found.kubernetes.newest
    console.out(fmt("kubectl-dra {} (schedulers of Kubernetes {} to {})", found.version, oldest, newest))
