"""``kubectl dra get``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.get.query import GetQuery
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import TEMPLATES, Expression, Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra get pools
  kubectl dra get devices --free --class mig.example.com --node cpu-2
  kubectl dra get devices --match 'device.driver == "gpu.example.com"'
  kubectl dra get claims -w                        # and whatever changes
  kubectl dra get claims -A --unused               # that nobody uses
  kubectl dra get class gpu.example.com -o wide    # what fits together
  kubectl dra get nodes --sort-by free
  kubectl dra get taints -o wide"""


@click.command("get", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(
    selector=True, watch=True, exit_code=True, output=("wide", "json", "yaml", "name", "markdown", "csv", *TEMPLATES)
)
@click.option("--free", is_flag=True, help="Devices that a request without tolerations could get, or a share of them.")
@click.option("--used", is_flag=True, help="Devices that are allocated to a claim.")
@click.option("--tainted", is_flag=True, help="Devices with a taint.")
@click.option("--class", "class_", default="", metavar="NAME", help="Devices that a DeviceClass selects.")
@click.option("--node", default="", metavar="NAME", help="Devices that can be used on a node.")
@click.option("--match", default="", type=Expression(), metavar="EXPR", help="Devices that a CEL expression selects.")
@click.option("--unused", is_flag=True, help="Claims that no pod uses or waits for.")
@click.option(
    "--sort-by",
    default="",
    metavar="COLUMN|PATH",
    help="Sort by a column, such as FREE, or by a field of the JSON, such as .metadata.name.",
)
@click.option("--show-labels", is_flag=True, help="The labels as the last column.")
@click.option("--no-headers", is_flag=True, help="Without the line of titles.")
@click.argument("words", nargs=-1, required=True, metavar="TYPE[/NAME] [NAME]...")
def command(
    options: Options,
    words: tuple[str, ...],
    free: bool,
    used: bool,
    tainted: bool,
    class_: str,
    node: str,
    match: str,
    unused: bool,
    sort_by: str,
    no_headers: bool,
    show_labels: bool,
) -> int:
    """List pools, devices, nodes, claims, templates, classes, slices, taints or podgroups, with who uses what.

    Several types are separated by commas. Pools and devices are named DRIVER/POOL and DRIVER/POOL/DEVICE; the last
    parts alone will do. With -o json or yaml pools, devices and nodes are reports, the others the API's objects.
    """
    from kubectl_dra.commands.get.answers import answer

    query = GetQuery(words, free, used, tainted, class_, node, match, unused, sort_by, no_headers, show_labels)
    return answer(options, query)
