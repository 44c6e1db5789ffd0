"""``kubectl dra simulate``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, scope_options, shared_options
from kubectl_dra.commands.shared.whatif_options import whatif_options
from kubectl_dra.reports.invocations import try_dra

if TYPE_CHECKING:
    from kubectl_dra.diagnosis.whatif import Switch

_EXAMPLES: Final = """\b
Examples:
  kubectl dra simulate -f trainer.yaml               # would it fit, and where
  kubectl dra simulate -f trainer.yaml --copies 16   # sixteen of it
  kubectl dra simulate -f claim.yaml --copies max    # how many fit
  kubectl dra simulate -f all.yaml --exit-code       # 3 if it does not fit
  kubectl dra simulate -f trainer.yaml --add-node like=NODE,count=2,free
  kubectl dra simulate --drain NODE                  # where its pods would go"""


@click.command("simulate", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(
    scope=scope_options("The namespace of objects that name none.", everywhere=False),
    filename=True,
    exit_code=True,
    output=("json", "yaml"),
    text=True,
)
@click.option("--copies", default="", metavar="N|max", help="How many copies of every pod; max: as many as fit.")
@click.option("--together", is_flag=True, help="Try claims and templates that no pod uses at once, not one by one.")
@click.option("--remedies", is_flag=True, help="With the commands that carry out what would help.")
@whatif_options
def command(options: Options, copies: str, together: bool, remedies: bool, switches: tuple[Switch, ...]) -> int:
    """Say whether the pods, claims, templates and workloads of files would fit, where, and what is missing.

    First what the API server would refuse or drop; manifests that mix API versions are corrected. Nothing is created.
    Pods are found in objects of any kind. A claim or template that no pod uses is tried by itself, with a bare pod.
    Nodes, ResourceSlices, classes, taint rules, quotas and volumes of the files count as if they were in the cluster.
    Autoscalers, LimitRanges, RuntimeClasses and PriorityClasses count, both those of the cluster and of the files.
    Of a Deployment, ReplicaSet, StatefulSet or DaemonSet that the cluster has, only what changes is tried: more pods,
    or the rollout of another template.
    What-if switches change it as well, in any order.
    """
    if not options.manifests and not switches:
        raise UsageProblem("nothing to simulate", try_dra("simulate", "-f", "FILE"))
    if options.all_namespaces:
        raise UsageProblem(
            "-A does not apply to what would be created", "objects that name no namespace are meant for -n"
        )
    if copies not in ("", "max") and not (copies.isascii() and copies.isdecimal() and 0 < int(copies[:9]) < 10**8):
        raise UsageProblem(f'"{copies}" is not a valid number of copies', "--copies takes 1, 2, … or max")
    from kubectl_dra.commands.simulate.answers import answer

    return answer(options, copies, switches, remedies=remedies, together=together)
