"""``kubectl dra snapshot``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra snapshot -f cluster.json.gz           # the objects
  kubectl dra snapshot --redact -f shareable.json   # nothing of yours in it
  kubectl dra why-pending -A --from cluster.json.gz # any command reads it"""


@click.command("snapshot", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options()
@click.option(
    "-f",
    "--filename",
    "file",
    default="",
    metavar="FILE",
    help="Write to a file (.gz, .zst pack it), not to stdout.",
)
@click.option("-o", "--output", "place", default="", metavar="FILE", help="The same; json is the format on stdout.")
@click.option("--redact", is_flag=True, help="Replace all but numbers and Kubernetes' own words.")
@click.option("--with-parameters", is_flag=True, help="Include the opaque parameters and data of drivers.")
def command(options: Options, file: str, place: str, redact: bool, with_parameters: bool) -> int:
    """Save the objects that the other commands read to one JSON document, for --from.

    All namespaces, unless -n names one. Never holds Secrets, environment variables, arguments or commands; annotations
    and drivers' opaque parameters are left out. The file can be read by its owner only.
    """
    from kubectl_dra.commands.snapshot.answers import file_of, take

    return take(options, file_of(file, place), redact=redact, with_parameters=with_parameters)
