"""``kubectl dra why-pending``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import TEMPLATES, Options, shared_options
from kubectl_dra.commands.shared.whatif_options import whatif_options

if TYPE_CHECKING:
    from kubectl_dra.diagnosis.whatif import Switch

_EXAMPLES: Final = """\b
Examples:
  kubectl dra why-pending                         # pending pods by reason
  kubectl dra why-pending -A                      # in all namespaces
  kubectl dra why-pending -A -o wide              # one line per pod
  kubectl dra why-pending trainer-0 -n ml         # one pod, in full
  kubectl dra why-pending trainer-0 -n ml -o wide  # with every node and check
  kubectl dra why-pending sts/trainer -n ml       # the pods of a workload
  kubectl dra why-pending claim/nb-2-gpus -n dev  # a ResourceClaim
  kubectl dra why-pending trainer-0 -n ml --remedy 1  # its commands
  kubectl dra why-pending trainer-0 -n ml --add-node like=NODE,free  # what-if
  kubectl dra why-pending trainer-0 -n ml --node-groups cluster  # new nodes
  kubectl dra why-pending trainer-0 -n ml -w      # follow it until it runs
  kubectl dra why-pending trainer-0 -n ml -o json | jq .verdict"""


@click.command("why-pending", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(
    selector=True,
    watch=True,
    exit_code=True,
    output=("wide", "json", "yaml", "name", "markdown", "csv", *TEMPLATES),
    text=True,
)
@click.option(
    "--sort-by",
    "sort_by",
    default="",
    metavar="COLUMN",
    help="Sort a list of pods: namespace, pod, age, code, needs, closest or reason.",
)
@click.option("--no-headers", is_flag=True, help="A list of pods without the line of titles.")
@click.option("--node", default="", metavar="NAME", help="Only this node.")
@click.option("--remedies", is_flag=True, help="Ways out for every pod, with the commands that carry them out.")
@click.option(
    "--remedy",
    "number",
    type=click.IntRange(min=1),
    default=None,
    metavar="N",
    help="Only the commands of way out N of one pod, ready for a shell.",
)
@click.option(
    "--dry-run",
    type=click.Choice(["server"]),
    default=None,
    help="With --remedy: let the server try the commands; nothing is changed.",
)
@click.option(
    "--node-groups",
    default="",
    metavar="FILE|cluster",
    help="Would a new node of these autoscaler groups take the pod: manifests, or what the cluster has of them.",
)
@whatif_options
@click.argument("words", nargs=-1, metavar="[TYPE[/NAME]] [NAME]...")
def command(
    options: Options,
    node: str,
    remedies: bool,
    number: int | None,
    dry_run: str | None,
    words: tuple[str, ...],
    node_groups: str,
    sort_by: str,
    no_headers: bool,
    switches: tuple[Switch, ...],
) -> int:
    """Say why pods and ResourceClaims wait for devices: which claim, request, selector and device, on which node.

    Without words: every pending pod with device claims in the namespace, grouped by reason. The default type is pod;
    workloads (deploy, sts, job, jobset, rayjob, …) stand for their pending pods, podgroup for pods that are placed
    together.
    """
    from kubectl_dra.commands.why_pending.answers import answer

    return answer(
        options,
        node,
        remedies,
        words,
        number,
        switches,
        node_groups,
        sort_by,
        dry_run=dry_run is not None,
        no_headers=no_headers,
    )
